//! The sync state of a memory on one machine. It connects the user's changes and the server's changes.
//!
//! The base version is the last known row of the server. Differences from it must be sent. A sent
//! change is not modified until the server answers it. Later changes wait for this answer.

mod parts;

use serde::{Deserialize, Serialize};

use super::both::merged;
use super::decide::{conflicting, own_text};
use super::document::{Document, Edit, State, says_the_same};
use super::op::{Action, Op, Refusal, Row, copy_id};
use super::untold::UnsentFile;
use crate::domain::{MemoryUuid, Share, Timestamp, Trust};

/// The last known state on the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseVersion {
    /// The row.
    pub row: Row,
    /// The value of the user's change counter for the last change of this row.
    pub seq: u64,
    /// If the memory belongs to another user: the owner and the permission.
    pub share: Option<Share>,
}

impl BaseVersion {
    /// True for the user's own memory.
    pub fn is_own(&self) -> bool {
        self.share.is_none()
    }
}

/// A change from the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Its new state.
    Row(Box<BaseVersion>),
    /// It is withdrawn.
    Gone {
        /// This user's change counter.
        seq: u64,
    },
}

impl Arrival {
    /// This user's change counter.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Row(base_version) => base_version.seq,
            Self::Gone { seq } => *seq,
        }
    }
}

/// A sent change with its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Sent {
    op: Op,
    state: State,
}

/// The sync state of a memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncState {
    base_version: Option<BaseVersion>,
    sent: Option<Sent>,
    arrived: Option<Arrival>,
    /// True if the server had the memory and lost it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lost: bool,
    /// The `rev` of the server's row at the time when this machine last sent the path of the file. An older server does
    /// not store paths. So a change that consists only of the path is sent once per `rev`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_told: Option<u64>,
    /// The last unsent edit of a file that was removed. It may still be on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    untold: Option<UnsentFile>,
}

impl SyncState {
    /// The hashes of a removed file's last text, if the server did not get this text.
    pub fn untold(&self) -> Option<UnsentFile> {
        self.untold
    }
}

/// A memory on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    /// Its local state.
    pub state: State,
    memory: MemoryUuid,
    sync_state: SyncState,
}

/// The result of applying a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// False if the memory must be removed from this machine.
    pub stays: bool,
    /// Texts that the change overwrites or removes. The same transaction stores them as new memories of this user. If a
    /// memory with this UUID exists, the text is already stored.
    pub kept: Vec<(MemoryUuid, Document)>,
}

impl Settled {
    fn stays() -> Self {
        Self { stays: true, kept: Vec::new() }
    }

    fn gone(kept: Vec<(MemoryUuid, Document)>) -> Self {
        Self { stays: false, kept }
    }
}

impl Local {
    /// A memory that was created here.
    pub fn new(memory: MemoryUuid, document: Document) -> Self {
        Self::of(memory, State::Live(document), SyncState::default())
    }

    /// A local memory with its sync state.
    pub fn of(memory: MemoryUuid, state: State, sync_state: SyncState) -> Self {
        Self { state, memory, sync_state }
    }

    /// The sync state to store. The state of a permanently deleted memory contains no text.
    pub fn sync_state(&self) -> SyncState {
        if self.state != State::Purged {
            return self.sync_state.clone();
        }
        SyncState {
            base_version: self
                .sync_state
                .base_version
                .clone()
                .filter(|base_version| base_version.row.state == State::Purged),
            sent: self.sync_state.sent.clone().filter(|sent| sent.state == State::Purged),
            arrived: None,
            lost: false,
            path_told: None,
            untold: None,
        }
    }

    /// A memory that came from the server.
    pub fn received(base_version: BaseVersion) -> Self {
        let (memory, state) = (base_version.row.memory, base_version.row.state.clone());
        Self::of(memory, state, SyncState { base_version: Some(base_version), ..SyncState::default() })
    }

