//! A server in memory: what a transaction of the real one does, around the same decisions.

use std::collections::{BTreeMap, BTreeSet};

use tessera_engine::domain::{MemoryUuid, Permission, Share, Tag};
use tessera_engine::sync::{
    Action, Arrival, Author, BaseVersion, Checkpoint, Decision, Op, Refusal, Rights, Row, State, copy_id, decide,
};

use crate::flaw::Flaw;

/// A user's number.
pub(crate) type User = usize;

/// The answer to a push.
#[derive(Debug, Clone)]
pub(crate) enum PushReply {
    MustRefetch,
    /// The server failed on the change to a memory, or a proxy answered in its place.
    NotNow(MemoryUuid),
    Answer(Box<Answer>, Option<Checkpoint>),
}

/// What became of an op: the row as it is now, and the copy if both texts were kept.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) memory: MemoryUuid,
    pub(crate) op_id: MemoryUuid,
    pub(crate) refused: Option<Refusal>,
    pub(crate) row: Option<BaseVersion>,
    pub(crate) copy: Option<BaseVersion>,
}

/// The answer to a pull.
#[derive(Debug, Clone)]
pub(crate) enum PullReply {
    MustRefetch,
    Page { after: u64, rows: Vec<(MemoryUuid, Arrival)>, next: u64, checkpoint: Option<Checkpoint> },
}

/// Everything a user may see, for a machine that begins anew.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) epoch: u64,
    pub(crate) restored_seq: u64,
    pub(crate) head: u64,
    pub(crate) checkpoint: Option<Checkpoint>,
    pub(crate) rows: Vec<BaseVersion>,
}

const PAGE: usize = 3;

/// Whose a memory is, and its id: two users may use one id.
pub(crate) type Key = (User, MemoryUuid);

