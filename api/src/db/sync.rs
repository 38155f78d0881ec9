//! The transactions of the sync. What an op does is decided by `tessera_engine::sync::decide`.

use sha2::{Digest, Sha256};
use sqlx::Row as _;
use tessera_engine::domain::MemoryId;
use tessera_engine::sync::{
    Action, Answer, Arrival, Decision, MOST_ROWS, News, Op, Page, Refusal, Rights, Shadow, Snapshot, copy_id, decide,
};
use uuid::Uuid;

use super::memories::{Stored, columns, stored, uuid};
use super::{Db, DbError, UserId, UserTx};

/// How often an insert is tried again that another one of the same memory came before.
pub(super) const ATTEMPTS: u32 = 5;

/// Bytes of texts in a page, about; one text more may stand in it.
const MOST_PAGE_BYTES: usize = 1024 * 1024;

impl Db {
    /// The epoch of the database.
    pub(crate) async fn epoch(&self, user: &UserId) -> Result<u64, DbError> {
        let mut tx = self.of(user).await?;
        Ok(tx.position().await?.0)
    }

    /// Carries out one op, once.
    pub(crate) async fn carry_out(&self, user: &UserId, op: &Op) -> Result<Answer, DbError> {
        for _ in 0..ATTEMPTS {
            let mut tx = self.of(user).await?;
            let Some(answer) = tx.carry_out(op).await? else { continue };
            tx.commit().await?;
            return Ok(answer);
        }
        Err(DbError::Row("a memory cannot be inserted, and is not there".into()))
    }

    /// What changed for a user after a cursor. `None` for a cursor that this database did not give.
    pub(crate) async fn changes(&self, user: &UserId, after: u64, limit: u32) -> Result<Option<Page>, DbError> {
        let mut tx = self.of(user).await?;
        if after > tx.position().await?.1 {
            return Ok(None);
        }
        let limit = limit.clamp(1, MOST_ROWS);
        let rows = sqlx::query(concat!(
            "SELECT feed.memory, feed.seq, ",
            columns!(),
            " FROM feed LEFT JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory
              WHERE feed.user_id = $1 AND feed.seq > $2 ORDER BY feed.seq LIMIT $3"
        ))
        .bind(user.as_str())
        .bind(i64::try_from(after).unwrap_or(i64::MAX))
        .bind(i64::from(limit) + 1)
        .fetch_all(&mut *tx.tx)
        .await?;
        let (mut news, mut next, mut bytes) = (Vec::new(), after, 0);
        let mut more = rows.len() > limit as usize;
        for row in rows.iter().take(limit as usize) {
            if bytes > MOST_PAGE_BYTES {
                more = true;
                break;
            }
            let memory = MemoryId::from_uuid(row.try_get::<Uuid, _>("memory")?);
            next = u64::try_from(row.try_get::<i64, _>("seq")?).unwrap_or(0);
            let arrival = match row.try_get::<Option<String>, _>("owner")? {
                Some(_) => {
                    bytes += row.try_get::<&str, _>("content")?.len();
                    Arrival::Row(Box::new(shadow(stored(row)?, next)))
                }
                None => Arrival::Gone { seq: next },
            };
            news.push(News { memory, arrival });
        }
        Ok(Some(Page { news, next, more }))
    }

