//! The indexes of the most recently active users, within a byte limit.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use lru::LruCache;
use tessera_engine::Timestamp;
use tessera_engine::domain::RecallRequest;
use tessera_engine::embedding::Vector;
use tessera_engine::recall::Ranking;
use tessera_engine::score::Weights;
use tokio::sync::{Mutex as Turn, OwnedSemaphorePermit, Semaphore};

use super::index::UserIndex;
use super::texts::RowVersion;
use crate::db::{Position, UserId};

/// The minimum size of an index.
const SLOT_BYTES: usize = 1024;

/// The cache entry of one user.
pub(super) struct Slot {
    /// Held by the task that refreshes the index. A refresh holds no database connection while it waits for this lock.
    pub(super) refreshing: Turn<()>,
    /// Limits the simultaneous questions of this user.
    pub(super) turns: Arc<Semaphore>,
    /// The index. Only the task that holds `refreshing` replaces the index.
    pub(super) index: RwLock<UserIndex>,
    /// The version of this user's cached rows.
    pub(super) shelf: RowVersion,
}

impl Slot {
    /// True if the index contains everything at this position; false while the index is being changed.
    pub(super) fn is_at(&self, at: &Position) -> bool {
        self.index.try_read().is_ok_and(|index| index.is_at(at))
    }

    /// True where there is an index.
    pub(super) fn is_loaded(&self) -> bool {
        self.index.read().unwrap_or_else(PoisonError::into_inner).is_loaded()
    }

    /// Ranks memories for a question. Call this on a thread that may block.
    pub(super) fn rank(
        &self,
        request: &RecallRequest,
        meant: Option<&Vector>,
        now: Timestamp,
        weights: &Weights,
    ) -> Ranking {
        self.index.read().unwrap_or_else(PoisonError::into_inner).rank(request, meant, now, weights)
    }
}

/// Indexes by user, in order of their last use.
pub(super) struct Cache {
    most_bytes: usize,
    turns_of_user: usize,
    held: Arc<Mutex<Held>>,
    /// How many KiB all index builds may use at the same time. A build that needs more than all permits takes all of
    /// them, so it runs alone.
    building: Arc<Semaphore>,
}

/// The bytes of RAM reserved for one index build. If necessary, other indexes were removed to make room for this build.
pub(super) struct Room {
    bytes: usize,
    held: Arc<Mutex<Held>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).building -= self.bytes;
    }
}

struct Held {
    /// The entries with their counted bytes. When an entry is removed, its bytes are subtracted.
    by_user: LruCache<UserId, (Arc<Slot>, usize)>,
    bytes: usize,
    /// The bytes of running builds.
    building: usize,
}

impl Held {
    /// Removes the least recently used indexes until the remaining ones and the running builds need at most
    /// `most_bytes`, but always keeps `kept` indexes.
    fn shrink(&mut self, most_bytes: usize, kept: usize) {
        while self.bytes + self.building > most_bytes && self.by_user.len() > kept {
            let Some((_, (_, counted))) = self.by_user.pop_lru() else { break };
            self.bytes -= counted;
            metrics::counter!("tessera_index_evictions_total").increment(1);
        }
        metrics::gauge!("tessera_index_bytes").set(self.bytes as f64);
        metrics::gauge!("tessera_index_building_bytes").set(self.building as f64);
        metrics::gauge!("tessera_indexes").set(self.by_user.len() as f64);
    }
}

impl Cache {
    /// `turns_of_user` limits the simultaneous questions of one user.
    pub(super) fn new(most_bytes: usize, turns_of_user: usize) -> Self {
        let held = Held { by_user: LruCache::unbounded(), bytes: 0, building: 0 };
        let building = Arc::new(Semaphore::new((most_bytes / 1024).clamp(1, Semaphore::MAX_PERMITS)));
        Self { most_bytes, turns_of_user, held: Arc::new(Mutex::new(held)), building }
    }

