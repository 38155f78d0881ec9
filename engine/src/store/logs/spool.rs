//! Spools: small logs that are appended to without a lock and added to the database later, so that a reader never waits
//! for a writer.

use std::borrow::Cow;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use rusqlite::params;

use crate::domain::MemoryUuid;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::file::private;

/// A spool of a home directory.
pub(crate) struct Spool {
    /// Its file. Spool files that are being processed have the same name with a suffix.
    pub(crate) file: fn(&Home) -> PathBuf,
    /// A larger spool file is processed at the next write.
    pub(crate) fold_at: u64,
}

impl Spool {
    /// Appends records that end with line breaks. Errors are ignored.
    pub(crate) fn append(&self, home: &Home, records: &[u8]) {
        if records.is_empty() {
            return;
        }
        // The first line break ends an incomplete record, for example from a full disk.
        let lines = [b"\n", records].concat();
        let open = private::private_file().create(true).append(true).open((self.file)(home));
        if let Err(error) = open.and_then(|mut file| file.write_all(&lines)) {
            tracing::debug!(error = %error, spool = %(self.file)(home).display(), "cannot write a spool file");
        }
    }

    fn len(&self, home: &Home) -> u64 {
        (self.file)(home).metadata().map_or(0, |metadata| metadata.len())
    }

    /// Returns the spool files that wait to be processed, oldest first, including files of killed processes.
    pub(crate) fn parts(&self, home: &Home) -> Vec<PathBuf> {
        let prefix = format!("{}.", name_of(&(self.file)(home)));
        let Ok(entries) = fs::read_dir(home) else { return Vec::new() };
        let mut parts: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)))
            .map(|entry| entry.path())
            .collect();
        parts.sort();
        parts
    }

    /// True if there is something to process.
    pub(crate) fn holds_any(&self, home: &Home) -> bool {
        self.len(home) > 0 || !self.parts(home).is_empty()
    }

    /// Deletes unprocessed records. Files that cannot be deleted now are processed later.
    pub(crate) fn discard(&self, home: &Home) {
        for part in self.parts(home).into_iter().chain([(self.file)(home)]) {
            let _ = fs::remove_file(part);
        }
    }

    /// Unprocessed records, oldest first.
    pub(crate) fn unfolded(&self, home: &Home) -> Vec<u8> {
        let parts = self.parts(home).into_iter().chain([(self.file)(home)]);
        parts.filter_map(|part| fs::read(part).ok()).collect::<Vec<_>>().join(&b'\n')
    }
}

fn name_of(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// Adds the records of one part to the database.
pub(crate) type Fold = fn(&Change<'_>, &[u8]) -> Result<(), StoreError>;

impl Store {
    /// Processes a spool, each record once, even if a process is killed. A record that another process appends at the
    /// same moment may be lost.
    pub(crate) fn fold(&mut self, spool: &Spool, fold: Fold) -> Result<(), StoreError> {
        if spool.len(&self.home) > 0 {
            let log = (spool.file)(&self.home);
            let part = log.with_file_name(format!("{}.{}", name_of(&log), MemoryUuid::generate(self.now())));
            // From now on, other processes append to a new file.
            match fs::rename(&log, part) {
                // Another process was faster.
                Err(source) if source.kind() == std::io::ErrorKind::NotFound => {}
                other => other.map_err(|source| StoreError::file(&log, source))?,
            }
        }
        let mut result = Ok(());
        for part in spool.parts(&self.home) {
            result = result.and(self.fold_part(&part, fold));
        }
        result
    }

    /// Processes a spool that has grown large.
    pub(crate) fn fold_if_due(&mut self, spool: &Spool, fold: Fold) -> Result<(), StoreError> {
        if spool.len(&self.home) >= spool.fold_at { self.fold(spool, fold) } else { Ok(()) }
    }

    /// Processes one spool file, and records the file's name in the same transaction. If the name of a spool file is
    /// recorded, its records are already in the database, so the file is deleted.
    fn fold_part(&mut self, part: &Path, fold: Fold) -> Result<(), StoreError> {
        let Ok(records) = fs::read(part) else { return Ok(()) };
        let key = format!("folded:{}", name_of(part));
        self.write(|change| {
            // Another process may have processed and deleted it meanwhile.
            if !part.exists() {
                return Ok(());
            }
            let insert = "INSERT OR IGNORE INTO meta (key, value) VALUES (?1, ?2)";
            if change.tx.execute(insert, params![key, change.now])? == 0 {
                return Ok(());
            }
            fold(change, &records)
        })?;
        match fs::remove_file(part) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::file(part, source)),
            _ => {}
        }
        self.write(|change| Ok(change.tx.execute("DELETE FROM meta WHERE key = ?1", [&key]).map(drop)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::open::in_memory::InMemory;

    const SPOOL: Spool = Spool { file: Home::access_log, fold_at: 6 };

    /// For tests: stores the processed records under keys that the test reads.
    fn keep(change: &Change<'_>, records: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT INTO meta (key, value) VALUES ('kept:' || hex(randomblob(8)), ?1)";
        change.tx.execute(sql, [String::from_utf8_lossy(records)])?;
        Ok(())
    }

    fn kept(store: &InMemory) -> String {
        store.one("SELECT coalesce(group_concat(value, '|'), '') FROM meta WHERE key LIKE 'kept:%'")
    }

    #[test]
    fn records_are_folded_once_and_leave_no_file() {
        let mut store = InMemory::new();
        SPOOL.append(store.home(), b"one ");
        SPOOL.append(store.home(), b"two");
        assert_eq!(SPOOL.unfolded(store.home()), b"\none \ntwo");
        store.fold(&SPOOL, keep).unwrap();
        store.fold(&SPOOL, keep).unwrap();
        assert_eq!(kept(&store), "\none \ntwo");
        assert!(!SPOOL.holds_any(store.home()) && SPOOL.unfolded(store.home()).is_empty());
        assert_eq!(store.one::<u32>("SELECT count(*) FROM meta WHERE key LIKE 'folded:%'"), 0);
    }

    #[test]
    fn a_part_that_a_killed_process_had_folded_is_only_removed_and_one_that_it_had_not_is_folded() {
        let mut store = InMemory::new();
        let part = |name: &str| store.home().access_log().with_file_name(format!("access.log.{name}"));
        let (done, left) = (part("1"), part("2"));
        fs::write(&done, "done").unwrap();
        fs::write(&left, "left").unwrap();
        store.run("INSERT INTO meta (key, value) VALUES ('folded:access.log.1', 0)");
        store.fold(&SPOOL, keep).unwrap();
        assert_eq!(kept(&store), "left");
        assert!(!done.exists() && !left.exists());
    }

    #[test]
    fn a_spool_that_cannot_be_folded_is_kept_and_a_short_one_waits() {
        let mut store = InMemory::new();
        SPOOL.append(store.home(), b"abc");
        store.fold_if_due(&SPOOL, keep).unwrap();
        assert_eq!(kept(&store), "", "it is short");
        SPOOL.append(store.home(), b"d");
        let fail: Fold = |_, _| Err(StoreError::Busy { path: "t".into() });
        assert!(store.fold_if_due(&SPOOL, fail).is_err());
        assert_eq!(SPOOL.unfolded(store.home()), b"\nabc\nd");
        store.fold(&SPOOL, keep).unwrap();
        assert_eq!(kept(&store), "\nabc\nd");
    }
}
