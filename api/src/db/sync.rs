//! The transactions of the sync. What an op does is decided by `tessera_engine::sync::decide`.

use std::collections::BTreeMap;

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::compose::{Decided, Outcome};
use tessera_engine::domain::MemoryId;
use tessera_engine::screen::Screened;
use tessera_engine::sync::{
    Action, Answer, Arrival, MOST_ROWS, Mark, News, Op, Page, Refusal, SentMeaning, Shadow, Snapshot, State, copy_id,
};
use uuid::Uuid;

use super::current::Current;
use super::foreseen::{Foreseen, outcome_on};
use super::meaning::Sent;
use super::memories::{Stored, seen, stored, uuid};
use super::verbs::{Ask as _, args};
use super::{Caller, Db, DbError, UserId, UserTx, unless_overtaken};

/// How often an insert is tried again that another one of the same memory came before.
pub(super) const ATTEMPTS: u32 = 5;

/// Bytes of texts on a page, about; one text more may stand on it.
pub(super) const MOST_PAGE_BYTES: i64 = 1024 * 1024;

impl Db {
    /// Where the database stands for a user, if it is the one that a machine knows by an epoch and marks.
    pub(crate) async fn known(&self, user: &UserId, epoch: u64, marks: &[Mark]) -> Result<Option<Position>, DbError> {
        let position = self.of(user).await?.history(marks).await?;
        Ok(Some(position).filter(|position| position.epoch == epoch && position.knows(marks)))
    }

    /// Carries out one op, once: its hash tells another one of the same id.
    pub(crate) async fn carry_out(
        &self,
        caller: &Caller,
        op: &Screened<Op>,
        hash: &[u8],
        sent: Option<&Sent>,
    ) -> Result<Answer, DbError> {
        self.has_room_for(&caller.user, op).await?;
        let foreseen = self.foresee(caller, op).await?;
        unless_overtaken(|| self.carry_out_now(caller, op, hash, sent, &foreseen)).await
    }

    async fn carry_out_now(
        &self,
        caller: &Caller,
        op: &Screened<Op>,
        hash: &[u8],
        sent: Option<&Sent>,
        foreseen: &Foreseen,
    ) -> Result<Answer, DbError> {
        for _ in 0..ATTEMPTS {
            let mut tx = self.by(caller).await?;
            tx.sent = sent.cloned();
            let Some(answer) = tx.carry_out(op, hash, foreseen).await? else { continue };
            tx.commit().await?;
            return Ok(answer);
        }
        Err(DbError::Row("a memory cannot be inserted, and is not there".into()))
    }

    /// What changed for a user after a cursor, of a database that is the one a machine knows. `None` for another.
    pub(crate) async fn changes(
        &self,
        user: &UserId,
        epoch: u64,
        marks: &[Mark],
        after: u64,
        limit: u32,
    ) -> Result<Option<Page>, DbError> {
        let mut tx = self.of(user).await?;
        let position = tx.history(marks).await?;
        if position.epoch != epoch || !position.knows(marks) || after > position.head {
            return Ok(None);
        }
        let limit = limit.clamp(1, MOST_ROWS);
        let rows = tx.told_after(after, i64::from(limit) + 1).await?;
        let (mut news, mut meanings, mut next, mut bytes) = (Vec::new(), BTreeMap::new(), after, 0);
        let mut more = rows.len() > limit as usize;
        // A counter may have moved without a memory. No smaller number than the head can appear later.
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
                    meanings.extend(meaning_of(row)?.map(|meaning| (memory, meaning)));
                    Arrival::Row(Box::new(shadow(stored(row)?, next)))
                }
                None => Arrival::Gone { seq: next },
            };
            news.push(News { memory, arrival });
        }
        if !more {
            next = next.max(head);
        }
        let mark = tx.mark_from(next).await?;
        let offers = if more { None } else { Some(tx.offers().await?) };
        Ok(Some(Page { news, next, more, mark, offers, meanings, keeps_secrets: false }))
    }

    /// A page of everything a user may see, and how far what a machine knows by its marks is still known.
    pub(crate) async fn snapshot(
        &self,
        user: &UserId,
        marks: &[Mark],
        after: Option<MemoryId>,
    ) -> Result<Snapshot, DbError> {
        let mut tx = self.of(user).await?;
        // Before the rows: what changes between comes once more with the feed.
        let position = tx.history(marks).await?;
        let rows = tx.told_from(after, i64::from(MOST_ROWS)).await?;
        let (mut shadows, mut meanings, mut bytes, mut last) = (Vec::new(), BTreeMap::new(), 0, None);
        let mut is_cut = rows.len() == MOST_ROWS as usize;
        for told in &rows {
            if bytes > MOST_PAGE_BYTES {
                is_cut = true;
                break;
            }
            last = Some(told.memory);
            let Some(row) = &told.row else { continue };
            bytes += bytes_of(row)?;
            meanings.extend(meaning_of(row)?.map(|meaning| (told.memory, meaning)));
            shadows.push(shadow(stored(row)?, told.seq));
        }
        let next = last.filter(|_| is_cut);
        let Position { epoch, head, mark, common } = position;
        // Of a machine without marks nothing is known to be common: what it has is compared, and nothing taken.
        let restored_seq = common.unwrap_or(0);
        Ok(Snapshot { epoch, restored_seq, head, rows: shadows, mark, next, meanings })
    }
}

