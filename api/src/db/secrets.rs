//! Stores secrets with their memories: in the same transaction, and readable only by their owner.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::compose::Decided;
use tessera_engine::domain::MemoryUuid;
use tessera_engine::screen::Secret;
use uuid::Uuid;

use super::audit::AuditedAction;
use super::memories::{Stored, columns, stored, uuid};
use super::verbs::{Ask as _, args};
use super::{Caller, Db, DbError, UserId, UserTx, unless_overtaken};

/// A secret as it is kept.
pub(crate) struct Kept {
    /// The memory that contained it.
    pub(crate) memory: MemoryUuid,
    pub(crate) name: String,
    /// The encrypted value; missing if a vault stores the value.
    pub(crate) sealed: Option<Vec<u8>>,
}

fn kept(row: &PgRow) -> Result<Kept, DbError> {
    Ok(Kept {
        memory: MemoryUuid::from_uuid(row.try_get("memory")?),
        name: row.try_get("name")?,
        sealed: row.try_get("sealed")?,
    })
}

/// A value in the vault without a row.
pub(crate) struct Orphan {
    pub(crate) memory: MemoryUuid,
    pub(crate) name: String,
    tx: UserTx,
}

impl Orphan {
    /// It left the vault.
    pub(crate) async fn reaped(mut self) -> Result<(), DbError> {
        let sql = "DELETE FROM vault_writes WHERE owner = $1 AND memory = $2 AND name = $3";
        self.tx.tx.run(sql, args![self.tx.user.as_str(), uuid(self.memory), &self.name]).await?;
        self.tx.commit().await
    }
}

impl Db {
    /// The random value of this database for deriving keys.
    pub(crate) async fn secret_salt(&self) -> Result<Vec<u8>, DbError> {
        Ok(sqlx::query_scalar("SELECT secret_salt FROM server_meta").fetch_one(&self.pool).await?)
    }

    /// Records the key that encrypts new values. Rejects the key if the database recorded a newer key that is not among
    /// the previous keys, and then returns the ID of the recorded key.
    pub(crate) async fn agree_on_key(&self, at_hand: &str, before: &[String]) -> Result<Result<(), String>, DbError> {
        let mut tx = self.pool.begin().await?;
        let known: Option<String> = tx.value("SELECT secret_key FROM server_meta FOR UPDATE", args![]).await?;
        match known {
            Some(known) if known == at_hand => return Ok(Ok(())),
            Some(known) if !before.contains(&known) => return Ok(Err(known)),
            _ => {}
        }
        tx.run("UPDATE server_meta SET secret_key = $1", args![at_hand]).await?;
        tx.commit().await?;
        Ok(Ok(()))
    }

    /// Returns a memory with its secrets. Its text may name secrets of other memories; these are included. A conflict
    /// copy names the secrets of its original. If another user wrote the text, only the memory's own secrets are
    /// returned. So an editor cannot reveal secrets by writing their names. `None` if the memory belongs to another
    /// user, is unknown or was deleted permanently. All three cases take the same time.
    pub(crate) async fn own_secrets(
        &self,
        caller: &Caller,
        memory: MemoryUuid,
        names: impl FnOnce(&Stored) -> Vec<String>,
    ) -> Result<Option<(Stored, Vec<Kept>)>, DbError> {
        let mut tx = self.by(caller).await?;
        let sql = concat!("SELECT ", columns!(), " FROM memories WHERE owner = $1 AND id = $2");
        let found = tx.maybe(sql, args![caller.user.as_str(), uuid(memory)]).await?;
        let found = found.as_ref().map(stored).transpose()?.filter(|stored| stored.row.state.document().is_some());
        let names = found.as_ref().map(names).unwrap_or_default();
        let is_by_owner = found.as_ref().is_none_or(|found| found.row.edited_by.is_none());
        let sql =
            "SELECT DISTINCT ON (name) memory, name, sealed FROM memory_secrets WHERE owner = $1 AND name = ANY ($3)
                 AND (memory = $2 OR $4) ORDER BY name, memory <> $2, made DESC";
        let rows = tx.all(sql, args![caller.user.as_str(), uuid(memory), names, is_by_owner]).await?;
        let rows = rows.iter().map(kept).collect::<Result<Vec<_>, _>>()?;
        Ok(found.map(|found| (found, rows)))
    }

    /// A stored secret of a memory of the caller, by its name; `None` if the caller does not have the memory.
    pub(crate) async fn sent_before(
        &self,
        caller: &Caller,
        memory: MemoryUuid,
        name: &str,
    ) -> Result<Option<Option<Kept>>, DbError> {
        let mut tx = self.by(caller).await?;
        if !tx.has_own(memory).await? {
            return Ok(None);
        }
        tx.secret(memory, name).await.map(Some)
    }

