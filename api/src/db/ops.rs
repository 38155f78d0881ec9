//! Applies a change in as few round trips as possible: begin, `op_begin`, read the row, write the row, `op_end`,
//! commit. `tessera_engine::sync::decide` decides the outcome.

use sqlx::Row as _;
use tessera_engine::compose::{Decided, Outcome};
use tessera_engine::domain::MemoryUuid;
use tessera_engine::screen::Screened;
use tessera_engine::sync::{Action, Answer, BaseVersion, Op, Refusal, State, copy_id};

use super::embedding::Sent;
use super::foreseen::{UnlockedOutcome, outcome_on};
use super::memories::{Comparison, Stored, uuid};
use super::sync::{ATTEMPTS, base_version};
use super::verbs::{Ask as _, args};
use super::{Caller, Db, DbError, UserTx, unless_overtaken};

/// The current state of the memory that a change concerns.
#[derive(Debug)]
pub(super) enum Current {
    /// The memory, locked if the user may change it.
    Found(Box<Stored>),
    /// Another user's memory, which this user no longer sees.
    Anothers,
    /// A memory that the user never received.
    Nothing,
    /// The UUID was generated for this change.
    Unheard,
}

impl Current {
    pub(super) fn stored(&self) -> Option<&Stored> {
        if let Self::Found(found) = self { Some(found) } else { None }
    }

    pub(super) fn into_stored(self) -> Option<Stored> {
        if let Self::Found(found) = self { Some(*found) } else { None }
    }
}

/// The result of `op_begin`.
#[derive(Debug)]
pub(super) struct Begun {
    /// The digest of a change that was processed before, and its rejection, if any.
    pub(super) known: Option<(Vec<u8>, Option<String>)>,
    /// The owners of those memories with this UUID that are in the user's feed. If the user is one of them, the user
    /// comes first.
    owners: Vec<String>,
    /// The user's short ID for the memory of the first owner.
    short_id: Option<u32>,
    /// True for a key whose embeddings the server ignores.
    pub(super) is_distrusted: bool,
}

/// Who sent a change.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sender<'a> {
    /// A machine, with the embedding that it sent and that the server may use. The machine compares its new memories
    /// with older ones.
    Machine(Option<&'a Sent>),
    /// A request to the REST API. The server compares its new memories with older ones.
    Request,
}

/// The result of a change.
#[derive(Debug)]
pub(super) enum Step {
    /// It may not be done.
    Refused(Refusal),
    /// Nothing had to change.
    Kept,
    /// A row was written. Nobody was notified yet.
    Written(Box<Written>),
}

/// A row that an op wrote.
#[derive(Debug)]
pub(super) struct Written {
    stored: Box<Stored>,
    /// The memory's tags before the change, and whether it was live; `None` for a new row.
    was: Option<(Vec<String>, bool)>,
    /// The conflict copy, and whether this change stored it.
    copy: Option<(MemoryUuid, bool)>,
    /// True for a new row that only its owner can see.
    is_own_alone: bool,
}

/// The user was removed after the authentication of this request, so the next request is rejected.
fn of_removed_user(error: sqlx::Error) -> DbError {
    match error {
        sqlx::Error::Database(error) if error.is_foreign_key_violation() => {
            DbError::Row("the user was removed meanwhile".into())
        }
        error => error.into(),
    }
}

/// Why an earlier attempt was rejected. The digest of the first attempt may have been deleted meanwhile.
fn refused_before((hash, refused): (Vec<u8>, Option<String>), sent: &[u8]) -> Result<Option<Refusal>, DbError> {
    if !hash.is_empty() && hash != sent {
        return Ok(Some(Refusal::OpReused));
    }
    let refused = refused.map(|text| serde_json::from_str::<Refusal>(&text)).transpose();
    refused.map_err(|error| DbError::Row(error.to_string()))
}

impl Db {
    /// Applies a change only once. A different change with the same ID is recognised by its hash.
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
            Err(DbError::Row("a memory could not be inserted, but no existing memory has its ID".into()))
        })
        .await
    }
}

impl UserTx {
    /// Registers a change and locks the shares of the memory's owner. If no change is passed, the function only locks.
    pub(super) async fn begin_op(
        &mut self,
        op: Option<(MemoryUuid, &[u8])>,
        memory: MemoryUuid,
        key: Option<&str>,
    ) -> Result<Begun, sqlx::Error> {
        let (op, hash) = op.map(|(op, hash)| (uuid(op), hash)).unzip();
        let sql = "SELECT * FROM op_begin($1, $2, $3, $4, $5)";
        let row = self.tx.one(sql, args![self.user.as_str(), op, hash, uuid(memory), key]).await?;
        let is_new: bool = row.try_get("is_new")?;
        let known = if is_new { None } else { Some((row.try_get("known_hash")?, row.try_get("known_refusal")?)) };
        let short_id: Option<i64> = row.try_get("short_id")?;
        Ok(Begun {
            known,
            owners: row.try_get::<Option<_>, _>("owners")?.unwrap_or_default(),
            short_id: short_id.and_then(|short_id| u32::try_from(short_id).ok()),
            is_distrusted: row.try_get::<Option<_>, _>("is_distrusted")?.unwrap_or(false),
        })
    }

