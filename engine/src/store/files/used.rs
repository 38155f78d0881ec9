//! When files were read last, and when they were new to this store last: by what was delivered of them and of their parts.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};

use crate::domain::{FilePath, Handle, MemoryId, Timestamp};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::logs::access_log;
use crate::store::rows::ask::Ask as _;

/// When a file was read, and changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// Where.
    pub path: FilePath,
    /// The memory that stands for it.
    pub id: MemoryId,
    /// Bytes.
    pub size: u64,
    /// When all or a part of it was given last; never, as far as it is known.
    pub read: Option<Timestamp>,
    /// When it was added, edited, renamed or brought back last, as this store came to know of it.
    pub changed: Timestamp,
}

impl FileUse {
    /// The last time that anything was done with it.
    pub fn last(&self) -> Timestamp {
        self.read.map_or(self.changed, |read| read.max(self.changed))
    }
}

impl Store {
    /// When each file was read and changed last; the one of which that is longest ago first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn file_uses(&self) -> Result<Vec<FileUse>, StoreError> {
        let read = || -> rusqlite::Result<Vec<FileUse>> {
            let spooled = self.spooled_uses()?;
            let sql = "SELECT files.path, files.memory, files.size,
                           max(coalesce(whole.last_accessed, 0), coalesce((
                               SELECT max(part.last_accessed) FROM parts JOIN memories AS part ON part.id = parts.memory
                               WHERE parts.file = files.memory), 0)),
                           coalesce((SELECT max(at) FROM history WHERE memory = files.memory), whole.updated)
                       FROM files JOIN memories AS whole ON whole.id = files.memory";
            self.connection.all(sql, [], |row| {
                let wrong =
                    |error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error));
                let id: MemoryId = row.get(1)?;
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

    /// Files that are known, their parts, and their bytes.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn file_sums(&self) -> Result<(u64, u64, u64), StoreError> {
        let sql = "SELECT count(*), (SELECT count(*) FROM parts WHERE n >= 0), coalesce(sum(size), 0) FROM files";
        self.one(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    /// Uses of files that wait in the access log, by the memory that stands for the file.
    fn spooled_uses(&self) -> rusqlite::Result<BTreeMap<MemoryId, Timestamp>> {
        let mut last: BTreeMap<MemoryId, Timestamp> = BTreeMap::new();
        let sql = "SELECT coalesce((SELECT file FROM parts WHERE parts.memory = memories.id), id)
                   FROM memories WHERE handle = ?1 AND file IS NOT NULL";
        let mut statement = self.connection.prepare_cached(sql)?;
        for (handle, at) in access_log::unfolded(&self.home) {
            let of: Option<MemoryId> = statement.query_row(params![handle], |row| row.get(0)).optional()?;
            if let Some(of) = of {
                let known = last.entry(of).or_insert(at);
                *known = (*known).max(at);
            }
        }
        Ok(last)
    }

    /// Notes that a file was shown.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn note_file_shown(&self, path: &FilePath) -> Result<(), StoreError> {
        let sql = "SELECT memories.handle FROM files JOIN memories ON memories.id = files.memory WHERE files.path = ?1";
        let handle: Option<Handle> = self.maybe(sql, [path.as_str()], |row| row.get(0))?;
        self.note_uses(handle.map(|handle| (handle, self.now())));
        Ok(())
    }
}