    /// A page of everything a user may see, for a machine of an epoch.
    pub(crate) async fn snapshot(
        &self,
        user: &UserId,
        epoch: u64,
        after: Option<MemoryId>,
    ) -> Result<Snapshot, DbError> {
        let mut tx = self.of(user).await?;
        // Before the rows: what changes between comes once more with the feed.
        let (epoch_now, head) = tx.position().await?;
        let rows = sqlx::query(concat!(
            "SELECT feed.seq, ",
            columns!(),
            " FROM feed JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory
              WHERE feed.user_id = $1 AND feed.memory > $2 ORDER BY feed.memory LIMIT $3"
        ))
        .bind(user.as_str())
        .bind(after.map_or(Uuid::nil(), uuid))
        .bind(i64::from(MOST_ROWS))
        .fetch_all(&mut *tx.tx)
        .await?;
        let (mut shadows, mut bytes) = (Vec::new(), 0);
        for row in &rows {
            if bytes > MOST_PAGE_BYTES {
                break;
            }
            bytes += row.try_get::<&str, _>("content")?.len();
            let seq = u64::try_from(row.try_get::<i64, _>("seq")?).unwrap_or(0);
            shadows.push(shadow(stored(row)?, seq));
        }
        let is_last = rows.len() < MOST_ROWS as usize && shadows.len() == rows.len();
        let next = (!is_last).then(|| shadows.last().map(|last| last.row.memory)).flatten();
        let restored: Option<i64> =
            sqlx::query_scalar("SELECT min(seq) FROM restores WHERE user_id = $1 AND epoch > $2")
                .bind(user.as_str())
                .bind(i64::try_from(epoch).unwrap_or(i64::MAX))
                .fetch_one(&mut *tx.tx)
                .await?;
        let restored_seq = restored.map_or(u64::MAX, |seq| u64::try_from(seq).unwrap_or(0));
        Ok(Snapshot { epoch: epoch_now, restored_seq, head, rows: shadows, next })
    }
}

/// Who is told of which memory of whom.
#[derive(Debug, Default)]
pub(super) struct Told {
    those: Vec<String>,
    owners: Vec<String>,
    memories: Vec<Uuid>,
}

impl Told {
    /// Tells users of a memory.
    pub(super) fn add(&mut self, those: Vec<String>, owner: &str, memory: MemoryId) {
        for who in those {
            self.those.push(who);
            self.owners.push(owner.to_owned());
            self.memories.push(uuid(memory));
        }
    }

    /// Tells a user of memories of one owner.
    pub(super) fn of(who: &UserId, owner: &UserId, memories: impl IntoIterator<Item = MemoryId>) -> Self {
        let mut told = Self::default();
        memories.into_iter().for_each(|memory| told.add(vec![who.as_str().to_owned()], owner.as_str(), memory));
        told
    }
}

fn shadow(found: Stored, seq: u64) -> Shadow {
    Shadow { share: found.share(), row: found.row, seq }
}

impl UserTx {
    /// The epoch of the database, and the head of the user's feed.
    pub(crate) async fn position(&mut self) -> Result<(u64, u64), DbError> {
        let row = sqlx::query("SELECT epoch, (SELECT seq FROM user_seq WHERE user_id = $1) AS head FROM server_meta")
            .bind(self.user.as_str())
            .fetch_one(&mut *self.tx)
            .await?;
        let (epoch, head): (i64, Option<i64>) = (row.try_get("epoch")?, row.try_get("head")?);
        let number = |value: i64| u64::try_from(value).unwrap_or(0);
        Ok((number(epoch), number(head.unwrap_or(0))))
    }

    /// `None` when another transaction made the memory meanwhile: then all of it is to be done anew.
    async fn carry_out(&mut self, op: &Op) -> Result<Option<Answer>, DbError> {
        let body = serde_json::to_vec(op).map_err(|error| DbError::Row(error.to_string()))?;
        let Some(refused) = self.apply(op, &Sha256::digest(&body)).await? else { return Ok(None) };
        let text = match &op.action {
            Action::Create(document) => Some(&document.content),
            Action::Edit(edit) => edit.content.as_ref(),
            Action::Delete | Action::Purge => None,
        };
        let copy = match text {
            Some(text) => self.shadow(copy_id(op.memory, text)).await?,
            None => None,
        };
        let row = self.shadow(op.memory).await?;
        let answer = Answer { op_id: op.op_id, memory: op.memory, refused, row, copy };
        Ok(Some(answer))
    }

