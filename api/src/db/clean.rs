//! Deletes change records that no machine will send again, feed entries about deleted memories that every machine has
//! read, and checkpoints that every machine has passed.
//!
//! If a machine returns later, the database does not know its newest checkpoint. The machine then compares all
//! memories, as after a restore (docs/decisions/0008-restores-and-authors.md). Tombstones of the user's own memories
//! stay, because absence does not prove a deletion.

use std::time::Duration;

use sqlx::Row as _;

use super::verbs::{Ask as _, args};
use super::{Db, DbError, UserId, UserTx, unless_overtaken};

/// A change record is deleted after 30 days, if every active machine has requested changes since then.
const OP_DAYS: i32 = 30;
/// Days without a request after which the server stops waiting for a machine; `machines_informed()` in SQL uses the same number.
const SILENT_DAYS: i32 = 90;
/// Days after which a machine is forgotten.
const MACHINE_DAYS: i32 = 365;
/// The number of checkpoints that are kept although every machine has passed them. These checkpoints identify a machine
/// that was restored from a backup.
const MOST_CHECKPOINTS: i64 = 1_000;
/// Rows of one transaction.
const BATCH: i64 = 1_000;
/// The pause between two transactions, so that requests go first.
const PAUSE: Duration = Duration::from_millis(20);

/// The result of the cleanup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Ops that were carried out.
    pub ops: u64,
    /// Feed entries about memories that are no longer shared.
    pub gone: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Machines.
    pub machines: u64,
}

impl Cleaned {
    fn add(&mut self, other: Self) {
        self.ops += other.ops;
        self.gone += other.gone;
        self.checkpoints += other.checkpoints;
        self.machines += other.machines;
    }

    /// True where there was nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Db {
    /// Returns true for only one replica, and only if no replica has cleaned up within the given time.
    pub(crate) async fn is_to_clean(&self, every: Duration) -> Result<bool, DbError> {
        let sql = "UPDATE server_meta SET cleaned = now() WHERE cleaned < now() - make_interval(secs => $1)";
        Ok(sqlx::query(sql).bind(every.as_secs_f64()).execute(&self.pool).await?.rows_affected() > 0)
    }

    /// Cleans up the accounts of all users, in short transactions.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written. Finished transactions stay.
    pub async fn clean_all(&self) -> Result<Cleaned, DbError> {
        let mut all = Cleaned::default();
        for user in self.users().await? {
            all.add(self.clean_of(&user.parse()?).await?);
        }
        Ok(all)
    }

    async fn clean_of(&self, user: &UserId) -> Result<Cleaned, DbError> {
        let mut all = Cleaned::default();
        loop {
            let some = unless_overtaken(|| self.clean_some(user)).await?;
            if some.is_empty() {
                return Ok(all);
            }
            all.add(some);
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn clean_some(&self, user: &UserId) -> Result<Cleaned, DbError> {
        let mut tx = self.on_host(user).await?;
        let sql = "SELECT pg_try_advisory_xact_lock(hashtextextended('clean ' || $1, 0))";
        let is_alone: bool = tx.value(sql, args![user.as_str()]).await?;
        if !is_alone {
            return Ok(Cleaned::default());
        }
        let (machines, ops) = (tx.forget_machines().await?, tx.forget_ops().await?);
        let (gone, mut checkpoints) = tx.forget_gone().await?;
        checkpoints += tx.forget_checkpoints().await?;
        let cleaned = Cleaned { ops, gone, checkpoints, machines };
        // Releases the lock at once, even if nothing was deleted.
        tx.commit().await?;
        if !cleaned.is_empty() {
            for (what, rows) in
                [("applied_ops", ops), ("feed", gone), ("checkpoints", checkpoints), ("fetched", machines)]
            {
                metrics::counter!("tessera_cleaned_rows_total", "table" => what).increment(rows);
            }
        }
        Ok(cleaned)
    }
}

impl UserTx {
    async fn forget_machines(&mut self) -> Result<u64, DbError> {
        let sql = "DELETE FROM fetched WHERE user_id = $1 AND asked < now() - make_interval(days => $2)";
        let done = self.tx.run(sql, args![self.user.as_str(), MACHINE_DAYS]).await?;
        Ok(done.rows_affected())
    }

    async fn forget_ops(&mut self) -> Result<u64, DbError> {
        let sql = "DELETE FROM applied_ops WHERE user_id = $1 AND op_id IN (
                 SELECT op_id FROM applied_ops o WHERE user_id = $1 AND at < now() - make_interval(days => $2)
                     AND NOT EXISTS (SELECT FROM fetched f WHERE f.user_id = $1
                         AND f.asked > now() - make_interval(days => $3) AND f.asked <= o.at) LIMIT $4)";
        let done = self.tx.run(sql, args![self.user.as_str(), OP_DAYS, SILENT_DAYS, BATCH]).await?;
        Ok(done.rows_affected())
    }

    /// The feed position that every active machine has passed; the head of the feed if there is no active machine.
    async fn passed(&mut self) -> Result<i64, DbError> {
        let sql = "SELECT least(s.seq, coalesce((SELECT min(after) FROM fetched WHERE user_id = $1
                 AND asked > now() - make_interval(days => $2)), s.seq)) FROM user_seq s WHERE s.user_id = $1";
        Ok(self.tx.maybe_value(sql, args![self.user.as_str(), SILENT_DAYS]).await?.unwrap_or(0))
    }

    /// Deletes feed entries about memories that the user no longer sees, and the checkpoints of machines that may not
    /// have read them. Only the last feed number of a transaction has a checkpoint. So the deletion ends at the last
    /// checkpoint before the position of the slowest machine.
    async fn forget_gone(&mut self) -> Result<(u64, u64), DbError> {
        let passed = self.passed().await?;
        let sql = "SELECT max(seq) FROM checkpoints WHERE user_id = $1 AND seq < $2";
        let until: Option<i64> = self.tx.value(sql, args![self.user.as_str(), passed]).await?;
        let Some(until) = until else { return Ok((0, 0)) };
        let sql = "DELETE FROM feed WHERE user_id = $1 AND seq <= $2 AND owner <> $1 AND (owner, memory) IN (
                 SELECT f.owner, f.memory FROM feed f WHERE f.user_id = $1 AND f.seq <= $2 AND f.owner <> $1
                     AND NOT EXISTS (SELECT FROM memories m WHERE m.owner = f.owner AND m.id = f.memory) LIMIT $3)
             RETURNING seq";
        let gone = self.tx.all(sql, args![self.user.as_str(), until, BATCH]).await?;
        let mut last: Option<i64> = None;
        for row in &gone {
            last = last.max(Some(row.try_get("seq")?));
        }
        let Some(last) = last else { return Ok((0, 0)) };
        let sql = "DELETE FROM checkpoints WHERE user_id = $1
                 AND seq <= (SELECT min(seq) FROM checkpoints WHERE user_id = $1 AND seq >= $2)";
        let checkpoints = self.tx.run(sql, args![self.user.as_str(), last]).await?;
        Ok((gone.len() as u64, checkpoints.rows_affected()))
    }

    async fn forget_checkpoints(&mut self) -> Result<u64, DbError> {
        let passed = self.passed().await?;
        let sql = "DELETE FROM checkpoints WHERE user_id = $1 AND seq < (
                 SELECT seq FROM checkpoints WHERE user_id = $1 AND seq < $2 ORDER BY seq DESC OFFSET $3 LIMIT 1)";
        let done = self.tx.run(sql, args![self.user.as_str(), passed, MOST_CHECKPOINTS - 1]).await?;
        Ok(done.rows_affected())
    }
}