/// The name of a user.
pub(crate) fn name(user: User) -> String {
    format!("user{user}")
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Server {
    pub(crate) flaw: Option<Flaw>,
    pub(crate) rows: BTreeMap<Key, Row>,
    pub(crate) epoch: u64,
    direct: BTreeMap<(Key, User), Rights>,
    by_tag: BTreeMap<(User, Tag, User), Rights>,
    seqs: BTreeMap<User, u64>,
    checkpoints: BTreeMap<(User, u64), i64>,
    /// For each user and memory, its place in their feed, and the place where it first stood.
    feeds: BTreeMap<User, BTreeMap<Key, (u64, u64)>>,
    applied: BTreeMap<(User, MemoryUuid), Option<Refusal>>,
    /// Of a server that numbers changes before they are to be seen: those that are not yet.
    late: Vec<(User, Key, u64)>,
    made: u64,
    stamps: i64,
}

impl Server {
    pub(crate) fn new(flaw: Option<Flaw>) -> Self {
        Self { flaw, epoch: 1, ..Self::default() }
    }

    pub(crate) fn rights(&self, user: User, key: Key) -> Rights {
        let Some(row) = self.rows.get(&key) else { return Rights::None };
        let (owner, memory) = key;
        if owner == user {
            return Rights::Owner;
        }
        let is_there = match row.state {
            State::Live(_) => true,
            State::Deleted(_) => self.flaw == Some(Flaw::WhatWasDeletedStaysShared),
            State::Purged => false,
        };
        if !is_there {
            return Rights::None;
        }
        if let Some(rights) = self.direct.get(&((owner, memory), user)) {
            return *rights;
        }
        let tags = row.state.document().map(|document| &document.tags);
        let rules = tags.into_iter().flatten().filter_map(|tag| self.by_tag.get(&(owner, tag.clone(), user)));
        rules.copied().max().unwrap_or(Rights::None)
    }

    /// True when a user was ever told of a memory.
    pub(crate) fn told(&self, user: User, key: Key) -> bool {
        self.feeds.get(&user).is_some_and(|feed| feed.contains_key(&key))
    }

    /// The memory that an id means to a user: their own, else of those that they may see the one that came first.
    fn meant(&self, user: User, memory: MemoryUuid) -> Option<Key> {
        let feed = self.feeds.get(&user)?;
        let seen = feed.iter().filter(|((_, id), _)| *id == memory);
        let seen = seen.filter(|(key, _)| self.rights(user, **key) >= Rights::Read);
        let first = |(key, (seq, since)): &(&Key, &(u64, u64))| match self.flaw {
            Some(Flaw::WhoeverComesLastTakesThePlace) => (key.0 != user, u64::MAX - *seq),
            _ => (key.0 != user, *since),
        };
        seen.min_by_key(first).map(|(key, _)| *key)
    }

    fn base_version(&self, user: User, memory: MemoryUuid) -> Option<BaseVersion> {
        let key = self.meant(user, memory)?;
        let feed = self.feeds.get(&user)?;
        let seq = feed.iter().filter(|((_, id), _)| *id == memory).map(|(_, (seq, _))| *seq).max()?;
        let permission = if self.rights(user, key) == Rights::Write { Permission::Write } else { Permission::Read };
        let share = (key.0 != user).then(|| Share { by: name(key.0), permission });
        Some(BaseVersion { row: self.rows.get(&key)?.clone(), seq, share })
    }

    fn audience(&self, key: Key) -> BTreeSet<User> {
        (0..crate::world::USERS).filter(|user| self.rights(*user, key) >= Rights::Read).collect()
    }

    /// The next number of a user's changes, with its mark.
    fn number(&mut self, user: User) -> u64 {
        let seq = self.seqs.entry(user).or_default();
        *seq += 1;
        self.stamps = self.stamps.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.checkpoints.insert((user, *seq), self.stamps);
        *seq
    }

    fn tell(&mut self, user: User, key: Key, seq: u64) {
        let place = self.feeds.entry(user).or_default().entry(key).or_insert((seq, seq));
        place.0 = seq.max(place.0);
    }

    fn checkpoint(&self, user: User) -> Option<Checkpoint> {
        let seq = self.head(user);
        self.checkpoints.get(&(user, seq)).map(|stamp| Checkpoint { seq, stamp: *stamp })
    }

    /// True for what this history has.
    fn knows(&self, user: User, checkpoint: Option<Checkpoint>) -> bool {
        self.flaw == Some(Flaw::ARestoreIsNotNoticed)
            || checkpoint
                .is_none_or(|checkpoint| self.checkpoints.get(&(user, checkpoint.seq)) == Some(&checkpoint.stamp))
    }

    /// Makes a change and tells everybody who saw the memory before or sees it after.
    fn change(&mut self, key: Key, make: impl FnOnce(&mut Self)) {
        let before = self.audience(key);
        make(self);
        let after = self.audience(key);
        let told = if self.flaw == Some(Flaw::NothingTellsOfAnUnshare) { after } else { &before | &after };
        for user in told {
            let seq = self.number(user);
            if self.flaw == Some(Flaw::NumberedBeforeTheCommit) && seq.is_multiple_of(3) {
                self.late.push((user, key, seq));
                continue;
            }
            self.tell(user, key, seq);
        }
    }

    /// What was numbered before is to be seen now.
    pub(crate) fn commit_late(&mut self) {
        for (user, key, seq) in std::mem::take(&mut self.late) {
            self.tell(user, key, seq);
        }
    }

    pub(crate) fn push(&mut self, user: User, epoch: u64, known: Option<Checkpoint>, mut op: Op) -> PushReply {
        if epoch != self.epoch || !self.knows(user, known) {
            return PushReply::MustRefetch;
        }
        let asked = op.memory;
        if self.flaw == Some(Flaw::TheServerMakesIds) && matches!(op.action, Action::Create(_)) {
            self.made += 1;
            op.memory = MemoryUuid::from_key(&format!("made {}", self.made));
        }
        let known = self.applied.get(&(user, op.op_id)).copied();
        let is_new = known.is_none() || self.flaw == Some(Flaw::TheServerMakesIds);
        let refused = if is_new { self.carry_out(user, &op) } else { known.flatten() };
        self.applied.insert((user, op.op_id), refused);
        let text = match &op.action {
            Action::Create(document) => Some(&document.content),
            Action::Edit(edit) => edit.content.as_ref(),
            Action::Delete | Action::Purge => None,
        };
        let copy = text.and_then(|text| self.base_version(user, copy_id(op.memory, text)));
        let row = self.base_version(user, op.memory);
        PushReply::Answer(
            Box::new(Answer { memory: asked, op_id: op.op_id, refused, row, copy }),
            self.checkpoint(user),
        )
    }

    fn carry_out(&mut self, user: User, op: &Op) -> Option<Refusal> {
        let mut op = op.clone();
        let meant = self.meant(user, op.memory);
        let is_new = meant.is_none() && !self.rows.contains_key(&(user, op.memory));
        let is_anothers = self.feeds.get(&user).is_some_and(|feed| feed.keys().any(|(_, id)| *id == op.memory));
        if is_new && is_anothers && self.flaw != Some(Flaw::WhoeverComesLastTakesThePlace) {
            return Some(if matches!(op.action, Action::Create(_)) { Refusal::IdTaken } else { Refusal::Unknown });
        }
        let key = meant.unwrap_or((user, op.memory));
        let current = self.rows.get(&key).cloned();
        match (self.flaw, &op.action) {
            (Some(Flaw::TheLastWriterWins), Action::Edit(_) | Action::Create(_))
            | (Some(Flaw::ADeletionWins), Action::Delete) => op.base_rev = u64::MAX,
            _ => {}
        }
        if let (Action::Edit(edit), Some(now)) = (&mut op.action, current.as_ref().and_then(|row| row.state.live())) {
            match self.flaw {
                // What is there is taken for what both began with.
                Some(Flaw::AMergeDropsOneSide) if edit.base.is_some() => edit.base = Some(now.content.clone()),
                Some(Flaw::AMergeTakesWhatTouches) if edit.base.is_some() => op.base_rev = u64::MAX,
                _ => {}
            }
        }
        let mut rights = self.rights(user, key);
        if rights == Rights::Write && self.flaw == Some(Flaw::WhoeverMayWriteMayDoAnything) {
            rights = Rights::Owner;
        }
        match decide(current.as_ref(), &op, Author { name: &name(user), rights }) {
            Decision::Refuse(refusal) => return Some(refusal),
            Decision::Keep => {}
            Decision::Write { mut row, copy } => {
                if self.flaw == Some(Flaw::AnothersTextIsTheOwners) {
                    row.edited_by = None;
                }
                self.change(key, |server| drop(server.rows.insert(key, *row)));
                // The same text may have been in conflict before; then its copy is there.
                if let Some(copy) = copy.filter(|copy| !self.rows.contains_key(&(user, copy.memory))) {
                    let key = (user, copy.memory);
                    self.change(key, |server| drop(server.rows.insert(key, *copy)));
                }
            }
        }
        None
    }

    pub(crate) fn pull(&self, user: User, epoch: u64, known: Option<Checkpoint>, after: u64) -> PullReply {
        if epoch != self.epoch || !self.knows(user, known) || after > self.head(user) {
            return PullReply::MustRefetch;
        }
        let feed = self.feeds.get(&user).into_iter().flatten();
        let mut changed: Vec<(u64, MemoryUuid)> =
            feed.filter(|(_, (seq, _))| *seq > after).map(|((_, memory), (seq, _))| (*seq, *memory)).collect();
        changed.sort_unstable();
        changed.truncate(PAGE);
        let next = changed.last().map_or(after, |(seq, _)| *seq);
        let arrival = |(seq, memory): (u64, MemoryUuid)| match self.base_version(user, memory) {
            Some(base_version) => (memory, Arrival::Row(Box::new(BaseVersion { seq, ..base_version }))),
            None => (memory, Arrival::Gone { seq }),
        };
        let checkpoint = self.checkpoints.get(&(user, next)).map(|stamp| Checkpoint { seq: next, stamp: *stamp });
        PullReply::Page { after, rows: changed.into_iter().map(arrival).collect(), next, checkpoint }
    }

    pub(crate) fn head(&self, user: User) -> u64 {
        self.seqs.get(&user).copied().unwrap_or(0)
    }

    pub(crate) fn snapshot(&self, user: User, known: &[Checkpoint]) -> Snapshot {
        let ids: BTreeSet<MemoryUuid> = self.feeds.get(&user).into_iter().flatten().map(|((_, id), _)| *id).collect();
        let rows = ids.into_iter().filter_map(|memory| self.base_version(user, memory)).collect();
        let common = known
            .iter()
            .filter(|checkpoint| self.knows(user, Some(**checkpoint)))
            .map(|checkpoint| checkpoint.seq)
            .max();
        let restored_seq = common.unwrap_or(0);
        Snapshot { epoch: self.epoch, restored_seq, head: self.head(user), checkpoint: self.checkpoint(user), rows }
    }

    /// The owner shares a memory, or no longer.
    pub(crate) fn share(&mut self, key: Key, with: User, rights: Option<Rights>) {
        if key.0 == with || self.rows.get(&key).is_none_or(|row| row.state.live().is_none()) {
            return;
        }
        self.change(key, |server| match rights {
            Some(rights) => drop(server.direct.insert((key, with), rights)),
            None => drop(server.direct.remove(&(key, with))),
        });
    }

    /// An owner shares all that has a tag, now and later, or no longer.
    pub(crate) fn share_tag(&mut self, owner: User, tag: &Tag, with: User, rights: Option<Rights>) {
        let has = |row: &Row| row.state.document().is_some_and(|document| document.tags.contains(tag));
        let keys: Vec<Key> =
            self.rows.iter().filter(|(key, row)| key.0 == owner && has(row)).map(|(key, _)| *key).collect();
        let before: Vec<Rights> = keys.iter().map(|key| self.rights(with, *key)).collect();
        match rights {
            Some(rights) => drop(self.by_tag.insert((owner, tag.clone(), with), rights)),
            None => drop(self.by_tag.remove(&(owner, tag.clone(), with))),
        }
        for (key, before) in keys.into_iter().zip(before) {
            if before != self.rights(with, key)
                && (rights.is_some() || self.flaw != Some(Flaw::NothingTellsOfAnUnshare))
            {
                let seq = self.number(with);
                self.tell(with, key, seq);
            }
        }
    }

    /// Goes back to a backup. Nobody says so, unless `is_announced`: that begins an epoch.
    pub(crate) fn restore(&mut self, backup: &Self, is_announced: bool, random: i64) {
        let epoch = self.epoch;
        *self = backup.clone();
        // What is random comes out otherwise than before.
        self.stamps ^= random;
        self.epoch = epoch + u64::from(is_announced);
    }
}