/// Bytes that a row takes on a page: its text, and its vectors as they are written.
pub(super) fn bytes_of(row: &PgRow) -> Result<i64, DbError> {
    let vectors = row.try_get::<&[u8], _>("meaning")?.len().div_ceil(3) * 4;
    Ok(i64::try_from(row.try_get::<&str, _>("content")?.len() + vectors).unwrap_or(i64::MAX))
}

/// What a row that is there means, where that is known.
fn meaning_of(row: &PgRow) -> Result<Option<SentMeaning>, DbError> {
    let kept: &[u8] = row.try_get("meaning")?;
    Ok(SentMeaning::of(kept))
}

/// Where a database stands for a user.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Position {
    pub(crate) epoch: u64,
    /// The head of the user's feed.
    pub(crate) head: u64,
    /// Its mark.
    pub(crate) mark: Option<Mark>,
    /// The newest of the marks of a machine that this database knows.
    pub(super) common: Option<u64>,
}

impl Position {
    /// True if a machine with this cursor and these marks has everything that the database had when the request arrived.
    pub(crate) fn is_known_to(&self, epoch: u64, after: u64, marks: &[Mark]) -> bool {
        let newest = marks.iter().max_by_key(|mark| mark.seq);
        self.epoch == epoch && self.head == after && self.mark.is_some() && self.mark.as_ref() == newest
    }

    /// True for the database that gave the newest of these marks. Without any, nothing is known against it.
    pub(crate) fn knows(&self, marks: &[Mark]) -> bool {
        marks.iter().map(|mark| mark.seq).max().is_none_or(|newest| self.common == Some(newest))
    }
}

/// Who is told of which memory of whom.
#[derive(Debug, Default)]
pub(super) struct Told {
    those: Vec<String>,
    owners: Vec<String>,
    /// `None` moves the user's counter alone.
    memories: Vec<Option<Uuid>>,
}

impl Told {
    /// Tells users of a memory.
    pub(super) fn add(&mut self, those: Vec<String>, owner: &str, memory: MemoryId) {
        for who in those {
            self.those.push(who);
            self.owners.push(owner.to_owned());
            self.memories.push(Some(uuid(memory)));
        }
    }

    /// Moves a user's counter: something changed that belongs to no memory.
    fn add_change(&mut self, who: &str) {
        self.those.push(who.to_owned());
        self.owners.push(String::new());
        self.memories.push(None);
    }

    fn is_empty(&self) -> bool {
        self.those.is_empty()
    }
}

fn shadow(found: Stored, seq: u64) -> Shadow {
    let found = seen(found);
    Shadow { share: found.share(), row: found.row, seq }
}

