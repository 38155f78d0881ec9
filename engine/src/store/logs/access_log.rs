//! The access log: which memories were delivered in full, appended without any lock and folded
//! into the rows later, so that a recall never waits for a writer.

use std::collections::BTreeMap;

use rusqlite::params;

use super::spool::Spool;
use crate::domain::{Handle, Timestamp};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;

/// A handle and a time, little-endian.
const RECORD: usize = 12;

/// Handles and times of memories delivered in full.
pub(crate) const LOG: Spool = Spool { file: Home::access_log, fold_at: 12 * 256 };

/// Notes that memories were delivered.
pub(crate) fn append(home: &Home, uses: impl IntoIterator<Item = (Handle, Timestamp)>) {
    let mut bytes = Vec::new();
    for (handle, at) in uses {
        bytes.extend(handle.get().to_le_bytes());
        bytes.extend(at.as_micros().to_le_bytes());
    }
    LOG.append(home, &bytes);
}

/// Counts one use of a memory now.
pub(crate) fn touch(change: &Change<'_>, handle: Handle, at: Timestamp) -> Result<(), StoreError> {
    fold_one(change, handle, 1, at)
}

fn fold_one(change: &Change<'_>, handle: Handle, uses: u32, last: Timestamp) -> Result<(), StoreError> {
    // Nothing that travels: what machines tell each other does not change by being read.
    let sql =
        "UPDATE memories SET access_count = access_count + ?2, last_accessed = max(coalesce(last_accessed, 0), ?3),
               rev = ?4 WHERE handle = ?1 AND deleted IS NULL AND whole = 0";
    if change.tx.prepare_cached(sql)?.execute(params![handle, uses, last, change.next_rev()?])? == 0 {
        // No index has what stands for a file; with another rev it would wait to be written to disk.
        let sql =
            "UPDATE memories SET access_count = access_count + ?2, last_accessed = max(coalesce(last_accessed, 0), ?3)
               WHERE handle = ?1 AND deleted IS NULL AND whole = 1";
        change.tx.prepare_cached(sql)?.execute(params![handle, uses, last])?;
    }
    Ok(())
}

impl Store {
    /// Notes uses that happened elsewhere, or earlier: a replay, another machine's log.
    pub fn note_uses(&self, uses: impl IntoIterator<Item = (Handle, Timestamp)>) {
        append(&self.home, uses);
    }

    /// Folds the access log into the rows, no record twice, whatever is killed when. A use that is
    /// noted at the very moment of folding may go uncounted.
    ///
    /// # Errors
    /// When the store cannot be written; the log is kept then.
    pub fn fold_accesses(&mut self) -> Result<(), StoreError> {
        self.fold(&LOG, fold_uses)
    }

    pub(crate) fn fold_accesses_if_due(&mut self) -> Result<(), StoreError> {
        self.fold_if_due(&LOG, fold_uses)
    }
}

/// The last use of each memory of which the log knows more than the rows.
pub(crate) fn unfolded(home: &Home) -> Vec<(Handle, Timestamp)> {
    uses_of(&LOG.unfolded(home)).into_iter().map(|(handle, (_, last))| (handle, last)).collect()
}

fn fold_uses(change: &Change<'_>, bytes: &[u8]) -> Result<(), StoreError> {
    uses_of(bytes).into_iter().try_for_each(|(handle, (uses, last))| fold_one(change, handle, uses, last))
}

fn uses_of(bytes: &[u8]) -> BTreeMap<Handle, (u32, Timestamp)> {
    let mut uses: BTreeMap<Handle, (u32, Timestamp)> = BTreeMap::new();
    for record in bytes.chunks_exact(RECORD) {
        let (handle, time) = record.split_at(4);
        let number = handle.try_into().map_or(0, u32::from_le_bytes);
        let micros = time.try_into().map_or(0, i64::from_le_bytes);
        if let Ok(handle) = Handle::try_from(number) {
            let entry = uses.entry(handle).or_insert((0, Timestamp::from_micros(0)));
            entry.0 += 1;
            entry.1 = entry.1.max(Timestamp::from_micros(micros));
        }
    }
    uses
}