    /// Reads the memory of a change, and locks it if the user may change it.
    pub(super) async fn current(&mut self, memory: MemoryUuid, begun: &Begun) -> Result<Current, DbError> {
        let Some(owner) = begun.owners.first() else { return Ok(Current::Nothing) };
        if let Some(found) = self.locked(owner, memory).await? {
            return Ok(Current::Found(Box::new(Stored { short_id: begun.short_id, ..found })));
        }
        // The first owner's memory is not visible, or read-only.
        match self.memory_to_change(memory).await? {
            Some(found) => {
                self.hold_shares(&found.owner).await?;
                Ok(Current::Found(Box::new(found)))
            }
            None if begun.owners.iter().any(|owner| owner != self.user.as_str()) => Ok(Current::Anothers),
            None => Ok(Current::Nothing),
        }
    }

    /// Returns `None` if another transaction created the memory meanwhile; the caller then repeats the transaction.
    async fn carry_out(
        &mut self,
        op: &Screened<Op>,
        hash: &[u8],
        sent: Option<&Sent>,
        foreseen: &UnlockedOutcome,
    ) -> Result<Option<Answer>, DbError> {
        let begun = self.begin_op(Some((op.op_id, hash)), op.memory, sent.map(|sent| sent.key.as_str())).await;
        let begun = begun.map_err(of_removed_user)?;
        let answer = |refused, row, copy| Some(Answer { op_id: op.op_id, memory: op.memory, refused, row, copy });
        if let Some(known) = begun.known {
            let refused = refused_before(known, hash)?;
            let copy = match op.action.text() {
                Some(text) => self.base_version(copy_id(op.memory, text)).await?,
                None => None,
            };
            return Ok(answer(refused, self.base_version(op.memory).await?, copy));
        }
        let current = self.current(op.memory, &begun).await?;
        let believed = sent.filter(|_| !begun.is_distrusted);
        let Some(step) = self.decide(op, current, Sender::Machine(believed), foreseen).await? else { return Ok(None) };
        match step {
            Step::Refused(refusal) => {
                self.note_refusal(op, refusal).await?;
                Ok(answer(Some(refusal), self.base_version(op.memory).await?, None))
            }
            Step::Kept => Ok(answer(None, self.base_version(op.memory).await?, None)),
            Step::Written(written) => {
                if sent.is_some() && believed.is_none() {
                    metrics::counter!("tessera_embeddings_refused_total").increment(1);
                }
                if written.copy.is_none() && !matches!(written.stored.row.state, State::Purged) {
                    let seq = self.end_op(&written).await?;
                    return Ok(answer(None, seq.map(|seq| base_version(*written.stored, seq)), None));
                }
                // More rows must be locked, and all counters come last.
                self.note_written(&written).await?;
                self.tell().await?;
                let copy = match written.copy {
                    Some((copy, _)) => self.base_version(copy).await?,
                    None => None,
                };
                Ok(answer(None, self.base_version(op.memory).await?, copy))
            }
        }
    }

    /// Completes a change that wrote one row and deleted nothing permanently. One round trip sends all notifications.
    /// Returns the position of the memory in the user's feed.
    async fn end_op(&mut self, written: &Written) -> Result<Option<u64>, DbError> {
        let (owner, memory) = (&written.stored.owner, written.stored.row.memory);
        self.changed.insert(owner.clone());
        let (tags, was_live) = written.was.clone().unzip();
        let sql = "SELECT before, after, seq FROM op_end($1, $2, $3, $4, $5)";
        let args = args![self.user.as_str(), owner, uuid(memory), tags, was_live];
        let ended: Option<(Vec<String>, Vec<String>, Option<i64>)> = self.tx.maybe_row(sql, args).await?;
        let (before, after, seq) = ended.unwrap_or_default();
        self.lost_sight(written, &before, &after).await?;
        // Deletes the indexes of users who no longer see the memory.
        self.tell().await?;
        Ok(seq.and_then(|seq| u64::try_from(seq).ok()))
    }

