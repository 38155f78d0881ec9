//! Removes a user: all their rows, and their name in other users' accounts. The audit stays.
//!
//! Works account by account. After an interruption, run the removal again; it skips accounts that no longer contain the
//! user's name.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{AssertSqlSafe, Row as _};
use tessera_engine::domain::MemoryUuid;
use uuid::Uuid;

use super::verbs::{Ask as _, args};
use super::{AuditedAction, Db, DbError, UserId, UserTx, unless_overtaken};
use crate::contract::MemoryView;
use crate::secrets::{SecretError, Secrets};

/// Tables with rows of a user, in deletion order, with the column that names the user. `audit` is not included.
const OWN: [(&str, &str); 17] = [
    ("index_cache", "user_id"),
    ("memory_secrets", "owner"),
    ("memory_shares", "owner"),
    ("tag_shares", "owner"),
    ("vault_writes", "owner"),
    ("vault_removals", "owner"),
    ("purges", "owner"),
    ("applied_ops", "user_id"),
    ("fetched", "user_id"),
    ("mutes", "user_id"),
    ("feed", "user_id"),
    ("checkpoints", "user_id"),
    ("restores", "user_id"),
    // Writers of embeddings lock a key before memories.
    ("api_keys", "user_id"),
    ("memories", "owner"),
    ("user_seq", "user_id"),
    ("users", "user_id"),
];

/// The tables in which other accounts name a user, and the condition for their rows. `$1` is the other user, `$2` the
/// removed one.
const BY_OTHERS: [(&str, &str); 6] = [
    ("memory_shares", "owner = $1 AND grantee = $2"),
    ("tag_shares", "owner = $1 AND grantee = $2"),
    ("mutes", "user_id = $1 AND owner = $2"),
    ("feed", "user_id = $1 AND owner = $2"),
    ("memories", "owner = $1 AND edited_by = $2"),
    ("purges", "owner = $1 AND $2 = ANY (told)"),
];

/// The name that replaces a removed user. It is not a valid user name.
const GONE: &str = "(removed)";

/// Where the memories of a user are exported before the user is removed.
pub trait ExportTo: Sync {
    /// Begins the export, or begins it again after a failed attempt.
    ///
    /// # Errors
    /// Returns an error if the export cannot be written.
    fn begin(&self) -> std::io::Result<()>;

    /// Writes a memory as a JSON object.
    ///
    /// # Errors
    /// Returns an error if the export cannot be written.
    fn line(&self, line: &str) -> std::io::Result<()>;

    /// Ends the export: when this returns, all memories must be durable, because the user is deleted next.
    ///
    /// # Errors
    /// Returns an error if the export cannot be written.
    fn end(&self) -> std::io::Result<()>;
}

/// The number of rows by table. Rows in other users' accounts are counted separately.
pub type Counts = BTreeMap<String, u64>;

fn add(counts: &mut Counts, table: &str, rows: u64) {
    if rows > 0 {
        *counts.entry(table.to_owned()).or_default() += rows;
    }
}

fn of_others(table: &str) -> String {
    format!("{table} of other users")
}

