//! The list of imports with the source, trust and effects of each, so that an import can be undone.

use std::fs::File;

use rusqlite::{Connection, params};
use serde::Serialize;

use super::import_line::ImportAs;
use super::relate::REASON;
use super::restore::restore;
use crate::domain::{Memory, MemoryRef, MemoryUuid, Origin, Timestamp};
use crate::screen::dropped;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::file::private;
use crate::store::rows::codec::{Ask as _, Run as _, sql};

/// A running import. The import is listed after it first changes a memory. After an interruption, it continues as the
/// same import.
#[derive(Debug, Clone)]
pub struct ImportRun {
    /// The system: `claude-memory-mcp`, `memory-mcp`, `basic-memory`, `lines`.
    pub system: String,
    /// The source.
    pub source: String,
    /// The trust.
    pub whose: ImportAs,
    /// The number of the import; `None` until the import is listed.
    pub(crate) n: Option<u32>,
    /// True if this import continues an interrupted one.
    is_resumed: bool,
}

/// The effect of an import on a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Did {
    Stored,
    Changed,
    Deleted,
    Restored,
    Vouched,
}

/// An import of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Import {
    /// Its number.
    pub n: u32,
    /// The system: `claude-memory-mcp`, `memory-mcp`, `basic-memory`, `lines`.
    pub system: String,
    /// The source.
    pub source: String,
    /// `own` or `foreign`.
    pub whose: String,
    /// When it began.
    pub started: Timestamp,
    /// The time when the import ended; absent if it was interrupted.
    pub ended: Option<Timestamp>,
    /// When it was undone.
    pub undone: Option<Timestamp>,
    /// Stored memories, including undone ones.
    pub stored: u64,
    /// All touched memories.
    pub touched: u64,
}

impl ImportRun {
    /// A new import.
    pub fn new(system: impl Into<String>, source: &str, whose: ImportAs) -> Self {
        Self { system: system.into(), source: dropped(source).into_owned(), whose, n: None, is_resumed: false }
    }

    /// The number of the import; `None` if it has changed no memory yet.
    pub fn number(&self) -> Option<u32> {
        self.n
    }

    /// True if this import continues an interrupted one.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    fn whose(&self) -> &'static str {
        match self.whose {
            ImportAs::Own => "own",
            ImportAs::Foreign => "foreign",
        }
    }

    /// The number of the interrupted import.
    fn unfinished(&self, connection: &Connection) -> rusqlite::Result<Option<u32>> {
        let sql = "SELECT n FROM imports WHERE system = ?1 AND source = ?2 AND whose = ?3 AND ended IS NULL
                   AND undone IS NULL ORDER BY n DESC LIMIT 1";
        connection.maybe(sql, [&self.system, &self.source, self.whose()], |row| row.get(0))
    }

    /// Returns the number of the import, and assigns one if necessary.
    pub(crate) fn entered(&self, change: &Change<'_>) -> Result<u32, StoreError> {
        if let Some(n) = self.n {
            return Ok(n);
        }
        let sql = "INSERT INTO imports (system, source, whose, started) VALUES (?1, ?2, ?3, ?4)";
        change.tx.run(sql, params![self.system, self.source, self.whose(), change.now])?;
        Ok(u32::try_from(change.tx.last_insert_rowid()).unwrap_or(u32::MAX))
    }

    /// The author of the import's changes in the history.
    pub(crate) fn actor(client: Option<String>) -> Actor {
        Actor { origin: Origin::Import, client, ..Actor::default() }
    }
}

pub(crate) fn was_stored_by(connection: &Connection, run: &ImportRun, memory: MemoryUuid) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM imported WHERE import = ?1 AND memory = ?2 AND did IN ('stored', 'restored')";
    Ok(run.is_resumed && connection.prepare_cached(sql)?.exists(params![run.n, memory])?)
}

/// Records the effect of an import on a memory. If an import stored a memory, a later effect does not replace `stored`.
pub(crate) fn note(change: &Change<'_>, n: u32, memory: &Memory, did: Did) -> Result<(), StoreError> {
    let did = match did {
        Did::Stored => "stored",
        Did::Changed => "changed",
        Did::Deleted => "deleted",
        Did::Restored => "restored",
        Did::Vouched => "owner_trust",
    };
    let sql = "INSERT INTO imported (import, memory, did, rev) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE
               SET rev = excluded.rev, did = iif(did = 'stored', did, excluded.did)";
    change.tx.run(sql, params![n, memory.id, did, memory.rev])?;
    Ok(())
}

/// Finds changes of a memory after a given change, except for links that an import added.
const SINCE: &str = sql!(
    "SELECT 1 FROM history WHERE memory = ?1 AND rev > ?2 AND NOT (op = 'link' AND origin = 'import')
     AND reason IS NOT '",
    REASON,
    "'"
);
/// Finds changes by people, and not by imports or their undoing.
const BY_SOMEBODY: &str = sql!(
    "SELECT 1 FROM history WHERE memory = ?1 AND rev > ?2 AND origin <> 'import'
                           AND NOT (reason IS NOT NULL AND reason GLOB 'import [0-9]* was undone')
                           AND reason IS NOT '",
    REASON,
    "'"
);

