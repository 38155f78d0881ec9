//! Spools: small logs that are appended to without any lock and folded into the database later,
//! so that a reader never waits for a writer.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use rusqlite::params;

use super::error::StoreError;
use super::write::Change;
use super::{Store, files};
use crate::domain::MemoryId;

/// A log of a home directory.
pub(super) struct Spool {
    /// Its file. Parts set aside to be folded have the same name and a suffix.
    pub(super) file: &'static str,
    /// A log of so many bytes is folded at the next write.
    pub(super) fold_at: u64,
}

impl Spool {
    /// Appends records. Failing to is not worth failing a reader for.
    pub(super) fn append(&self, home: &Path, records: &[u8]) {
        if records.is_empty() {
            return;
        }
        let open = files::private().create(true).append(true).open(home.join(self.file));
        if let Err(error) = open.and_then(|mut file| file.write_all(records)) {
            tracing::debug!(error = %error, spool = self.file, "a spool cannot be written");
        }
    }

    fn len(&self, home: &Path) -> u64 {
        home.join(self.file).metadata().map_or(0, |metadata| metadata.len())
    }

    /// Parts set aside to be folded, by this or a killed process, oldest first.
    pub(super) fn parts(&self, home: &Path) -> Vec<PathBuf> {
        let prefix = format!("{}.", self.file);
        let Ok(entries) = fs::read_dir(home) else { return Vec::new() };
        let mut parts: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)))
            .map(|entry| entry.path())
            .collect();
        parts.sort();
        parts
    }

    /// True when there is something to fold.
    pub(super) fn holds_any(&self, home: &Path) -> bool {
        self.len(home) > 0 || !self.parts(home).is_empty()
    }

    /// What is not folded yet, oldest first.
    pub(super) fn unfolded(&self, home: &Path) -> Vec<u8> {
        let parts = self.parts(home).into_iter().chain([home.join(self.file)]);
        parts.filter_map(|part| fs::read(part).ok()).flatten().collect()
    }
}

/// Puts the records of one part into the database.
pub(super) type Fold = fn(&Change<'_>, &[u8]) -> Result<(), StoreError>;

impl Store {
    /// True when uses or receipts wait in a home to be put into its database.
    pub fn has_spooled(home: &Path) -> bool {
        super::access_log::LOG.holds_any(home) || super::receipts::SPOOL.holds_any(home)
    }

    /// Folds a spool, no record twice, whatever is killed when. A record that is appended at the very
    /// moment of folding may be lost.
    pub(super) fn fold(&mut self, spool: &Spool, fold: Fold) -> Result<(), StoreError> {
        if spool.len(&self.home) > 0 {
            let log = self.home.join(spool.file);
            let name = format!("{}.{}", spool.file, MemoryId::generate(self.now()));
            // Whoever appends now begins a new log.
            match fs::rename(&log, self.home.join(name)) {
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

    /// Folds a spool that has grown long.
    pub(super) fn fold_if_due(&mut self, spool: &Spool, fold: Fold) -> Result<(), StoreError> {
        if spool.len(&self.home) >= spool.fold_at { self.fold(spool, fold) } else { Ok(()) }
    }

    /// Folds one part in one transaction that also notes its name: a part whose name is noted is only removed.
    fn fold_part(&mut self, part: &Path, fold: Fold) -> Result<(), StoreError> {
        let Ok(records) = fs::read(part) else { return Ok(()) };
        let key = format!("folded:{}", part.file_name().unwrap_or_default().to_string_lossy());
        self.write_numbers(|change| {
            // Another process may have folded and removed it since it was read.
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
        self.write_numbers(|change| Ok(change.tx.execute("DELETE FROM meta WHERE key = ?1", [&key]).map(drop)?))
    }
}
