//! The list of imports: what came from where, whose it is said to be, and what each did, so that it can be undone.

use std::fs::File;

use rusqlite::{Connection, params};
use serde::Serialize;

use super::import_line::ImportAs;
use super::restore::restore;
use crate::domain::{Memory, MemoryRef, MemoryUuid, Origin, Timestamp};
use crate::screen::dropped;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::file::private;
use crate::store::rows::codec::{Ask as _, Run as _};

/// An import under way. It is in the list from the first memory on that it touches; cut short, it goes on as the same one.
#[derive(Debug, Clone)]
pub struct ImportRun {
    /// Whose data: `v`, `w`, `basic-memory`, `lines`.
    pub system: String,
    /// Where they are read.
    pub source: String,
    /// Whose word they are.
    pub whose: ImportAs,
    /// Its number, once it has one.
    pub(crate) n: Option<u32>,
    /// True where it goes on with one that was cut short.
    is_resumed: bool,
}

/// What an import did to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Did {
    Stored,
    Changed,
    Deleted,
    Restored,
    Vouched,
}

/// An import of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Import {
    /// Its number.
    pub n: u32,
    /// Whose data: `v`, `w`, `basic-memory`, `lines`.
    pub system: String,
    /// Where they were read.
    pub source: String,
    /// `own` or `foreign`.
    pub whose: String,
    /// When it began.
    pub started: Timestamp,
    /// When it ended; absent where it was cut short.
    pub ended: Option<Timestamp>,
    /// When it was undone.
    pub undone: Option<Timestamp>,
    /// Memories it stored, those since undone too.
    pub stored: u64,
    /// Memories it touched, all in all.
    pub touched: u64,
}

impl ImportRun {
    /// One that begins.
    pub fn new(system: impl Into<String>, source: &str, whose: ImportAs) -> Self {
        Self { system: system.into(), source: dropped(source).into_owned(), whose, n: None, is_resumed: false }
    }

    /// Its number in the list; none while it touched nothing.
    pub fn number(&self) -> Option<u32> {
        self.n
    }

    /// True where it goes on with one that was cut short.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    fn whose(&self) -> &'static str {
        match self.whose {
            ImportAs::Own => "own",
            ImportAs::Foreign => "foreign",
        }
    }

    /// The number of the one that was cut short.
    fn unfinished(&self, connection: &Connection) -> rusqlite::Result<Option<u32>> {
        let sql = "SELECT n FROM imports WHERE system = ?1 AND source = ?2 AND whose = ?3 AND ended IS NULL
                   AND undone IS NULL ORDER BY n DESC LIMIT 1";
        connection.maybe(sql, [&self.system, &self.source, self.whose()], |row| row.get(0))
    }

    /// Its number; a new one where it has none yet.
    pub(crate) fn entered(&self, change: &Change<'_>) -> Result<u32, StoreError> {
        if let Some(n) = self.n {
            return Ok(n);
        }
        let sql = "INSERT INTO imports (system, source, whose, started) VALUES (?1, ?2, ?3, ?4)";
        change.tx.run(sql, params![self.system, self.source, self.whose(), change.now])?;
        Ok(u32::try_from(change.tx.last_insert_rowid()).unwrap_or(u32::MAX))
    }

    /// Who the history says it was.
    pub(crate) fn actor(client: Option<String>) -> Actor {
        Actor { origin: Origin::Import, client, ..Actor::default() }
    }
}

pub(crate) fn was_stored_by(connection: &Connection, run: &ImportRun, memory: MemoryUuid) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM imported WHERE import = ?1 AND memory = ?2 AND did IN ('stored', 'restored')";
    Ok(run.is_resumed && connection.prepare_cached(sql)?.exists(params![run.n, memory])?)
}

/// Notes what an import did to a memory. What it stored stays so, whatever it did to it later.
pub(crate) fn note(change: &Change<'_>, n: u32, memory: &Memory, did: Did) -> Result<(), StoreError> {
    let did = match did {
        Did::Stored => "stored",
        Did::Changed => "changed",
        Did::Deleted => "deleted",
        Did::Restored => "restored",
        Did::Vouched => "vouched",
    };
    let sql = "INSERT INTO imported (import, memory, did, rev) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE
               SET rev = excluded.rev, did = iif(did = 'stored', did, excluded.did)";
    change.tx.run(sql, params![n, memory.id, did, memory.rev])?;
    Ok(())
}

