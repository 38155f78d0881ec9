//! What a user was given in full: how often, and when the last time.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::Timestamp;

use super::verbs::{Ask as _, args};
use super::{Db, DbError, UserId, UserTx, unless_overtaken};

/// The use that a user made of a memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    /// The memory's handle for this user.
    pub(crate) handle: u32,
    /// Deliveries in full.
    pub(crate) count: u32,
    /// The last one.
    pub(crate) last: Timestamp,
}

fn uses(rows: &[PgRow]) -> Result<Vec<Use>, DbError> {
    let one = |row: &PgRow| {
        Ok(Use {
            handle: u32::try_from(row.try_get::<i64, _>("handle")?).unwrap_or(u32::MAX),
            count: u32::try_from(row.try_get::<i32, _>("uses")?).unwrap_or(0),
            last: Timestamp::from_micros(row.try_get("used")?),
        })
    };
    rows.iter().map(one).collect()
}

impl Db {
    /// Counts deliveries: handles, how often each, and the time. Gives what is counted now.
    pub(crate) async fn count_uses(
        &self,
        user: &UserId,
        handles: &[i64],
        counts: &[i32],
        now: Timestamp,
    ) -> Result<Vec<Use>, DbError> {
        let counted = unless_overtaken(|| async {
            let mut tx = self.of(user).await?;
            let sql = "UPDATE feed SET uses = uses + told.count, used = $4
                 FROM unnest($2, $3) AS told (handle, count) WHERE feed.user_id = $1 AND feed.handle = told.handle
                 RETURNING feed.handle, feed.uses, feed.used";
            let rows = tx.all(sql, args![user.as_str(), handles, counts, now.as_micros()]).await?;
            tx.commit().await?;
            Ok::<_, DbError>(rows)
        });
        uses(&counted.await?)
    }
}

impl UserTx {
    /// The uses after a time, in microseconds.
    pub(crate) async fn used_since(&mut self, time: i64) -> Result<Vec<Use>, DbError> {
        let sql = "SELECT handle, uses, used FROM feed WHERE user_id = $1 AND used > $2";
        let rows = self.tx.all(sql, args![self.user.as_str(), time]).await?;
        uses(&rows)
    }
}