    /// Applies an op once: what it was refused for, now or the first time. `None` as [`UserTx::carry_out`].
    pub(super) async fn apply(&mut self, op: &Op, hash: &[u8]) -> Result<Option<Option<Refusal>>, DbError> {
        let is_new =
            sqlx::query("INSERT INTO applied_ops (user_id, op_id, hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
                .bind(self.user.as_str())
                .bind(uuid(op.op_id))
                .bind(hash)
                .execute(&mut *self.tx)
                .await?
                .rows_affected()
                > 0;
        if is_new {
            return self.decide(op).await;
        }
        let known = sqlx::query("SELECT hash, refused FROM applied_ops WHERE user_id = $1 AND op_id = $2")
            .bind(self.user.as_str())
            .bind(uuid(op.op_id))
            .fetch_one(&mut *self.tx)
            .await?;
        if known.try_get::<Vec<u8>, _>("hash")? != hash {
            return Ok(Some(Some(Refusal::OpReused)));
        }
        let refused: Option<String> = known.try_get("refused")?;
        let refused = refused.map(|text| serde_json::from_str::<Refusal>(&text)).transpose();
        refused.map(Some).map_err(|error| DbError::Row(error.to_string()))
    }

    async fn shadow(&mut self, id: MemoryId) -> Result<Option<Shadow>, DbError> {
        let Some(found) = self.memory(id).await? else { return Ok(None) };
        let seq: Option<i64> = sqlx::query_scalar("SELECT seq FROM feed WHERE user_id = $1 AND memory = $2")
            .bind(self.user.as_str())
            .bind(uuid(id))
            .fetch_optional(&mut *self.tx)
            .await?;
        Ok(seq.map(|seq| shadow(found, u64::try_from(seq).unwrap_or(0))))
    }

    async fn decide(&mut self, op: &Op) -> Result<Option<Option<Refusal>>, DbError> {
        let current = self.memory_to_change(op.memory).await?;
        let rights = current.as_ref().map_or(Rights::None, |found| found.rights);
        let (row, copy) = match decide(current.as_ref().map(|found| &found.row), op, rights) {
            Decision::Refuse(refusal) => {
                let text = serde_json::to_string(&refusal).map_err(|error| DbError::Row(error.to_string()))?;
                sqlx::query("UPDATE applied_ops SET refused = $3 WHERE user_id = $1 AND op_id = $2")
                    .bind(self.user.as_str())
                    .bind(uuid(op.op_id))
                    .bind(text)
                    .execute(&mut *self.tx)
                    .await?;
                return Ok(Some(Some(refusal)));
            }
            Decision::Keep => return Ok(Some(None)),
            Decision::Write { row, copy } => (row, copy),
        };
        let owner = current.as_ref().map_or_else(|| self.user.as_str().to_owned(), |found| found.owner.clone());
        self.hold_shares(&owner).await?;
        let before = if current.is_some() { self.audience(&owner, op.memory).await? } else { Vec::new() };
        match current {
            Some(_) => self.replace(&owner, &row).await?,
            None if self.insert(&row).await? => {}
            None => return Ok(None),
        }
        let mut told = Told::default();
        told.add(before, &owner, op.memory);
        told.add(self.audience(&owner, op.memory).await?, &owner, op.memory);
        if let Some(copy) = copy
            && self.insert(&copy).await?
        {
            let author = self.user.as_str().to_owned();
            told.add(self.audience(&author, copy.memory).await?, &author, copy.memory);
        }
        self.tell(told).await?;
        Ok(Some(None))
    }

    /// Tells users of memories. Counters come last in a transaction, and those of all users in one order.
    pub(super) async fn tell(&mut self, told: Told) -> Result<(), DbError> {
        let Told { those, owners, memories } = told;
        if those.is_empty() {
            return Ok(());
        }
        let query = sqlx::query("SELECT tell($1, $2, $3)").bind(those).bind(owners).bind(memories);
        query.execute(&mut *self.tx).await?;
        Ok(())
    }

    /// Until the transaction ends, nobody changes with whom an owner shares: whoever comes to see a memory by a
    /// share, or by a change of the memory, is told of it by one of the two.
    async fn hold_shares(&mut self, owner: &str) -> Result<(), DbError> {
        sqlx::query("SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))")
            .bind(owner)
            .execute(&mut *self.tx)
            .await?;
        Ok(())
    }

    /// The users who see a memory.
    pub(super) async fn audience(&mut self, owner: &str, memory: MemoryId) -> Result<Vec<String>, DbError> {
        let those: Option<Vec<String>> = sqlx::query_scalar("SELECT audience($1, $2)")
            .bind(owner)
            .bind(uuid(memory))
            .fetch_one(&mut *self.tx)
            .await?;
        Ok(those.unwrap_or_default())
    }
}
