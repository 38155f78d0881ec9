//! One machine of one user: its memories, its cursor, and a worker that pushes and pulls.

use std::collections::{BTreeMap, BTreeSet};

use tessera_engine::domain::{MemoryUuid, Timestamp};
use tessera_engine::sync::{Arrival, BaseVersion, Checkpoint, Document, Local, Op, Settled, State};

use crate::flaw::Flaw;
use crate::server::{Answer, PullReply, PushReply, Snapshot, User, name};

#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) user: User,
    pub(crate) rows: BTreeMap<MemoryUuid, Local>,
    pub(crate) epoch: u64,
    pub(crate) cursor: u64,
    /// The newest first.
    pub(crate) checkpoints: Vec<Checkpoint>,
    pub(crate) must_refetch: bool,
    flaw: Option<Flaw>,
    random: fastrand::Rng,
    skew: i64,
    /// True for a program of before: it knows of no files, and of no metadata.
    pub(crate) is_older: bool,
    attempts: BTreeMap<MemoryUuid, u32>,
    unqueued: BTreeSet<MemoryUuid>,
    /// The memory that a flawed machine sends until it is answered.
    stuck: Option<MemoryUuid>,
}

impl Machine {
    pub(crate) fn new(user: User, flaw: Option<Flaw>, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let ten_years = 315_360_000_000_000;
        let skew = random.i64(-ten_years..ten_years);
        Self {
            user,
            rows: BTreeMap::new(),
            epoch: 1,
            cursor: 0,
            checkpoints: Vec::new(),
            must_refetch: false,
            flaw,
            random,
            skew,
            is_older: false,
            attempts: BTreeMap::new(),
            unqueued: BTreeSet::new(),
            stuck: None,
        }
    }

    pub(crate) fn id(&mut self) -> MemoryUuid {
        id(&mut self.random)
    }

    pub(crate) fn now(&self, step: u64) -> Timestamp {
        Timestamp::from_micros(1_795_000_000_000_000 + self.skew + i64::try_from(step).unwrap() * 1_000_000)
    }

    /// Memories that the machine shows.
    pub(crate) fn shown(&self) -> BTreeMap<MemoryUuid, Document> {
        self.rows.iter().filter_map(|(memory, local)| Some((*memory, local.state.live()?.clone()))).collect()
    }

    /// A write of the user: the memory and its place in the queue in one transaction.
    pub(crate) fn write(&mut self, memory: MemoryUuid, state: State) {
        if let Some(local) = self.rows.get_mut(&memory) {
            local.state = state;
        } else if let State::Live(document) = state {
            self.rows.insert(memory, Local::new(memory, document));
        }
        if self.flaw == Some(Flaw::QueuedSeparately) && self.random.u8(..10) == 0 {
            self.unqueued.insert(memory);
        }
    }

    /// The machine looks what has expired by its clock, and what is used: neither is a change.
    pub(crate) fn show(&mut self, step: u64) {
        let now = self.now(step);
        let expired = |document: &Document| document.details.expires.is_some_and(|expires| expires <= now);
        for local in self.rows.values_mut() {
            let own = local.base_version().is_none_or(BaseVersion::is_own);
            match (self.flaw, &mut local.state) {
                (Some(Flaw::WhatExpiredIsDeleted), State::Live(document)) if own && expired(document) => {
                    local.state = State::Deleted(document.clone());
                }
                (Some(Flaw::AUseIsAChange), State::Live(document)) => {
                    let later = document.details.expires.map(|expires| expires.max(now.plus_days(90)));
                    document.details.expires = later;
                }
                _ => {}
            }
        }
    }

    /// What the worker sends next: of a random memory, so that no order is taken for granted.
    pub(crate) fn next_op(&mut self, step: u64) -> Option<Op> {
        let dirty: Vec<MemoryUuid> =
            self.rows.iter().filter(|(_, local)| !local.is_clean()).map(|(id, _)| *id).collect();
        let dirty: Vec<MemoryUuid> = dirty.into_iter().filter(|memory| !self.unqueued.contains(memory)).collect();
        let memory = *self.random.choice(&dirty)?;
        let memory = self.stuck.filter(|stuck| dirty.contains(stuck)).unwrap_or(memory);
        let (op_id, at) = (self.id(), self.now(step));
        let attempts = self.attempts.entry(memory).or_default();
        *attempts += 1;
        if self.flaw == Some(Flaw::DroppedAfterFive) && *attempts > 5 {
            match self.rows.get(&memory).and_then(Local::base_version).cloned() {
                Some(base_version) => drop(self.rows.insert(memory, Local::received(base_version))),
                None => drop(self.rows.remove(&memory)),
            }
            return None;
        }
        self.rows.get_mut(&memory)?.op(op_id, at)
    }

    /// The newest mark that the machine was given.
    pub(crate) fn known(&self) -> Option<Checkpoint> {
        self.checkpoints.first().copied()
    }

    fn note(&mut self, checkpoint: Option<Checkpoint>) {
        let mut checkpoints = std::mem::take(&mut self.checkpoints);
        checkpoints.extend(checkpoint);
        self.checkpoints = Checkpoint::thinned(checkpoints);
    }

