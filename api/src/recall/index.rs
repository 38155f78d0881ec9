//! One user's index: a snapshot in RAM, and the rows that have changed since, as in a local store.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tessera_engine::Timestamp;
use tessera_engine::domain::RecallRequest;
use tessera_engine::embedding::{Embedding, Vector};
use tessera_engine::index::{Facts, Features, Flags, Identity, IndexRow, IndexView, Mask, Snapshot, Tail};
use tessera_engine::recall::{Ranking, rank};
use tessera_engine::score::Weights;
use tessera_engine::sync::Checkpoint;

use serde::{Deserialize, Serialize};

use super::news::{Effect, Fed, Key};
use crate::db::{DbError, KeptIndex, Position, Use};

/// The index is rebuilt after this number of changed rows, or after a twentieth of the snapshot's rows, whichever is more.
const REBUILD_AT_ROWS: usize = 1000;

/// An index with fewer rows is not stored, because it is built as fast as a stored one is read.
const KEPT_ROWS: u32 = 500;

/// The interval of checks for new embeddings of pending rows.
const LOOK: Duration = Duration::from_secs(2);

/// The memories that a user may recall, at a position in the feed.
pub(super) struct UserIndex {
    epoch: u64,
    cursor: u64,
    /// The checkpoint at the head of the feed.
    checkpoint: Option<Checkpoint>,
    /// The time of the latest access count that the index includes.
    used: i64,
    is_loaded: bool,
    snapshot: Option<Snapshot<Vec<u8>>>,
    tail: Tail,
    tail_bytes: usize,
    mask: Mask,
    /// The IDs of conversation turns. A change of one turn also changes the context of its neighbours.
    captured: HashSet<u32>,
    /// For each memory that supersedes or updates others, these others.
    replaced: HashMap<u32, Vec<(Key, Effect)>>,
    /// Rows without a usable embedding, with their owners.
    waiting: HashMap<u32, Box<str>>,
    /// The last check of these rows.
    looked: Mutex<Option<Instant>>,
}

impl Default for UserIndex {
    fn default() -> Self {
        Self {
            epoch: 0,
            cursor: 0,
            checkpoint: None,
            used: 0,
            is_loaded: false,
            snapshot: None,
            tail: Tail::inverted(),
            tail_bytes: 0,
            mask: Mask::default(),
            captured: HashSet::new(),
            replaced: HashMap::new(),
            waiting: HashMap::new(),
            looked: Mutex::default(),
        }
    }
}

/// Additional data of a stored index.
#[derive(Serialize, Deserialize)]
struct Beside {
    captured: HashSet<u32>,
    replaced: HashMap<u32, Vec<(Key, Effect)>>,
    waiting: HashMap<u32, Box<str>>,
}

impl UserIndex {
    /// The newly built index, to be stored; `None` if it is small, or if rows have changed since it was built.
    pub(super) fn kept(&self, by_embedding: bool) -> Option<KeptIndex> {
        let snapshot =
            self.snapshot.as_ref().filter(|snapshot| snapshot.rows() >= KEPT_ROWS && self.tail.is_empty())?;
        let Self { captured, replaced, waiting, .. } = self;
        let beside = Beside { captured: captured.clone(), replaced: replaced.clone(), waiting: waiting.clone() };
        Some(KeptIndex {
            by_embedding,
            epoch: self.epoch,
            seq: self.cursor,
            checkpoint: self.checkpoint,
            used: self.used,
            beside: serde_json::to_vec(&beside).ok()?,
            snapshot: snapshot.to_bytes(),
        })
    }

    /// Loads a stored index; `None` if this program cannot read it.
    pub(super) fn of_kept(kept: KeptIndex) -> Option<Self> {
        let Position { epoch, head: cursor, checkpoint, .. } = Position::of_kept(&kept);
        let Beside { captured, replaced, waiting } = serde_json::from_slice(&kept.beside).ok()?;
        let snapshot = Some(Snapshot::open(kept.snapshot).ok()?);
        let tail = Tail::inverted();
        let mask = Mask::of(snapshot.as_ref(), &tail);
        metrics::counter!("tessera_indexes_taken_total").increment(1);
        let (used, is_loaded) = (kept.used, true);
        let looked = Mutex::default();
        Some(Self {
            epoch,
            cursor,
            checkpoint,
            used,
            is_loaded,
            snapshot,
            tail,
            tail_bytes: 0,
            mask,
            captured,
            replaced,
            waiting,
            looked,
        })
    }

