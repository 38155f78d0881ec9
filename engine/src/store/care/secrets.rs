//! The doctor's check of secrets: the key exists, only the owner can read it, and it decrypts everything.

use tessera_seal::SealError;

use crate::store::base::config::SecretMode;
use crate::store::base::secrets::KeyPlace;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;

/// The result in words.
pub(crate) enum Seen {
    /// All is well.
    Open(String),
    /// Everything can be decrypted, but a rotation was interrupted.
    Unfinished(String),
    /// Something cannot be decrypted.
    Closed(String),
}

impl Store {
    /// Decrypts every stored value.
    pub(crate) fn secrets_seen(&self) -> Result<Seen, StoreError> {
        let secrets = self.secrets(None)?;
        if secrets.is_empty() {
            return Ok(Seen::Open("no secrets".into()));
        }
        let held = match self.secrets.known_keys(&self.connection) {
            Ok(Some(held)) => held,
            Ok(None) => {
                let needed = self.needed_keys().map_err(|error| self.failed(error))?.join(", ");
                let problem = format!("{} secrets are stored, but their key ({needed}) is missing", secrets.len());
                return Ok(Seen::Closed(problem));
            }
            Err(error) => return Ok(Seen::Closed(error.to_string())),
        };
        let (mut open, mut in_vault, mut closed) = (0_usize, 0_usize, Vec::new());
        for secret in &secrets {
            match self.secret_value(secret.memory, &secret.name) {
                Ok(Some(_)) => open += 1,
                Ok(None) => in_vault += 1,
                Err(StoreError::Sealed { source: SealError::OtherKey { needed, .. }, .. }) => {
                    closed.push(format!("{} needs key {needed}", secret.name));
                }
                Err(_) => closed.push(format!("{} is damaged", secret.name)),
            }
        }
        let (key, place) = (held.keys.current.id(), &held.place);
        let mut told = format!("{open} can be decrypted with key {key} in {place}");
        if matches!(place, KeyPlace::File(_)) {
            told.push_str(", which protects copies of the database, but not against programs of your account");
        }
        if in_vault > 0 {
            told.push_str(&format!("; {in_vault} are in a vault"));
        }
        if self.secrets.rules().mode == SecretMode::Vault && open > 0 {
            told.push_str(&format!("; {open} of these wait for the vault"));
        }
        let needed = self.needed_keys().map_err(|error| self.failed(error))?;
        let before: Vec<_> = needed.iter().filter(|id| **id != key.to_string()).collect();
        let is_unfinished = closed.is_empty() && !before.is_empty();
        if is_unfinished {
            told.push_str("; some are encrypted with an earlier key: run `tessera secret rotate-key`");
        }
        if !closed.is_empty() {
            told.push_str(&format!("; {} cannot be decrypted: {}", closed.len(), closed.join(", ")));
        }
        Ok(match (closed.is_empty(), is_unfinished) {
            (false, _) => Seen::Closed(told),
            (true, true) => Seen::Unfinished(told),
            (true, false) => Seen::Open(told),
        })
    }
}
