//! Erases permanently deleted parts from the history of their file.
//!
//! Also contains the doctor's check and repair of the index of files.

use std::collections::BTreeSet;

use rusqlite::params;

use super::written::remove_part;
use crate::domain::{FilePath, Memory, MemoryRef, MemoryUuid};
use crate::screen::places;
use crate::store::base::config::Actor;
use crate::store::base::kept;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::erase::{Forgotten, purge};
use crate::store::change::write::Stored;
use crate::store::file::error::StoreError;
use crate::store::logs::history;
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;

impl Store {
    /// Permanently deletes parts whose lines were removed from their file, and erases them from
    /// the file's history.
    ///
    /// # Errors
    /// Returns an error if a memory does not exist, is not a section of a file, or is still in its file. Then none is
    /// deleted.
    pub fn purge_parts(&mut self, parts: &[MemoryRef], actor: &Actor) -> Result<Vec<Forgotten>, StoreError> {
        self.fold_questions()?;
        let said = self.said_by(parts)?;
        let forgotten: Vec<Forgotten> =
            self.write(|change| parts.iter().map(|part| purge_part(change, *part, &said, actor)).collect())?;
        self.clean_after(&forgotten, &said);
        self.maintain();
        Ok(forgotten)
    }

    /// The memories of the files in a deleted directory that were deleted together with its last file. Files that were
    /// deleted earlier are not returned, because they no longer belonged to the directory.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn files_deleted_below(&self, directory: &FilePath) -> Result<Vec<MemoryUuid>, StoreError> {
        let sql = "SELECT id, max(deleted) OVER () AS last, deleted FROM memories
                   WHERE file >= ?1 AND file < ?2 AND is_file = 1 AND purged = 0 AND shared_by IS NULL
                       AND deleted IS NOT NULL ORDER BY file";
        let (from, until) = (format!("{directory}/"), format!("{directory}0"));
        self.all(&format!("SELECT id FROM ({sql}) WHERE deleted = last"), [from, until], |row| row.get(0))
    }

    /// Returns a memory in the same form as operations that change memories.
    ///
    /// # Errors
    /// Returns an error if there is no such memory.
    pub fn stored(&self, reference: MemoryRef) -> Result<Stored, StoreError> {
        let found = row::find_known(&self.connection, reference).map_err(|error| self.failed(error))?;
        let known = found.ok_or(StoreError::NotFound(reference))?;
        let tokens = known.costs.map_or(0, |costs| costs.detail);
        Ok(Stored { memory: known.memory, tokens, existed: true, kept: Vec::new(), aside: Vec::new() })
    }

    /// The memory of the file to which a section belongs or belonged.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn file_of_part(&self, part: MemoryUuid) -> Result<Option<MemoryUuid>, StoreError> {
        file_of(&self.connection, part).map_err(|error| self.failed(error))
    }
}

fn file_of(connection: &rusqlite::Connection, part: MemoryUuid) -> rusqlite::Result<Option<MemoryUuid>> {
    let mut statement = connection.prepare_cached("SELECT file FROM parts WHERE memory = ?1")?;
    statement.query_map([part], |row| row.get(0))?.next().transpose()
}

fn purge_part(
    change: &Change<'_>,
    reference: MemoryRef,
    said: &[String],
    actor: &Actor,
) -> Result<Forgotten, StoreError> {
    let memory = change.existing(reference)?;
    if !memory.is_part_of_file() {
        return Err(StoreError::Conflict { memory: reference, problem: "is not a section of a file" });
    }
    if memory.deleted.is_none() {
        return Err(StoreError::Conflict {
            memory: reference,
            problem: "is still in its file; remove its lines from the file first",
        });
    }
    if let Some(file) = file_of(change.tx, memory.id)? {
        empty_history(change, file, said)?;
        forget_secrets(change, file, &memory)?;
    }
    purge(change, &memory, row::PURGED, actor)?;
    Ok(Forgotten { id: memory.id, short_id: memory.short_id, again: false })
}