/// What changed a memory after a change, but for links that an import made.
const SINCE: &str = "SELECT 1 FROM history WHERE memory = ?1 AND rev > ?2 AND NOT (op = 'link' AND origin = 'import')";
/// The same for what somebody changed: no later import did, nor the undoing of one.
const BY_SOMEBODY: &str = "SELECT 1 FROM history WHERE memory = ?1 AND rev > ?2 AND origin <> 'import'
                           AND NOT (reason IS NOT NULL AND reason GLOB 'import [0-9]* was undone')";

/// True where anything changed a memory after an import had touched it.
pub(crate) fn was_changed_since(connection: &Connection, memory: MemoryUuid, rev: u64) -> rusqlite::Result<bool> {
    connection.prepare_cached(SINCE)?.exists(params![memory, rev])
}

/// True where somebody did, and no import.
pub(crate) fn was_changed_by_somebody(connection: &Connection, memory: MemoryUuid, rev: u64) -> rusqlite::Result<bool> {
    connection.prepare_cached(BY_SOMEBODY)?.exists(params![memory, rev])
}

/// Why a memory was changed when an import was undone.
pub(crate) fn undone_reason(n: u32) -> String {
    format!("import {n} was undone")
}

/// True for a memory that is gone because its import was undone, and for no other reason.
pub(crate) fn was_undone(connection: &Connection, memory: MemoryUuid) -> rusqlite::Result<bool> {
    // There are few imports, and many memories of each.
    let sql = "SELECT t.rev FROM imports CROSS JOIN imported t ON t.import = imports.n AND t.memory = ?1
               WHERE t.did = 'undone' ORDER BY t.rev DESC LIMIT 1";
    let rev = connection.maybe(sql, [memory], |row| row.get(0))?;
    rev.map_or(Ok(false), |rev| Ok(!was_changed_since(connection, memory, rev)?))
}

/// Brings back what an undo took.
pub(crate) fn bring_back(change: &Change<'_>, n: u32, memory: &Memory) -> Result<Memory, StoreError> {
    let actor = ImportRun::actor(memory.client.clone());
    let back = restore(change, MemoryRef::Id(memory.id), None, &actor)?.memory;
    note(change, n, &back, Did::Restored)?;
    Ok(back)
}

/// The right to take data over: several imports may run, but none while one is undone.
#[derive(Debug)]
pub struct ImportTurn {
    _lock: File,
}

impl Store {
    /// Waits until no import is being undone.
    ///
    /// # Errors
    /// When the lock cannot be made.
    pub fn import_turn(&self) -> Result<ImportTurn, StoreError> {
        let path = self.home.import_lock();
        let lock = private::lock_shared(&path).map_err(|source| StoreError::file(&path, source))?;
        Ok(ImportTurn { _lock: lock })
    }

    /// The right to undo an import.
    ///
    /// # Errors
    /// When one is running, or the lock cannot be made.
    pub(crate) fn undo_turn(&self) -> Result<ImportTurn, StoreError> {
        let path = self.home.import_lock();
        let lock = private::try_lock(&path).map_err(|source| StoreError::file(&path, source))?;
        lock.map(|lock| ImportTurn { _lock: lock }).ok_or(StoreError::Importing)
    }

    /// Goes on with the same import where it was cut short, so that its links are made and it is ended.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn resume(&self, run: &mut ImportRun) -> Result<(), StoreError> {
        run.n = run.unfinished(&self.connection).map_err(|error| self.failed(error))?;
        run.is_resumed = run.n.is_some();
        Ok(())
    }

    /// True where a resumed import stored a memory before it was cut short.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn was_stored_by(&self, run: &ImportRun, memory: MemoryUuid) -> Result<bool, StoreError> {
        was_stored_by(&self.connection, run, memory).map_err(|error| self.failed(error))
    }

    /// Notes that an import came to its end.
    ///
    /// # Errors
    /// When the store cannot be written.
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

    /// The imports, the latest first.
    ///
    /// # Errors
    /// When the store cannot be read.
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

    /// True where data of a system came over from a place, and that was not undone.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn has_imported(&self, system: &str, source: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM imports WHERE system = ?1 AND source = ?2 AND undone IS NULL";
        let there =
            self.connection.prepare_cached(sql).and_then(|mut statement| statement.exists([system, &dropped(source)]));
        there.map_err(|error| self.failed(error))
    }
}
