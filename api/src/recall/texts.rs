//! Recently returned memories with their line costs, so that a question about them needs no database. A feed entry
//! about a memory invalidates the memory's cached text.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moka::sync::Cache;
use tessera_engine::pack::Row;

/// How long an unused text stays cached. The cached texts of removed users expire after the same time.
const IDLE: Duration = Duration::from_mins(30);
/// Approximate bytes of a row besides its text and embeddings.
const ROW_BYTES: usize = 1024;

/// The rows of all users, within a byte limit.
pub(super) struct Texts {
    rows: Cache<(u64, u32), Arc<Row>>,
    next: AtomicU64,
}

/// This number in the cache keys separates a user's valid rows from rows that are no longer valid, and from other
/// users' rows.
#[derive(Debug, Default)]
pub(super) struct RowVersion(Mutex<Label>);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    /// The number in the cache keys; 0 if nothing was cached yet.
    number: u64,
    /// How often rows were invalidated.
    taken: u64,
}

impl RowVersion {
    /// Invalidates all rows; they expire later.
    pub(super) fn clear(&self) {
        let mut now = self.label();
        *now = Label { number: 0, taken: now.taken + 1 };
    }

    fn label(&self) -> std::sync::MutexGuard<'_, Label> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn weight(row: &Row) -> u32 {
    let bytes = ROW_BYTES + row.memory.content.len() + row.memory.summary.len() + row.embedding.len();
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Texts {
    pub(super) fn new(most_bytes: usize) -> Self {
        let rows = Cache::builder().weigher(|_: &(u64, u32), row: &Arc<Row>| weight(row));
        let rows = rows.max_capacity(most_bytes as u64).time_to_idle(IDLE);
        Self { rows: rows.build(), next: AtomicU64::new(1) }
    }

    /// Returns the cached rows, the IDs that are not cached, and the version number for caching the missing rows.
    pub(super) fn of(
        &self,
        shelf: &RowVersion,
        short_ids: impl Iterator<Item = u32>,
    ) -> (Vec<Arc<Row>>, Vec<u32>, Label) {
        let label = *shelf.label();
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for short_id in short_ids {
            match self.rows.get(&(label.number, short_id)) {
                Some(row) => found.push(row),
                None => others.push(short_id),
            }
        }
        (found, others, label)
    }

    /// Caches rows that were read from the database, unless a row was invalidated since the version was fetched.
    pub(super) fn keep(&self, shelf: &RowVersion, label: Label, rows: impl Iterator<Item = Arc<Row>>) {
        let mut now = shelf.label();
        if *now != label {
            return;
        }
        if now.number == 0 {
            now.number = self.next.fetch_add(1, Ordering::Relaxed);
        }
        rows.for_each(|row| self.rows.insert((now.number, row.memory.short_id.get()), row));
    }

    /// Takes rows away.
    pub(super) fn take(&self, shelf: &RowVersion, short_ids: impl Iterator<Item = u32>) {
        let mut now = shelf.label();
        now.taken += 1;
        if now.number > 0 {
            short_ids.for_each(|short_id| self.rows.invalidate(&(now.number, short_id)));
        }
    }
}

#[cfg(test)]
mod tests {
    use tessera_engine::Timestamp;
    use tessera_engine::domain::{Memory, MemoryUuid, ShortId};
    use tessera_engine::pack::LineCosts;
    use tessera_engine::text::O200k;

    use super::*;

    fn row(short_id: u32, text: &str) -> Arc<Row> {
        let id = MemoryUuid::generate(Timestamp::from_micros(1));
        let mut memory = Memory::blank(id, text.to_owned(), Timestamp::from_micros(1));
        memory.short_id = ShortId::try_from(short_id).unwrap();
        let costs = LineCosts::measure(&memory, &O200k);
        Arc::new(Row { memory, costs, signature: 0, embedding: Vec::new() })
    }

    #[test]
    fn what_was_read_before_something_was_taken_is_not_kept() {
        let (texts, shelf, other) = (Texts::new(1 << 20), RowVersion::default(), RowVersion::default());
        let held = |shelf: &RowVersion| texts.of(shelf, [7].into_iter()).0.len();
        let read = || texts.of(&shelf, [7].into_iter()).2;
        let label = read();
        texts.keep(&shelf, label, [row(7, "The gate is open")].into_iter());
        assert_eq!((held(&shelf), held(&other)), (1, 0), "a number is a user's own");
        // One task reads a row, another one learns that it changed; the first must not cache the old row.
        for is_all in [false, true] {
            let label = read();
            if is_all {
                shelf.clear();
            } else {
                texts.take(&shelf, [7].into_iter());
            }
            assert_eq!(held(&shelf), 0);
            texts.keep(&shelf, label, [row(7, "The gate is open")].into_iter());
            assert_eq!(held(&shelf), 0, "it may be of before");
            texts.keep(&shelf, read(), [row(7, "The gate is shut")].into_iter());
            assert_eq!(held(&shelf), 1);
        }
    }
}