    /// The last known state on the server.
    pub fn base_version(&self) -> Option<&BaseVersion> {
        self.sync_state.base_version.as_ref()
    }

    /// The author of the local text, if it equals the server's text and the owner did not write it.
    pub fn edited_by(&self) -> Option<&str> {
        let row = &self.sync_state.base_version.as_ref()?.row;
        let (ours, theirs) = (self.state.document()?, row.state.document()?);
        row.edited_by.as_deref().filter(|_| ours.content == theirs.content)
    }

    /// Replaces the details with those of an equal memory on the server, which another machine created. Tags and links
    /// are merged as usual.
    pub fn agree_with(&mut self, base_version: &BaseVersion) {
        if let (State::Live(mine), Some(theirs)) = (&mut self.state, base_version.row.state.live()) {
            mine.details = theirs.details.clone();
        }
    }

    /// True if nothing must be sent.
    pub fn is_clean(&self) -> bool {
        self.sync_state.sent.is_none() && self.difference().is_none()
    }

    /// Returns the change to send next: the one that is still unanswered, or a new one with `op_id`.
    pub fn op(&mut self, op_id: MemoryUuid, at: Timestamp) -> Option<Op> {
        if let Some(sent) = &self.sync_state.sent {
            return Some(sent.op.clone());
        }
        let action = self.difference()?;
        let base_rev = self.sync_state.base_version.as_ref().map_or(0, |base_version| base_version.row.rev);
        let told_again = self.sync_state.base_version.is_none() && self.sync_state.lost;
        // A lost memory is first sent as it was, and then deleted again.
        let state = match &action {
            Action::Create(document) => State::Live(document.clone()),
            _ => self.state.clone(),
        };
        let op = Op { op_id, memory: self.memory, base_rev, at, action, told_again };
        self.sync_state.untold.take_if(|untold| untold.is_said_by(&state));
        if self.is_path_unknown() {
            self.sync_state.path_told = Some(base_rev);
        }
        self.sync_state.sent = Some(Sent { op: op.clone(), state });
        Some(op)
    }

    /// Restores the server's state of a memory that was deleted here without syncing the deletion. False if there is
    /// nothing to restore.
    pub fn bring_back(&mut self) -> bool {
        let known = self.known_state().filter(|known| known.live().is_some());
        let (State::Deleted(_), Some(known), None) = (&self.state, known, &self.sync_state.sent) else { return false };
        self.sync_state.untold = UnsentFile::of(&self.state, Some(&known), &known).or(self.sync_state.untold);
        self.state = known;
        true
    }

    /// Withdraws a sent change that the server rejected.
    pub fn take_back(&mut self) {
        self.sync_state.sent = None;
    }

    /// The last known state on the server. It includes a path and metadata, which an older server may not store.
    fn known_state(&self) -> Option<State> {
        let base_version = self.sync_state.base_version.as_ref()?;
        Some(beside_what_of(base_version.row.state.clone(), &self.state, base_version.is_own()))
    }

    fn difference(&self) -> Option<Action> {
        let known = self.known_state();
        match (&self.state, known.as_ref()) {
            (_, Some(State::Purged)) => None,
            (State::Purged, _) => Some(Action::Purge),
            // Machines that missed the deletion would restore the memory, so they must learn about it.
            (State::Deleted(document), None) if self.sync_state.lost => Some(Action::Create(document.clone())),
            (State::Deleted(_), None | Some(State::Deleted(_))) => None,
            (State::Deleted(_), Some(State::Live(_))) => Some(Action::Delete),
            (State::Live(document), None) => Some(Action::Create(document.clone())),
            (State::Live(document), Some(State::Live(base))) => {
                Some(self.edit(base, document, false)).filter(|edit| !edit.is_empty()).map(Action::Edit)
            }
            // Tags and links that were removed here are not restored with the memory.
            (State::Live(document), Some(State::Deleted(base))) => Some(Action::Edit(self.edit(base, document, true))),
        }
    }

