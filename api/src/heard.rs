//! Which machines asked for changes lately: one that asks for the same again is not noted again.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;

/// How long a note of the database holds; its own rule is the same.
const NOTED_FOR: Duration = Duration::from_hours(1);
/// Machines that are known at a time.
const MOST: NonZeroUsize = NonZeroUsize::new(20_000).expect("20,000 is not zero");

/// The place up to which a machine has the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) epoch: u64,
    pub(crate) after: u64,
}

/// Machines by the ID of their key and their name, with what was noted of them last.
#[derive(Debug)]
pub(crate) struct Heard(Mutex<LruCache<(String, String), (Place, Instant)>>);

impl Default for Heard {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }
}

impl Heard {
    /// True if the database knows already that the machine is at this place.
    pub(crate) fn is_noted(&self, key: &str, machine: &str, place: Place) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_machine = known.get(&(key.to_owned(), machine.to_owned()));
        of_machine.is_some_and(|(at, since)| *at == place && since.elapsed() < NOTED_FOR)
    }

    /// Keeps what was noted.
    pub(crate) fn note(&self, key: &str, machine: &str, place: Place) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.put((key.to_owned(), machine.to_owned()), (place, Instant::now()));
    }
}
