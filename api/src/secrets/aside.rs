//! Keeps what is found in the texts of one request, and says what became of it.
//!
//! Values on their way into a vault and out of it. A value is in the vault before its row is written, and is noted before
//! that: what then has no row is an orphan, and leaves the vault again. What a row that is gone had there leaves it once the
//! vault says so.

use serde::Serialize;
use serde_json::Value;
use tessera_engine::domain::MemoryUuid;
use tessera_engine::screen::{Keeper, Name, Place, Screened, Secret, Texts, findings, screened};
use tessera_engine::sync::Action;
use tessera_seal::random;
use tessera_vault::{Fields, SecretPath, Vault, VaultError};
use utoipa::ToSchema;
use zeroize::Zeroizing;

use super::rules::{SecretError, SecretMode, Secrets, Taken};
use crate::db::{Db, DbError, UserId};
use crate::error::Problem;

/// Letters of a name: none that is taken for another.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Letters of a name beside its `s`.
const NAME_LETTERS: usize = 5;
/// The kind of a text that is one secret as a whole.
const WHOLE: &str = "text";

/// Why a text with a credential is not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CannotKeepSecret {
    /// The server keeps none.
    #[error(
        "it holds a credential ({kind}), and this server has no place for secrets: take it out, or ask whoever runs the \
         server to give it TESSERA_SECRET_KEY or a vault"
    )]
    Refused {
        /// What it is.
        kind: String,
    },
    /// The memory is another user's.
    #[error("it holds a credential ({kind}), and the memory is another user's: store it in a memory of your own")]
    NotOwn {
        /// What it is.
        kind: String,
    },
    /// All of it would be thrown away.
    #[error("all of it is to be kept secret, and this server keeps no secrets: nothing of it would be left")]
    Nothing,
    /// There are no random numbers to seal it with.
    #[error("it holds a credential ({kind}) that cannot be sealed now; try again")]
    NotSealed {
        /// What it is.
        kind: String,
    },
}

/// A credential that was taken out of a text, as the reply names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct SetAside {
    /// How the text names it; nothing where it was not kept.
    name: Option<String>,
    /// What it is, in words.
    kind: String,
    /// What stands in the text where it stood.
    place: String,
    /// `encrypted`, `vault` or `dropped`.
    kept: &'static str,
}

/// Keeps what is found in what one user says of one memory.
pub(crate) struct Aside<'a> {
    secrets: &'a Secrets,
    owner: &'a str,
    is_own: bool,
    taken: Vec<Taken>,
}

/// What was asked for, without the credentials that stood in it.
pub(crate) struct Looked {
    pub(crate) action: Screened<Action>,
    pub(crate) taken: Vec<Taken>,
    /// What the reply says of them.
    pub(crate) set_aside: Vec<SetAside>,
}

impl<'a> Aside<'a> {
    /// For a memory of the user's own.
    pub(crate) fn own(secrets: &'a Secrets, owner: &'a str) -> Self {
        Self { secrets, owner, is_own: true, taken: Vec::new() }
    }

    /// For another user's memory, whose secrets are not this user's to leave there.
    pub(crate) fn anothers(secrets: &'a Secrets, user: &'a str) -> Self {
        Self { is_own: false, ..Self::own(secrets, user) }
    }

    /// Looks through what is said of a memory.
    pub(crate) fn look<T: Texts>(&mut self, said: T, memory: MemoryUuid) -> Result<Screened<T>, CannotKeepSecret> {
        screened(said, memory, self)
    }

    /// What was asked for, with all that was found on the way to it.
    pub(crate) fn looked(self, action: Screened<Action>) -> Looked {
        let kept = match self.secrets.mode {
            SecretMode::Vault => "vault",
            _ => "encrypted",
        };
        let set_aside = |taken: &Taken| SetAside {
            name: taken.name.as_ref().map(ToString::to_string),
            kind: taken.kind.clone(),
            place: Place { name: taken.name.clone(), kind: taken.kind.clone() }.to_string(),
            kept: if taken.name.is_some() { kept } else { "dropped" },
        };
        let set_aside = self.taken.iter().map(set_aside).collect();
        Looked { action, taken: self.taken, set_aside }
    }

    /// What was found so far.
    pub(crate) fn into_taken(self) -> Vec<Taken> {
        self.taken
    }

    /// A name for a value: under a key the same value of an owner has the same name.
    fn name_of(&self, mark: &[u8]) -> Option<Name> {
        let mut bytes = [0; NAME_LETTERS];
        match mark.get(..NAME_LETTERS) {
            Some(head) if !self.taken.iter().any(|taken| taken.name.as_ref() == name(head).as_ref()) => {
                bytes.copy_from_slice(head);
            }
            _ => random(&mut bytes).ok()?,
        }
        name(&bytes)
    }
}