    /// Returns the edit for the server. If `is_sent` is true, a change is sent in any case, even if the edit is empty.
    /// If the server's row lacks the path or the metadata, the edit may contain all details.
    fn edit(&self, base: &Document, document: &Document, is_sent: bool) -> Edit {
        let mut edit = Edit::between(base, document);
        if edit.details.is_none() && self.must_tell_path(is_sent || !edit.is_empty()) {
            edit.details = Some(document.details.clone());
        }
        edit
    }

    /// True if an older server has not stored the path of a file or the metadata.
    fn is_path_unknown(&self) -> bool {
        let known = self.sync_state.base_version.as_ref().and_then(|base_version| base_version.row.state.document());
        let (Some(here), Some(known)) = (self.state.document(), known) else { return false };
        let (here, known) = (&here.details, &known.details);
        (here.file.is_some() && known.file.is_none()) || (here.metadata.is_some() && known.metadata.is_none())
    }

    /// The server may have been updated meanwhile, so the path is sent with each change.
    fn must_tell_path(&self, is_changed: bool) -> bool {
        let rev = self.sync_state.base_version.as_ref().map(|base_version| base_version.row.rev);
        self.is_path_unknown() && (is_changed || self.sync_state.path_told != rev)
    }

    /// Applies a change from a pull. Older changes are ignored.
    pub fn arrive(&mut self, arrival: Arrival, fresh: &mut impl FnMut() -> MemoryUuid) -> Settled {
        let known = self.sync_state.base_version.as_ref().map_or(0, |base_version| base_version.seq);
        let waiting = self.sync_state.arrived.as_ref().map_or(0, Arrival::seq);
        if arrival.seq() <= known.max(waiting) {
            return Settled::stays();
        }
        if self.sync_state.sent.is_some() {
            self.sync_state.arrived = Some(arrival);
            return Settled::stays();
        }
        let base = self.known_state();
        self.settle(base.as_ref(), arrival, fresh)
    }

    /// Applies the answer to the sent change. The answer contains the current row if this user may see it. An answer to
    /// another change is ignored.
    pub fn answer(
        &mut self,
        op_id: MemoryUuid,
        refused: Option<Refusal>,
        row: Option<BaseVersion>,
        fresh: &mut impl FnMut() -> MemoryUuid,
    ) -> Settled {
        let Some(sent) = self.sync_state.sent.take_if(|sent| sent.op.op_id == op_id) else { return Settled::stays() };
        let waited = self.sync_state.arrived.take();
        let newest =
            [row.map(|row| Arrival::Row(Box::new(row))), waited].into_iter().flatten().max_by_key(Arrival::seq);
        match refused {
            None => match newest {
                Some(arrival) => self.settle(Some(&sent.state), arrival, fresh),
                // It was accepted and then withdrawn.
                None => Settled::gone(self.text_to_keep(Some(&sent.state), fresh)),
            },
            Some(Refusal::Unknown | Refusal::IdTaken) => self.unknown(newest, fresh),
            Some(Refusal::Purged) => {
                self.state = State::Purged;
                self.known(newest);
                Settled::stays()
            }
            Some(Refusal::Invalid | Refusal::OpReused) => {
                // It was not accepted; a change that arrived meanwhile is applied as if nothing had been sent.
                let base = self.known_state();
                newest.map_or_else(Settled::stays, |arrival| self.settle(base.as_ref(), arrival, fresh))
            }
            Some(Refusal::NotAllowed) => match newest {
                Some(arrival) => self.disown(arrival, fresh),
                None => Settled::gone(self.text_to_keep(None, fresh)),
            },
        }
    }