    /// The time up to which access counts are included, in microseconds.
    pub(super) fn used(&self) -> i64 {
        self.used
    }

    /// Builds an index of all rows at a position.
    pub(super) fn build(all: Vec<Fed>, position: Position) -> Result<Self, DbError> {
        let Position { epoch, head: cursor, checkpoint, .. } = position;
        let mut built = Self { epoch, cursor, checkpoint, is_loaded: true, ..Self::default() };
        for fed in &all {
            built.remember(fed);
            built.used = built.used.max(fed.facts.last_accessed.map_or(0, Timestamp::as_micros));
        }
        *built.looked.get_mut().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let successors = successors(&built.replaced);
        let rows: Vec<IndexRow> = all.into_iter().map(|fed| fed.row(&successors)).collect();
        let identity = Identity { store: [0; 16], rev: cursor, stamp: [0; 16] };
        let snapshot = Snapshot::open(Snapshot::build(identity, &rows));
        // An unreadable index is an error, not a user without memories.
        built.snapshot = Some(snapshot.map_err(|error| DbError::Row(format!("the new index is invalid: {error}")))?);
        built.mask = Mask::of(built.snapshot.as_ref(), &built.tail);
        metrics::counter!("tessera_index_builds_total").increment(1);
        Ok(built)
    }

    /// Bytes that it holds, about.
    pub(super) fn bytes(&self) -> usize {
        let small = self.captured.len() * 8 + self.replaced.len() * 64 + self.waiting.len() * 48;
        self.snapshot.as_ref().map_or(0, Snapshot::size) + self.tail_bytes + small
    }

    pub(super) fn rank(
        &self,
        request: &RecallRequest,
        meant: Option<&Vector>,
        now: Timestamp,
        weights: &Weights,
    ) -> Ranking {
        rank(&self.view(), request, meant, now, weights)
    }

