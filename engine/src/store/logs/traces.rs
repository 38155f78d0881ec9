//! Where the words of what was removed for good may still stand, and how they go from there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde::Serialize;

use super::questions;
use crate::domain::MemoryId;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::base::transaction::PATIENCE;
use crate::store::file::error::StoreError;

/// Readers are short; one that is not is not waited for longer than this.
const WAIT_FOR_READERS: Duration = Duration::from_secs(2);
/// The key in `meta` that stands while words of a purge may be in the log.
const UNSCRUBBED: &str = "unscrubbed";

/// What still holds words of memories that were removed for good.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Traces {
    /// Another process reads: the log beside the database is cut at the next write after it has ended.
    pub in_log: bool,
    /// Copies of the store that were made before, and hold them.
    pub copies: Vec<PathBuf>,
}

impl Traces {
    /// What to tell the person, a sentence each.
    pub fn told(&self) -> Vec<String> {
        let mut told = Vec::new();
        if self.in_log {
            told.push(
                "another process is reading: the log still holds the words until the next write after it".to_owned(),
            );
        }
        if !self.copies.is_empty() {
            let list: Vec<String> = self.copies.iter().map(|path| path.display().to_string()).collect();
            told.push(format!(
                "older copies still hold the words; remove them where you want them gone: {}",
                list.join(", ")
            ));
        }
        told
    }
}

/// Notes, in the transaction of a purge, that the log is to be cut.
pub(crate) fn note(change: &Change<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)";
    change.tx.prepare_cached(sql)?.execute((UNSCRUBBED, change.now)).map(drop)
}

impl Store {
    /// Where words of memories that were removed for good may still stand.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn traces(&self, removed: &[MemoryId]) -> Result<Traces, StoreError> {
        let in_log = self.is_unscrubbed().map_err(|error| self.failed(error))?;
        let mut copies = self.home.copies();
        copies.retain(|path| !is_free_of(path, removed));
        Ok(Traces { in_log, copies })
    }

    fn is_unscrubbed(&self) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM meta WHERE key = ?1)";
        self.connection.prepare_cached(sql)?.query_row([UNSCRUBBED], |row| row.get(0))
    }

    /// After a purge: writes the log into the file, cuts the log, and drops the snapshot that still had the words.
    /// Where a reader is in the way it stays to be done, and is done after a later write.
    ///
    /// # Errors
    /// When the snapshot cannot be removed, or the store not be written; it stays to be done then.
    pub(crate) fn scrub(&mut self) -> Result<(), StoreError> {
        self.scrub_within(WAIT_FOR_READERS)
    }

    /// The same for what a reader was in the way of before, without waiting for one.
    pub(crate) fn scrub_if_due(&mut self) -> Result<(), StoreError> {
        let is_due = self.is_unscrubbed().map_err(|error| self.failed(error))?;
        if is_due { self.scrub_within(Duration::ZERO) } else { Ok(()) }
    }

    fn scrub_within(&mut self, patience: Duration) -> Result<(), StoreError> {
        // A purge that came from elsewhere did not look at questions that are not in the database yet.
        questions::SPOOL.discard(&self.home);
        let path = self.home.snapshot();
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::file(&path, source));
            }
            _ => {}
        }
        // A row that grew was moved, and where it stood before may still be read: every page is written anew.
        let is_anew = self.connection.execute_batch("VACUUM").is_ok();
        if self.cut_log(patience).map_err(|error| self.failed(error))? && is_anew {
            self.write(|change| {
                change.tx.execute("DELETE FROM meta WHERE key = ?1", [UNSCRUBBED])?;
                Ok(())
            })?;
        }
        if self.live_rows().map_err(|error| self.failed(error))? > 1000 {
            self.rebuild_snapshot()?;
        }
        Ok(())
    }

    /// True when nothing is left in the log.
    fn cut_log(&self, patience: Duration) -> rusqlite::Result<bool> {
        self.connection.busy_timeout(patience)?;
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_busy = self.connection.query_row(sql, [], |row| row.get::<_, bool>(0)).optional();
        self.connection.busy_timeout(PATIENCE)?;
        match is_busy {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(false),
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseLocked) => Ok(false),
            other => Ok(other? == Some(false)),
        }
    }
}

/// True when a copy can be read and holds nothing of these memories.
fn is_free_of(path: &Path, removed: &[MemoryId]) -> bool {
    let read = || -> rusqlite::Result<bool> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut statement = connection.prepare(
            "SELECT EXISTS (SELECT 1 FROM memories WHERE id = ?1 AND purged = 0)
                 OR EXISTS (SELECT 1 FROM history WHERE memory = ?1 AND before IS NOT NULL)",
        )?;
        for id in removed {
            if statement.query_row([id], |row| row.get(0))? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    read().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::base::config::Actor;
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, named};

    #[test]
    fn copies_that_hold_the_words_are_named_and_others_are_not() {
        let mut store = InMemory::new();
        let before = store.home().backups().join("tessera-1.db");
        store.backup(Some(&before)).unwrap();
        let memory = store.said("The zebra lives on birch");
        let with = store.home().backups().join("tessera-2.db");
        store.backup(Some(&with)).unwrap();
        std::fs::write(store.home().backups().join("tessera-3.db"), "no database").unwrap();
        store.rebuild_snapshot().unwrap();
        store.forget(&[named(&memory)], Erase::Hard, &Actor::default()).unwrap();
        let traces = store.traces(&[memory.id]).unwrap();
        assert!(!traces.in_log);
        assert_eq!(
            traces.copies,
            [with, store.home().backups().join("tessera-3.db")],
            "what cannot be read may hold it"
        );
        assert!(!store.home().snapshot().exists(), "the snapshot had the words");
        assert_eq!(traces.told().len(), 1);
    }

    #[test]
    fn a_log_that_a_reader_holds_is_cut_by_a_later_write() {
        let mut store = InMemory::new();
        store.write(|change| Ok(note(change)?)).unwrap();
        assert!(store.traces(&[]).unwrap().in_log);
        store.said("a later write");
        assert_eq!(store.traces(&[]).unwrap(), Traces::default());
    }
}
