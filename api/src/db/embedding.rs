//! Embeddings in rows: which are missing, which come from a machine and are unchecked, and which machines are
//! distrusted.
//!
//! An embedding from a machine is used only for its own user until the server has computed the same embedding.

use std::collections::BTreeSet;

use sqlx::Row as _;
use tessera_engine::domain::MemoryUuid;
use tessera_engine::embedding::{ENCODER_VERSION, Embedding};
use tessera_engine::sync::SentEmbedding;
use uuid::Uuid;

use super::verbs::{Ask as _, args};
use super::{AuditedAction, Db, DbError, UserId, UserTx, unless_overtaken};

/// The encoder version of a row's embedding, as the index of pending rows stores it. The version is empty if the row
/// has no embedding, or only an embedding of an earlier text. If a newer server computed an embedding, it is kept.
macro_rules! made_by {
    () => {
        "(CASE WHEN embedding_rev = content_rev THEN substring(embedding FROM 1 FOR 1) ELSE ''::bytea END)"
    };
}

/// The embeddings that the transaction's user may use: all own ones, and checked ones of other users.
macro_rules! believed {
    ($memories:literal) => {
        concat!(
            "CASE WHEN ",
            $memories,
            ".embedding_rev = ",
            $memories,
            ".content_rev AND (",
            $memories,
            ".embedding_key IS NULL OR ",
            $memories,
            ".owner = (SELECT uid())) THEN ",
            $memories,
            ".embedding ELSE ''::bytea END AS embedding"
        )
    };
}
pub(crate) use believed;

/// Of the embeddings from machines, the server checks one in this number, on average.
const SAMPLE: u32 = 16;

/// An embedding that a machine sent with a change.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) embedding: SentEmbedding,
    /// The machine's key.
    pub(crate) key: String,
}

impl Sent {
    /// Checks are random, so machines cannot predict them.
    pub(super) fn is_sampled() -> bool {
        getrandom::u32().map_or(true, |number| number % SAMPLE == 0)
    }
}

/// A text whose embedding is missing.
#[derive(Debug, Clone)]
pub(crate) struct PendingEmbedding {
    id: Uuid,
    content_rev: i64,
    pub(crate) content: String,
    /// The embedding that a machine sent, and the machine's API key.
    sent: Option<(Vec<u8>, String)>,
    /// The previous embedding was dropped, but machines may still have it, so they must receive the new one.
    was_dropped: bool,
}

/// The result of a batch.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Rows that now have an embedding.
    pub(crate) made: u64,
    /// Rows whose embedding from a machine was right.
    pub(crate) checked: u64,
    /// Rows whose embedding from a machine was wrong.
    pub(crate) differing: u64,
    /// Keys that are now distrusted.
    pub(crate) distrusted: u64,
}

