//! Transactions of the sync. `tessera_engine::sync::decide` decides the outcome of a change.

use std::collections::BTreeMap;

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::domain::MemoryUuid;
use tessera_engine::sync::{Arrival, BaseVersion, Checkpoint, MOST_ROWS, News, Page, SentEmbedding, Snapshot};
use uuid::Uuid;

use super::memories::{Stored, seen, stored, uuid};
use super::verbs::{Ask as _, args};
use super::{Db, DbError, UserId, UserTx};

/// How often an insert is repeated after another transaction inserted the same memory.
pub(super) const ATTEMPTS: u32 = 5;

/// The approximate maximum page size in bytes. The last text of a page may exceed it.
pub(super) const MOST_PAGE_BYTES: i64 = 1024 * 1024;

impl Db {
    /// The user's position, if the machine's generation and checkpoints come from this database.
    pub(crate) async fn known(
        &self,
        user: &UserId,
        epoch: u64,
        checkpoints: &[Checkpoint],
    ) -> Result<Option<Position>, DbError> {
        let position = self.of(user).await?.history(checkpoints).await?;
        Ok(Some(position).filter(|position| position.epoch == epoch && position.knows(checkpoints)))
    }

    /// Changes for a user after a cursor, if the machine knows this database; otherwise `None`.
    pub(crate) async fn changes(
        &self,
        user: &UserId,
        epoch: u64,
        checkpoints: &[Checkpoint],
        after: u64,
        limit: u32,
    ) -> Result<Option<Page>, DbError> {
        let mut tx = self.of(user).await?;
        let position = tx.history(checkpoints).await?;
        if position.epoch != epoch || !position.knows(checkpoints) || after > position.head {
            return Ok(None);
        }
        let limit = limit.clamp(1, MOST_ROWS);
        let rows = tx.told_after(after, i64::from(limit) + 1).await?;
        let (mut news, mut embeddings, mut next, mut bytes) = (Vec::new(), BTreeMap::new(), after, 0);
        let mut more = rows.len() > limit as usize;
        // The counter may have moved without a memory. No smaller number than the head can appear later.
        let head = position.head;
        for told in rows.iter().take(limit as usize) {
            if bytes > MOST_PAGE_BYTES {
                more = true;
                break;
            }
            let memory = told.memory;
            next = told.seq;
            let arrival = match &told.row {
                Some(row) => {
                    bytes += bytes_of(row)?;
                    embeddings.extend(embedding_of(row)?.map(|embedding| (memory, embedding)));
                    Arrival::Row(Box::new(base_version(stored(row)?, next)))
                }
                None => Arrival::Gone { seq: next },
            };
            news.push(News { memory, arrival });
        }
        if !more {
            next = next.max(head);
        }
        let checkpoint = tx.checkpoint_from(next).await?;
        let invitations = if more { None } else { Some(tx.invitations().await?) };
        Ok(Some(Page { news, next, more, checkpoint, invitations, embeddings, keeps_secrets: false }))
    }

    /// A page of everything that a user may see, and the newest checkpoint that both sides know.
    pub(crate) async fn snapshot(
        &self,
        user: &UserId,
        checkpoints: &[Checkpoint],
        after: Option<MemoryUuid>,
    ) -> Result<Snapshot, DbError> {
        let mut tx = self.of(user).await?;
        // Read before the rows: changes in between appear again in the feed.
        let position = tx.history(checkpoints).await?;
        let rows = tx.told_from(after, i64::from(MOST_ROWS)).await?;
        let (mut base_versions, mut embeddings, mut bytes, mut last) = (Vec::new(), BTreeMap::new(), 0, None);
        let mut is_cut = rows.len() == MOST_ROWS as usize;
        for told in &rows {
            if bytes > MOST_PAGE_BYTES {
                is_cut = true;
                break;
            }
            last = Some(told.memory);
            let Some(row) = &told.row else { continue };
            bytes += bytes_of(row)?;
            embeddings.extend(embedding_of(row)?.map(|embedding| (told.memory, embedding)));
            base_versions.push(base_version(stored(row)?, told.seq));
        }
        let next = last.filter(|_| is_cut);
        let Position { epoch, head, checkpoint, common } = position;
        // Without checkpoints nothing is known to be common, so the machine compares everything.
        let restored_seq = common.unwrap_or(0);
        Ok(Snapshot { epoch, restored_seq, head, rows: base_versions, checkpoint, next, embeddings })
    }
}