    /// Stores a secret that a machine sent. False if the memory no longer exists.
    pub(crate) async fn keep_sent(
        &self,
        caller: &Caller,
        memory: MemoryUuid,
        secret: &Secret,
    ) -> Result<bool, DbError> {
        unless_overtaken(|| async {
            let mut tx = self.by(caller).await?;
            if !tx.has_own(memory).await? {
                return Ok(false);
            }
            if tx.keep_secret(memory, secret).await? {
                tx.audit(AuditedAction::SecretSent, &target(memory, secret.name.as_str())).await?;
            }
            tx.commit().await?;
            Ok(true)
        })
        .await
    }

    /// Deletes a secret of the caller's memory. False if there is none. A value in the vault becomes an orphan and is
    /// deleted at once.
    pub(crate) async fn forget_secret(&self, caller: &Caller, memory: MemoryUuid, name: &str) -> Result<bool, DbError> {
        unless_overtaken(|| async {
            let mut tx = self.by(caller).await?;
            let sql = "WITH gone AS (DELETE FROM memory_secrets WHERE owner = $1 AND memory = $2 AND name = $3
                 RETURNING owner, memory, name, place),
             orphan AS (INSERT INTO vault_writes (owner, memory, name, since)
                 SELECT owner, memory, name, '-infinity' FROM gone WHERE place = 'vault'
                 ON CONFLICT (owner, memory, name) DO UPDATE SET since = excluded.since)
             SELECT name FROM gone";
            let forgotten = tx.maybe(sql, args![caller.user.as_str(), uuid(memory), name]).await?;
            let deed = if forgotten.is_some() { AuditedAction::SecretForgotten } else { AuditedAction::SecretDenied };
            tx.audit(deed, &target(memory, name)).await?;
            tx.commit().await?;
            Ok(forgotten.is_some())
        })
        .await
    }

    /// Records a value that is about to be written to the vault.
    pub(crate) async fn intend(&self, owner: &UserId, memory: MemoryUuid, names: &[String]) -> Result<(), DbError> {
        unless_overtaken(|| async {
            let mut tx = self.of(owner).await?;
            let sql = "INSERT INTO vault_writes (owner, memory, name, since)
                 SELECT $1, $2, name, now() FROM unnest($3::text[]) AS name
             ON CONFLICT (owner, memory, name) DO UPDATE SET since = excluded.since";
            tx.run(sql, args![owner.as_str(), uuid(memory), names]).await?;
            tx.commit().await
        })
        .await
    }

    /// Deletes the entries of vault values whose rows exist now.
    pub(crate) async fn forget_written(&self, owner: &UserId) -> Result<(), DbError> {
        unless_overtaken(|| async {
            let mut tx = self.of(owner).await?;
            // If it waited for a transaction that deletes the row, PostgreSQL reads `w` again but not the row; `since`
            // detects this.
            let sql = "DELETE FROM vault_writes w WHERE w.owner = $1 AND w.since > '-infinity' AND EXISTS (
                 SELECT FROM memory_secrets s WHERE s.owner = $1 AND s.memory = w.memory AND s.name = w.name)";
            tx.run(sql, args![owner.as_str()]).await?;
            tx.commit().await
        })
        .await
    }

    /// A value in the vault that has had no row for some time. The value is locked until it is deleted or released.
    pub(crate) async fn orphan(&self, owner: &UserId) -> Result<Option<Orphan>, DbError> {
        let mut tx = self.of(owner).await?;
        // The row stays locked while the vault answers.
        tx.run("SET LOCAL idle_in_transaction_session_timeout = '2min'", args![]).await?;
        // Longer than any request may take.
        let sql = "SELECT memory, name FROM vault_writes WHERE owner = $1 AND since < now() - interval '5 minutes'
             ORDER BY since LIMIT 1 FOR UPDATE SKIP LOCKED";
        let row = tx.maybe(sql, args![owner.as_str()]).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Orphan { memory: MemoryUuid::from_uuid(row.try_get("memory")?), name: row.try_get("name")?, tx }))
    }

    /// Users whose values in the vault have no stored row yet, or must be deleted.
    pub(crate) async fn users_of_vault(&self) -> Result<Vec<String>, DbError> {
        if self.is_spread {
            return self.users().await;
        }
        let sql = "SELECT owner FROM vault_writes UNION SELECT owner FROM vault_removals ORDER BY 1";
        Ok(sqlx::query_scalar(sql).fetch_all(&self.pool).await?)
    }

    /// The memories whose values must be deleted from the vault, because their rows are gone.
    pub(crate) async fn leaving_vault(&self, owner: &UserId) -> Result<Vec<MemoryUuid>, DbError> {
        let mut tx = self.of(owner).await?;
        let sql = "SELECT memory FROM vault_removals WHERE owner = $1 ORDER BY since LIMIT 500";
        let those: Vec<Uuid> = tx.values(sql, args![owner.as_str()]).await?;
        Ok(those.into_iter().map(MemoryUuid::from_uuid).collect())
    }

    /// The vault confirmed the deletion.
    pub(crate) async fn left_vault(&self, owner: &UserId, memory: MemoryUuid) -> Result<(), DbError> {
        let mut tx = self.of(owner).await?;
        let sql = "DELETE FROM vault_removals WHERE owner = $1 AND memory = $2";
        tx.run(sql, args![owner.as_str(), uuid(memory)]).await?;
        tx.commit().await
    }
}

