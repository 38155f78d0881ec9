//! A server in memory: what a transaction of the real one does, around the same decisions.

use std::collections::{BTreeMap, BTreeSet};

use tessera_engine::domain::{MemoryId, Permission, Share, Tag};
use tessera_engine::sync::{
    Action, Arrival, Author, Decision, Op, Refusal, Rights, Row, Shadow, State, copy_id, decide,
};

use crate::flaw::Flaw;

/// A user's number.
pub(crate) type User = usize;

/// The answer to a push.
#[derive(Debug, Clone)]
pub(crate) enum PushReply {
    MustRefetch,
    Answer(Box<Answer>),
}

/// What became of an op: the row as it is now, and the copy if both texts were kept.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) memory: MemoryId,
    pub(crate) op_id: MemoryId,
    pub(crate) refused: Option<Refusal>,
    pub(crate) row: Option<Shadow>,
    pub(crate) copy: Option<Shadow>,
}

/// The answer to a pull.
#[derive(Debug, Clone)]
pub(crate) enum PullReply {
    MustRefetch,
    Page { after: u64, rows: Vec<(MemoryId, Arrival)>, next: u64 },
}

/// Everything a user may see, for a machine that begins anew.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) epoch: u64,
    pub(crate) restored_seq: u64,
    pub(crate) head: u64,
    pub(crate) rows: Vec<Shadow>,
}

const PAGE: usize = 3;

#[derive(Debug, Clone, Default)]
pub(crate) struct Server {
    pub(crate) flaw: Option<Flaw>,
    pub(crate) rows: BTreeMap<MemoryId, (User, Row)>,
    pub(crate) epoch: u64,
    direct: BTreeMap<(MemoryId, User), Rights>,
    by_tag: BTreeMap<(User, Tag, User), Rights>,
    seqs: BTreeMap<User, u64>,
    feeds: BTreeMap<User, BTreeMap<MemoryId, u64>>,
    applied: BTreeMap<(User, MemoryId), Option<Refusal>>,
    /// For each restore, which begins an epoch, how far every user's changes were kept.
    restored: Vec<BTreeMap<User, u64>>,
    /// Of a server that numbers changes before they are to be seen: those that are not yet.
    late: Vec<(User, MemoryId, u64)>,
    made: u64,
}

impl Server {
    pub(crate) fn new(flaw: Option<Flaw>) -> Self {
        Self { flaw, epoch: 1, ..Self::default() }
    }

    fn rights(&self, user: User, memory: MemoryId) -> Rights {
        let Some((owner, row)) = self.rows.get(&memory) else { return Rights::None };
        if *owner == user {
            return Rights::Owner;
        }
        if matches!(row.state, State::Purged) {
            return Rights::None;
        }
        if let Some(rights) = self.direct.get(&(memory, user)) {
            return *rights;
        }
        let tags = row.state.document().map(|document| &document.tags);
        let rules = tags.into_iter().flatten().filter_map(|tag| self.by_tag.get(&(*owner, tag.clone(), user)));
        rules.copied().max().unwrap_or(Rights::None)
    }

    fn shadow(&self, user: User, memory: MemoryId) -> Option<Shadow> {
        let rights = self.rights(user, memory);
        let (owner, row) = self.rows.get(&memory)?;
        let seq = self.feeds.get(&user)?.get(&memory).copied()?;
        let permission = if rights == Rights::Write { Permission::Write } else { Permission::Read };
        let share = (*owner != user).then(|| Share { by: owner.to_string(), permission });
        (rights >= Rights::Read).then(|| Shadow { row: row.clone(), seq, share })
    }

    fn audience(&self, memory: MemoryId) -> BTreeSet<User> {
        (0..crate::world::USERS).filter(|user| self.rights(*user, memory) >= Rights::Read).collect()
    }

    /// Makes a change and tells everybody who saw the memory before or sees it after.
    fn change(&mut self, memory: MemoryId, make: impl FnOnce(&mut Self)) {
        let before = self.audience(memory);
        make(self);
        let after = self.audience(memory);
        let told = if self.flaw == Some(Flaw::NothingTellsOfAnUnshare) { after } else { &before | &after };
        for user in told {
            let seq = self.seqs.entry(user).or_default();
            *seq += 1;
            if self.flaw == Some(Flaw::NumberedBeforeTheCommit) && seq.is_multiple_of(3) {
                self.late.push((user, memory, *seq));
                continue;
            }
            self.feeds.entry(user).or_default().insert(memory, *seq);
        }
    }

    /// What was numbered before is to be seen now.
    pub(crate) fn commit_late(&mut self) {
        for (user, memory, seq) in std::mem::take(&mut self.late) {
            let known = self.feeds.entry(user).or_default().entry(memory).or_default();
            *known = seq.max(*known);
        }
    }