impl Db {
    /// Some of a user's memories that need work. Memories to check come first, then memories without an embedding. In
    /// each group, the most recently changed ones come first.
    pub(crate) async fn to_make(&self, user: &UserId, most: i64) -> Result<Vec<PendingEmbedding>, DbError> {
        let mut tx = self.of(user).await?;
        let sql = concat!(
            "SELECT id, content_rev, content, sent, embedding_key, turn = 0 AND embedding_key IS NULL AS dropped FROM (
                 (SELECT 0 AS turn, id, content_rev, content, updated, embedding_key,
                      CASE WHEN embedding_rev = content_rev THEN embedding ELSE ''::bytea END AS sent
                  FROM memories WHERE owner = $1 AND state = 'live' AND embedding_check LIMIT $3)
                 UNION ALL
                 (SELECT 1, id, content_rev, content, updated, NULL, ''::bytea
                  FROM memories WHERE owner = $1 AND state = 'live' AND NOT embedding_check AND ",
            made_by!(),
            " < $2 ORDER BY updated DESC LIMIT $3)) these ORDER BY turn, updated DESC LIMIT $3"
        );
        let rows = tx.all(sql, args![user.as_str(), [ENCODER_VERSION].as_slice(), most]).await?;
        let unmade = |row: &sqlx::postgres::PgRow| {
            let (sent, key): (Vec<u8>, Option<String>) = (row.try_get("sent")?, row.try_get("embedding_key")?);
            Ok(PendingEmbedding {
                id: row.try_get("id")?,
                content_rev: row.try_get("content_rev")?,
                content: row.try_get("content")?,
                was_dropped: row.try_get("dropped")?,
                // Embeddings of another encoder cannot be compared.
                sent: key.filter(|_| Embedding::is_current(&sent)).map(|key| (sent, key)),
            })
        };
        rows.iter().map(unmade).collect()
    }

    /// Marks the user's shared memories whose embeddings are unchecked. Returns their number.
    pub(crate) async fn check_shared(&self, user: &UserId) -> Result<u64, DbError> {
        unless_overtaken(|| async {
            let mut tx = self.of(user).await?;
            let sql = "UPDATE memories SET embedding_check = true
             WHERE owner = $1 AND embedding_key IS NOT NULL AND NOT embedding_check AND state = 'live'
                 AND (EXISTS (SELECT FROM memory_shares WHERE owner = $1)
                      OR EXISTS (SELECT FROM tag_shares WHERE owner = $1 AND status = 'accepted'))
                 AND (EXISTS (SELECT FROM memory_shares s WHERE s.owner = $1 AND s.memory = memories.id)
                      OR EXISTS (SELECT FROM tag_shares s WHERE s.owner = $1 AND s.tag = ANY (memories.tags)
                                 AND s.status = 'accepted'))";
            let marked = tx.run(sql, args![user.as_str()]).await?.rows_affected();
            tx.commit().await?;
            Ok(marked)
        })
        .await
    }

    /// The number of a user's memories without an embedding.
    pub(crate) async fn waiting(&self, user: &UserId) -> Result<u64, DbError> {
        let mut tx = self.of(user).await?;
        let sql =
            concat!("SELECT count(*) FROM memories WHERE owner = $1 AND state = 'live' AND ", made_by!(), " < $2");
        Ok(tx.value::<i64>(sql, args![user.as_str(), [ENCODER_VERSION].as_slice()]).await?.unsigned_abs())
    }

    /// Stores embeddings that the server computed, unless the text changed meanwhile. Distrusts a machine whose
    /// embedding differs from the server's.
    pub(crate) async fn keep_made(&self, user: &UserId, made: &[(PendingEmbedding, Vec<u8>)]) -> Result<Kept, DbError> {
        unless_overtaken(|| self.keep_made_now(user, made)).await
    }

    async fn keep_made_now(&self, user: &UserId, made: &[(PendingEmbedding, Vec<u8>)]) -> Result<Kept, DbError> {
        let mut tx = self.of(user).await?;
        // Locks keys before memories, as a push does, to avoid deadlocks.
        let keys: BTreeSet<&str> =
            made.iter().filter_map(|(row, _)| row.sent.as_ref()).map(|(_, key)| key.as_str()).collect();
        if !keys.is_empty() {
            let sql = "SELECT FROM api_keys WHERE user_id = $1 AND key_id = ANY($2) ORDER BY key_id FOR NO KEY UPDATE";
            tx.run(sql, args![user.as_str(), Vec::from_iter(keys)]).await?;
        }
        let mut kept = Kept::default();
        let mut wrong = BTreeSet::new();
        for (row, embedding) in made {
            let sql = "UPDATE memories SET embedding = $4, embedding_rev = content_rev, embedding_key = NULL, embedding_check = false
                 WHERE owner = $1 AND id = $2 AND content_rev = $3 AND state = 'live'";
            let done = tx.run(sql, args![user.as_str(), row.id, row.content_rev, embedding]).await?;
            match &row.sent {
                _ if done.rows_affected() == 0 => {}
                None => {
                    kept.made += 1;
                    if row.was_dropped {
                        tx.tell_again(row.id);
                    }
                }
                // If the encoder cannot process the text of a memory, that says nothing about the machine.
                Some((sent, _)) if sent == embedding || Embedding::vectors(embedding).next().is_none() => {
                    kept.checked += 1;
                }
                Some((_, key)) => {
                    kept.differing += 1;
                    wrong.insert(key);
                    tx.tell_again(row.id);
                }
            }
        }
        for key in wrong {
            kept.distrusted += u64::from(tx.distrust(key).await?);
        }
        tx.commit().await?;
        Ok(kept)
    }
}

impl UserTx {
    /// Indexes contain the wrong embedding until the feed delivers the memory again. Only the owner's indexes contain
    /// the wrong embedding.
    fn tell_again(&mut self, id: Uuid) {
        let owner = self.user.as_str().to_owned();
        self.told.add(vec![owner.clone()], &owner, MemoryUuid::from_uuid(id));
    }

    /// Distrusts all embeddings of a key, past and future. Returns false if the machine was already distrusted.
    /// Machines receive new embeddings once they are computed.
    async fn distrust(&mut self, key: &str) -> Result<bool, DbError> {
        let sql = "UPDATE api_keys SET distrusted = now() WHERE user_id = $1 AND key_id = $2 AND distrusted IS NULL";
        let is_new = self.tx.run(sql, args![self.user.as_str(), key]).await?.rows_affected();
        let sql = "UPDATE memories SET embedding = '', embedding_key = NULL, embedding_check = true
             WHERE owner = $1 AND embedding_key = $2 RETURNING id";
        let dropped: Vec<Uuid> = self.tx.values(sql, args![self.user.as_str(), key]).await?;
        dropped.into_iter().for_each(|id| self.tell_again(id));
        if is_new > 0 {
            self.audit(AuditedAction::Distrusted, key).await?;
        }
        Ok(is_new > 0)
    }
}