impl Db {
    /// The number of rows that contain the user's name, by table: in the user's account, in other accounts, and in old
    /// tables. The audit is not included. Empty after a removal.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub async fn rows_naming(&self, user: &UserId) -> Result<Counts, DbError> {
        let mut counts = self.older_rows_of(user).await?;
        let mut tx = self.on_host(user).await?;
        for (table, column) in tx.own_tables().await? {
            let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table} WHERE {column} = $1"));
            let rows: i64 = tx.value(sql, args![user.as_str()]).await?;
            add(&mut counts, table, rows.unsigned_abs());
        }
        drop(tx);
        for other in self.other_users(user).await? {
            let mut tx = self.on_host(&other).await?;
            for (table, condition) in BY_OTHERS {
                let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table} WHERE {condition}"));
                let rows: i64 = tx.value(sql, args![other.as_str(), user.as_str()]).await?;
                add(&mut counts, &of_others(table), rows.unsigned_abs());
            }
        }
        Ok(counts)
    }

    /// All other users, and everybody with whom the user shares something, even if no such user exists. Their accounts
    /// may contain the user's name.
    async fn other_users(&self, user: &UserId) -> Result<BTreeSet<UserId>, DbError> {
        let mut tx = self.on_host(user).await?;
        let sql =
            "SELECT grantee FROM memory_shares WHERE owner = $1 UNION SELECT grantee FROM tag_shares WHERE owner = $1";
        let grantees: Vec<String> = tx.values(sql, args![user.as_str()]).await?;
        drop(tx);
        let names = self.users().await?.into_iter().chain(grantees);
        let others: BTreeSet<UserId> = names.map(|name| name.parse()).collect::<Result<_, _>>()?;
        Ok(others.into_iter().filter(|other| other != user).collect())
    }

    /// Removes a user with all rows, and notifies machines of other users. Returns the number of rows by table.
    /// `export` receives every live memory, in the form of the REST export.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written, or the vault does not delete the user's secrets. Then run it again.
    pub async fn remove_user(
        &self,
        user: &UserId,
        secrets: &Secrets,
        export: Option<&dyn ExportTo>,
        progress: impl Fn(usize, usize),
    ) -> Result<Counts, SecretError> {
        let mut counts = Counts::new();
        // Recorded first, so that a server that starts meanwhile does not add the user again through a key in its
        // environment.
        let mut tx = self.on_host(user).await?;
        tx.audit(AuditedAction::UserRemoved, "begun").await?;
        tx.commit().await?;
        // Revokes all keys, so nobody writes as this user from here on.
        for key in self.keys(user).await? {
            self.revoke_key(user, &key.id).await?;
        }
        let in_vault = self.leave_vault(user, secrets).await?;
        add(&mut counts, "secrets in the vault", in_vault);
        let others = self.other_users(user).await?;
        let all = others.len() * 2;
        for (done, other) in others.iter().enumerate() {
            self.let_go_of(other, user, &mut counts).await?;
            progress(done + 1, all);
        }
        unless_overtaken(|| self.remove_own(user, export))
            .await?
            .into_iter()
            .for_each(|(table, n)| add(&mut counts, &table, n));
        // Covers shares that were created during the first notifications.
        for (done, other) in others.iter().enumerate() {
            self.let_go_of(other, user, &mut counts).await?;
            progress(others.len() + done + 1, all);
        }
        self.forget_older(user, &mut counts).await?;
        let said: Vec<String> = counts.iter().map(|(table, rows)| format!("{table} {rows}")).collect();
        let mut tx = self.on_host(user).await?;
        tx.audit(AuditedAction::UserRemoved, &said.join(", ")).await?;
        tx.commit().await?;
        Ok(counts)
    }

    /// Deletes a user's secrets in the vault.
    async fn leave_vault(&self, user: &UserId, secrets: &Secrets) -> Result<u64, SecretError> {
        let mut those: Vec<(String, String)> = self.older_in_vault(user).await?;
        let mut tx = self.on_host(user).await?;
        let sql = "SELECT memory FROM memory_secrets WHERE owner = $1 AND place = 'vault'
             UNION SELECT memory FROM vault_writes WHERE owner = $1 UNION SELECT memory FROM vault_removals WHERE owner = $1";
        let memories: Vec<Uuid> = tx.values(sql, args![user.as_str()]).await.map_err(DbError::from)?;
        drop(tx);
        those.extend(memories.into_iter().map(|memory| (user.as_str().to_owned(), memory.to_string())));
        if those.is_empty() {
            return Ok(0);
        }
        let vault = secrets.vault().ok_or(SecretError::NoVault)?;
        for (name, id) in &those {
            vault.delete(&vault.template().path(name, id)?).await?;
        }
        Ok(those.len() as u64)
    }

    /// Deletes the rows of a user in one transaction.
    async fn remove_own(&self, user: &UserId, export: Option<&dyn ExportTo>) -> Result<Counts, DbError> {
        let mut counts = Counts::new();
        let mut tx = self.on_host(user).await?;
        // No time limit. The lock on the user's row blocks further writes and shares, and waits for running ones.
        let held = "SELECT user_id FROM users WHERE user_id = $1 FOR UPDATE";
        tx.run(held, args![user.as_str()]).await?;
        let sql = "SELECT set_config('statement_timeout', '0', true), pg_advisory_xact_lock(hashtextextended($1, 0))";
        tx.run(sql, args![user.as_str()]).await?;
        // Every acknowledged write is visible here, and no other one can begin.
        if let Some(export) = export {
            tx.write_down(export).await?;
        }
        let sql = "SELECT DISTINCT grantee FROM tag_shares WHERE owner = $1";
        let grantees: Vec<String> = tx.values(sql, args![user.as_str()]).await?;
        for grantee in grantees {
            tx.invitations_changed(&grantee.parse()?);
        }
        for (table, column) in tx.own_tables().await? {
            let sql = AssertSqlSafe(format!("DELETE FROM {table} WHERE {column} = $1"));
            let rows = tx.run(sql, args![user.as_str()]).await?.rows_affected();
            add(&mut counts, table, rows);
        }
        tx.commit().await?;
        Ok(counts)
    }

    /// Removes the user's name from another account, and notifies that user's machines.
    async fn let_go_of(&self, other: &UserId, user: &UserId, counts: &mut Counts) -> Result<(), DbError> {
        let done = unless_overtaken(|| async {
            let mut tx = self.on_host(other).await?;
            let done = tx.let_go_of(user).await?;
            if !done.is_empty() {
                tx.commit().await?;
            }
            Ok::<_, DbError>(done)
        });
        done.await?.iter().for_each(|(table, rows)| add(counts, &of_others(table), *rows));
        Ok(())
    }
}