    pub(crate) fn pushed(&mut self, reply: PushReply) {
        let (answer, checkpoint) = match reply {
            PushReply::Answer(answer, checkpoint) => (answer, checkpoint),
            PushReply::NotNow(memory) => {
                match self.flaw {
                    Some(Flaw::OneFailureStopsAll) => self.stuck = Some(memory),
                    Some(Flaw::AProxyRejects) => drop(self.unqueued.insert(memory)),
                    _ => {}
                }
                return;
            }
            PushReply::MustRefetch => {
                self.must_refetch = true;
                return;
            }
        };
        self.note(checkpoint);
        let Answer { memory, op_id, refused, row, copy } = *answer;
        let (row, copy) = (row.map(|row| self.as_read(row)), copy.map(|copy| self.as_read(copy)));
        if let Some(row) = row.clone().filter(|row| row.row.memory != memory) {
            // A server that makes ids: the memory goes on under the one it was given.
            self.rows.remove(&memory);
            self.take(row.row.memory, Arrival::Row(Box::new(row)));
            return;
        }
        let Some(local) = self.rows.get_mut(&memory) else { return };
        let random = &mut self.random;
        let settled = local.answer(op_id, refused, row, &mut || id(random));
        self.attempts.remove(&memory);
        self.carry_out(memory, settled);
        if let Some(copy) = copy {
            let arrival = Arrival::Row(Box::new(copy.clone()));
            self.take(copy.row.memory, arrival);
        }
    }

    pub(crate) fn pulled(&mut self, reply: PullReply) {
        let PullReply::Page { after, rows, next, checkpoint } = reply else {
            self.must_refetch = true;
            return;
        };
        if after != self.cursor {
            return;
        }
        self.cursor = next;
        self.note(checkpoint);
        if self.flaw == Some(Flaw::TheCursorComesFirst) && self.random.u8(..20) == 0 {
            return;
        }
        for (memory, arrival) in rows {
            self.take(memory, arrival);
        }
    }

    /// A row as this program reads it.
    pub(crate) fn as_read(&self, mut base_version: BaseVersion) -> BaseVersion {
        if let (true, State::Live(document) | State::Deleted(document)) = (self.is_older, &mut base_version.row.state) {
            document.details.file = None;
            document.details.metadata = None;
        }
        base_version
    }

    fn take(&mut self, memory: MemoryUuid, arrival: Arrival) {
        let arrival = match arrival {
            Arrival::Row(base_version) => Arrival::Row(Box::new(self.as_read(*base_version))),
            gone @ Arrival::Gone { .. } => gone,
        };
        let random = &mut self.random;
        match (self.rows.get_mut(&memory), arrival) {
            (Some(local), Arrival::Row(base_version)) if self.flaw == Some(Flaw::TheServerWins) => {
                *local = Local::received(*base_version);
            }
            (Some(local), arrival) => {
                let settled = local.arrive(arrival, &mut || id(random));
                self.carry_out(memory, settled);
            }
            (None, Arrival::Row(base_version)) => drop(self.rows.insert(memory, Local::received(*base_version))),
            (None, Arrival::Gone { .. }) => {}
        }
    }

    fn carry_out(&mut self, memory: MemoryUuid, settled: Settled) {
        if !settled.stays {
            self.rows.remove(&memory);
        }
        for (memory, document) in settled.kept {
            self.rows.entry(memory).or_insert_with(|| Local::new(memory, document));
        }
    }

    /// Begins anew from a snapshot, keeping what was not sent.
    pub(crate) fn refetch(&mut self, snapshot: Snapshot) {
        let rows = snapshot.rows.into_iter().map(|row| (row.row.memory, self.as_read(row)));
        let mut rows: BTreeMap<MemoryUuid, _> = rows.collect();
        if self.flaw == Some(Flaw::ResyncDeletesUnsent) {
            self.rows.clear();
        }
        for memory in self.rows.keys().copied().collect::<Vec<_>>() {
            let Some(local) = self.rows.get_mut(&memory) else { continue };
            let random = &mut self.random;
            let row = rows.remove(&memory);
            if self.flaw == Some(Flaw::AbsenceIsADeletion) && row.is_none() && local.is_clean() {
                self.rows.remove(&memory);
                continue;
            }
            let settled = local.restore(row, snapshot.restored_seq, &name(self.user), &mut || id(random));
            self.carry_out(memory, settled);
        }
        self.rows.extend(rows.into_iter().map(|(memory, row)| (memory, Local::received(row))));
        // Of two marks of one number, a late answer of a history that was lost brought the other.
        let is_lost = |checkpoint: &Checkpoint| snapshot.checkpoint.is_some_and(|now| now.seq == checkpoint.seq);
        self.checkpoints.retain(|checkpoint| checkpoint.seq <= snapshot.restored_seq && !is_lost(checkpoint));
        self.note(snapshot.checkpoint);
        (self.epoch, self.cursor, self.must_refetch) = (snapshot.epoch, snapshot.head, false);
    }
}

fn id(random: &mut fastrand::Rng) -> MemoryUuid {
    MemoryUuid::from_key(&random.u128(..).to_string())
}