/// Erases earlier versions of a file that contain a text.
fn empty_history(change: &Change<'_>, file: MemoryUuid, said: &[String]) -> Result<(), StoreError> {
    let revs: Vec<u64> = {
        change.tx.all("SELECT rev FROM history WHERE memory = ?1 AND before IS NOT NULL", [file], |row| row.get(0))?
    };
    for rev in revs {
        // An unreadable version may contain it.
        let holds = history::before(change.tx, file, rev)?
            .is_none_or(|before| said.iter().any(|text| before.content.contains(text.trim())));
        if holds {
            change.tx.run("UPDATE history SET before = NULL WHERE rev = ?1", [rev])?;
        }
    }
    Ok(())
}

/// Deletes secrets of a file whose names occurred only in the deleted part.
fn forget_secrets(change: &Change<'_>, file: MemoryUuid, part: &Memory) -> Result<(), StoreError> {
    let whole = row::find(change.tx, MemoryRef::Id(file))?;
    let text = whole.map(|whole| whole.content).unwrap_or_default();
    let names_in = |text: &str| -> BTreeSet<String> {
        places(text).into_iter().filter_map(|(_, place)| place.name).map(|name| name.to_string()).collect()
    };
    for name in names_in(&part.content).difference(&names_in(&text)) {
        let sql = "DELETE FROM secret_uses WHERE memory = ?1 AND name = ?2";
        change.tx.run(sql, params![file, name])?;
        kept::let_go(change, file, Some(name))?;
    }
    Ok(())
}

/// The condition for memories whose file is not indexed.
const OF_NO_FILE: &str = "NOT IN (SELECT memory FROM files)";

/// Parts of files that are not indexed.
const PARTS_ASTRAY: &str = "FROM memories WHERE file IS NOT NULL AND is_file = 0 AND deleted IS NULL AND purged = 0
    AND shared_by IS NULL
    AND id NOT IN (SELECT memory FROM parts WHERE n >= 0 AND file IN (SELECT memory FROM files))";

impl Store {
    /// Makes the next scan read files again, whatever their state, and rewrite their memories.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn mistrust_files(&mut self, paths: &[FilePath]) -> Result<(), StoreError> {
        self.write(|change| {
            for path in paths {
                let sql = "UPDATE files SET hash = ~hash, modified = modified - 1 WHERE path = ?1";
                change.tx.run(sql, [path.as_str()])?;
                let sql = "UPDATE directories SET digest = 0 WHERE folder = ?1";
                change.tx.run(sql, [path.folder()])?;
            }
            Ok(())
        })
    }

    /// The number of parts of all indexed files.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn count_parts(&self) -> Result<usize, StoreError> {
        let sql = "SELECT COUNT(*) FROM parts WHERE n >= 0 AND file IN (SELECT memory FROM files)";
        self.one(sql, [], |row| row.get(0))
    }

    /// The numbers of orphaned rows: parts of files that are not indexed, and relations to such files.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn files_astray(&self) -> Result<(u64, u64), StoreError> {
        let sql = format!(
            "SELECT (SELECT COUNT(*) {PARTS_ASTRAY}), (SELECT COUNT(*) FROM relations WHERE source {OF_NO_FILE}
                OR (target IS NOT NULL AND target {OF_NO_FILE}))"
        );
        self.one(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Deletes orphaned rows, and returns their files, if known.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn drop_astray(&mut self, actor: &Actor) -> Result<Vec<FilePath>, StoreError> {
        self.write(|change| {
            let mut statement = change.tx.prepare(&format!("SELECT id {PARTS_ASTRAY}"))?;
            let ids: Vec<MemoryUuid> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let mut files = Vec::new();
            for id in ids {
                let known = change.known(MemoryRef::Id(id))?;
                remove_part(change, &known, actor)?;
                files.extend(known.memory.file.map(|file| file.path));
            }
            change.tx.execute(&format!("DELETE FROM relations WHERE source {OF_NO_FILE}"), [])?;
            change.tx.execute(&format!("UPDATE relations SET target = NULL WHERE target {OF_NO_FILE}"), [])?;
            Ok(files)
        })
    }
}
