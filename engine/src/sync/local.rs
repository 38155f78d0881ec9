//! A memory on one machine, between what its user does and what the server says.
//!
//! The shadow is the row the server was last known to hold. Whatever differs from it is to be sent; what
//! is sent stays frozen until it is answered; what arrives meanwhile waits for that answer.

use serde::{Deserialize, Serialize};

use super::both::merged;
use super::decide::{conflicting, own_text};
use super::document::{Document, Edit, State, says_the_same};
use super::op::{Action, Op, Refusal, Row, copy_id};
use super::untold::UnsentFile;
use crate::domain::{MemoryUuid, Share, Timestamp, Trust};

/// What the server is known to hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    /// The row.
    pub row: Row,
    /// The change counter of this user at which it was so.
    pub seq: u64,
    /// Whose it is, if another user shares it.
    pub share: Option<Share>,
}

impl Shadow {
    /// True for a memory of the user's own.
    pub fn is_own(&self) -> bool {
        self.share.is_none()
    }
}

/// News of a memory from the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// It is this now.
    Row(Box<Shadow>),
    /// It is not to be seen any more.
    Gone {
        /// The change counter of this user.
        seq: u64,
    },
}

impl Arrival {
    /// The change counter of this user.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Row(shadow) => shadow.seq,
            Self::Gone { seq } => *seq,
        }
    }
}

/// An op that was sent, and what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Sent {
    op: Op,
    state: State,
}

/// What a machine keeps of a memory beside what it shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trail {
    shadow: Option<Shadow>,
    sent: Option<Sent>,
    arrived: Option<Arrival>,
    /// True for what a server had and has lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lost: bool,
    /// The `rev` of a row without the path of its file to which the path was told: a server of before does not keep it,
    /// and is told once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_told: Option<u64>,
    /// The edit of a file that may stand on disk and was never told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    untold: Option<UnsentFile>,
}

impl Trail {
    /// What a file said last that was taken out of recall before a server heard of it.
    pub fn untold(&self) -> Option<UnsentFile> {
        self.untold
    }
}

/// A memory on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    /// What the machine shows.
    pub state: State,
    memory: MemoryUuid,
    trail: Trail,
}

