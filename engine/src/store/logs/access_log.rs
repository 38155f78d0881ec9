//! The access log: memories that were returned in full. It is appended to without a lock and processed later, so that a
//! recall never waits for a writer.

use std::collections::BTreeMap;

use rusqlite::params;

use super::spool::Spool;
use crate::domain::{ShortId, Timestamp};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::rows::codec::Run as _;

/// Each line has the ID of a returned memory and the time in microseconds.
pub(crate) const LOG: Spool = Spool { file: Home::access_log, fold_at: 20 * 256 };
/// A use that is more than this number of days in the future is ignored.
const MOST_AHEAD_DAYS: i64 = 1;

/// Records that memories were returned.
pub(crate) fn append(home: &Home, uses: impl IntoIterator<Item = (ShortId, Timestamp)>) {
    let line = |(short_id, at): (ShortId, Timestamp)| format!("{} {}\n", short_id.get(), at.as_micros());
    let lines: String = uses.into_iter().map(line).collect();
    LOG.append(home, lines.as_bytes());
}

/// Counts one use of a memory.
pub(crate) fn touch(change: &Change<'_>, short_id: ShortId, at: Timestamp) -> Result<(), StoreError> {
    fold_one(change, short_id, 1, at)
}

fn fold_one(change: &Change<'_>, short_id: ShortId, uses: u32, last: Timestamp) -> Result<(), StoreError> {
    // Synced data does not change by reading.
    let sql =
        "UPDATE memories SET access_count = access_count + ?2, last_accessed = max(coalesce(last_accessed, 0), ?3),
               rev = ?4 WHERE short_id = ?1 AND deleted IS NULL AND is_file = 0";
    if change.tx.run(sql, params![short_id, uses, last, change.next_rev()?])? == 0 {
        // The memory of a whole file is not in the index. With a new rev, it would wait to be written to disk.
        let sql =
            "UPDATE memories SET access_count = access_count + ?2, last_accessed = max(coalesce(last_accessed, 0), ?3)
               WHERE short_id = ?1 AND deleted IS NULL AND is_file = 1";
        change.tx.run(sql, params![short_id, uses, last])?;
    }
    Ok(())
}

impl Store {
    /// Records uses of memories with their times, for example from a replay or from another machine's log.
    pub fn note_uses(&self, uses: impl IntoIterator<Item = (ShortId, Timestamp)>) {
        append(&self.home, uses);
    }

    /// Adds the uses of the access log to the rows. Each line is counted once, even if a process is killed. A use that
    /// another process records at the same moment may be lost.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. Then the log stays.
    pub fn fold_accesses(&mut self) -> Result<(), StoreError> {
        self.fold(&LOG, fold_uses)
    }

    pub(crate) fn fold_accesses_if_due(&mut self) -> Result<(), StoreError> {
        self.fold_if_due(&LOG, fold_uses)
    }
}

/// The last use of each memory whose log entries are not processed yet.
pub(crate) fn unfolded(home: &Home) -> Vec<(ShortId, Timestamp)> {
    uses_of(&LOG.unfolded(home), Timestamp::from_micros(i64::MAX))
        .into_iter()
        .map(|(short_id, (_, last))| (short_id, last))
        .collect()
}

fn fold_uses(change: &Change<'_>, bytes: &[u8]) -> Result<(), StoreError> {
    let uses = uses_of(bytes, change.now.plus_days(MOST_AHEAD_DAYS));
    uses.into_iter().try_for_each(|(short_id, (uses, last))| fold_one(change, short_id, uses, last))
}

fn uses_of(bytes: &[u8], latest: Timestamp) -> BTreeMap<ShortId, (u32, Timestamp)> {
    let mut uses: BTreeMap<ShortId, (u32, Timestamp)> = BTreeMap::new();
    for (short_id, at) in bytes.split(|byte| *byte == b'\n').filter_map(use_in).filter(|(_, at)| *at <= latest) {
        let entry = uses.entry(short_id).or_insert((0, Timestamp::from_micros(0)));
        entry.0 += 1;
        entry.1 = entry.1.max(at);
    }
    uses
}

/// Parses a line: the memory and the time. Returns `None` for an incomplete line.
fn use_in(line: &[u8]) -> Option<(ShortId, Timestamp)> {
    let (short_id, at) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    Some((ShortId::try_from(short_id.parse::<u32>().ok()?).ok()?, Timestamp::from_micros(at.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::open::in_memory::InMemory;

    #[test]
    fn a_record_that_was_written_in_part_shifts_none_that_follow() {
        let mut store = InMemory::new();
        let (one, two) = (store.said("one"), store.said("two"));
        for part in ["7", "1 17951", "1 99999999999999999", "\u{0}\u{1}"] {
            fs::write(store.home().access_log(), part).unwrap();
            append(store.home(), [(two.short_id, store.now())]);
            store.fold_accesses().unwrap();
        }
        let used = |memory: &crate::domain::Memory| -> (u32, Option<i64>) {
            let of = |column: &str| format!("SELECT {column} FROM memories WHERE short_id = {}", memory.short_id.get());
            (store.one(&of("access_count")), store.one(&of("last_accessed")))
        };
        assert_eq!(used(&two), (4, Some(store.now().as_micros())));
        assert!(used(&one).1.is_none_or(|last| last <= store.now().as_micros()), "a last use in the future is ignored");
    }
}
