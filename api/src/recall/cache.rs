//! The indexes of the users who asked last, within a number of bytes.

use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use tokio::sync::Mutex as Turn;

use super::index::UserIndex;
use crate::db::UserId;

/// Indexes by user, the least recently asked first to go.
pub(super) struct Cache {
    most_bytes: usize,
    held: Mutex<Held>,
}

struct Held {
    by_user: LruCache<UserId, Arc<Turn<UserIndex>>>,
    bytes: usize,
}

impl Cache {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, held: Mutex::new(Held { by_user: LruCache::unbounded(), bytes: 0 }) }
    }

    /// The index of a user: empty, if there was none.
    pub(super) fn of(&self, user: &UserId) -> Arc<Turn<UserIndex>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(held.by_user.get_or_insert(user.clone(), Arc::default))
    }

    /// Notes that a user's index holds more or less now, and lets others go until all fit. The one that was asked
    /// last stays, however large.
    pub(super) fn resized(&self, user: &UserId, before: usize, now: usize) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.by_user.contains(user) {
            // It was let go meanwhile, and with it what it held.
            return;
        }
        held.bytes = (held.bytes + now).saturating_sub(before);
        while held.bytes > self.most_bytes && held.by_user.len() > 1 {
            let Some((_, index)) = held.by_user.pop_lru() else { break };
            // One that is in use says itself what it holds, once it is free.
            let bytes = index.try_lock().map_or(0, |index| index.bytes());
            held.bytes = held.bytes.saturating_sub(bytes);
            metrics::counter!("tessera_index_evictions_total").increment(1);
        }
        metrics::gauge!("tessera_index_bytes").set(held.bytes as f64);
        metrics::gauge!("tessera_indexes").set(held.by_user.len() as f64);
    }
}