/// What remains of a memory after news of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// False when the memory is not to be here any more.
    pub stays: bool,
    /// Texts that would be lost: new memories of this user, to be stored in the same transaction. One
    /// whose id is there already is there already.
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
    /// A memory that was made here.
    pub fn new(memory: MemoryUuid, document: Document) -> Self {
        Self::of(memory, State::Live(document), Trail::default())
    }

    /// A memory that the machine shows, with what it kept beside it.
    pub fn of(memory: MemoryUuid, state: State, trail: Trail) -> Self {
        Self { state, memory, trail }
    }

    /// What is to be kept beside it. Of a memory that was removed for good no text stays here either.
    pub fn trail(&self) -> Trail {
        if self.state != State::Purged {
            return self.trail.clone();
        }
        Trail {
            shadow: self.trail.shadow.clone().filter(|shadow| shadow.row.state == State::Purged),
            sent: self.trail.sent.clone().filter(|sent| sent.state == State::Purged),
            arrived: None,
            lost: false,
            path_told: None,
            untold: None,
        }
    }

    /// A memory that came from the server.
    pub fn received(shadow: Shadow) -> Self {
        let (memory, state) = (shadow.row.memory, shadow.row.state.clone());
        Self::of(memory, state, Trail { shadow: Some(shadow), ..Trail::default() })
    }

    /// What the server is known to hold.
    pub fn shadow(&self) -> Option<&Shadow> {
        self.trail.shadow.as_ref()
    }

    /// Who wrote the text that the machine shows, if it is the server's and not its owner's.
    pub fn edited_by(&self) -> Option<&str> {
        let row = &self.trail.shadow.as_ref()?.row;
        let (ours, theirs) = (self.state.document()?, row.state.document()?);
        row.edited_by.as_deref().filter(|_| ours.content == theirs.content)
    }

    /// Takes over the details of a row that was made apart and says the same. Tags and links are put together as ever.
    pub fn agree_with(&mut self, shadow: &Shadow) {
        if let (State::Live(mine), Some(theirs)) = (&mut self.state, shadow.row.state.live()) {
            mine.details = theirs.details.clone();
        }
    }

    /// True when the server has everything, as far as is known.
    pub fn is_clean(&self) -> bool {
        self.trail.sent.is_none() && self.difference().is_none()
    }

    /// The op to send now: the one that was sent and not answered, or a new one under `op_id`.
    pub fn op(&mut self, op_id: MemoryUuid, at: Timestamp) -> Option<Op> {
        if let Some(sent) = &self.trail.sent {
            return Some(sent.op.clone());
        }
        let action = self.difference()?;
        let base_rev = self.trail.shadow.as_ref().map_or(0, |shadow| shadow.row.rev);
        let told_again = self.trail.shadow.is_none() && self.trail.lost;
        // What was lost is told as it was before it is deleted again.
        let state = match &action {
            Action::Create(document) => State::Live(document.clone()),
            _ => self.state.clone(),
        };
        let op = Op { op_id, memory: self.memory, base_rev, at, action, told_again };
        self.trail.untold.take_if(|untold| untold.is_said_by(&state));
        if self.is_path_unknown() {
            self.trail.path_told = Some(base_rev);
        }
        self.trail.sent = Some(Sent { op: op.clone(), state });
        Some(op)
    }

    /// Shows again what the server is known to have, where it was deleted here and nobody told the server. False where
    /// there is nothing to show.
    pub fn bring_back(&mut self) -> bool {
        let known = self.known_state().filter(|known| known.live().is_some());
        let (State::Deleted(_), Some(known), None) = (&self.state, known, &self.trail.sent) else { return false };
        self.trail.untold = UnsentFile::of(&self.state, Some(&known), &known).or(self.trail.untold);
        self.state = known;
        true
    }

    /// Takes back what was sent: the server will not take it.
    pub fn take_back(&mut self) {
        self.trail.sent = None;
    }

    /// What the server is known to hold, with a path and metadata that it may not know of.
    fn known_state(&self) -> Option<State> {
        let shadow = self.trail.shadow.as_ref()?;
        Some(beside_what_of(shadow.row.state.clone(), &self.state, shadow.is_own()))
    }

    fn difference(&self) -> Option<Action> {
        let known = self.known_state();
        match (&self.state, known.as_ref()) {
            (_, Some(State::Purged)) => None,
            (State::Purged, _) => Some(Action::Purge),
            // Whoever has not heard of the deletion would bring it back: they shall hear of it.
            (State::Deleted(document), None) if self.trail.lost => Some(Action::Create(document.clone())),
            (State::Deleted(_), None | Some(State::Deleted(_))) => None,
            (State::Deleted(_), Some(State::Live(_))) => Some(Action::Delete),
            (State::Live(document), None) => Some(Action::Create(document.clone())),
            (State::Live(document), Some(State::Live(base))) => {
                Some(self.edit(base, document, false)).filter(|edit| !edit.is_empty()).map(Action::Edit)
            }
            // Tags and links that were removed here are not brought back with the memory.
            (State::Live(document), Some(State::Deleted(base))) => Some(Action::Edit(self.edit(base, document, true))),
        }
    }

    /// What to tell the server of a document; `is_sent` where something is told whatever changed.
    fn edit(&self, base: &Document, document: &Document, is_sent: bool) -> Edit {
        let mut edit = Edit::between(base, document);
        if edit.details.is_none() && self.must_tell_path(is_sent || !edit.is_empty()) {
            edit.details = Some(document.details.clone());
        }
        edit
    }

    /// True for a file that the server holds as if it were none, and for metadata that it does not hold.
    fn is_path_unknown(&self) -> bool {
        let known = self.trail.shadow.as_ref().and_then(|shadow| shadow.row.state.document());
        let (Some(here), Some(known)) = (self.state.document(), known) else { return false };
        let (here, known) = (&here.details, &known.details);
        (here.file.is_some() && known.file.is_none()) || (here.metadata.is_some() && known.metadata.is_none())
    }

    /// A server may have learned of files since it was told the path: with each change it is told again.
    fn must_tell_path(&self, is_changed: bool) -> bool {
        let rev = self.trail.shadow.as_ref().map(|shadow| shadow.row.rev);
        self.is_path_unknown() && (is_changed || self.trail.path_told != rev)
    }

    /// Takes news from a pull. What is older than what is known is ignored.
    pub fn arrive(&mut self, arrival: Arrival, fresh: &mut impl FnMut() -> MemoryUuid) -> Settled {
        let known = self.trail.shadow.as_ref().map_or(0, |shadow| shadow.seq);
        let waiting = self.trail.arrived.as_ref().map_or(0, Arrival::seq);
        if arrival.seq() <= known.max(waiting) {
            return Settled::stays();
        }
        if self.trail.sent.is_some() {
            self.trail.arrived = Some(arrival);
            return Settled::stays();
        }
        let base = self.known_state();
        self.settle(base.as_ref(), arrival, fresh)
    }

    /// Takes the answer to the op that was sent: the row as it is now, if it may be seen. An answer to
    /// another op is ignored.
    pub fn answer(
        &mut self,
        op_id: MemoryUuid,
        refused: Option<Refusal>,
        row: Option<Shadow>,
        fresh: &mut impl FnMut() -> MemoryUuid,
    ) -> Settled {
        let Some(sent) = self.trail.sent.take_if(|sent| sent.op.op_id == op_id) else { return Settled::stays() };
        let waited = self.trail.arrived.take();
        let newest =
            [row.map(|row| Arrival::Row(Box::new(row))), waited].into_iter().flatten().max_by_key(Arrival::seq);
        match refused {
            None => match newest {
                Some(arrival) => self.settle(Some(&sent.state), arrival, fresh),
                // It was done, and is not to be seen any more.
                None => Settled::gone(self.text_to_keep(Some(&sent.state), fresh)),
            },
            Some(Refusal::Unknown | Refusal::IdTaken) => self.unknown(newest, fresh),
            Some(Refusal::Purged) => {
                self.state = State::Purged;
                self.known(newest);
                Settled::stays()
            }
            Some(Refusal::Invalid | Refusal::OpReused) => {
                // Nothing was done: what came meanwhile is taken as if nothing had been sent.
                let base = self.known_state();
                newest.map_or_else(Settled::stays, |arrival| self.settle(base.as_ref(), arrival, fresh))
            }
            Some(Refusal::NotAllowed) => match newest {
                Some(arrival) => self.disown(arrival, fresh),
                None => Settled::gone(self.text_to_keep(None, fresh)),
            },
        }
    }

    /// The server does not know the memory, or not for this user.
    fn unknown(&mut self, newest: Option<Arrival>, fresh: &mut impl FnMut() -> MemoryUuid) -> Settled {
        let was_own = self.trail.shadow.as_ref().is_none_or(Shadow::is_own);
        match (newest, was_own) {
            (Some(Arrival::Row(shadow)), _) => {
                let base = self.known_state();
                self.settle(base.as_ref(), Arrival::Row(shadow), fresh)
            }
            (None, true) if self.trail.shadow.is_some() => {
                self.lost();
                Settled::stays()
            }
            _ => {
                let base = self.known_state();
                Settled::gone(self.text_to_keep(base.as_ref(), fresh))
            }
        }
    }

    /// What the user did may not be done: the row stays as the server has it, the user's text is kept apart.
    fn disown(&mut self, arrival: Arrival, fresh: &mut impl FnMut() -> MemoryUuid) -> Settled {
        let base = self.known_state();
        let kept = self.text_to_keep(base.as_ref(), fresh);
        match arrival {
            Arrival::Row(shadow) => {
                *self = Self::received(*shadow);
                Settled { stays: true, kept }
            }
            Arrival::Gone { .. } => Settled::gone(kept),
        }
    }

    /// The server had it and has it no more: it is told again from the beginning.
    ///
    /// A server names whoever writes, and that is this user now: so what somebody else wrote is told as foreign.
    fn lost(&mut self) {
        let is_anothers = self.edited_by().is_some();
        self.trail.lost = self.trail.shadow.take().is_some();
        if let (true, State::Live(document) | State::Deleted(document)) = (is_anothers, &mut self.state) {
            distrust(document);
        }
    }

    fn known(&mut self, newest: Option<Arrival>) {
        if let Some(Arrival::Row(shadow)) = newest {
            self.trail.shadow = Some(*shadow);
        }
    }

    /// The user's own text, when the server does not have it.
    fn text_to_keep(
        &self,
        base: Option<&State>,
        fresh: &mut impl FnMut() -> MemoryUuid,
    ) -> Vec<(MemoryUuid, Document)> {
        let known = base.and_then(State::document).map(|document| &document.content);
        let ours =
            self.state.live().filter(|document| known.is_none_or(|known| !says_the_same(known, &document.content)));
        let is_own = self.trail.shadow.as_ref().is_none_or(Shadow::is_own);
        let kept = |document: &Document| if is_own { document.clone() } else { own_text(document.clone()) };
        ours.map(|document| (fresh(), kept(document))).into_iter().collect()
    }

    /// Brings what is shown here up to date with the server, from what both were before.
    fn settle(&mut self, base: Option<&State>, arrival: Arrival, fresh: &mut impl FnMut() -> MemoryUuid) -> Settled {
        let shadow = match arrival {
            Arrival::Gone { .. } => return Settled::gone(self.text_to_keep(base, fresh)),
            Arrival::Row(shadow) => shadow,
        };
        let mut settled = Settled::stays();
        let is_own = shadow.is_own();
        let theirs = &beside_what_of(shadow.row.state.clone(), &self.state, is_own);
        let base = base.map(|base| beside_what_of(base.clone(), &self.state, is_own));
        let base = base.as_ref();
        let ours = self.state.clone();
        self.trail.untold = UnsentFile::of(&ours, base, theirs).or(self.trail.untold);
        self.state = match (&ours, base, theirs) {
            (_, _, State::Purged) => State::Purged,
            (State::Purged, ..) => State::Purged,
            (ours, Some(base), theirs) if ours == base => theirs.clone(),
            (State::Deleted(_), Some(base), theirs) if base == theirs => ours,
            // A change has precedence over a deletion, on whichever side.
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
                    let copy = if shadow.is_own() { mine.clone() } else { own_text(mine.clone()) };
                    settled.kept.push((copy_id(self.memory, &mine.content), conflicting(copy, self.memory)));
                }
                State::Live(next)
            }
        };
        self.trail.shadow = Some(*shadow);
        self.trail.lost = false;
        settled
    }

    /// Takes a row of a snapshot of a server whose history may have gone another way than what is known of it:
    /// both know what was up to `common_seq`. `None` is a row that is not there.
    ///
    /// Of the user's own memories a server keeps a tombstone: one that is not there was lost there, and is told again.
    /// Of another user's memory the text stays, as one of `user`'s own, if `user` wrote it.
    pub fn restore(
        &mut self,
        row: Option<Shadow>,
        common_seq: u64,
        user: &str,
        fresh: &mut impl FnMut() -> MemoryUuid,
    ) -> Settled {
        let sent = self.trail.sent.take();
        self.trail.arrived = None;
        self.trail.path_told = None; // It stands in the history that went another way.
        let Some(shadow) = row else {
            if self.trail.shadow.as_ref().is_none_or(Shadow::is_own) {
                if self.trail.shadow.is_some() {
                    self.lost();
                }
                return Settled::stays();
            }
            let is_ours = |shadow: &&Shadow| shadow.seq > common_seq && shadow.row.edited_by.as_deref() == Some(user);
            let base = self.trail.shadow.as_ref().filter(|shadow| !is_ours(shadow));
            let base = base.map(|shadow| shadow.row.state.clone());
            return Settled::gone(self.text_to_keep(base.as_ref(), fresh));
        };
        let was_anothers = self.edited_by().and(self.state.document()).map(|document| document.content.clone());
        let known = self.trail.shadow.take();
        let is_common = |known: &Shadow| known.seq <= common_seq || known.row.state == shadow.row.state;
        if known.as_ref().is_some_and(|known| !is_common(known) && shadow.row.rev < known.row.rev) {
            // What stands there is older than what is here: ours is a change of it.
            let base = shadow.row.state.clone();
            let settled = self.settle(Some(&base), Arrival::Row(Box::new(shadow)), fresh);
            if let State::Live(document) = &mut self.state
                && Some(&document.content) == was_anothers.as_ref()
            {
                distrust(document);
            }
            return settled;
        }
        let base = known.filter(is_common).map(|known| known.row.state);
        // An op that was sent may have been carried out: then what it said is what was before.
        let carried_out = sent.map(|sent| sent.state).filter(|state| *state == shadow.row.state);
        let mut settled = self.settle(carried_out.or(base).as_ref(), Arrival::Row(Box::new(shadow)), fresh);
        for (_, document) in &mut settled.kept {
            if Some(&document.content) == was_anothers.as_ref() {
                distrust(document);
            }
        }
        settled
    }
}

/// A state with the path of the file that the memory is known to be, and what is kept beside it, where it says neither.
/// What is beside another user's memory is for its owner to say.
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

/// A text that somebody else wrote, where nothing says so any more. The owner's word on it stands.
fn distrust(document: &mut Document) {
    document.details.vouched = document.details.vouched.or(Some(Trust::Foreign));
}
