//! Decides which files are synced, and why others are not.
//!
//! Also returns when each file was last read and changed. A file counts as read when it or one of its sections is
//! returned.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};
use serde::Serialize;

use crate::domain::{FilePath, MAX_CONTENT_BYTES, MemoryUuid, ShortId, Timestamp};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::write::tell;
use crate::store::file::error::StoreError;
use crate::store::logs::access_log;
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::sync::{SyncState, UnsentFile};

/// Files that are not synced, and other users' files without a folder here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct UnsyncedFiles {
    /// They contain a credential.
    pub with_credential: u64,
    /// The files are larger than a memory may be.
    pub too_large: u64,
    /// Their folder is not synced.
    pub in_untold_folder: u64,
    /// Other programs execute files with this name or read them as settings, so no other machine may write them.
    pub with_refused_name: u64,
    /// The files came from the server, and this machine has no writable folder for them.
    pub without_folder: u64,
}

/// A file is synced if its complete text is stored, its folder is synced, and no other program executes files with this
/// name or reads them as settings. A file that the user keeps local stays local.
pub(super) fn tell_or_keep(change: &Change<'_>, id: MemoryUuid, is_told: bool) -> Result<(), StoreError> {
    let path = "SELECT file FROM memories WHERE id = ?1";
    let path: Option<Option<String>> = change.tx.maybe(path, [id], |row| row.get(0))?;
    let is_obeyed = path.flatten().is_some_and(|path| path.parse::<FilePath>().is_ok_and(|path| path.is_obeyed()));
    if is_told && !is_obeyed {
        change.tx.run("DELETE FROM private WHERE memory = ?1 AND why = 'file'", [id])?;
        return tell(change, id);
    }
    let sql = "INSERT OR IGNORE INTO private (memory, why) VALUES (?1, 'file')";
    change.tx.run(sql, [id])?;
    change.tx.run("DELETE FROM outbox WHERE memory = ?1", [id])?;
    Ok(())
}

/// Syncs a file that was kept local, if its folder is synced. True if so.
pub(in crate::store) fn tell_file(change: &Change<'_>, id: MemoryUuid) -> Result<bool, StoreError> {
    let sql = "SELECT kept AND EXISTS (SELECT 1 FROM folders
                   WHERE told = 1 AND substr(path, 1, length(name) + 2) = '/' || name || '/')
               FROM files WHERE memory = ?1";
    let is_told: Option<bool> = change.tx.maybe(sql, [id], |row| row.get(0))?;
    // A file in no folder was synced by another machine.
    let is_told = is_told.unwrap_or(true);
    tell_or_keep(change, id, is_told)?;
    Ok(is_told)
}

/// Starts or stops syncing a folder.
pub(super) fn folder_is_told(change: &Change<'_>, folder: &str, is_told: bool) -> Result<(), StoreError> {
    let sql = "SELECT memory, kept FROM files WHERE substr(path, 1, length(?1)) = ?1";
    let files: Vec<(MemoryUuid, bool)> =
        change.tx.all(sql, [format!("/{folder}/")], |row| Ok((row.get(0)?, row.get(1)?)))?;
    files.into_iter().try_for_each(|(id, is_kept)| tell_or_keep(change, id, is_told && is_kept))
}

impl Store {
    /// A file may have been removed from recall before its last edit was synced. Returns this edit if it has this hash.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn untold_text(&self, memory: MemoryUuid, hash: u64) -> Result<Option<UnsentFile>, StoreError> {
        let sql = "SELECT sync_state FROM sync_states WHERE memory = ?1";
        let sync_state: Option<String> = self.maybe(sql, [memory], |row| row.get(0))?;
        let sync_state = sync_state.and_then(|sync_state| serde_json::from_str::<SyncState>(&sync_state).ok());
        Ok(sync_state.and_then(|sync_state| sync_state.untold()).filter(|untold| untold.text == hash))
    }

    /// The numbers of files that are not synced, by reason.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn files_held_back(&self) -> Result<UnsyncedFiles, StoreError> {
        const TOLD: &str = "(SELECT told FROM folders WHERE substr(path, 1, length(name) + 2) = '/' || name || '/')";
        let largest = MAX_CONTENT_BYTES as u64 - 8;
        let here = |rest: &str| {
            let sql = format!("SELECT count(*) FROM files WHERE {rest}");
            self.connection.query_row(&sql, params![largest], |row| row.get(0)).map_err(|error| self.failed(error))
        };
        let sql =
            "SELECT count(*) FROM memories WHERE is_file = 1 AND purged = 0 AND deleted IS NULL AND shared_by IS NULL
                       AND NOT EXISTS (SELECT 1 FROM files WHERE memory = id)
                       AND NOT EXISTS (SELECT 1 FROM folders WHERE writable = 1
                                       AND substr(file, 1, length(name) + 2) = '/' || name || '/')";
        let unplaced = self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(error));
        Ok(UnsyncedFiles {
            with_credential: here("kept = 0 AND size <= ?1")?,
            too_large: here("kept = 0 AND size > ?1")?,
            in_untold_folder: here(&format!("kept = 1 AND ?1 > 0 AND NOT {TOLD}"))?,
            with_refused_name: here(&format!(
                "kept = 1 AND ?1 > 0 AND {TOLD} AND memory IN (SELECT memory FROM private WHERE why = 'file')"
            ))?,
            without_folder: unplaced?,
        })
    }
}

