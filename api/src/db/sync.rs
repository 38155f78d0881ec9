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
        let foreseen = &foreseen;
        unless_overtaken(|| async {
            for _ in 0..ATTEMPTS {
                let mut tx = self.by(caller).await?;
                let Some(answer) = tx.carry_out(op, hash, sent, foreseen).await? else { continue };
                tx.commit().await?;
                return Ok(answer);
            }
            Err(DbError::Row("a memory cannot be inserted, and is not there".into()))
        })
        .await
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

/// What became of an op.
#[derive(Debug)]
pub(super) enum Step {
    /// It may not be done.
    Refused(Refusal),
    /// Everything is as the op wants it.
    Kept,
    /// A row was written. Nobody was told yet.
    Written(Box<Written>),
}

/// A row that an op wrote.
#[derive(Debug)]
pub(super) struct Written {
    stored: Box<Stored>,
    /// The tags that it had before, and whether it was live; `None` for a new one.
    was: Option<(Vec<String>, bool)>,
    /// The other text of a conflict, and whether it was stored now.
    copy: Option<(MemoryId, bool)>,
    /// True for a new row that nobody but its owner can see.
    is_own_alone: bool,
}

/// The user was authenticated before the removal: the next request is not let in.
fn of_removed_user(error: sqlx::Error) -> DbError {
    match error {
        sqlx::Error::Database(error) if error.is_foreign_key_violation() => {
            DbError::Row("the user was removed meanwhile".into())
        }
        error => error.into(),
    }
}