    /// Waits for memory for a build, and removes other indexes for it.
    pub(super) async fn room(&self, bytes: usize) -> Room {
        let most_kib = (self.most_bytes / 1024).max(1);
        if bytes > self.most_bytes {
            tracing::warn!(
                bytes,
                most_bytes = self.most_bytes,
                "an index is larger than --index-mb; the server builds it only when no other build is running"
            );
        }
        let kib = u32::try_from((bytes / 1024).clamp(1, most_kib)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.building).acquire_many_owned(kib).await.ok();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.building += bytes;
        // The index that is built was used last.
        held.shrink(self.most_bytes, 1);
        drop(held);
        Room { bytes, held: Arc::clone(&self.held), _permit: permit }
    }

    /// The entry of a user, created if necessary.
    pub(super) fn of(&self, user: &UserId) -> Arc<Slot> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((slot, _)) = held.by_user.get(user) {
            return Arc::clone(slot);
        }
        let turns = Arc::new(Semaphore::new(self.turns_of_user));
        let (refreshing, index, shelf) = (Turn::default(), RwLock::default(), RowVersion::default());
        let slot = Arc::new(Slot { refreshing, turns, index, shelf });
        held.by_user.put(user.clone(), (Arc::clone(&slot), SLOT_BYTES));
        held.bytes += SLOT_BYTES;
        slot
    }

    /// The entry of a user, if there is one; does not count as use.
    pub(super) fn known(&self, user: &UserId) -> Option<Arc<Slot>> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.by_user.peek(user).map(|(slot, _)| Arc::clone(slot))
    }

    /// Records the new size of a user's index, and removes others until all fit. The most recently used index stays,
    /// whatever its size. The size of an index that was removed meanwhile is not added.
    pub(super) fn resized(&self, user: &UserId, slot: &Arc<Slot>, bytes: usize) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let held = &mut *held;
        if let Some((known, counted)) = held.by_user.peek_mut(user)
            && Arc::ptr_eq(known, slot)
        {
            held.bytes = held.bytes - *counted + SLOT_BYTES + bytes;
            *counted = SLOT_BYTES + bytes;
        }
        held.shrink(self.most_bytes, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn indexes_that_are_built_together_take_no_more_than_all_may_hold() {
        let cache = Cache::new(100 * SLOT_BYTES, 1);
        for name in ["ada", "bob"] {
            let user: UserId = name.parse().unwrap();
            let slot = cache.of(&user);
            cache.resized(&user, &slot, 40 * SLOT_BYTES);
        }
        let first = cache.room(50 * SLOT_BYTES).await;
        let (users, building) = {
            let held = cache.held.lock().unwrap();
            (held.by_user.len(), held.building)
        };
        assert_eq!((users, building), (1, 50 * SLOT_BYTES), "an older index is removed to make room for the new one");
        let mut second = std::pin::pin!(cache.room(60 * SLOT_BYTES));
        let is_waiting = tokio::time::timeout(std::time::Duration::from_millis(20), second.as_mut()).await.is_err();
        assert!(is_waiting, "the server must build two indexes one after the other if both do not fit");
        drop(first);
        let second = second.await;
        assert_eq!(cache.held.lock().unwrap().building, 60 * SLOT_BYTES);
        drop(second);
        // An index above the limit is built alone, and does not wait forever.
        let _alone = cache.room(1_000 * SLOT_BYTES).await;
    }

    #[test]
    fn an_index_that_goes_while_it_is_used_counts_no_more() {
        let cache = Cache::new(10 * SLOT_BYTES, 1);
        let user = |name: &str| name.parse::<UserId>().unwrap();
        let mut random = fastrand::Rng::with_seed(5);
        let mut in_use = Vec::new();
        for _ in 0..2_000 {
            let name = user(&format!("u{}", random.u8(0..12)));
            let slot = cache.of(&name);
            // Used by a running question, like the last three.
            in_use.push((name, slot));
            if in_use.len() > 3 {
                let (name, slot) = in_use.remove(0);
                cache.resized(&name, &slot, random.usize(0..4 * SLOT_BYTES));
            }
            let held = cache.held.lock().unwrap();
            assert_eq!(held.bytes, held.by_user.iter().map(|(_, (_, bytes))| bytes).sum::<usize>());
        }
        let (last, slot) = in_use.pop().unwrap();
        cache.resized(&last, &slot, 1);
        assert!(cache.held.lock().unwrap().bytes <= 10 * SLOT_BYTES);
        assert!(cache.known(&user("nobody")).is_none());
    }
}
