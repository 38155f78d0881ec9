//! The access log: which memories were delivered in full, appended without any lock and folded
//! into the rows later, so that a recall never waits for a writer.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, params};

use super::error::StoreError;
use super::write::Change;
use super::{Store, files};
use crate::domain::{Category, Handle, Importance, Timestamp};
use crate::enrich::refreshed_expiry;

/// A handle and a time, little-endian.
const RECORD: usize = 12;
/// A log of this size is folded at the next write.
const FOLD_AT_BYTES: u64 = 12 * 256;

/// Notes that memories were delivered. Failing to is not worth failing a recall for.
pub(super) fn append(home: &Path, uses: impl IntoIterator<Item = (Handle, Timestamp)>) {
    let mut bytes = Vec::new();
    for (handle, at) in uses {
        bytes.extend(handle.get().to_le_bytes());
        bytes.extend(at.as_micros().to_le_bytes());
    }
    if bytes.is_empty() {
        return;
    }
    let path = home.join(files::ACCESS_LOG);
    let appended = files::private().create(true).append(true).open(path).and_then(|mut file| file.write_all(&bytes));
    if let Err(error) = appended {
        tracing::debug!(error = %error, "the access log cannot be written");
    }
}

/// Counts one use of a memory now.
pub(super) fn touch(change: &Change<'_>, handle: Handle, at: Timestamp) -> Result<(), StoreError> {
    fold_one(change, handle, 1, at)
}

fn fold_one(change: &Change<'_>, handle: Handle, uses: u32, last: Timestamp) -> Result<(), StoreError> {
    let sql = "SELECT category, importance, expires FROM memories WHERE handle = ?1 AND deleted IS NULL";
    let found = change.tx.prepare_cached(sql)?.query_row([handle], |row| {
        let category: Category = super::row::parsed(row, 0)?;
        Ok((category, Importance::from_percent(row.get(1)?), row.get::<_, Option<Timestamp>>(2)?))
    });
    let Some((category, importance, expires)) = found.optional()? else { return Ok(()) };
    let expires = refreshed_expiry(expires, &category, importance, last);
    let sql =
        "UPDATE memories SET access_count = access_count + ?2, last_accessed = max(coalesce(last_accessed, 0), ?3),
               expires = ?4, rev = ?5 WHERE handle = ?1";
    change.tx.prepare_cached(sql)?.execute(params![handle, uses, last, expires, change.next_rev()?])?;
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
        let log = self.home.join(files::ACCESS_LOG);
        if log.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            let name = format!("{}.{}", files::ACCESS_LOG, crate::domain::MemoryId::generate(self.now()));
            // Whoever appends now begins a new log.
            match fs::rename(&log, self.home.join(name)) {
                // Another process was faster.
                Err(source) if source.kind() == std::io::ErrorKind::NotFound => {}
                other => other.map_err(|source| StoreError::file(&log, source))?,
            }
        }
        let mut result = Ok(());
        for part in self.log_parts() {
            result = result.and(self.fold_part(&part));
        }
        result
    }

    pub(super) fn fold_if_due(&mut self) -> Result<(), StoreError> {
        let log = self.home.join(files::ACCESS_LOG);
        if log.metadata().is_ok_and(|metadata| metadata.len() >= FOLD_AT_BYTES) {
            return self.fold_accesses();
        }
        Ok(())
    }

    /// Logs set aside to be folded, by this or a killed process.
    fn log_parts(&self) -> Vec<PathBuf> {
        let prefix = format!("{}.", files::ACCESS_LOG);
        let Ok(entries) = fs::read_dir(&self.home) else { return Vec::new() };
        let mut parts: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)))
            .map(|entry| entry.path())
            .collect();
        parts.sort();
        parts
    }

    /// Folds one part in one transaction that also notes its name: a part whose name is noted is only removed.
    fn fold_part(&mut self, part: &Path) -> Result<(), StoreError> {
        let Ok(bytes) = fs::read(part) else { return Ok(()) };
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
            for (handle, (uses, last)) in uses_of(&bytes) {
                fold_one(change, handle, uses, last)?;
            }
            Ok(())
        })?;
        match fs::remove_file(part) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::file(part, source)),
            _ => {}
        }
        self.write_numbers(|change| Ok(change.tx.execute("DELETE FROM meta WHERE key = ?1", [&key]).map(drop)?))
    }
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
