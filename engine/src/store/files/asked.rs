//! Queries about files: by path, by name, by folder, and the files that must be written to disk.

use rusqlite::{Connection, Row, params};
use xxhash_rust::xxh3::xxh3_64;

use super::folders::FileStamp;
use crate::domain::{FilePath, Memory, MemoryRef, MemoryUuid, file_of_content};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::logs::history;
use crate::store::rows::codec::Ask as _;
use crate::store::rows::memory as row;

/// A file as it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Its path.
    pub path: FilePath,
    /// The memory of the file.
    pub id: MemoryUuid,
    /// Its state.
    pub stamp: FileStamp,
    /// True if the memory contains the complete text of the file.
    pub is_kept: bool,
}

/// The metadata of a note.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteRow {
    /// The file.
    pub file: FileRow,
    /// Its title.
    pub title: String,
    /// Its type.
    pub kind: String,
    /// Its permalink.
    pub permalink: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The rest of its front matter.
    pub fields: serde_json::Value,
    /// The error in its front matter.
    pub problem: Option<String>,
}

/// The position of a part in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRow {
    /// The memory of the part.
    pub id: MemoryUuid,
    /// The memory of the file.
    pub file: MemoryUuid,
    /// True for an observation.
    pub is_observation: bool,
    /// Its category as written.
    pub category: Option<String>,
    /// The text in parentheses at the end of the section.
    pub context: Option<String>,
    /// The section's text, as a range of bytes in the file.
    pub span: std::ops::Range<usize>,
    /// Its lines, from 1.
    pub lines: (u32, u32),
}

/// A relation of a file to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationRow {
    /// The memory of the file with the relation.
    pub source: MemoryUuid,
    /// Its type.
    pub kind: String,
    /// The name of the other file, as written.
    pub name: String,
    /// The memory of the other file, if it exists.
    pub target: Option<MemoryUuid>,
    /// The text in parentheses after the relation.
    pub context: Option<String>,
    /// The line, from 1.
    pub line: u32,
}

/// A file whose memory was changed outside of the file. Tessera must write or delete the file, because its memory has
/// changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// The present memory of the file.
    pub memory: Memory,
    /// The file as it was read last; `None` if it was never read.
    pub on_disk: Option<FileRow>,
}

const FILE: &str = "files.path, files.memory, files.size, files.modified, files.inode, files.hash, files.kept";
const NOTE: &str = "files.title, files.kind, files.permalink, files.tags, files.fields, files.problem";

/// Files in writable folders whose memories were changed elsewhere. The join order is fixed, whatever SQLite estimates.
const PENDING: &str = "FROM changed_files CROSS JOIN memories ON memories.id = changed_files.memory
    LEFT JOIN files ON files.memory = memories.id
    WHERE is_file = 1 AND purged = 0 AND shared_by IS NULL
        AND (files.seen <> rev OR (files.memory IS NULL AND deleted IS NULL))
        AND EXISTS (SELECT 1 FROM folders WHERE writable = 1
                    AND substr(memories.file, 1, length(name) + 2) = '/' || name || '/')";

/// Files whose memories were permanently deleted.
const PURGED: &str = "FROM changed_files CROSS JOIN memories ON memories.id = changed_files.memory
    JOIN files ON files.memory = memories.id WHERE purged <> 0";