fn name(bytes: &[u8]) -> Option<Name> {
    let letters = bytes.iter().filter_map(|byte| LETTERS.get(usize::from(byte % 32)).copied().map(char::from));
    Name::parse(&format!("s{}", letters.collect::<String>()))
}

impl Keeper for Aside<'_> {
    type Error = CannotKeepSecret;

    fn keep(&mut self, memory: MemoryUuid, kind: &str, value: &str) -> Result<Option<Secret>, CannotKeepSecret> {
        let mut take = |name: Option<Name>| {
            let value = Zeroizing::new(value.to_owned());
            self.taken.push(Taken { name, kind: kind.to_owned(), value });
        };
        match self.secrets.mode {
            SecretMode::Refuse => return Err(CannotKeepSecret::Refused { kind: kind.to_owned() }),
            SecretMode::Drop if kind == WHOLE => return Err(CannotKeepSecret::Nothing),
            SecretMode::Drop => {
                take(None);
                return Ok(None);
            }
            _ if !self.is_own => return Err(CannotKeepSecret::NotOwn { kind: kind.to_owned() }),
            SecretMode::Encrypt | SecretMode::Vault => {}
        }
        let not_sealed = || CannotKeepSecret::NotSealed { kind: kind.to_owned() };
        // It was found before, on the way to what is looked through now.
        let known = self.taken.iter().find(|taken| *taken.value == value).and_then(|taken| taken.name.clone());
        let mark = self.secrets.mark(self.owner, value);
        let name = match &known {
            Some(name) => name.clone(),
            None => self.name_of(&mark).ok_or_else(not_sealed)?,
        };
        let sealed = match self.secrets.mode {
            // Its value is put into the vault before the row is written.
            SecretMode::Vault => Vec::new(),
            _ => self.secrets.sealed(self.owner, memory, name.as_str(), value).map_err(|_| not_sealed())?,
        };
        if known.is_none() {
            let value = Zeroizing::new(value.to_owned());
            self.taken.push(Taken { name: Some(name.clone()), kind: kind.to_owned(), value });
        }
        Ok(Some(Secret { name, kind: kind.to_owned(), mark, sealed }))
    }
}

/// A request as JSON without any text in which one of these values stands, or in which a credential is found: what is
/// kept of a request to know it again must not tell of a value by a guess.
pub(crate) fn unhinted(body: &[u8], taken: &[Taken]) -> Vec<u8> {
    if taken.is_empty() {
        return body.to_vec();
    }
    let mut json: Value = serde_json::from_slice(body).unwrap_or_default();
    hide(&mut json, taken);
    json.to_string().into_bytes()
}