impl UserTx {
    /// Where the database stands for the user, and how far a machine with these marks knows it.
    pub(crate) async fn history(&mut self, marks: &[Mark]) -> Result<Position, DbError> {
        let (seqs, stamps): (Vec<i64>, Vec<i64>) =
            marks.iter().map(|mark| (i64::try_from(mark.seq).unwrap_or(i64::MAX), mark.stamp)).unzip();
        let sql = "SELECT epoch, (SELECT seq FROM user_seq WHERE user_id = $1) AS head,
                 (SELECT stamp FROM marks WHERE user_id = $1 AND seq = (SELECT seq FROM user_seq WHERE user_id = $1)) AS stamp,
                 (SELECT max(known.seq) FROM unnest($2::bigint[], $3::bigint[]) AS known (seq, stamp)
                      WHERE known.seq <= (SELECT seq FROM user_seq WHERE user_id = $1)
                          AND known.stamp = (SELECT stamp FROM marks WHERE user_id = $1 AND seq = known.seq)) AS common
             FROM server_meta";
        let row = self.tx.one(sql, args![self.user.as_str(), seqs, stamps]).await?;
        let number = |value: i64| u64::try_from(value).unwrap_or(0);
        let (head, stamp): (Option<i64>, Option<i64>) = (row.try_get("head")?, row.try_get("stamp")?);
        let head = number(head.unwrap_or(0));
        let common: Option<i64> = row.try_get("common")?;
        Ok(Position {
            epoch: number(row.try_get("epoch")?),
            head,
            mark: stamp.map(|stamp| Mark { seq: head, stamp }),
            common: common.map(number),
        })
    }

    /// The first mark from a number on: of the transaction that the number belongs to.
    async fn mark_from(&mut self, seq: u64) -> Result<Option<Mark>, DbError> {
        let sql = "SELECT seq, stamp FROM marks WHERE user_id = $1 AND seq >= $2 ORDER BY seq LIMIT 1";
        let found = self.tx.maybe(sql, args![self.user.as_str(), i64::try_from(seq).unwrap_or(i64::MAX)]).await?;
        let mark = |row: PgRow| -> Result<Mark, DbError> {
            Ok(Mark { seq: u64::try_from(row.try_get::<i64, _>("seq")?).unwrap_or(0), stamp: row.try_get("stamp")? })
        };
        found.map(mark).transpose()
    }

    /// `None` when another transaction made the memory meanwhile: then all of it is to be done anew.
    async fn carry_out(
        &mut self,
        op: &Screened<Op>,
        hash: &[u8],
        foreseen: &Foreseen,
    ) -> Result<Option<Answer>, DbError> {
        let Some(refused) = self.apply(op, hash, None, foreseen).await? else { return Ok(None) };
        let text = op.action.text();
        // The numbers of what was done are part of the answer.
        self.tell().await?;
        let copy = match text {
            Some(text) => self.shadow(copy_id(op.memory, text)).await?,
            None => None,
        };
        let row = self.shadow(op.memory).await?;
        let answer = Answer { op_id: op.op_id, memory: op.memory, refused, row, copy };
        Ok(Some(answer))
    }

    /// Applies an op once: what it was refused for, now or the first time. `None` as [`UserTx::carry_out`].
    pub(super) async fn apply(
        &mut self,
        op: &Screened<Op>,
        hash: &[u8],
        current: Option<Current>,
        foreseen: &Foreseen,
    ) -> Result<Option<Option<Refusal>>, DbError> {
        let sql = "INSERT INTO applied_ops (user_id, op_id, hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        let made = self.tx.run(sql, args![self.user.as_str(), uuid(op.op_id), hash]).await;
        let is_new = match made {
            // Authenticated before the removal: the next request is not let in.
            Err(sqlx::Error::Database(error)) if error.is_foreign_key_violation() => {
                return Err(DbError::Row("the user was removed meanwhile".into()));
            }
            made => made?.rows_affected() > 0,
        };
        if is_new {
            let current = match current {
                Some(current) => current,
                None => self.current(op.memory).await?,
            };
            let decided = self.decide(op, current, foreseen).await?;
            if let Some(Some(refusal)) = decided {
                self.note_refusal(op, refusal).await?;
            }
            return Ok(decided);
        }
        let sql = "SELECT hash, refused FROM applied_ops WHERE user_id = $1 AND op_id = $2";
        let known = self.tx.one(sql, args![self.user.as_str(), uuid(op.op_id)]).await?;
        let known_hash: Vec<u8> = known.try_get("hash")?;
        if !known_hash.is_empty() && known_hash != hash {
            return Ok(Some(Some(Refusal::OpReused)));
        }
        let refused: Option<String> = known.try_get("refused")?;
        let refused = refused.map(|text| serde_json::from_str::<Refusal>(&text)).transpose();
        refused.map(Some).map_err(|error| DbError::Row(error.to_string()))
    }