/// The size of a row on a page: its text and its encoded embedding.
pub(super) fn bytes_of(row: &PgRow) -> Result<i64, DbError> {
    let vectors = row.try_get::<&[u8], _>("embedding")?.len().div_ceil(3) * 4;
    Ok(i64::try_from(row.try_get::<&str, _>("content")?.len() + vectors).unwrap_or(i64::MAX))
}

/// The embedding of a row, if it has one.
fn embedding_of(row: &PgRow) -> Result<Option<SentEmbedding>, DbError> {
    let kept: &[u8] = row.try_get("embedding")?;
    Ok(SentEmbedding::of(kept))
}

/// The position of a user's feed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Position {
    pub(crate) epoch: u64,
    /// The head of the user's feed.
    pub(crate) head: u64,
    /// The checkpoint of the head.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// The newest checkpoint of the machine that this database knows.
    pub(super) common: Option<u64>,
}

impl Position {
    /// True if a machine with this cursor and these checkpoints has everything that the database had when the request
    /// arrived.
    pub(crate) fn is_known_to(&self, epoch: u64, after: u64, checkpoints: &[Checkpoint]) -> bool {
        let newest = checkpoints.iter().max_by_key(|checkpoint| checkpoint.seq);
        self.epoch == epoch && self.head == after && self.checkpoint.is_some() && self.checkpoint.as_ref() == newest
    }

    /// True if this database issued the newest of the machine's checkpoints. Also true without checkpoints.
    pub(crate) fn knows(&self, checkpoints: &[Checkpoint]) -> bool {
        checkpoints.iter().map(|checkpoint| checkpoint.seq).max().is_none_or(|newest| self.common == Some(newest))
    }
}

/// The notifications to write: for each, the user, the owner and the changed memory.
#[derive(Debug, Default)]
pub(super) struct Told {
    those: Vec<String>,
    owners: Vec<String>,
    /// The changed memory. `None` if only the user's counter must increase.
    memories: Vec<Option<Uuid>>,
}

impl Told {
    /// Tells users of a memory.
    pub(super) fn add(&mut self, those: Vec<String>, owner: &str, memory: MemoryUuid) {
        for who in those {
            self.those.push(who);
            self.owners.push(owner.to_owned());
            self.memories.push(Some(uuid(memory)));
        }
    }

    /// Increases a user's counter for a change that concerns no memory.
    fn add_change(&mut self, who: &str) {
        self.those.push(who.to_owned());
        self.owners.push(String::new());
        self.memories.push(None);
    }

    fn is_empty(&self) -> bool {
        self.those.is_empty()
    }
}

pub(super) fn base_version(found: Stored, seq: u64) -> BaseVersion {
    let found = seen(found);
    BaseVersion { share: found.share(), row: found.row, seq }
}

impl UserTx {
    /// The user's position in the feed, and the newest checkpoint that the machine and the database know.
    pub(crate) async fn history(&mut self, checkpoints: &[Checkpoint]) -> Result<Position, DbError> {
        let (seqs, stamps): (Vec<i64>, Vec<i64>) = checkpoints
            .iter()
            .map(|checkpoint| (i64::try_from(checkpoint.seq).unwrap_or(i64::MAX), checkpoint.stamp))
            .unzip();
        let sql = "SELECT epoch, (SELECT seq FROM user_seq WHERE user_id = $1) AS head,
                 (SELECT stamp FROM checkpoints WHERE user_id = $1 AND seq = (SELECT seq FROM user_seq WHERE user_id = $1)) AS stamp,
                 (SELECT max(known.seq) FROM unnest($2::bigint[], $3::bigint[]) AS known (seq, stamp)
                      WHERE known.seq <= (SELECT seq FROM user_seq WHERE user_id = $1)
                          AND known.stamp = (SELECT stamp FROM checkpoints WHERE user_id = $1 AND seq = known.seq)) AS common
             FROM server_meta";
        let row = self.tx.one(sql, args![self.user.as_str(), seqs, stamps]).await?;
        let number = |value: i64| u64::try_from(value).unwrap_or(0);
        let (head, stamp): (Option<i64>, Option<i64>) = (row.try_get("head")?, row.try_get("stamp")?);
        let head = number(head.unwrap_or(0));
        let common: Option<i64> = row.try_get("common")?;
        Ok(Position {
            epoch: number(row.try_get("epoch")?),
            head,
            checkpoint: stamp.map(|stamp| Checkpoint { seq: head, stamp }),
            common: common.map(number),
        })
    }

