//! Recall indexes that servers stored in the database. A server that loads a stored index processes only the changes
//! since then. Stored indexes are a cache. A permanent deletion of a memory removes the indexes that may contain it.

use sqlx::Row as _;
use tessera_engine::sync::Checkpoint;

use super::verbs::{Ask as _, args};
use super::{Db, DbError, Position, UserId, UserTx};

/// The version of the code that builds indexes from rows. The snapshot format has its own version.
const FORM: i32 = 1;

/// An index of a user.
#[derive(Debug, Clone)]
pub(crate) struct KeptIndex {
    /// True if the index contains embeddings.
    pub(crate) by_embedding: bool,
    pub(crate) epoch: u64,
    /// The index contains the feed up to this position.
    pub(crate) seq: u64,
    /// The checkpoint at this position.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// The time up to which access counts are included, in microseconds.
    pub(crate) used: i64,
    /// Data of the index that the snapshot does not contain.
    pub(crate) beside: Vec<u8>,
    pub(crate) snapshot: Vec<u8>,
}

impl UserTx {
    /// Returns the user's stored index, if the same version of the indexing code built it, with or without embeddings
    /// as requested.
    pub(crate) async fn kept_index(&mut self, by_embedding: bool) -> Result<Option<KeptIndex>, DbError> {
        let sql = "SELECT epoch, seq, stamp, used, beside, snapshot FROM index_cache
                   WHERE user_id = $1 AND form = $2 AND by_embedding = $3";
        let Some(row) = self.tx.maybe(sql, args![self.user.as_str(), FORM, by_embedding]).await? else {
            return Ok(None);
        };
        let number =
            |name: &str| -> Result<u64, DbError> { Ok(u64::try_from(row.try_get::<i64, _>(name)?).unwrap_or(0)) };
        let seq = number("seq")?;
        let stamp: Option<i64> = row.try_get("stamp")?;
        Ok(Some(KeptIndex {
            by_embedding,
            epoch: number("epoch")?,
            seq,
            checkpoint: stamp.map(|stamp| Checkpoint { seq, stamp }),
            used: row.try_get("used")?,
            beside: row.try_get("beside")?,
            snapshot: row.try_get("snapshot")?,
        }))
    }
}

impl Db {
    /// Stores an index, if the user's data did not change since it was read, and Citus is not used. Otherwise returns
    /// false.
    pub(crate) async fn keep_index(&self, user: &UserId, index: &KeptIndex) -> Result<bool, DbError> {
        // With Citus, the function could not know the machine of the rows.
        if self.is_spread {
            return Ok(false);
        }
        let mut tx = self.of(user).await?;
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let sql = "SELECT keep_index($1, $2, $3, $4, $5, $6, $7, $8)";
        let is_kept: bool = tx
            .value(
                sql,
                args![
                    FORM,
                    index.by_embedding,
                    signed(index.epoch),
                    signed(index.seq),
                    index.checkpoint.map(|checkpoint| checkpoint.stamp),
                    index.used,
                    &index.beside,
                    &index.snapshot
                ],
            )
            .await?;
        tx.commit().await?;
        Ok(is_kept)
    }
}

impl Position {
    /// The position of a stored index.
    pub(crate) fn of_kept(index: &KeptIndex) -> Self {
        Self { epoch: index.epoch, head: index.seq, checkpoint: index.checkpoint, common: None }
    }
}