    async fn shadow(&mut self, id: MemoryId) -> Result<Option<Shadow>, DbError> {
        let Some(found) = self.memory(id).await? else { return Ok(None) };
        let sql = "SELECT max(seq) FROM feed WHERE user_id = $1 AND memory = $2";
        let seq: Option<i64> = self.tx.value(sql, args![self.user.as_str(), uuid(id)]).await?;
        Ok(seq.map(|seq| shadow(found, u64::try_from(seq).unwrap_or(0))))
    }

    /// Does what an op says to what is there: what it is refused for. `None` as [`UserTx::carry_out`].
    pub(super) async fn decide(
        &mut self,
        op: &Screened<Op>,
        current: Current,
        foreseen: &Foreseen,
    ) -> Result<Option<Option<Refusal>>, DbError> {
        if matches!(current, Current::Anothers) {
            let is_new = matches!(op.action, Action::Create(_));
            return Ok(Some(Some(if is_new { Refusal::IdTaken } else { Refusal::Unknown })));
        }
        let is_unheard = matches!(current, Current::Unheard);
        let current = current.into_stored();
        let outcome = match foreseen.if_still(current.as_ref()) {
            Some(outcome) => outcome,
            None => outcome_on(current.as_ref(), op, &self.user).await?,
        };
        let (row, copy) = match outcome {
            Outcome::Refuse(refusal) => return Ok(Some(Some(refusal))),
            Outcome::Keep => return Ok(Some(None)),
            Outcome::Write { row, copy } => (row, copy),
        };
        let owner = current.as_ref().map_or_else(|| self.user.as_str().to_owned(), |found| found.owner.clone());
        // Nothing is shared of what nobody heard of, but by its tags.
        let is_own_alone = is_unheard && row.row().state.live().is_some_and(|document| document.tags.is_empty());
        if !is_own_alone {
            self.hold_shares(&owner).await?;
        }
        let before = if current.is_some() { self.audience(&owner, op.memory).await? } else { Vec::new() };
        let (row, key) = self.with_meaning(op, &owner, *row).await?;
        match current {
            Some(_) => self.replace(&owner, &row, key.as_deref()).await?,
            None if self.insert(&row, key.as_deref()).await? => {}
            None => return Ok(None),
        }
        let after = if is_own_alone { vec![owner.clone()] } else { self.audience(&owner, op.memory).await? };
        let unseen: Vec<String> = before.iter().filter(|who| !after.contains(who)).cloned().collect();
        self.drop_indexes_of(unseen);
        self.told.add(before.clone(), &owner, op.memory);
        self.told.add(after, &owner, op.memory);
        if matches!(row.row().state, State::Purged) {
            self.purge_secrets(op.memory, &before).await?;
            self.drop_indexes(&before);
        }
        if let Some(copy) = copy
            && self.insert(&copy, None).await?
        {
            let (author, copy) = (self.user.as_str().to_owned(), copy.row().memory);
            let those = self.audience(&author, copy).await?;
            self.told.add(those, &author, copy);
        }
        Ok(Some(None))
    }