/// True if anything changed a memory after an import had touched it.
pub(crate) fn was_changed_since(connection: &Connection, memory: MemoryUuid, rev: u64) -> rusqlite::Result<bool> {
    connection.prepare_cached(SINCE)?.exists(params![memory, rev])
}

/// True if a person, and not an import, changed the memory after `rev`.
pub(crate) fn was_changed_by_somebody(connection: &Connection, memory: MemoryUuid, rev: u64) -> rusqlite::Result<bool> {
    connection.prepare_cached(BY_SOMEBODY)?.exists(params![memory, rev])
}

/// The reason that the history shows for undoing an import.
pub(crate) fn undone_reason(n: u32) -> String {
    format!("import {n} was undone")
}

/// True for a memory that is deleted only because its import was undone.
pub(crate) fn was_undone(connection: &Connection, memory: MemoryUuid) -> rusqlite::Result<bool> {
    // There are few imports with many memories each.
    let sql = "SELECT t.rev FROM imports CROSS JOIN imported t ON t.import = imports.n AND t.memory = ?1
               WHERE t.did = 'undone' ORDER BY t.rev DESC LIMIT 1";
    let rev = connection.maybe(sql, [memory], |row| row.get(0))?;
    rev.map_or(Ok(false), |rev| Ok(!was_changed_since(connection, memory, rev)?))
}

/// Restores a memory that an undo deleted.
pub(crate) fn bring_back(change: &Change<'_>, n: u32, memory: &Memory) -> Result<Memory, StoreError> {
    let actor = ImportRun::actor(memory.client.clone());
    let back = restore(change, MemoryRef::Id(memory.id), None, &actor)?.memory;
    note(change, n, &back, Did::Restored)?;
    Ok(back)
}

/// The lock for importing. Several imports may hold this lock at the same time, but not while an import is undone.
#[derive(Debug)]
pub struct ImportTurn {
    _lock: File,
}

impl Store {
    /// Waits until no import is being undone.
    ///
    /// # Errors
    /// Returns an error if the lock file cannot be created.
    pub fn import_turn(&self) -> Result<ImportTurn, StoreError> {
        let path = self.home.import_lock();
        let lock = private::lock_shared(&path).map_err(|source| StoreError::file(&path, source))?;
        Ok(ImportTurn { _lock: lock })
    }

    /// Takes the lock for undoing an import.
    ///
    /// # Errors
    /// Returns an error if an import is running, or the lock file cannot be created.
    pub(crate) fn undo_turn(&self) -> Result<ImportTurn, StoreError> {
        let path = self.home.import_lock();
        let lock = private::try_lock(&path).map_err(|source| StoreError::file(&path, source))?;
        lock.map(|lock| ImportTurn { _lock: lock }).ok_or(StoreError::Importing)
    }

    /// Continues an interrupted import under the same number, so that its links are created and it is completed.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn resume(&self, run: &mut ImportRun) -> Result<(), StoreError> {
        run.n = run.unfinished(&self.connection).map_err(|error| self.failed(error))?;
        run.is_resumed = run.n.is_some();
        Ok(())
    }

    /// True if a continued import stored a memory before the interruption.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn was_stored_by(&self, run: &ImportRun, memory: MemoryUuid) -> Result<bool, StoreError> {
        was_stored_by(&self.connection, run, memory).map_err(|error| self.failed(error))
    }

    /// Records the end of an import.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn end_import(&mut self, run: &ImportRun) -> Result<(), StoreError> {
        let Some(n) = run.n else { return Ok(()) };
        self.write(|change| {
            let sql = "UPDATE imports SET ended = ?2 WHERE n = ?1";
            change.tx.execute(sql, params![n, change.now])?;
            Ok(())
        })?;
        self.maintain();
        Ok(())
    }

    /// The imports, latest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn imports(&self) -> Result<Vec<Import>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Import>> {
            let sql = "SELECT n, system, source, whose, started, ended, undone,
                       (SELECT count(*) FROM imported WHERE import = n AND (did = 'stored' OR was = 'stored')),
                       (SELECT count(*) FROM imported WHERE import = n) FROM imports ORDER BY n DESC";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(Import {
                    n: row.get(0)?,
                    system: row.get(1)?,
                    source: row.get(2)?,
                    whose: row.get(3)?,
                    started: row.get(4)?,
                    ended: row.get(5)?,
                    undone: row.get(6)?,
                    stored: row.get(7)?,
                    touched: row.get(8)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// True if data of a system was imported from a source and not undone.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn has_imported(&self, system: &str, source: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM imports WHERE system = ?1 AND source = ?2 AND undone IS NULL";
        let there =
            self.connection.prepare_cached(sql).and_then(|mut statement| statement.exists([system, &dropped(source)]));
        there.map_err(|error| self.failed(error))
    }
}