    /// Returns the first checkpoint at or after a number. Usually, the transaction that assigned the number stored it;
    /// if it was deleted, it is a later one.
    async fn checkpoint_from(&mut self, seq: u64) -> Result<Option<Checkpoint>, DbError> {
        let sql = "SELECT seq, stamp FROM checkpoints WHERE user_id = $1 AND seq >= $2 ORDER BY seq LIMIT 1";
        let found = self.tx.maybe(sql, args![self.user.as_str(), i64::try_from(seq).unwrap_or(i64::MAX)]).await?;
        let checkpoint = |row: PgRow| -> Result<Checkpoint, DbError> {
            Ok(Checkpoint {
                seq: u64::try_from(row.try_get::<i64, _>("seq")?).unwrap_or(0),
                stamp: row.try_get("stamp")?,
            })
        };
        found.map(checkpoint).transpose()
    }

    /// Adds memories of one owner to the notifications of a user.
    pub(super) fn told_of(&mut self, who: &UserId, owner: &UserId, memories: impl IntoIterator<Item = MemoryUuid>) {
        for memory in memories {
            self.told.add(vec![who.as_str().to_owned()], owner.as_str(), memory);
        }
    }

    /// Adds a notification that invitations changed. No memory changed, but the user's machines must fetch the
    /// invitations.
    pub(super) fn invitations_changed(&mut self, who: &UserId) {
        self.told.add_change(who.as_str());
    }

    /// Adds a memory of the user to the notifications of other users.
    pub(super) fn told_all(&mut self, those: Vec<String>, memory: MemoryUuid) {
        let owner = self.user.as_str().to_owned();
        self.told.add(those, &owner, memory);
    }

    /// Writes the notifications. A transaction updates the counters last and in the order of user names, so that
    /// transactions cannot deadlock.
    pub(super) async fn tell(&mut self) -> Result<(), DbError> {
        if !self.told.is_empty() {
            let Told { those, owners, memories } = std::mem::take(&mut self.told);
            self.changed.extend(owners.iter().filter(|owner| !owner.is_empty()).cloned());
            self.tx.run("SELECT notify_users($1, $2, $3)", args![those, owners, memories]).await?;
        }
        // Last, so that nobody stores an index while the counters are locked.
        if !self.dropped.is_empty() {
            let those: Vec<String> = std::mem::take(&mut self.dropped).into_iter().collect();
            self.tx.run("SELECT drop_indexes($1)", args![those]).await?;
        }
        Ok(())
    }

    /// Deletes the stored indexes of these users and of the transaction's user, because they contain a deleted text.
    pub(super) fn drop_indexes(&mut self, those: &[String]) {
        self.dropped.extend(those.iter().cloned());
        self.dropped.insert(self.user.as_str().to_owned());
    }

    /// Deletes the stored indexes of users who lose access to a memory. A later permanent deletion would not reach
    /// these indexes.
    pub(super) fn drop_indexes_of(&mut self, those: impl IntoIterator<Item = String>) {
        self.dropped.extend(those);
    }

    /// The users who see a memory.
    pub(super) async fn audience(&mut self, owner: &str, memory: MemoryUuid) -> Result<Vec<String>, DbError> {
        let those: Option<Vec<String>> = self.tx.value("SELECT audience($1, $2)", args![owner, uuid(memory)]).await?;
        Ok(those.unwrap_or_default())
    }
}