    /// Collects the users who are notified about a written row when the transaction ends.
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
        let Some((copy, true)) = written.copy else { return Ok(()) };
        let author = self.user.as_str().to_owned();
        let those = self.audience(&author, copy).await?;
        self.told.add(those, &author, copy);
        Ok(())
    }

    /// Deletes the stored indexes of users who no longer see a memory, and the secrets of a permanently deleted one.
    async fn lost_sight(&mut self, written: &Written, before: &[String], after: &[String]) -> Result<(), DbError> {
        let unseen: Vec<String> = before.iter().filter(|who| !after.contains(who)).cloned().collect();
        self.drop_indexes_of(unseen);
        if matches!(written.stored.row.state, State::Purged) {
            let (owner, memory) = (&written.stored.owner, written.stored.row.memory);
            // Only its owner is notified from now on.
            let sql = "DELETE FROM memory_shares WHERE owner = $1 AND memory = $2";
            self.tx.run(sql, args![owner, uuid(memory)]).await?;
            self.purge_secrets(memory, before).await?;
            self.drop_indexes(before);
        }
        Ok(())
    }

    /// Applies the change of a request at most once. If the change is rejected, or was rejected in an earlier attempt,
    /// returns the rejection. Returns `None` if [`UserTx::carry_out`] would return `None`.
    pub(super) async fn apply(
        &mut self,
        op: &Screened<Op>,
        hash: &[u8],
        current: Current,
        foreseen: &UnlockedOutcome,
    ) -> Result<Option<Step>, DbError> {
        let begun = self.begin_op(Some((op.op_id, hash)), op.memory, None).await.map_err(of_removed_user)?;
        if let Some(known) = begun.known {
            return Ok(Some(refused_before(known, hash)?.map_or(Step::Kept, Step::Refused)));
        }
        let step = self.decide(op, current, Sender::Request, foreseen).await?;
        if let Some(Step::Refused(refusal)) = step {
            self.note_refusal(op, refusal).await?;
        }
        Ok(step)
    }

    async fn base_version(&mut self, id: MemoryUuid) -> Result<Option<BaseVersion>, DbError> {
        let Some(found) = self.memory(id).await? else { return Ok(None) };
        let sql = "SELECT max(seq) FROM feed WHERE user_id = $1 AND memory = $2";
        let seq: Option<i64> = self.tx.value(sql, args![self.user.as_str(), uuid(id)]).await?;
        Ok(seq.map(|seq| base_version(found, u64::try_from(seq).unwrap_or(0))))
    }

    /// Applies a change to the present state, without notifying anybody. Returns `None` if [`UserTx::carry_out`] would
    /// return `None`.
    pub(super) async fn decide(
        &mut self,
        op: &Screened<Op>,
        current: Current,
        sender: Sender<'_>,
        foreseen: &UnlockedOutcome,
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
        // A new memory is shared only through its tags.
        let is_own_alone = is_unheard && row.row().state.live().is_some_and(|document| document.tags.is_empty());
        if is_unheard && !is_own_alone {
            self.hold_shares(&owner).await?;
        }
        let (sent, comparison) = match sender {
            Sender::Machine(sent) => (sent, Comparison::Done),
            Sender::Request => (None, Comparison::Due),
        };
        let (row, key) = self.with_embedding(op, sent, &owner, *row);
        match &current {
            Some(_) => self.replace(&owner, &row, key).await?,
            None if self.insert(&row, key, comparison).await? => {}
            None => return Ok(None),
        }
        let copy = match copy {
            Some(copy) => Some((copy.row().memory, self.insert(&copy, None, Comparison::Done).await?)),
            None => None,
        };
        let tags =
            |state: &State| state.document().map(|document| document.tags.iter().map(ToString::to_string).collect());
        let was = current
            .as_ref()
            .map(|found| (tags(&found.row.state).unwrap_or_default(), found.row.state.live().is_some()));
        let stored = match current {
            Some(found) => Stored { row: row.into_row(), ..found },
            None => Stored::new(owner, row.into_row()),
        };
        Ok(Some(Step::Written(Box::new(Written { stored: Box::new(stored), was, copy, is_own_alone }))))
    }

    /// The machine's embedding and API key, if the user owns the row and the row contains exactly the embedded text.
    /// Anything else is dropped.
    fn with_embedding<'a>(
        &self,
        op: &Op,
        sent: Option<&'a Sent>,
        owner: &str,
        row: Decided,
    ) -> (Decided, Option<&'a str>) {
        let Some(sent) = sent.filter(|_| owner == self.user.as_str()) else { return (row, None) };
        let text = op.action.text().filter(|text| row.row().state.live().is_some_and(|now| now.content == **text));
        let is_known = row.composed().is_none_or(|composed| !composed.embedding().is_empty());
        match text.filter(|_| !is_known).and_then(|text| sent.embedding.embedding_of(text.as_str())) {
            Some(embedding) => (row.meant(embedding), Some(&sent.key)),
            None => (row, None),
        }
    }

    /// Stores why a change was rejected, for a retry.
    async fn note_refusal(&mut self, op: &Op, refusal: Refusal) -> Result<(), DbError> {
        let text = serde_json::to_string(&refusal).map_err(|error| DbError::Row(error.to_string()))?;
        let sql = "UPDATE applied_ops SET refused = $3 WHERE user_id = $1 AND op_id = $2";
        self.tx.run(sql, args![self.user.as_str(), uuid(op.op_id), text]).await?;
        Ok(())
    }

    /// Prevents changes to an owner's shares until the transaction ends. Otherwise somebody could see a memory through
    /// a new share without being notified of the change.
    pub(super) async fn hold_shares(&mut self, owner: &str) -> Result<(), DbError> {
        let sql = "SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))";
        self.tx.run(sql, args![owner]).await?;
        Ok(())
    }
}