    /// Handles the answer that the server does not know the memory, or that this user may not see it.
    fn unknown(&mut self, newest: Option<Arrival>, fresh: &mut impl FnMut() -> MemoryUuid) -> Settled {
        let was_own = self.sync_state.base_version.as_ref().is_none_or(BaseVersion::is_own);
        match (newest, was_own) {
            (Some(Arrival::Row(base_version)), _) => {
                let base = self.known_state();
                self.settle(base.as_ref(), Arrival::Row(base_version), fresh)
            }
            (None, true) if self.sync_state.base_version.is_some() => {
                self.lost();
                Settled::stays()
            }
            _ => {
                let base = self.known_state();
                Settled::gone(self.text_to_keep(base.as_ref(), fresh))
            }
        }
    }

    /// The change is not allowed: the row stays as on the server, and the user's text becomes a separate memory.
    fn disown(&mut self, arrival: Arrival, fresh: &mut impl FnMut() -> MemoryUuid) -> Settled {
        let base = self.known_state();
        let kept = self.text_to_keep(base.as_ref(), fresh);
        match arrival {
            Arrival::Row(base_version) => {
                *self = Self::received(*base_version);
                Settled { stays: true, kept }
            }
            Arrival::Gone { .. } => Settled::gone(kept),
        }
    }

    /// The server lost the memory, so it is sent again completely.
    ///
    /// The server records the sender of a text as its author. So a text of another author is sent as foreign
    /// (unverified).
    fn lost(&mut self) {
        let is_anothers = self.edited_by().is_some();
        self.sync_state.lost = self.sync_state.base_version.take().is_some();
        if let (true, State::Live(document) | State::Deleted(document)) = (is_anothers, &mut self.state) {
            distrust(document);
        }
    }

    fn known(&mut self, newest: Option<Arrival>) {
        if let Some(Arrival::Row(base_version)) = newest {
            self.sync_state.base_version = Some(*base_version);
        }
    }

    /// Returns the user's own text if the server does not have it.
    fn text_to_keep(
        &self,
        base: Option<&State>,
        fresh: &mut impl FnMut() -> MemoryUuid,
    ) -> Vec<(MemoryUuid, Document)> {
        let known = base.and_then(State::document).map(|document| &document.content);
        let ours =
            self.state.live().filter(|document| known.is_none_or(|known| !says_the_same(known, &document.content)));
        let is_own = self.sync_state.base_version.as_ref().is_none_or(BaseVersion::is_own);
        let kept = |document: &Document| if is_own { document.clone() } else { own_text(document.clone()) };
        ours.map(|document| (fresh(), kept(document))).into_iter().collect()
    }

    /// Merges the local state with the server's state, based on their common base.
    fn settle(&mut self, base: Option<&State>, arrival: Arrival, fresh: &mut impl FnMut() -> MemoryUuid) -> Settled {
        let base_version = match arrival {
            Arrival::Gone { .. } => return Settled::gone(self.text_to_keep(base, fresh)),
            Arrival::Row(base_version) => base_version,
        };
        let mut settled = Settled::stays();
        let is_own = base_version.is_own();
        let theirs = &beside_what_of(base_version.row.state.clone(), &self.state, is_own);
        let base = base.map(|base| beside_what_of(base.clone(), &self.state, is_own));
        let base = base.as_ref();
        let ours = self.state.clone();
        self.sync_state.untold = UnsentFile::of(&ours, base, theirs).or(self.sync_state.untold);
        self.state = match (&ours, base, theirs) {
            (_, _, State::Purged) => State::Purged,
            (State::Purged, ..) => State::Purged,
            (ours, Some(base), theirs) if ours == base => theirs.clone(),
            (State::Deleted(_), Some(base), theirs) if base == theirs => ours,
            // A change wins over a deletion, on either side.
            (State::Deleted(_), _, theirs) => theirs.clone(),
            (State::Live(mine), base, State::Deleted(theirs)) => {
                let edit = Edit::since(base.and_then(State::document), mine);
                let (tags, links) = (edit.tagged(&theirs.tags), edit.linked(&theirs.links));
                State::Live(Document { tags, links, ..mine.clone() })
            }
            (State::Live(mine), base, State::Live(theirs)) => {
                let base = base.and_then(State::document);
                let (next, is_conflict) = merged(mine, base, theirs);
                if is_conflict {
                    let copy = if base_version.is_own() { mine.clone() } else { own_text(mine.clone()) };
                    settled.kept.push((copy_id(self.memory, &mine.content), conflicting(copy, self.memory)));
                }
                State::Live(next)
            }
        };
        self.sync_state.base_version = Some(*base_version);
        self.sync_state.lost = false;
        settled
    }