impl Store {
    /// The files of a folder, sorted by path.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn files_in(&self, folder: &str) -> Result<Vec<FileRow>, StoreError> {
        self.files_below(folder, "")
    }

    /// Returns the files of a folder whose path in the folder begins with `inside`, sorted.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn files_below(&self, folder: &str, inside: &str) -> Result<Vec<FileRow>, StoreError> {
        // As a range, so that the index of paths is used.
        let from = format!("/{folder}/{inside}");
        let sql = format!("SELECT {FILE} FROM files WHERE path >= ?1 AND path < ?2 ORDER BY path");
        let until = format!("{from}\u{10ffff}");
        self.all(&sql, [from, until], file)
    }

    /// A file by its path.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn file_at(&self, path: &FilePath) -> Result<Option<FileRow>, StoreError> {
        let sql = format!("SELECT {FILE} FROM files WHERE path = ?1");
        self.maybe(&sql, [path.as_str()], file)
    }

    /// The present or last memory of a file; `None` if there never was one.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn file_memory(&self, path: &FilePath) -> Result<Option<MemoryUuid>, StoreError> {
        memory_for(&self.connection, path).map_err(|error| self.failed(error))
    }

    /// The metadata of a note, by the memory of its file.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn note_of(&self, id: MemoryUuid) -> Result<Option<NoteRow>, StoreError> {
        let sql = format!("SELECT {FILE}, {NOTE} FROM files WHERE memory = ?1");
        self.maybe(&sql, [id], note)
    }

    /// The metadata of all notes, or of those in one folder, most recently changed first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn notes(&self, folder: Option<&str>) -> Result<Vec<NoteRow>, StoreError> {
        let sql = format!(
            "SELECT {FILE}, {NOTE} FROM files WHERE ?1 IS NULL OR substr(path, 1, length(?1)) = ?1
                 ORDER BY modified DESC, path"
        );
        let prefix = folder.map(|folder| format!("/{folder}/"));
        self.all(&sql, [prefix], note)
    }

    /// The notes to which a normalised name may refer.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn notes_named(&self, key: &str) -> Result<Vec<NoteRow>, StoreError> {
        let sql = format!(
            "SELECT {FILE}, {NOTE} FROM names JOIN files ON files.memory = names.memory WHERE names.key = ?1
                 ORDER BY files.path"
        );
        self.all(&sql, [key], note)
    }

    /// The parts of a file, in order.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn parts_of(&self, file: MemoryUuid) -> Result<Vec<PartRow>, StoreError> {
        let sql = "SELECT memory, file, kind, category, context, begins, ends, first_line, last_line FROM parts
                   WHERE file = ?1 AND n >= 0 ORDER BY n";
        self.all(sql, [file], part)
    }

    /// The position of a memory in a file; `None` if it is not in one.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn part(&self, memory: MemoryUuid) -> Result<Option<PartRow>, StoreError> {
        let sql = "SELECT memory, file, kind, category, context, begins, ends, first_line, last_line FROM parts
                   WHERE memory = ?1 AND n >= 0";
        self.maybe(sql, [memory], part)
    }

    /// Relations from and to a file.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn relations_of(&self, file: MemoryUuid) -> Result<Vec<RelationRow>, StoreError> {
        let sql = "SELECT source, type, name, target, context, line FROM relations WHERE source = ?1 OR target = ?1
                   ORDER BY source, line, type, key";
        self.all(sql, [file], |row| {
            Ok(RelationRow {
                source: row.get(0)?,
                kind: row.get(1)?,
                name: row.get(2)?,
                target: row.get(3)?,
                context: row.get(4)?,
                line: row.get(5)?,
            })
        })
    }

    /// Files whose memories were changed elsewhere: by sync, by restoring, or by resolving a conflict.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn pending_files(&self) -> Result<Vec<Pending>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Pending>> {
            let sql = format!("SELECT memories.id, {FILE} {PENDING} ORDER BY deleted IS NULL, rev");
            let mut statement = self.connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], |row| {
                let id: MemoryUuid = row.get(0)?;
                let is_known = row.get::<_, Option<String>>(1)?.is_some();
                Ok((id, if is_known { Some(file_at(row, 1)?) } else { None }))
            })?;
            let found: Vec<(MemoryUuid, Option<FileRow>)> = rows.collect::<Result<_, _>>()?;
            let mut pending = Vec::new();
            for (id, on_disk) in found {
                let memory = row::find(&self.connection, MemoryRef::Id(id))?;
                pending.extend(memory.map(|memory| Pending { memory, on_disk }));
            }
            Ok(pending)
        };
        read().map_err(|error| self.failed(error))
    }

    /// Files on disk whose memories were permanently deleted. They must be deleted from disk too.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn purged_files(&self) -> Result<Vec<FileRow>, StoreError> {
        self.all(&format!("SELECT {FILE} {PURGED} ORDER BY path"), [], file)
    }

    /// Forgets a file whose memory was permanently deleted, after it was deleted or replaced on disk.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn forget_purged_file(&mut self, path: &FilePath) -> Result<(), StoreError> {
        self.write(|change| {
            let sql = "DELETE FROM files WHERE path = ?1 AND memory IN (SELECT id FROM memories WHERE purged <> 0)";
            change.tx.execute(sql, [path.as_str()])?;
            Ok(())
        })
    }

    /// True if files from other machines belong to a folder that does not exist here.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn has_files_for(&self, folder: &str) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM memories WHERE file >= ?1 AND file < ?2 AND is_file = 1 AND purged = 0
                       AND deleted IS NULL AND shared_by IS NULL)";
        let (from, until) = (format!("/{folder}/"), format!("/{folder}0"));
        self.one(sql, [from, until], |row| row.get(0))
    }

    /// True if any files are indexed.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn knows_files(&self) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM files) OR EXISTS (SELECT 1 FROM directories)";
        self.one(sql, [], |row| row.get(0))
    }

    /// The text of a file with this hash, if the history of its memory has it.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn text_of_file_at(&self, memory: &Memory, hash: u64) -> Result<Option<String>, StoreError> {
        let is_it = |content: &str| xxh3_64(file_of_content(content).as_bytes()) == hash;
        if is_it(&memory.content) {
            return Ok(Some(memory.content.clone()));
        }
        let before = history::all_before(&self.connection, memory.id).map_err(|error| self.failed(error))?;
        Ok(before.into_iter().rev().map(|before| before.content).find(|content| is_it(content)))
    }

    /// True if the memory of a file was changed elsewhere.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn has_pending_files(&self) -> Result<bool, StoreError> {
        let sql = format!("SELECT EXISTS (SELECT 1 {PENDING}) OR EXISTS (SELECT 1 {PURGED})");
        self.one(&sql, params![], |row| row.get(0))
    }
}

