//! The indexes of the users who asked last, within a number of bytes.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use lru::LruCache;
use tessera_engine::Timestamp;
use tessera_engine::domain::RecallRequest;
use tessera_engine::recall::{Ranking, meant};
use tessera_engine::score::Weights;
use tokio::sync::{Mutex as Turn, Semaphore};

use super::index::UserIndex;
use super::texts::Shelf;
use crate::db::{Position, UserId};

/// What an index holds at least, empty as it may be.
const SLOT_BYTES: usize = 1024;

/// One user's place in the cache.
pub(super) struct Slot {
    /// Held by whoever brings the index up to date, without a connection to the database while waiting for it.
    pub(super) refreshing: Turn<()>,
    /// The user's questions that are worked on at one time.
    pub(super) turns: Arc<Semaphore>,
    /// Changed in one go, by whoever holds `refreshing`.
    pub(super) index: RwLock<UserIndex>,
    /// Memories that were given lately.
    pub(super) shelf: Shelf,
}

impl Slot {
    /// True where the index has all that the database had there. Where somebody is changing it, it is waited for.
    pub(super) fn is_at(&self, at: &Position) -> bool {
        self.index.try_read().is_ok_and(|index| index.is_at(at))
    }

    /// True where there is an index.
    pub(super) fn is_loaded(&self) -> bool {
        self.index.read().unwrap_or_else(PoisonError::into_inner).is_loaded()
    }

    /// Ranks for a question: for a thread that may work for a while.
    pub(super) fn rank(&self, request: &RecallRequest, now: Timestamp, weights: &Weights) -> Ranking {
        let meant = meant(request, weights);
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        index.rank(request, meant.as_ref(), now, weights)
    }
}

/// Indexes by user, the least recently asked first to go.
pub(super) struct Cache {
    most_bytes: usize,
    turns_of_user: usize,
    held: Mutex<Held>,
}

struct Held {
    /// With the bytes that were counted for each: what it counts for when it goes, whatever it holds by then.
    by_user: LruCache<UserId, (Arc<Slot>, usize)>,
    bytes: usize,
}

impl Cache {
    /// `turns_of_user` questions of one user are worked on at one time.
    pub(super) fn new(most_bytes: usize, turns_of_user: usize) -> Self {
        Self { most_bytes, turns_of_user, held: Mutex::new(Held { by_user: LruCache::unbounded(), bytes: 0 }) }
    }

    /// The place of a user: empty, if there was none.
    pub(super) fn of(&self, user: &UserId) -> Arc<Slot> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((slot, _)) = held.by_user.get(user) {
            return Arc::clone(slot);
        }
        let turns = Arc::new(Semaphore::new(self.turns_of_user));
        let (refreshing, index, shelf) = (Turn::default(), RwLock::default(), Shelf::default());
        let slot = Arc::new(Slot { refreshing, turns, index, shelf });
        held.by_user.put(user.clone(), (Arc::clone(&slot), SLOT_BYTES));
        held.bytes += SLOT_BYTES;
        slot
    }

    /// The place of a user, if there is one; does not count as asking.
    pub(super) fn known(&self, user: &UserId) -> Option<Arc<Slot>> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.by_user.peek(user).map(|(slot, _)| Arc::clone(slot))
    }

    /// Notes what a user's index holds now, and lets others go until all fit. The one that was asked last stays,
    /// however large; one that was let go meanwhile counts no more, and goes when nobody uses it.
    pub(super) fn resized(&self, user: &UserId, slot: &Arc<Slot>, bytes: usize) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let held = &mut *held;
        if let Some((known, counted)) = held.by_user.peek_mut(user)
            && Arc::ptr_eq(known, slot)
        {
            held.bytes = held.bytes - *counted + SLOT_BYTES + bytes;
            *counted = SLOT_BYTES + bytes;
        }
        while held.bytes > self.most_bytes && held.by_user.len() > 1 {
            let Some((_, (_, counted))) = held.by_user.pop_lru() else { break };
            held.bytes -= counted;
            metrics::counter!("tessera_index_evictions_total").increment(1);
        }
        metrics::gauge!("tessera_index_bytes").set(held.bytes as f64);
        metrics::gauge!("tessera_indexes").set(held.by_user.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_goes_while_it_is_used_counts_no_more() {
        let cache = Cache::new(10 * SLOT_BYTES, 1);
        let user = |name: &str| name.parse::<UserId>().unwrap();
        let mut random = fastrand::Rng::with_seed(5);
        let mut in_use = Vec::new();
        for _ in 0..2_000 {
            let name = user(&format!("u{}", random.u8(0..12)));
            let slot = cache.of(&name);
            // Held by a question that goes on, as are the last three.
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
