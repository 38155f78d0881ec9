//! Redacts secrets that rows contain in clear text, in batches. If a run is interrupted,
//! finished batches are kept and a new run continues.

use serde::Serialize;
use tessera_engine::compose::cleaned;
use tessera_engine::domain::MemoryUuid;
use tessera_engine::text::O200k;
use uuid::Uuid;

use super::memories::{Stored, columns, stored, uuid};
use super::secrets::target;
use super::verbs::{Ask as _, args};
use super::{AuditedAction, Caller, Db, DbError, UserId, UserTx, unless_overtaken};
use crate::secrets::{Aside, Opened, SecretError, Secrets, VaultedError};

/// Rows per batch.
const BATCH: i64 = 100;

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Migrated {
    /// Scanned rows, deleted ones included.
    pub scanned: u64,
    /// Rows that contain a credential in clear text.
    pub found: u64,
    /// Rows that were redacted.
    pub migrated: u64,
    /// The number of secrets that were encrypted again with the current key.
    pub resealed: u64,
    /// Where to continue; missing at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = Uuid)]
    pub next: Option<MemoryUuid>,
}

impl Migrated {
    /// Adds the result of a later batch.
    pub fn add(&mut self, other: &Self) {
        self.scanned += other.scanned;
        self.found += other.found;
        self.migrated += other.migrated;
        self.resealed += other.resealed;
        self.next = other.next;
    }
}

/// Who runs the migration: the user with a key, or an operator on the server's host.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Migrator<'a> {
    Caller(&'a Caller),
    Host(&'a UserId),
}

impl Migrator<'_> {
    fn user(&self) -> &UserId {
        match self {
            Self::Caller(caller) => &caller.user,
            Self::Host(user) => user,
        }
    }

    async fn begin(&self, db: &Db) -> Result<UserTx, DbError> {
        match self {
            Self::Caller(caller) => db.by(caller).await,
            Self::Host(user) => db.of(user).await,
        }
    }
}

impl Db {
    /// Scans the next rows of a user after a UUID, and redacts the secrets unless `only_count` is true.
    pub(crate) async fn migrate_secrets(
        &self,
        by: Migrator<'_>,
        secrets: &Secrets,
        after: Option<MemoryUuid>,
        only_count: bool,
    ) -> Result<Migrated, VaultedError> {
        let user = by.user();
        let mut done = Migrated::default();
        let batch = self.any_own_after(user, after).await?;
        done.next = batch.last().filter(|_| i64::try_from(batch.len()) == Ok(BATCH)).map(|last| last.row.memory);
        for found in &batch {
            done.scanned += 1;
            if is_clean(found) {
                continue;
            }
            done.found += 1;
            if !only_count && self.clean(by, secrets, found).await? {
                done.migrated += 1;
            }
        }
        if done.next.is_none() && !only_count {
            done.resealed = unless_overtaken(|| self.reseal(by, secrets)).await?;
            unless_overtaken(|| self.empty_digests(by)).await?;
        }
        Ok(done)
    }

    /// Scans the next rows of a user for an operator on the server's host. Redacts them unless `only_count` is true.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read or written, or the vault rejects a secret.
    pub async fn migrate_secrets_of(
        &self,
        user: &UserId,
        secrets: &Secrets,
        after: Option<MemoryUuid>,
        only_count: bool,
    ) -> Result<Migrated, SecretError> {
        Ok(self.migrate_secrets(Migrator::Host(user), secrets, after, only_count).await?)
    }

    async fn any_own_after(&self, user: &UserId, after: Option<MemoryUuid>) -> Result<Vec<Stored>, DbError> {
        let mut tx = self.of(user).await?;
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM memories WHERE owner = $1 AND id > $2 AND state <> 'purged' ORDER BY id LIMIT $3"
        );
        let rows = tx.all(sql, args![user.as_str(), after.map_or(Uuid::nil(), uuid), BATCH]).await?;
        rows.iter().map(stored).collect()
    }

    /// Redacts one row. Returns false if the row was not redacted, because it changed or was removed meanwhile, or
    /// because it cannot be redacted.
    async fn clean(&self, by: Migrator<'_>, secrets: &Secrets, found: &Stored) -> Result<bool, VaultedError> {
        let (user, memory) = (by.user(), found.row.memory);
        let Some(document) = found.row.state.document().cloned() else { return Ok(false) };
        let mut aside = Aside::own(secrets, user.as_str());
        let looked = aside.look(document, memory);
        let Ok(looked) = looked else { return Ok(false) };
        secrets.put(self, user, memory, &aside.into_taken()).await?;
        let written = unless_overtaken(|| async {
            let mut tx = by.begin(self).await?;
            let Some(now) = tx.memory_to_change(memory).await? else { return Ok(false) };
            if now.row != found.row {
                return Ok(false);
            }
            let row = cleaned(&now.row, now.known.as_deref(), looked.clone(), &O200k);
            let audience = tx.audience(user.as_str(), memory).await?;
            tx.replace(user.as_str(), &row, None).await?;
            tx.audit(AuditedAction::SecretMigrated, &memory.to_string()).await?;
            tx.drop_indexes(&audience);
            tx.told_all(audience, memory);
            tx.commit().await?;
            Ok::<_, DbError>(true)
        });
        Ok(written.await?)
    }

    /// Deletes the digests of changes. Anybody who knows a text except for its secret could find the secret by brute
    /// force.
    async fn empty_digests(&self, by: Migrator<'_>) -> Result<(), DbError> {
        let mut tx = by.begin(self).await?;
        let sql = "UPDATE applied_ops SET hash = '' WHERE user_id = $1 AND hash <> ''";
        tx.run(sql, args![by.user().as_str()]).await?;
        tx.commit().await
    }

    /// Decrypts secrets of earlier keys, and encrypts them with the current key. Returns their number.
    async fn reseal(&self, by: Migrator<'_>, secrets: &Secrets) -> Result<u64, DbError> {
        let (user, Some(current)) = (by.user(), secrets.key_id()) else { return Ok(0) };
        let mut tx = by.begin(self).await?;
        // An encrypted value contains its key ID in bytes two to five.
        let sql = "SELECT memory, name, sealed FROM memory_secrets
             WHERE owner = $1 AND sealed IS NOT NULL AND encode(substring(sealed FROM 2 FOR 4), 'hex') <> $2
             ORDER BY memory, name FOR UPDATE";
        let rows: Vec<(Uuid, String, Vec<u8>)> = tx.rows(sql, args![user.as_str(), &current]).await?;
        let mut done = 0;
        for (id, name, sealed) in rows {
            let memory = MemoryUuid::from_uuid(id);
            // A secret that cannot be decrypted stays, because its key may return.
            let Ok(Opened::Value(value)) = secrets.opened(user.as_str(), memory, &name, &sealed) else { continue };
            let Ok(again) = secrets.sealed(user.as_str(), memory, &name, &value) else { continue };
            let sql = "UPDATE memory_secrets SET sealed = $4, mark = $5 WHERE owner = $1 AND memory = $2 AND name = $3";
            tx.run(sql, args![user.as_str(), id, &name, again, secrets.mark(user.as_str(), &value)]).await?;
            tx.audit(AuditedAction::SecretResealed, &target(memory, &name)).await?;
            done += 1;
        }
        tx.commit().await?;
        Ok(done)
    }
}

/// True if no text of a row contains a credential.
fn is_clean(found: &Stored) -> bool {
    let document = found.row.state.document().cloned();
    document.is_none_or(|document| tessera_engine::screen::Screened::clean(document).is_some())
}