    pub(super) fn view(&self) -> IndexView<'_, Vec<u8>> {
        IndexView::new(self.snapshot.as_ref(), &self.tail, &self.mask)
    }

    /// True if it is time to check the pending rows.
    pub(super) fn is_look_due(&self) -> bool {
        let looked = *self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        !self.waiting.is_empty() && looked.is_none_or(|looked| looked.elapsed() > LOOK)
    }

    /// Makes the next check of the pending rows due.
    pub(super) fn look_now(&self) {
        *self.looked.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The IDs of pending rows if a check is due; records the time.
    pub(super) fn take_a_look(&self) -> Vec<i64> {
        if !self.is_look_due() {
            return Vec::new();
        }
        *self.looked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.waiting.keys().map(|short_id| i64::from(*short_id)).collect()
    }

    /// The users whose rows wait.
    pub(super) fn waited_for(&self) -> HashSet<Box<str>> {
        self.waiting.values().cloned().collect()
    }

    /// The checkpoints that the index knows.
    pub(super) fn known(&self) -> Vec<Checkpoint> {
        self.checkpoint.into_iter().collect()
    }

    /// The position in the user's feed; `None` if the index must be rebuilt.
    pub(super) fn cursor_in(&self, epoch: u64, head: u64) -> Option<u64> {
        (self.is_loaded && epoch == self.epoch && head >= self.cursor).then_some(self.cursor)
    }

    /// True if the index contains all changes up to this position, and no check for new embeddings is due.
    pub(super) fn is_at(&self, at: &Position) -> bool {
        self.cursor_in(at.epoch, at.head) == Some(at.head) && self.checkpoint == at.checkpoint && !self.is_look_due()
    }

    /// True if it is loaded.
    pub(super) fn is_loaded(&self) -> bool {
        self.is_loaded
    }

    /// True if rebuilding the index is cheaper than changing it, or if a conversation turn changed or disappeared,
    /// because the index does not know the neighbours of a turn. A new turn is no reason.
    pub(super) fn is_rebuild_due(&self, changed: &[Fed]) -> bool {
        self.is_too_much(changed.len()) || changed.iter().any(|fed| self.captured.contains(&fed.facts.short_id))
    }

    /// True if a rebuild is cheaper.
    pub(super) fn is_too_much(&self, changed: usize) -> bool {
        let snapshot = self.snapshot.as_ref().map_or(0, |snapshot| snapshot.rows() as usize);
        self.tail.pushed() + changed > REBUILD_AT_ROWS.max(snapshot / 20)
    }

    /// The memories that the changed rows supersede or update, according to the index.
    pub(super) fn replaced_by(&self, changed: &[Fed]) -> HashSet<Key> {
        let known = changed.iter().filter_map(|fed| self.replaced.get(&fed.facts.short_id)).flatten();
        known.map(|(key, _)| key.clone()).collect()
    }

    /// Counts uses in.
    pub(super) fn count(&mut self, uses: &[Use]) {
        for one in uses {
            // The date of a conversation turn gives it no recency; its use does.
            let is_captured = self.captured.contains(&one.short_id);
            let used = |created: u32| if is_captured { one.last.minutes() } else { one.last.minutes().max(created) };
            let count = u8::try_from(one.count).unwrap_or(u8::MAX);
            if let Some(features) = self.tail.features_mut(one.short_id) {
                (features.used, features.access_count) = (used(features.created), count);
            } else if let Some(snapshot) = &mut self.snapshot
                && let Some(doc) = snapshot.find(one.short_id)
            {
                snapshot.set_use(doc, used(snapshot.features(doc).created), count);
            }
            self.used = self.used.max(one.last.as_micros());
        }
    }

    /// Adds changed rows, and all rows whose context changed with them. Moves to the new feed position, if all rows up
    /// to this position are there.
    pub(super) fn push(&mut self, changed: Vec<Fed>, place: Option<(u64, Option<Checkpoint>)>) {
        if !self.is_loaded {
            return;
        }
        // If anything fails from here on, the incomplete index must not be used.
        self.is_loaded = false;
        for fed in &changed {
            self.remember(fed);
        }
        let successors = successors(&self.replaced);
        for fed in changed {
            let row = fed.row(&successors);
            self.tail_bytes += 3 * row.blob.len() + row.embedding.len() + row.scope.len() + 64;
            self.tail.push(row);
        }
        self.mask = Mask::of(self.snapshot.as_ref(), &self.tail);
        if let Some((cursor, checkpoint)) = place {
            (self.cursor, self.checkpoint) = (cursor, checkpoint);
        }
        self.is_loaded = true;
    }

    fn remember(&mut self, fed: &Fed) {
        let short_id = fed.facts.short_id;
        if fed.facts.is_captured {
            self.captured.insert(short_id);
        }
        match fed.owner.as_deref().filter(|_| !Embedding::is_current(&fed.embedding)) {
            Some(owner) => self.waiting.insert(short_id, owner.into()),
            None => self.waiting.remove(&short_id),
        };
        if fed.replaces.is_empty() {
            self.replaced.remove(&short_id);
        } else {
            self.replaced.insert(short_id, fed.replaces.clone());
        }
    }
}

impl Fed {
    fn row(self, successors: &HashMap<Key, Newer>) -> IndexRow {
        let newer = self.key().and_then(|key| successors.get(&key).copied()).unwrap_or_default();
        let is_other = |short_id: &u32| *short_id != self.facts.short_id;
        let (superseding, updating) = (newer.superseding.filter(is_other), newer.updating.filter(is_other));
        let successor = superseding.or(updating);
        let flags = self.facts.flags.with(Flags::SUPERSEDED, superseding.is_some());
        let flags = flags.with(Flags::UPDATED, updating.is_some());
        let facts = Facts { flags, ..self.facts };
        IndexRow {
            features: Features::of(&facts),
            scope: self.scope,
            successor,
            blob: self.blob,
            embedding: self.embedding,
        }
    }
}

/// The latest memories that supersede and update a memory.
#[derive(Debug, Clone, Copy, Default)]
struct Newer {
    superseding: Option<u32>,
    updating: Option<u32>,
}

/// The latest memories that supersede and update each memory.
fn successors(replaced: &HashMap<u32, Vec<(Key, Effect)>>) -> HashMap<Key, Newer> {
    let mut successors: HashMap<Key, Newer> = HashMap::new();
    for (short_id, memories) in replaced {
        for (memory, effect) in memories {
            let newer = successors.entry(memory.clone()).or_default();
            let known = match effect {
                Effect::Supersedes => &mut newer.superseding,
                Effect::Updates => &mut newer.updating,
            };
            *known = (*known).max(Some(*short_id));
        }
    }
    successors
}
