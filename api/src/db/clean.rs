//! What grows and is needed no more: ops that nobody sends again, news of what is gone that every machine has heard, marks of a
//! history that every machine has passed.
//!
//! A machine that comes back after all that is told by its marks. With the news that it has not heard go the marks of that time:
//! the database does not know its newest one, so it compares all it has, as after a restore (docs/decisions/0008-restores-and-authors.md).
//! What proves a deletion of the user's own stays for good: absence proves none.

use std::time::Duration;

use sqlx::Row as _;

use super::verbs::{Ask as _, args};
use super::{Db, DbError, UserId, UserTx, unless_overtaken};

/// Days after which an op is forgotten that every machine has asked since.
const OP_DAYS: i32 = 30;
/// Days after which a machine that asks for nothing is waited for no more; those of `heard()` are as many.
const SILENT_DAYS: i32 = 90;
/// Days after which it is forgotten.
const MACHINE_DAYS: i32 = 365;
/// Marks that are kept of what every machine has passed: by these one is known that was taken back with its database.
const MARKS: i64 = 1_000;
/// Rows of one transaction.
const BATCH: i64 = 1_000;
/// Between two transactions: whoever asks meanwhile goes first.
const PAUSE: Duration = Duration::from_millis(20);

/// What was cleaned up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Ops that were carried out.
    pub ops: u64,
    /// News of what others share no longer.
    pub gone: u64,
    /// Marks.
    pub marks: u64,
    /// Machines.
    pub machines: u64,
}

impl Cleaned {
    fn add(&mut self, other: Self) {
        self.ops += other.ops;
        self.gone += other.gone;
        self.marks += other.marks;
        self.machines += other.machines;
    }

    /// True where there was nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Db {
    /// True for the one replica that is to clean up now: none did for as long as this.
    pub(crate) async fn is_to_clean(&self, every: Duration) -> Result<bool, DbError> {
        let sql = "UPDATE server_meta SET cleaned = now() WHERE cleaned < now() - make_interval(secs => $1)";
        Ok(sqlx::query(sql).bind(every.as_secs_f64()).execute(&self.pool).await?.rows_affected() > 0)
    }

    /// Cleans up what grows in the accounts of all users, in short transactions.
    ///
    /// # Errors
    /// When the database cannot be written. What was done is done.
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
        let (gone, mut marks) = tx.forget_gone().await?;
        marks += tx.forget_marks().await?;
        let cleaned = Cleaned { ops, gone, marks, machines };
        // Where nothing was done too: the lock goes at once, not when the connection is next used.
        tx.commit().await?;
        if !cleaned.is_empty() {
            for (what, rows) in [("applied_ops", ops), ("feed", gone), ("marks", marks), ("fetched", machines)] {
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

    /// The place in the feed that every machine has passed which asks at all; its head, where none does.
    async fn passed(&mut self) -> Result<i64, DbError> {
        let sql = "SELECT least(s.seq, coalesce((SELECT min(after) FROM fetched WHERE user_id = $1
                 AND asked > now() - make_interval(days => $2)), s.seq)) FROM user_seq s WHERE s.user_id = $1";
        Ok(self.tx.maybe_value(sql, args![self.user.as_str(), SILENT_DAYS]).await?.unwrap_or(0))
    }

    /// News of memories of others that are not there for the user, with the marks of whoever may not have heard it. The mark of
    /// a transaction stands at its last number: what every machine has passed ends at a mark before the place of the slowest.
    async fn forget_gone(&mut self) -> Result<(u64, u64), DbError> {
        let passed = self.passed().await?;
        let sql = "SELECT max(seq) FROM marks WHERE user_id = $1 AND seq < $2";
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
        let sql = "DELETE FROM marks WHERE user_id = $1
                 AND seq <= (SELECT min(seq) FROM marks WHERE user_id = $1 AND seq >= $2)";
        let marks = self.tx.run(sql, args![self.user.as_str(), last]).await?;
        Ok((gone.len() as u64, marks.rows_affected()))
    }

    async fn forget_marks(&mut self) -> Result<u64, DbError> {
        let passed = self.passed().await?;
        let sql = "DELETE FROM marks WHERE user_id = $1 AND seq < (
                 SELECT seq FROM marks WHERE user_id = $1 AND seq < $2 ORDER BY seq DESC OFFSET $3 LIMIT 1)";
        let done = self.tx.run(sql, args![self.user.as_str(), passed, MARKS - 1]).await?;
        Ok(done.rows_affected())
    }
}
