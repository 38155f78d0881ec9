//! Which files a team server is told of, and why of some it is not.

use rusqlite::params;
use serde::Serialize;

use crate::domain::{FilePath, MAX_CONTENT_BYTES, MemoryId};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::outbox::tell;
use crate::store::file::error::StoreError;
use crate::store::rows::ask::{Ask as _, Run as _};
use crate::sync::{Trail, Untold};

/// Files that no server is told of, and files of others that are in no folder here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HeldBack {
    /// A credential stands in them.
    pub with_credential: u64,
    /// They are larger than a memory may be.
    pub too_large: u64,
    /// Their folder is not one that is told of.
    pub in_untold_folder: u64,
    /// Other programs run or obey a file of their name, so no other machine may write it.
    pub with_refused_name: u64,
    /// They came from the server, and no folder of their name may be written here.
    pub without_folder: u64,
}

/// A file is told of, if its text is kept, its folder is one that is told of, and no other program obeys its name; what the
/// person kept to this machine stays.
pub(super) fn tell_or_keep(change: &Change<'_>, id: MemoryId, is_told: bool) -> Result<(), StoreError> {
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

/// A file that the person no longer keeps to this machine: it is told of as its folder is. True if so.
pub(in crate::store) fn tell_file(change: &Change<'_>, id: MemoryId) -> Result<bool, StoreError> {
    let sql = "SELECT kept AND EXISTS (SELECT 1 FROM folders
                   WHERE told = 1 AND substr(path, 1, length(name) + 2) = '/' || name || '/')
               FROM files WHERE memory = ?1";
    let is_told: Option<bool> = change.tx.maybe(sql, [id], |row| row.get(0))?;
    // One that stands in no folder is what the server's other machines know of it.
    let is_told = is_told.unwrap_or(true);
    tell_or_keep(change, id, is_told)?;
    Ok(is_told)
}

/// A folder that is told of from now on, or no more.
pub(super) fn folder_is_told(change: &Change<'_>, folder: &str, is_told: bool) -> Result<(), StoreError> {
    let sql = "SELECT memory, kept FROM files WHERE substr(path, 1, length(?1)) = ?1";
    let files: Vec<(MemoryId, bool)> =
        change.tx.all(sql, [format!("/{folder}/")], |row| Ok((row.get(0)?, row.get(1)?)))?;
    files.into_iter().try_for_each(|(id, is_kept)| tell_or_keep(change, id, is_told && is_kept))
}

impl Store {
    /// Whether a text of a file, by the hash of its bytes, is an edit that no server heard of before the file was let go of.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn untold_text(&self, memory: MemoryId, hash: u64) -> Result<Option<Untold>, StoreError> {
        let sql = "SELECT trail FROM trails WHERE memory = ?1";
        let trail: Option<String> = self.maybe(sql, [memory], |row| row.get(0))?;
        let trail = trail.and_then(|trail| serde_json::from_str::<Trail>(&trail).ok());
        Ok(trail.and_then(|trail| trail.untold()).filter(|untold| untold.text == hash))
    }

    /// How many files a server is not told of, and why.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn files_held_back(&self) -> Result<HeldBack, StoreError> {
        const TOLD: &str = "(SELECT told FROM folders WHERE substr(path, 1, length(name) + 2) = '/' || name || '/')";
        let largest = MAX_CONTENT_BYTES as u64 - 8;
        let here = |rest: &str| {
            let sql = format!("SELECT count(*) FROM files WHERE {rest}");
            self.connection.query_row(&sql, params![largest], |row| row.get(0)).map_err(|error| self.failed(error))
        };
        let sql =
            "SELECT count(*) FROM memories WHERE whole = 1 AND purged = 0 AND deleted IS NULL AND shared_by IS NULL
                       AND NOT EXISTS (SELECT 1 FROM files WHERE memory = id)
                       AND NOT EXISTS (SELECT 1 FROM folders WHERE writable = 1
                                       AND substr(file, 1, length(name) + 2) = '/' || name || '/')";
        let unplaced = self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(error));
        Ok(HeldBack {
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
