//! Values on their way into a vault and out of it. A value is in the vault before its row is written, and is noted before
//! that: what then has no row is an orphan, and leaves the vault again. What a row that is gone had there leaves it once the
//! vault says so.

use tessera_engine::domain::MemoryId;
use tessera_vault::{Fields, SecretPath, Vault, VaultError};

use super::aside::Taken;
use super::rules::{SecretError, SecretMode, Secrets};
use crate::db::{Db, DbError, UserId};
use crate::error::Problem;

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
        memory: MemoryId,
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

/// What is wrong with a vault, in a word.
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