fn hide(json: &mut Value, taken: &[Taken]) {
    match json {
        Value::String(text) => {
            let folded = text.to_lowercase();
            let holds =
                |taken: &Taken| text.contains(taken.value.as_str()) || folded.contains(&taken.value.to_lowercase());
            if taken.iter().any(holds) || !findings(text).is_empty() {
                *text = String::new();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, taken)),
        Value::Object(fields) => fields.values_mut().for_each(|field| hide(field, taken)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The field of a request in which a credential is found first, for whoever is to take it out.
pub(crate) fn field_of(body: &[u8]) -> String {
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let fields = json.as_object().into_iter().flatten();
    let mut holding = fields.filter(|(_, value)| holds_one(value)).map(|(name, _)| name.clone());
    holding.next().unwrap_or_else(|| "content".into())
}

fn holds_one(json: &Value) -> bool {
    match json {
        Value::String(text) => !findings(text).is_empty(),
        Value::Array(items) => items.iter().any(holds_one),
        Value::Object(fields) => fields.values().any(holds_one),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Why a value did not get into the vault.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VaultedError {
    /// The vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The database.
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<VaultedError> for SecretError {
    fn from(error: VaultedError) -> Self {
        match error {
            VaultedError::Vault(error) => error.into(),
            VaultedError::Db(error) => error.into(),
        }
    }
}

/// Where the values of a reply come from.
pub(crate) fn source_of(in_vault: bool) -> &'static str {
    if in_vault { "vault" } else { "encrypted" }
}

impl Secrets {
    /// Puts values into the vault, where that is where they are kept.
    pub(crate) async fn put(
        &self,
        db: &Db,
        owner: &UserId,
        memory: MemoryUuid,
        taken: &[Taken],
    ) -> Result<(), VaultedError> {
        let values = taken.iter().filter_map(|taken| Some((taken.name.as_ref()?.as_str(), taken.value.as_str())));
        let values: Vec<(&str, &str)> = values.collect();
        let Some(vault) = self.vault.as_ref().filter(|_| self.mode == SecretMode::Vault && !values.is_empty()) else {
            return Ok(());
        };
        let names: Vec<String> = values.iter().map(|(name, _)| (*name).to_owned()).collect();
        db.intend(owner, memory, &names).await?;
        let path = vault.template().path(owner.as_str(), &memory.to_string())?;
        vault
            .update(&path, |fields| {
                for (name, value) in &values {
                    fields.insert(*name, *value);
                }
            })
            .await?;
        Ok(())
    }

    /// What the vault has for a memory, by its id or the older system's number.
    pub(crate) async fn read(&self, owner: &str, id: &str) -> Result<Option<Fields>, VaultError> {
        let Some(vault) = &self.vault else { return Ok(None) };
        let path = vault.template().path(owner, id)?;
        Ok(vault.read(&path).await?.map(|found| found.data))
    }
}

/// How a vault is: `ok`, or what is wrong in a word.
pub(crate) async fn state_of(vault: &Vault) -> &'static str {
    match vault.health().await {
        Ok(health) if health.sealed || !health.initialized => return "sealed",
        Ok(_) => {}
        Err(error) => return cause_of(&error),
    }
    vault.token().await.map_or_else(|error| cause_of(&error), |_| "ok")
}

/// Takes out of the vault what has no row, of all users who have anything on its way into the vault or out of it. Gives how much that was.
pub(crate) async fn reap(db: &Db, secrets: &Secrets) -> Result<u64, VaultedError> {
    let Some(vault) = &secrets.vault else { return Ok(0) };
    let mut reaped = 0;
    for user in db.users_of_vault().await? {
        let user: UserId = user.parse()?;
        match reap_of(db, vault, &user).await {
            Ok(count) => reaped += count,
            // One path that this server must not change keeps no other user's values in the vault.
            Err(VaultedError::Vault(error)) if cause_of(&error) == "denied" => {
                tracing::warn!(%error, user = user.as_str(), "values stay in the vault");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(reaped)
}

async fn reap_of(db: &Db, vault: &Vault, user: &UserId) -> Result<u64, VaultedError> {
    let mut reaped = 0;
    for memory in db.leaving_vault(user).await? {
        vault.delete(&vault.template().path(user.as_str(), &memory.to_string())?).await?;
        db.left_vault(user, memory).await?;
        reaped += 1;
    }
    db.forget_written(user).await?;
    while let Some(orphan) = db.orphan(user).await? {
        let path = vault.template().path(user.as_str(), &orphan.memory.to_string())?;
        without(vault, &path, &orphan.name).await?;
        orphan.reaped().await?;
        reaped += 1;
    }
    Ok(reaped)
}

/// Takes one value away; with the last the path goes, and all versions with it.
async fn without(vault: &Vault, path: &SecretPath, name: &str) -> Result<(), VaultError> {
    let Some(found) = vault.read(path).await? else { return Ok(()) };
    if found.data.names().all(|known| known == name) {
        return vault.delete(path).await;
    }
    vault.update(path, |fields| drop(fields.remove(name))).await.map(drop)
}

impl From<VaultError> for Problem {
    fn from(error: VaultError) -> Self {
        tracing::warn!(%error, "vault");
        metrics::counter!("tessera_vault_errors_total", "cause" => cause_of(&error)).increment(1);
        let (code, detail) = match cause_of(&error) {
            "sealed" => ("vault_sealed", "the vault that keeps secrets is sealed; its operator must unseal it"),
            "denied" => {
                ("vault_denied", "the vault does not allow this server to do that; its operator must change the policy")
            }
            "expired" => {
                ("vault_expired", "the vault does not know the server's token any more; the server needs a new one")
            }
            _ => ("vault_unreachable", "the vault that keeps secrets does not answer; try again"),
        };
        Self::unavailable(code, detail)
    }
}

impl From<VaultedError> for Problem {
    fn from(error: VaultedError) -> Self {
        match error {
            VaultedError::Vault(error) => error.into(),
            VaultedError::Db(error) => error.into(),
        }
    }
}

/// The cause of a failure of the vault: one word for metrics and logs.
fn cause_of(error: &VaultError) -> &'static str {
    match error {
        VaultError::Sealed | VaultError::NotInitialized => "sealed",
        VaultError::Denied { .. } | VaultError::LoginRefused { .. } | VaultError::NoEngine { .. } => "denied",
        VaultError::TokenInvalid | VaultError::TokenFile { .. } | VaultError::TokenForm | VaultError::NoAuth => {
            "expired"
        }
        _ => "unreachable",
    }
}