/// The present or last memory of a file.
pub(super) fn memory_for(connection: &Connection, path: &FilePath) -> rusqlite::Result<Option<MemoryUuid>> {
    let sql = "SELECT id FROM memories WHERE file = ?1 AND is_file = 1 AND purged = 0 AND shared_by IS NULL
               ORDER BY deleted IS NOT NULL, rev DESC LIMIT 1";
    connection.maybe(sql, [path.as_str()], |row| row.get(0))
}

fn file(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    file_at(row, 0)
}

fn file_at(row: &Row<'_>, at: usize) -> rusqlite::Result<FileRow> {
    let wrong = |error| rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, Box::new(error));
    let unsigned = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
    Ok(FileRow {
        path: row.get::<_, String>(at)?.parse().map_err(wrong)?,
        id: row.get(at + 1)?,
        stamp: FileStamp {
            size: unsigned(at + 2)?,
            modified: row.get(at + 3)?,
            inode: unsigned(at + 4)?,
            hash: unsigned(at + 5)?,
        },
        is_kept: row.get(at + 6)?,
    })
}

fn note(row: &Row<'_>) -> rusqlite::Result<NoteRow> {
    let json = |at: usize| row.get::<_, String>(at);
    Ok(NoteRow {
        file: file(row)?,
        title: row.get(7)?,
        kind: row.get(8)?,
        permalink: row.get(9)?,
        tags: serde_json::from_str(&json(10)?).unwrap_or_default(),
        fields: serde_json::from_str(&json(11)?).unwrap_or_default(),
        problem: row.get(12)?,
    })
}

fn part(row: &Row<'_>) -> rusqlite::Result<PartRow> {
    let number = |at: usize| row.get::<_, u32>(at).map(|value| value as usize);
    Ok(PartRow {
        id: row.get(0)?,
        file: row.get(1)?,
        is_observation: row.get::<_, String>(2)? == "observation",
        category: row.get(3)?,
        context: row.get(4)?,
        span: number(5)?..number(6)?,
        lines: (row.get(7)?, row.get(8)?),
    })
}
