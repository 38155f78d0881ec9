//! Stores the secrets in the texts of one request, and reports the result.
//!
//! Also moves values into and out of a vault. The server records that it will write a value, writes the value to the
//! vault, and then writes the row. A value without a row is an orphan and is removed. After a row is deleted, its value
//! is deleted as soon as the vault can be reached.

use serde::Serialize;
use serde_json::Value;
use tessera_engine::domain::MemoryUuid;
use tessera_engine::screen::{
    Keeper, KnownValues, Name, Place, ProbableSecrets, Screened, Secret, Texts, findings, screened, screened_closely,
    stands_in,
};
use tessera_engine::sync::Action;
use tessera_seal::random;
use tessera_vault::{Fields, SecretPath, Vault, VaultError};
use utoipa::ToSchema;
use zeroize::Zeroizing;

use super::rules::{SecretError, SecretMode, Secrets, Taken};
use crate::db::{Db, DbError, UserId};
use crate::error::Problem;

/// The characters of secret names, without similar-looking ones.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// The number of letters of a name, after the `s`.
const NAME_LETTERS: usize = 5;
/// The kind of a secret that is a complete text.
const WHOLE: &str = "text";

/// Why a text with a credential cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CannotKeepSecret {
    /// The server keeps none.
    #[error(
        "contains a credential ({kind}), and this server stores no secrets; remove it, or ask the operator of the \
        server to set TESSERA_SECRET_KEY or a vault"
    )]
    Refused {
        /// Its kind.
        kind: String,
    },
    /// The memory is another user's.
    #[error("contains a credential ({kind}), and the memory belongs to another user; store it in a memory of your own")]
    NotOwn {
        /// Its kind.
        kind: String,
    },
    /// The whole text is a secret and the server discards secrets, so nothing would remain.
    #[error("the whole text is secret, and this server discards secrets, so nothing would be stored")]
    Nothing,
    /// The system could not provide random numbers, so the value cannot be encrypted.
    #[error("contains a credential ({kind}) that cannot be encrypted now; try again")]
    NotSealed {
        /// Its kind.
        kind: String,
    },
}

/// A redacted credential in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct SetAside {
    /// The name of the secret in the text; missing if the secret was discarded.
    name: Option<String>,
    /// Its kind, in words.
    kind: String,
    /// The placeholder in the text.
    place: String,
    /// `encrypted`, `vault` or `dropped`.
    kept: &'static str,
}

/// Stores the secrets in the texts that a user sends for a memory.
pub(crate) struct Aside<'a> {
    secrets: &'a Secrets,
    owner: &'a str,
    is_own: bool,
    taken: Vec<Taken>,
}

/// The requested change with redacted credentials, and the secrets that were found.
pub(crate) struct Looked {
    pub(crate) action: Screened<Action>,
    pub(crate) taken: Vec<Taken>,
    /// The remarks for the reply.
    pub(crate) set_aside: Vec<SetAside>,
}

impl<'a> Aside<'a> {
    /// For a memory of the user.
    pub(crate) fn own(secrets: &'a Secrets, owner: &'a str) -> Self {
        Self { secrets, owner, is_own: true, taken: Vec::new() }
    }

    /// Returns a value for screening an edit of another user's memory. No secret in it is stored, because only the
    /// owner may store secrets: the edit is rejected, or the secret is discarded (mode `drop`).
    pub(crate) fn anothers(secrets: &'a Secrets, user: &'a str) -> Self {
        Self { is_own: false, ..Self::own(secrets, user) }
    }

    /// Screens the texts of a memory.
    pub(crate) fn look<T: Texts>(&mut self, said: T, memory: MemoryUuid) -> Result<Screened<T>, CannotKeepSecret> {
        screened(said, memory, self)
    }

    /// Screens the texts of a memory that the caller has just written, also for probable secrets. Those that are already
    /// in the text `before` are no new secrets; a person may have allowed them.
    pub(crate) fn look_closely<T: Texts>(
        &mut self,
        said: T,
        memory: MemoryUuid,
        before: &str,
    ) -> Result<Screened<T>, CannotKeepSecret> {
        let probable = ProbableSecrets::of(&said).without(|value| stands_in(before, value));
        screened_closely(said, memory, self, &KnownValues::default(), probable)
    }

    /// Returns the redacted change with all its secrets.
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

    /// The findings so far.
    pub(crate) fn into_taken(self) -> Vec<Taken> {
        self.taken
    }

    /// A name for a value. If a user stores the same secret value twice with the same key, both placeholders have the
    /// same name.
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
        // The value was found before in the same request.
        let known = self.taken.iter().find(|taken| *taken.value == value).and_then(|taken| taken.name.clone());
        let mark = self.secrets.mark(self.owner, value);
        let name = match &known {
            Some(name) => name.clone(),
            None => self.name_of(&mark).ok_or_else(not_sealed)?,
        };
        let sealed = match self.secrets.mode {
            // The value is written to the vault before the row.
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

/// Returns a request as JSON. Texts that contain a found value or any credential are replaced by empty texts. The
/// server stores the redacted request, to recognise a retry. The stored request must not help anyone to guess a value.
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

/// Returns the name of the first field that contains a credential, for the error message.
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

/// Why a value was not written to the vault.
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

/// The source of the values in an answer.
pub(crate) fn source_of(in_vault: bool) -> &'static str {
    if in_vault { "vault" } else { "encrypted" }
}

impl Secrets {
    /// In the mode `vault`, writes the values to the vault.
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

    /// The vault's values for a memory, by its UUID or the older system's ID.
    pub(crate) async fn read(&self, owner: &str, id: &str) -> Result<Option<Fields>, VaultError> {
        let Some(vault) = &self.vault else { return Ok(None) };
        let path = vault.template().path(owner, id)?;
        Ok(vault.read(&path).await?.map(|found| found.data))
    }
}

/// The state of a vault: `ok`, or one word for the error.
pub(crate) async fn state_of(vault: &Vault) -> &'static str {
    match vault.health().await {
        Ok(health) if health.sealed || !health.initialized => return "sealed",
        Ok(_) => {}
        Err(error) => return cause_of(&error),
    }
    vault.token().await.map_or_else(|error| cause_of(&error), |_| "ok")
}

/// Removes orphans of all users from the vault. Returns their number.
pub(crate) async fn reap(db: &Db, secrets: &Secrets) -> Result<u64, VaultedError> {
    let Some(vault) = &secrets.vault else { return Ok(0) };
    let mut reaped = 0;
    for user in db.users_of_vault().await? {
        let user: UserId = user.parse()?;
        match reap_of(db, vault, &user).await {
            Ok(count) => reaped += count,
            // One forbidden path must not keep other users' values in the vault.
            Err(VaultedError::Vault(error)) if cause_of(&error) == "denied" => {
                tracing::warn!(%error, user = user.as_str(), "secrets could not be removed from the vault");
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

/// Removes one value. If it is the last value at its path, removes the path with all versions.
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
            "sealed" => ("vault_sealed", "the vault is sealed; its operator must unseal it"),
            "denied" => ("vault_denied", "the vault does not allow this; its operator must change the policy"),
            "expired" => ("vault_expired", "the server's vault token is no longer valid; the server needs a new one"),
            _ => ("vault_unreachable", "the vault does not answer; try again"),
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

/// The cause of a vault error, as one word for metrics and logs.
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