/// When a file was last read and changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// Its path.
    pub path: FilePath,
    /// The memory of the file.
    pub id: MemoryUuid,
    /// Bytes.
    pub size: u64,
    /// When the file or a part of it was last returned, if known.
    pub read: Option<Timestamp>,
    /// When it was last added, edited, renamed or restored, as seen by this store.
    pub changed: Timestamp,
}

impl FileUse {
    /// The later of the two.
    pub fn last(&self) -> Timestamp {
        self.read.map_or(self.changed, |read| read.max(self.changed))
    }
}

impl Store {
    /// When each file was last read and changed, the oldest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn file_uses(&self) -> Result<Vec<FileUse>, StoreError> {
        let read = || -> rusqlite::Result<Vec<FileUse>> {
            let spooled = self.spooled_uses()?;
            let sql = "SELECT files.path, files.memory, files.size,
                           max(coalesce(file.last_accessed, 0), coalesce((
                               SELECT max(part.last_accessed) FROM parts JOIN memories AS part ON part.id = parts.memory
                               WHERE parts.file = files.memory), 0)),
                           coalesce((SELECT max(at) FROM history WHERE memory = files.memory), file.updated)
                       FROM files JOIN memories AS file ON file.id = files.memory";
            self.connection.all(sql, [], |row| {
                let wrong =
                    |error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error));
                let id: MemoryUuid = row.get(1)?;
                let noted = row.get::<_, i64>(3)?;
                let noted = (noted > 0).then(|| Timestamp::from_micros(noted));
                Ok(FileUse {
                    path: row.get::<_, String>(0)?.parse().map_err(wrong)?,
                    id,
                    size: row.get::<_, i64>(2)?.cast_unsigned(),
                    read: noted.max(spooled.get(&id).copied()),
                    changed: row.get(4)?,
                })
            })
        };
        let mut uses = read().map_err(|error| self.failed(error))?;
        uses.sort_by(|one, other| (one.last(), &one.path).cmp(&(other.last(), &other.path)));
        Ok(uses)
    }

    /// The numbers of files, parts and bytes.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn file_sums(&self) -> Result<(u64, u64, u64), StoreError> {
        let sql = "SELECT count(*), (SELECT count(*) FROM parts WHERE n >= 0), coalesce(sum(size), 0) FROM files";
        self.one(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    /// The last use of each file, according to the access log.
    fn spooled_uses(&self) -> rusqlite::Result<BTreeMap<MemoryUuid, Timestamp>> {
        let mut last: BTreeMap<MemoryUuid, Timestamp> = BTreeMap::new();
        let sql = "SELECT coalesce((SELECT file FROM parts WHERE parts.memory = memories.id), id)
                   FROM memories WHERE short_id = ?1 AND file IS NOT NULL";
        let mut statement = self.connection.prepare_cached(sql)?;
        for (short_id, at) in access_log::unfolded(&self.home) {
            let of: Option<MemoryUuid> = statement.query_row(params![short_id], |row| row.get(0)).optional()?;
            if let Some(of) = of {
                let known = last.entry(of).or_insert(at);
                *known = (*known).max(at);
            }
        }
        Ok(last)
    }

    /// Records that a file was shown.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn note_file_shown(&self, path: &FilePath) -> Result<(), StoreError> {
        let sql =
            "SELECT memories.short_id FROM files JOIN memories ON memories.id = files.memory WHERE files.path = ?1";
        let short_id: Option<ShortId> = self.maybe(sql, [path.as_str()], |row| row.get(0))?;
        self.note_uses(short_id.map(|short_id| (short_id, self.now())));
        Ok(())
    }
}
