//! Turns a create request into a change: decrypts, redacts, composes.

use std::sync::Arc;

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tessera_engine::compose;
use tessera_engine::domain::MemoryUuid;
use tessera_engine::screen::Screened;
use tessera_engine::sync::Action;
use tessera_vault::Fields;

use crate::App;
use crate::contract::NewMemory;
use crate::db::{Ask, AuditedAction, Caller, Idempotency, Stored};
use crate::error::Problem;
use crate::secrets::{Aside, CannotKeepSecret, Looked, SetAside, Taken, field_of, unhinted};
use crate::threads::off_runtime;

/// The change that stores a memory, and its redacted secrets. An idempotency key determines the UUID.
pub(super) async fn creation(
    app: &App,
    new: NewMemory,
    idempotency: Option<Idempotency>,
    caller: &Caller,
    body: &[u8],
) -> Result<(Ask, Vec<SetAside>), Problem> {
    let now = app.clock.now();
    let new = app.decrypted(caller, new).await?;
    let (memory, is_unheard) = match (new.id()?, &idempotency) {
        (Some(id), _) => (id, false),
        (None, Some(idempotency)) => {
            (MemoryUuid::from_key(&format!("{} {}", caller.user.as_str(), idempotency.op_id())), false)
        }
        (None, None) => (MemoryUuid::generate(now), true),
    };
    let (secrets, owner, body) = (Arc::clone(&app.secrets), caller.user.clone(), body.to_vec());
    let looked = off_runtime(move || {
        let mut aside = Aside::own(&secrets, owner.as_str());
        let draft = aside.look_closely(new.draft()?, memory, "").map_err(|why| named(why, &body))?;
        Ok::<_, Problem>(aside.looked(Screened::of(compose::document(&draft, now)?)))
    })
    .await??;
    let (ask, aside) = app.keep(caller, memory, looked, None, idempotency).await?;
    Ok((Ask { is_unheard, ..ask }, aside))
}

/// Explains why a text cannot be stored, with the field.
pub(super) fn named(why: CannotKeepSecret, body: &[u8]) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no_place_for_secrets", format!("{}: {why}", field_of(body)))
}

impl App {
    /// Decrypts what the older system encrypted or put into the vault.
    async fn decrypted(&self, caller: &Caller, new: NewMemory) -> Result<NewMemory, Problem> {
        if let Some(number) = new.vault_id() {
            let found = self.secrets.read(caller.user.as_str(), &number.to_string()).await?;
            let problem = "vault_id: the server's vault does not contain this ID, or the server has no vault";
            let found = found.as_ref().and_then(|fields| fields.get(Fields::CONTENT));
            return Ok(new.decrypted(found.ok_or_else(|| Problem::invalid(problem))?));
        }
        let Some(encrypted) = new.encrypted() else { return Ok(new) };
        let opened = STANDARD.decode(encrypted).ok().and_then(|bytes| self.secrets.opened_older(&bytes));
        let problem = "encrypted_content: cannot be decrypted; set MEMORY_ENCRYPTION_KEY to the key that encrypted \
            it, or add it to TESSERA_SECRET_KEY_BEFORE";
        let opened = opened.ok_or_else(|| Problem::invalid(problem))?;
        Ok(new.decrypted(&opened))
    }

    /// Notes what was thrown away.
    pub(super) async fn note_dropped(
        &self,
        caller: &Caller,
        memory: MemoryUuid,
        taken: &[Taken],
    ) -> Result<(), Problem> {
        let dropped = taken.iter().filter(|taken| taken.name.is_none());
        let dropped: Vec<_> =
            dropped.map(|taken| (AuditedAction::SecretDropped, format!("{memory} {}", taken.kind))).collect();
        if dropped.is_empty() { Ok(()) } else { Ok(self.db.note(caller, &dropped).await?) }
    }

    /// Returns the memory with this text for an older client, which resends every memory for which it received no ID.
    pub(super) async fn sent_before(&self, caller: &Caller, ask: &Ask) -> Result<Option<Stored>, Problem> {
        let Action::Create(document) = &*ask.action else { return Ok(None) };
        Ok(self.db.saying(&caller.user, document.content.as_str()).await?)
    }

    /// The change to make in the database, after the secrets in it were stored.
    pub(super) async fn keep(
        &self,
        caller: &Caller,
        memory: MemoryUuid,
        looked: Looked,
        only_at: Option<u64>,
        idempotency: Option<Idempotency>,
    ) -> Result<(Ask, Vec<SetAside>), Problem> {
        self.secrets.put(&self.db, &caller.user, memory, &looked.taken).await?;
        self.note_dropped(caller, memory, &looked.taken).await?;
        let idempotency = idempotency.map(|given| Idempotency { body: unhinted(&given.body, &looked.taken), ..given });
        let (action, at) = (looked.action, self.clock.now());
        Ok((Ask { memory, is_unheard: false, action, only_at, idempotency, at }, looked.set_aside))
    }
}