impl UserTx {
    /// Stores the secrets of a memory that the user owns.
    pub(super) async fn keep_secrets(&mut self, decided: &Decided) -> Result<(), DbError> {
        let memory = decided.row().memory;
        for secret in decided.secrets() {
            if self.keep_secret(memory, secret).await? {
                self.audit(AuditedAction::SecretKept, &target(memory, secret.name.as_str())).await?;
            }
        }
        Ok(())
    }

    /// Stores one secret. False if it was stored before. A secret without an encrypted value is in the vault.
    pub(super) async fn keep_secret(&mut self, memory: MemoryUuid, secret: &Secret) -> Result<bool, DbError> {
        let sealed = Some(&secret.sealed).filter(|sealed| !sealed.is_empty());
        let sql = "INSERT INTO memory_secrets (owner, memory, name, kind, mark, sealed, place) VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (owner, memory, name) DO NOTHING";
        let done = self
            .tx
            .run(
                sql,
                args![
                    self.user.as_str(),
                    uuid(memory),
                    secret.name.as_str(),
                    &secret.kind,
                    &secret.mark,
                    sealed,
                    if sealed.is_some() { "here" } else { "vault" }
                ],
            )
            .await?;
        if done.rows_affected() > 0 {
            return Ok(true);
        }
        let sql = "SELECT mark FROM memory_secrets WHERE owner = $1 AND memory = $2 AND name = $3";
        let mark: Vec<u8> = self.tx.value(sql, args![self.user.as_str(), uuid(memory), secret.name.as_str()]).await?;
        // Two values with one name occur once in tens of millions of cases; then nothing is written, so that none is
        // lost.
        let is_same = mark == secret.mark;
        is_same
            .then_some(false)
            .ok_or_else(|| DbError::Row(format!("two secrets of {memory} have the name {}", secret.name)))
    }

    /// Deletes the secrets of a permanently deleted memory, also in the vault.
    pub(super) async fn purge_secrets(&mut self, memory: MemoryUuid, told: &[String]) -> Result<(), DbError> {
        let (owner, id) = (self.user.as_str().to_owned(), uuid(memory));
        for sql in [
            "INSERT INTO vault_removals (owner, memory) SELECT DISTINCT owner, memory FROM memory_secrets
             WHERE owner = $1 AND memory = $2 AND place = 'vault' ON CONFLICT DO NOTHING",
            "DELETE FROM memory_secrets WHERE owner = $1 AND memory = $2",
        ] {
            self.tx.run(sql, args![&owner, id]).await?;
        }
        let sql = "INSERT INTO purges (owner, memory, told) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        self.tx.run(sql, args![&owner, id, told]).await?;
        self.audit(AuditedAction::Purged, &memory.to_string()).await
    }

    /// A secret with this name in one of the user's own memories.
    pub(super) async fn secret(&mut self, memory: MemoryUuid, name: &str) -> Result<Option<Kept>, DbError> {
        let sql = "SELECT memory, name, sealed FROM memory_secrets WHERE owner = $1 AND memory = $2 AND name = $3";
        let row = self.tx.maybe(sql, args![self.user.as_str(), uuid(memory), name]).await?;
        row.as_ref().map(kept).transpose()
    }

    /// True for a memory of the user that was not deleted permanently.
    pub(super) async fn has_own(&mut self, memory: MemoryUuid) -> Result<bool, DbError> {
        let sql = "SELECT EXISTS (SELECT FROM memories WHERE owner = $1 AND id = $2 AND state <> 'purged' FOR SHARE)";
        Ok(self.tx.value(sql, args![self.user.as_str(), uuid(memory)]).await?)
    }
}

/// The name of a secret in the audit.
pub(crate) fn target(memory: MemoryUuid, name: &str) -> String {
    format!("{memory} {name}")
}