    /// With what the machine found the op's text to mean, where the row is its user's own and says that very text; and
    /// with the key that it came under. What cannot be that is left away.
    async fn with_meaning(&mut self, op: &Op, owner: &str, row: Decided) -> Result<(Decided, Option<String>), DbError> {
        let Some(sent) = self.sent.take().filter(|_| owner == self.user.as_str()) else { return Ok((row, None)) };
        let text = op.action.text().filter(|text| row.row().state.live().is_some_and(|now| now.content == **text));
        let is_known = row.composed().is_none_or(|composed| !composed.meaning().is_empty());
        let Some(meaning) = text.filter(|_| !is_known).and_then(|text| sent.meaning.meaning_of(text.as_str())) else {
            return Ok((row, None));
        };
        if self.is_distrusted(&sent.key).await? {
            metrics::counter!("tessera_meanings_refused_total").increment(1);
            return Ok((row, None));
        }
        Ok((row.meant(meaning), Some(sent.key)))
    }

    /// Keeps why an op was refused, for whoever sends it again.
    async fn note_refusal(&mut self, op: &Op, refusal: Refusal) -> Result<(), DbError> {
        let text = serde_json::to_string(&refusal).map_err(|error| DbError::Row(error.to_string()))?;
        let sql = "UPDATE applied_ops SET refused = $3 WHERE user_id = $1 AND op_id = $2";
        self.tx.run(sql, args![self.user.as_str(), uuid(op.op_id), text]).await?;
        Ok(())
    }

    /// Notes that a user is to be told of memories of one owner.
    pub(super) fn told_of(&mut self, who: &UserId, owner: &UserId, memories: impl IntoIterator<Item = MemoryId>) {
        for memory in memories {
            self.told.add(vec![who.as_str().to_owned()], owner.as_str(), memory);
        }
    }

    /// Notes that a user's offers changed: no memory did, and the user's machines are to ask.
    pub(super) fn offers_changed(&mut self, who: &UserId) {
        self.told.add_change(who.as_str());
    }

    /// Notes that users are to be told of a memory of the user's own.
    pub(super) fn told_all(&mut self, those: Vec<String>, memory: MemoryId) {
        let owner = self.user.as_str().to_owned();
        self.told.add(those, &owner, memory);
    }

    /// Tells whoever is to be told. Counters come last in a transaction, and those of all users in one order.
    pub(super) async fn tell(&mut self) -> Result<(), DbError> {
        if self.told.is_empty() {
            return Ok(());
        }
        let Told { those, owners, memories } = std::mem::take(&mut self.told);
        self.changed.extend(owners.iter().filter(|owner| !owner.is_empty()).cloned());
        let query = sqlx::query("SELECT tell($1, $2, $3)").bind(those).bind(owners).bind(memories);
        query.execute(&mut *self.tx).await?;
        // Last: nobody keeps one while the counters are held.
        if !self.dropped.is_empty() {
            let those: Vec<String> = std::mem::take(&mut self.dropped).into_iter().collect();
            self.tx.run("SELECT drop_indexes($1)", args![those]).await?;
        }
        Ok(())
    }

    /// What these users' kept indexes hold of a text is to go with it.
    pub(super) fn drop_indexes(&mut self, those: &[String]) {
        self.dropped.extend(those.iter().cloned());
        self.dropped.insert(self.user.as_str().to_owned());
    }

    /// The same for users who see something no more: of what its owner removes for good later, they are not told again.
    pub(super) fn drop_indexes_of(&mut self, those: impl IntoIterator<Item = String>) {
        self.dropped.extend(those);
    }

    /// Until the transaction ends, nobody changes with whom an owner shares: whoever comes to see a memory by a
    /// share, or by a change of the memory, is told of it by one of the two.
    async fn hold_shares(&mut self, owner: &str) -> Result<(), DbError> {
        let sql = "SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))";
        self.tx.run(sql, args![owner]).await?;
        Ok(())
    }

    /// The users who see a memory.
    pub(super) async fn audience(&mut self, owner: &str, memory: MemoryId) -> Result<Vec<String>, DbError> {
        let those: Option<Vec<String>> = self.tx.value("SELECT audience($1, $2)", args![owner, uuid(memory)]).await?;
        Ok(those.unwrap_or_default())
    }
}
