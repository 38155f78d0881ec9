//! Migrates an installation of the older system within its own database: its tables are moved aside unchanged, and
//! every row becomes a memory like any other text.
//!
//! - [`aside`]: detects and moves the tables of the older system.
//! - [`forget`]: deletes the data of a removed user.
//! - [`names`]: gives each user of the older system a valid name.
//! - [`row`]: reads a row.
//! - [`shares`]: migrates the shares of the older system.
//! - [`write`]: writes memories in batches; finished batches stay after an interruption.
//!
//! The schema `older` also records the result of each row. A row is written and recorded in one transaction, under a
//! UUID derived from its ID, so the migration can continue.
//!
//! This file, `names` and `shares` import each other, because all of them write to the report of the migration.

mod aside;
mod forget;
mod names;
mod row;
mod shares;
mod write;

use serde::Serialize;
use sqlx::{Connection as _, PgConnection, Row as _};

use super::{Db, DbError, Patience, UserId};
use crate::db::verbs::{Ask as _, args};
use crate::secrets::{SecretError, Secrets};

pub(super) use aside::{is_aside, is_older, put_aside};
use names::Names;
use shares::Rules;

/// The lock that keeps the moving of tables and the migration of rows apart.
const LOCK: i64 = 0x7e55_e7a0_6f6c_6465;

/// The maximum number of rows that the report lists.
const MOST_TOLD: i64 = 20;

/// The result of a migration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TakenOver {
    /// Memories, deleted ones too.
    pub memories: u64,
    /// Deleted memories among these.
    pub deleted: u64,
    /// Migrated memories in which a secret was redacted.
    pub with_secrets: u64,
    /// Shares of single memories.
    pub shares: u64,
    /// Tags that are shared.
    pub tag_shares: u64,
    /// Links between memories.
    pub links: u64,
    /// Users with a new name: the old name, and the new one.
    pub renamed: Vec<(String, String)>,
    /// Users who received shares in the older system, but do not exist.
    pub unknown: Vec<String>,
    /// Differences, in words.
    pub remarks: Vec<String>,
    /// Rows that were not migrated: their number, and the first ones with the reason.
    pub left: u64,
    /// Number and reason.
    pub left_rows: Vec<(i64, String)>,
}

impl Db {
    /// Migrates the tables that [`Db::migrate`] moved aside. `None` if nothing is left to do. Each start tries the
    /// failed rows again, because an operator may have added the missing key or vault.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read or written.
    pub async fn take_over(
        &self,
        secrets: &Secrets,
        progress: impl Fn(u64, u64),
    ) -> Result<Option<TakenOver>, SecretError> {
        let mut lock = PgConnection::connect_with(&self.unlimited()).await.map_err(DbError::from)?;
        if !aside::is_open(&mut lock).await? {
            return Ok(None);
        }
        sqlx::query("SELECT pg_advisory_lock($1)").bind(LOCK).execute(&mut lock).await.map_err(DbError::from)?;
        // Another server may have finished it meanwhile.
        let is_open = aside::is_open(&mut lock).await?;
        let taken = if is_open {
            let patient = Self::connect_as(self.options.as_ref().clone(), &Patience::without_end()).await?;
            let taken = patient.take_over_now(secrets, progress).await;
            patient.pool.close().await;
            Some(taken?)
        } else {
            None
        };
        // The lock ends with the connection in any case.
        lock.close().await.map_err(DbError::from)?;
        Ok(taken)
    }

    /// True if rows are left to migrate.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub async fn has_older(&self) -> Result<bool, DbError> {
        aside::is_open(&mut *self.pool.acquire().await?).await
    }

    async fn take_over_now(&self, secrets: &Secrets, progress: impl Fn(u64, u64)) -> Result<TakenOver, SecretError> {
        let mut taken = TakenOver::default();
        let names = Names::settle(self, &mut taken).await?;
        let rules = Rules::read(self, &names, &mut taken).await?;
        let is_first = !aside::is_finished(&self.pool).await?;
        if is_first {
            self.number_users(&names).await?;
            self.keep_rules(&rules, &mut taken).await?;
        } else {
            // The earlier run reported it.
            taken = TakenOver::default();
        }
        self.take_rows(secrets, &names, &rules, is_first, &mut taken, progress).await?;
        if is_first {
            self.audit_taken().await?;
        }
        sqlx::query("UPDATE older.taking SET finished = coalesce(finished, now())")
            .execute(&self.pool)
            .await
            .map_err(DbError::from)?;
        taken.left = aside::left(&self.pool).await?;
        let rows = sqlx::query("SELECT id, problem FROM older.taken WHERE memory IS NULL ORDER BY id LIMIT $1")
            .bind(MOST_TOLD)
            .fetch_all(&self.pool)
            .await
            .map_err(DbError::from)?;
        for row in &rows {
            let left = (row.try_get("id"), row.try_get::<Option<String>, _>("problem"));
            let (id, problem) = (left.0.map_err(DbError::from)?, left.1.map_err(DbError::from)?);
            taken.left_rows.push((id, problem.unwrap_or_default()));
        }
        Ok(taken)
    }

    /// New short IDs begin above the highest old ID, because migrated memories keep their old IDs.
    async fn number_users(&self, names: &Names) -> Result<(), DbError> {
        let top: i64 = sqlx::query_scalar("SELECT top FROM older.taking").fetch_one(&self.pool).await?;
        if top == 0 {
            return Ok(());
        }
        for user in names.all() {
            let mut tx = self.begin(user).await?;
            for sql in [
                "INSERT INTO user_seq (user_id, seq) VALUES ($1, $2)
                 ON CONFLICT (user_id) DO UPDATE SET seq = greatest(user_seq.seq, excluded.seq)",
                "INSERT INTO checkpoints (user_id, seq) VALUES ($1, $2) ON CONFLICT (user_id, seq) DO NOTHING",
            ] {
                tx.run(sql, args![user.as_str(), top]).await?;
            }
            tx.commit().await?;
        }
        Ok(())
    }

    /// The new name of a user of the older system; `None` if that system did not have the user.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub async fn name_of_older(&self, name: &str) -> Result<Option<UserId>, DbError> {
        let mut conn = self.pool.acquire().await?;
        if !is_aside(&mut conn).await? {
            return Ok(None);
        }
        let found: Option<String> =
            conn.maybe_value("SELECT name FROM older.names WHERE older = $1", args![name]).await?;
        found.map(|name| name.parse()).transpose()
    }
}