    pub(crate) fn push(&mut self, user: User, epoch: u64, mut op: Op) -> PushReply {
        if epoch != self.epoch {
            return PushReply::MustRefetch;
        }
        let asked = op.memory;
        if self.flaw == Some(Flaw::TheServerMakesIds) && matches!(op.action, Action::Create(_)) {
            self.made += 1;
            op.memory = MemoryId::from_key(&format!("made {}", self.made));
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
        let copy = text.and_then(|text| self.shadow(user, copy_id(op.memory, text)));
        let row = self.shadow(user, op.memory);
        PushReply::Answer(Box::new(Answer { memory: asked, op_id: op.op_id, refused, row, copy }))
    }

    fn carry_out(&mut self, user: User, op: &Op) -> Option<Refusal> {
        let mut op = op.clone();
        let current = self.rows.get(&op.memory).map(|(_, row)| row.clone());
        match (self.flaw, &op.action) {
            (Some(Flaw::TheLastWriterWins), Action::Edit(_) | Action::Create(_))
            | (Some(Flaw::ADeletionWins), Action::Delete) => op.base_rev = u64::MAX,
            _ => {}
        }
        let owner = self.rows.get(&op.memory).map_or(user, |(owner, _)| *owner);
        match decide(
            current.as_ref(),
            &op,
            Author { name: &format!("user{user}"), rights: self.rights(user, op.memory) },
        ) {
            Decision::Refuse(refusal) => return Some(refusal),
            Decision::Keep => {}
            Decision::Write { row, copy } => {
                self.change(op.memory, |server| drop(server.rows.insert(op.memory, (owner, *row))));
                // The same text may have been in conflict before; then its copy is there.
                if let Some(copy) = copy.filter(|copy| !self.rows.contains_key(&copy.memory)) {
                    self.change(copy.memory, |server| drop(server.rows.insert(copy.memory, (user, *copy))));
                }
            }
        }
        None
    }

    pub(crate) fn pull(&self, user: User, epoch: u64, after: u64) -> PullReply {
        if epoch != self.epoch || after > self.head(user) {
            return PullReply::MustRefetch;
        }
        let mut changed: Vec<(u64, MemoryId)> = self
            .feeds
            .get(&user)
            .into_iter()
            .flatten()
            .filter(|(_, seq)| **seq > after)
            .map(|(memory, seq)| (*seq, *memory))
            .collect();
        changed.sort_unstable();
        changed.truncate(PAGE);
        let next = changed.last().map_or(after, |(seq, _)| *seq);
        let arrival = |(seq, memory): (u64, MemoryId)| match self.shadow(user, memory) {
            Some(shadow) => (memory, Arrival::Row(Box::new(shadow))),
            None => (memory, Arrival::Gone { seq }),
        };
        PullReply::Page { after, rows: changed.into_iter().map(arrival).collect(), next }
    }

    pub(crate) fn head(&self, user: User) -> u64 {
        self.seqs.get(&user).copied().unwrap_or(0)
    }

    /// `epoch` is the machine's own: since then the server may have been restored more than once.
    pub(crate) fn snapshot(&self, user: User, epoch: u64) -> Snapshot {
        let rows = self.rows.keys().filter_map(|memory| self.shadow(user, *memory)).collect();
        let since = usize::try_from(epoch.saturating_sub(1)).unwrap();
        let kept = self.restored.iter().skip(since).map(|seqs| seqs.get(&user).copied().unwrap_or(0));
        let restored_seq = kept.min().unwrap_or(u64::MAX);
        Snapshot { epoch: self.epoch, restored_seq, head: self.head(user), rows }
    }

    /// The owner shares a memory, or no longer.
    pub(crate) fn share(&mut self, memory: MemoryId, with: User, rights: Option<Rights>) {
        if self.rows.get(&memory).is_none_or(|(owner, _)| *owner == with) {
            return;
        }
        self.change(memory, |server| match rights {
            Some(rights) => drop(server.direct.insert((memory, with), rights)),
            None => drop(server.direct.remove(&(memory, with))),
        });
    }

    /// An owner shares all that has a tag, now and later, or no longer.
    pub(crate) fn share_tag(&mut self, owner: User, tag: &Tag, with: User, rights: Option<Rights>) {
        let has = |row: &Row| row.state.document().is_some_and(|document| document.tags.contains(tag));
        let of = |(memory, (by, row)): (&MemoryId, &(User, Row))| (*by == owner && has(row)).then_some(*memory);
        let memories: Vec<MemoryId> = self.rows.iter().filter_map(of).collect();
        let before: Vec<Rights> = memories.iter().map(|memory| self.rights(with, *memory)).collect();
        match rights {
            Some(rights) => drop(self.by_tag.insert((owner, tag.clone(), with), rights)),
            None => drop(self.by_tag.remove(&(owner, tag.clone(), with))),
        }
        for (memory, before) in memories.into_iter().zip(before) {
            if before != self.rights(with, memory)
                && (rights.is_some() || self.flaw != Some(Flaw::NothingTellsOfAnUnshare))
            {
                let seq = self.seqs.entry(with).or_default();
                *seq += 1;
                self.feeds.entry(with).or_default().insert(memory, *seq);
            }
        }
    }

    /// Goes back to a backup, under a new epoch.
    pub(crate) fn restore(&mut self, backup: &Self) {
        let (epoch, mut restored) = (self.epoch + 1, std::mem::take(&mut self.restored));
        *self = backup.clone();
        restored.push(self.seqs.clone());
        (self.epoch, self.restored) = (epoch, restored);
    }
}