    /// Applies a row of a snapshot. The server's history may differ from the history that this machine knows. Both
    /// agree up to `common_seq`. `None` means that the row does not exist.
    ///
    /// A server keeps tombstones of the user's own memories. So, if the snapshot lacks one of the user's memories, the
    /// server lost it, and the machine sends it again. A text in another user's memory is kept only if `user` wrote it.
    /// It becomes the user's own memory.
    pub fn restore(
        &mut self,
        row: Option<BaseVersion>,
        common_seq: u64,
        user: &str,
        fresh: &mut impl FnMut() -> MemoryUuid,
    ) -> Settled {
        let sent = self.sync_state.sent.take();
        self.sync_state.arrived = None;
        self.sync_state.path_told = None; // It stands in the history that went another way.
        let Some(base_version) = row else {
            if self.sync_state.base_version.as_ref().is_none_or(BaseVersion::is_own) {
                if self.sync_state.base_version.is_some() {
                    self.lost();
                }
                return Settled::stays();
            }
            let is_ours = |base_version: &&BaseVersion| {
                base_version.seq > common_seq && base_version.row.edited_by.as_deref() == Some(user)
            };
            let base = self.sync_state.base_version.as_ref().filter(|base_version| !is_ours(base_version));
            let base = base.map(|base_version| base_version.row.state.clone());
            return Settled::gone(self.text_to_keep(base.as_ref(), fresh));
        };
        let was_anothers = self.edited_by().and(self.state.document()).map(|document| document.content.clone());
        let known = self.sync_state.base_version.take();
        let is_common = |known: &BaseVersion| known.seq <= common_seq || known.row.state == base_version.row.state;
        if known.as_ref().is_some_and(|known| !is_common(known) && base_version.row.rev < known.row.rev) {
            // The server's state is older than the local one, which is a change of it.
            let base = base_version.row.state.clone();
            let settled = self.settle(Some(&base), Arrival::Row(Box::new(base_version)), fresh);
            if let State::Live(document) = &mut self.state
                && Some(&document.content) == was_anothers.as_ref()
            {
                distrust(document);
            }
            return settled;
        }
        let base = known.filter(is_common).map(|known| known.row.state);
        // A sent change may have been applied. Then its result is the base.
        let carried_out = sent.map(|sent| sent.state).filter(|state| *state == base_version.row.state);
        let mut settled = self.settle(carried_out.or(base).as_ref(), Arrival::Row(Box::new(base_version)), fresh);
        for (_, document) in &mut settled.kept {
            if Some(&document.content) == was_anothers.as_ref() {
                distrust(document);
            }
        }
        settled
    }
}

/// If the path or the metadata is missing, returns the state with the known values. Only the owner can set the path and
/// the metadata of a shared memory.
fn beside_what_of(state: State, known: &State, is_own: bool) -> State {
    let beside = |document: Document| {
        let told = (!is_own).then(|| document.details.metadata.clone());
        let mut document = document.beside_what_of(known.document());
        document.details.metadata = told.unwrap_or(document.details.metadata);
        document
    };
    match state {
        State::Live(document) => State::Live(beside(document)),
        State::Deleted(document) => State::Deleted(beside(document)),
        State::Purged => State::Purged,
    }
}

/// If another user wrote the text and is no longer recorded as its author, the text becomes foreign. The owner's trust
/// stays.
fn distrust(document: &mut Document) {
    document.details.owner_trust = document.details.owner_trust.or(Some(Trust::Foreign));
}