impl UserTx {
    async fn write_down(&mut self, export: &dyn ExportTo) -> Result<(), DbError> {
        export.begin()?;
        let mut page = self.own_after(None).await?;
        while let Some(last) = page.last() {
            for view in page.iter().filter_map(MemoryView::of) {
                export.line(&serde_json::to_string(&view).map_err(|error| DbError::Row(error.to_string()))?)?;
            }
            page = self.own_after(Some(last.row.memory)).await?;
        }
        Ok(export.end()?)
    }

    /// The tables in [`OWN`] that exist.
    async fn own_tables(&mut self) -> Result<Vec<(&'static str, &'static str)>, DbError> {
        let sql = "SELECT name FROM unnest($1::text[]) name WHERE to_regclass(name) IS NOT NULL";
        let there: Vec<String> = self.tx.values(sql, args![OWN.map(|(table, _)| table).as_slice()]).await?;
        Ok(OWN.into_iter().filter(|(table, _)| there.iter().any(|name| name == table)).collect())
    }

    async fn let_go_of(&mut self, gone: &UserId) -> Result<Vec<(&'static str, u64)>, DbError> {
        let me = self.user.as_str().to_owned();
        let mut done = Vec::new();
        for (table, sql) in [
            ("memory_shares", "DELETE FROM memory_shares WHERE owner = $1 AND grantee = $2"),
            ("tag_shares", "DELETE FROM tag_shares WHERE owner = $1 AND grantee = $2"),
            ("mutes", "DELETE FROM mutes WHERE user_id = $1 AND owner = $2"),
            ("purges", "UPDATE purges SET told = array_remove(told, $2) WHERE owner = $1 AND $2 = ANY (told)"),
        ] {
            let rows = self.tx.run(sql, args![&me, gone.as_str()]).await?.rows_affected();
            done.push((table, rows));
        }
        // Texts that the user wrote in other memories stay, and remain texts of another author.
        let sql = "UPDATE memories SET edited_by = $3, rev = rev + 1 WHERE owner = $1 AND edited_by = $2 RETURNING id";
        let edited = self.tx.all(sql, args![&me, gone.as_str(), GONE]).await?;
        for row in &edited {
            let memory = MemoryUuid::from_uuid(row.try_get("id")?);
            let audience = self.audience(&me, memory).await?;
            self.told_all(audience, memory);
        }
        // Shared memories disappear: machines receive this, and the row names nobody.
        let sql = "DELETE FROM feed WHERE user_id = $1 AND owner = $2 RETURNING memory";
        let shared: Vec<Uuid> = self.tx.values(sql, args![&me, gone.as_str()]).await?;
        if !shared.is_empty() {
            // Stored indexes contain words of the removed memories.
            self.drop_indexes(&[]);
        }
        for memory in &shared {
            self.told.add(vec![me.clone()], "", MemoryUuid::from_uuid(*memory));
        }
        done.push(("memories", edited.len() as u64));
        done.push(("feed", shared.len() as u64));
        done.retain(|(_, rows)| *rows > 0);
        Ok(done)
    }
}