/// What an op was refused for that was carried out before. A digest may have been emptied.
fn refused_before((hash, refused): (Vec<u8>, Option<String>), sent: &[u8]) -> Result<Option<Refusal>, DbError> {
    if !hash.is_empty() && hash != sent {
        return Ok(Some(Refusal::OpReused));
    }
    let refused = refused.map(|text| serde_json::from_str::<Refusal>(&text)).transpose();
    refused.map_err(|error| DbError::Row(error.to_string()))
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
        sent: Option<&Sent>,
        foreseen: &Foreseen,
    ) -> Result<Option<Answer>, DbError> {
        let begun = self.begin_op(Some((op.op_id, hash)), op.memory, sent.map(|sent| sent.key.as_str())).await;
        let begun = begun.map_err(of_removed_user)?;
        let answer = |refused, row, copy| Some(Answer { op_id: op.op_id, memory: op.memory, refused, row, copy });
        if let Some(known) = begun.known {
            let refused = refused_before(known, hash)?;
            let copy = match op.action.text() {
                Some(text) => self.shadow(copy_id(op.memory, text)).await?,
                None => None,
            };
            return Ok(answer(refused, self.shadow(op.memory).await?, copy));
        }
        let current = self.current(op.memory, &begun).await?;
        let before = current.stored().cloned();
        if sent.is_some() && begun.is_distrusted {
            metrics::counter!("tessera_meanings_refused_total").increment(1);
        }
        let sent = sent.filter(|_| !begun.is_distrusted);
        let Some(step) = self.decide(op, current, sent, foreseen).await? else { return Ok(None) };
        let as_it_is = |stored: Option<Stored>| Some(shadow(stored?, begun.seq?));
        match step {
            Step::Refused(refusal) => {
                self.note_refusal(op, refusal).await?;
                Ok(answer(Some(refusal), as_it_is(before), None))
            }
            Step::Kept => Ok(answer(None, as_it_is(before), None)),
            Step::Written(written) => {
                let seq = self.end_op(&written).await?;
                let copy = match written.copy {
                    Some((copy, _)) => self.shadow(copy).await?,
                    None => None,
                };
                Ok(answer(None, seq.map(|seq| shadow(*written.stored, seq)), copy))
            }
        }
    }

    /// Ends an op whose row was written: tells everybody of it, in one round trip. Returns the place of the memory in the user's
    /// feed.
    async fn end_op(&mut self, written: &Written) -> Result<Option<u64>, DbError> {
        let (owner, memory) = (&written.stored.owner, written.stored.row.memory);
        self.changed.insert(owner.clone());
        let (tags, was_live) = written.was.clone().unzip();
        let sql = "SELECT before, after, seq FROM op_end($1, $2, $3, $4, $5)";
        let args = args![self.user.as_str(), owner, uuid(memory), tags, was_live];
        let ended: Option<(Vec<String>, Vec<String>, Option<i64>)> = self.tx.maybe_row(sql, args).await?;
        let (before, after, seq) = ended.unwrap_or_default();
        self.lost_sight(written, &before, &after).await?;
        self.tell_of_copy(written).await?;
        // What is told of beside it, and indexes that hold what was removed.
        self.tell().await?;
        Ok(seq.and_then(|seq| u64::try_from(seq).ok()))
    }

    /// Notes whom to tell of a row that was written, to be told with others at the end of the transaction.
    pub(super) async fn note_written(&mut self, written: &Written) -> Result<(), DbError> {
        let (owner, memory) = (&written.stored.owner, written.stored.row.memory);
        let (before, after) = if written.is_own_alone {
            (Vec::new(), vec![owner.clone()])
        } else {
            let (tags, was_live) = written.was.clone().unzip();
            let sql = "SELECT before, after FROM seen_by($1, $2, $3, $4)";
            let seen: Option<(Vec<String>, Vec<String>)> =
                self.tx.maybe_row(sql, args![owner, uuid(memory), tags, was_live]).await?;
            seen.unwrap_or_default()
        };
        self.told.add(before.clone(), owner, memory);
        self.told.add(after.clone(), owner, memory);
        self.lost_sight(written, &before, &after).await?;
        self.tell_of_copy(written).await
    }

    /// Kept indexes of users who do not see a memory any more are to go; with one that is deleted permanently, its secrets too.
    async fn lost_sight(&mut self, written: &Written, before: &[String], after: &[String]) -> Result<(), DbError> {
        let unseen: Vec<String> = before.iter().filter(|who| !after.contains(who)).cloned().collect();
        self.drop_indexes_of(unseen);
        if matches!(written.stored.row.state, State::Purged) {
            let (owner, memory) = (&written.stored.owner, written.stored.row.memory);
            // Nobody but its owner is told of it any more.
            let sql = "DELETE FROM memory_shares WHERE owner = $1 AND memory = $2";
            self.tx.run(sql, args![owner, uuid(memory)]).await?;
            self.purge_secrets(memory, before).await?;
            self.drop_indexes(before);
        }
        Ok(())
    }

    async fn tell_of_copy(&mut self, written: &Written) -> Result<(), DbError> {
        let Some((copy, true)) = written.copy else { return Ok(()) };
        let author = self.user.as_str().to_owned();
        let those = self.audience(&author, copy).await?;
        self.told.add(those, &author, copy);
        Ok(())
    }

    /// Applies an op of a request once: what it was refused for, now or the first time. `None` as [`UserTx::carry_out`].
    pub(super) async fn apply(
        &mut self,
        op: &Screened<Op>,
        hash: &[u8],
        current: Current,
        foreseen: &Foreseen,
    ) -> Result<Option<Step>, DbError> {
        let begun = self.begin_op(Some((op.op_id, hash)), op.memory, None).await.map_err(of_removed_user)?;
        if let Some(known) = begun.known {
            return Ok(Some(refused_before(known, hash)?.map_or(Step::Kept, Step::Refused)));
        }
        let step = self.decide(op, current, None, foreseen).await?;
        if let Some(Step::Refused(refusal)) = step {
            self.note_refusal(op, refusal).await?;
        }
        Ok(step)
    }

    async fn shadow(&mut self, id: MemoryId) -> Result<Option<Shadow>, DbError> {
        let Some(found) = self.memory(id).await? else { return Ok(None) };
        let sql = "SELECT max(seq) FROM feed WHERE user_id = $1 AND memory = $2";
        let seq: Option<i64> = self.tx.value(sql, args![self.user.as_str(), uuid(id)]).await?;
        Ok(seq.map(|seq| shadow(found, u64::try_from(seq).unwrap_or(0))))
    }

    /// Does what an op says to what is there, and tells nobody yet. `None` as [`UserTx::carry_out`].
    pub(super) async fn decide(
        &mut self,
        op: &Screened<Op>,
        current: Current,
        sent: Option<&Sent>,
        foreseen: &Foreseen,
    ) -> Result<Option<Step>, DbError> {
        if matches!(current, Current::Anothers) {
            let is_new = matches!(op.action, Action::Create(_));
            return Ok(Some(Step::Refused(if is_new { Refusal::IdTaken } else { Refusal::Unknown })));
        }
        let is_unheard = matches!(current, Current::Unheard);
        let current = current.into_stored();
        let outcome = match foreseen.if_still(current.as_ref()) {
            Some(outcome) => outcome,
            None => outcome_on(current.as_ref(), op, &self.user).await?,
        };
        let (row, copy) = match outcome {
            Outcome::Refuse(refusal) => return Ok(Some(Step::Refused(refusal))),
            Outcome::Keep => return Ok(Some(Step::Kept)),
            Outcome::Write { row, copy } => (row, copy),
        };
        let owner = current.as_ref().map_or_else(|| self.user.as_str().to_owned(), |found| found.owner.clone());
        // Nothing is shared of what nobody heard of, but by its tags.
        let is_own_alone = is_unheard && row.row().state.live().is_some_and(|document| document.tags.is_empty());
        if is_unheard && !is_own_alone {
            self.hold_shares(&owner).await?;
        }
        let (row, key) = self.with_meaning(op, sent, &owner, *row);
        match &current {
            Some(_) => self.replace(&owner, &row, key).await?,
            None if self.insert(&row, key).await? => {}
            None => return Ok(None),
        }
        let copy = match copy {
            Some(copy) => Some((copy.row().memory, self.insert(&copy, None).await?)),
            None => None,
        };
        let tags =
            |state: &State| state.document().map(|document| document.tags.iter().map(ToString::to_string).collect());
        let was = current
            .as_ref()
            .map(|found| (tags(&found.row.state).unwrap_or_default(), found.row.state.live().is_some()));
        let stored = match current {
            Some(found) => Stored { row: row.row().clone(), ..found },
            None => Stored::new(owner, row.row().clone()),
        };
        Ok(Some(Step::Written(Box::new(Written { stored: Box::new(stored), was, copy, is_own_alone }))))
    }

    /// With what the machine found the op's text to mean, where the row is its user's own and says that very text; and
    /// with the key that it came under. What cannot be that is left away.
    fn with_meaning<'a>(
        &self,
        op: &Op,
        sent: Option<&'a Sent>,
        owner: &str,
        row: Decided,
    ) -> (Decided, Option<&'a str>) {
        let Some(sent) = sent.filter(|_| owner == self.user.as_str()) else { return (row, None) };
        let text = op.action.text().filter(|text| row.row().state.live().is_some_and(|now| now.content == **text));
        let is_known = row.composed().is_none_or(|composed| !composed.meaning().is_empty());
        match text.filter(|_| !is_known).and_then(|text| sent.meaning.meaning_of(text.as_str())) {
            Some(meaning) => (row.meant(meaning), Some(&sent.key)),
            None => (row, None),
        }
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
        if !self.told.is_empty() {
            let Told { those, owners, memories } = std::mem::take(&mut self.told);
            self.changed.extend(owners.iter().filter(|owner| !owner.is_empty()).cloned());
            self.tx.run("SELECT tell($1, $2, $3)", args![those, owners, memories]).await?;
        }
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
    pub(super) async fn hold_shares(&mut self, owner: &str) -> Result<(), DbError> {
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
