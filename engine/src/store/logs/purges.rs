//! What was removed for good: from where it went when, and where it is still to go from. Never a text.

use rusqlite::{OptionalExtension, params};
use serde::Serialize;

use crate::domain::{Handle, MemoryId, MemoryRef, Timestamp};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::ask::{Ask as _, Run as _};
use crate::store::rows::memory as row;

/// The row of the memory with all that stands beside it.
pub(crate) const ROW: &str = "row";
/// The pages of the database that were used before, its log and its snapshot.
pub(crate) const PAGES: &str = "pages";
/// Backups, and damaged files that were set aside.
pub(crate) const COPIES: &str = "copies";
/// Queued turns, logs, and what a person put into the home.
pub(crate) const FILES: &str = "files";

/// A memory that was removed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Purged {
    /// Identity.
    pub id: MemoryId,
    /// Handle.
    pub handle: Handle,
    /// What was done where, in the order it was begun.
    pub steps: Vec<Step>,
    /// How things stand with the team server; `None` where there is none.
    pub server: Option<ToldServer>,
}

/// One place that a memory was removed from, or is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The place.
    pub place: String,
    /// When it was gone from there; `None` while it is not.
    pub done: Option<Timestamp>,
    /// How, or why not yet.
    pub how: String,
}

/// What a server knows of a removal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToldServer {
    /// It never had the memory.
    NeverHadIt,
    /// It has not been told yet.
    Waits,
    /// It will not take it, and why.
    Refused(String),
    /// It has removed it too.
    Done,
}

/// Notes that a memory is removed now. Of one that may only not be seen any more, copies stay as they are.
pub(crate) fn note(change: &Change<'_>, memory: MemoryId, mark: u8) -> Result<(), StoreError> {
    let row = "its text, what it said before, its links and its secrets were removed";
    step(change, memory, ROW, true, row)?;
    step(change, memory, PAGES, false, "pages and log of the database still hold it")?;
    if mark == row::PURGED {
        step(change, memory, COPIES, false, "backups were not looked through yet")?;
    }
    Ok(())
}

/// Notes how far a removal is at a place.
pub(crate) fn step(
    change: &Change<'_>,
    memory: MemoryId,
    place: &str,
    is_done: bool,
    how: &str,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO purges (memory, place, at, done, how) VALUES (?1, ?2, ?3, ?4, ?5)
               ON CONFLICT (memory, place) DO UPDATE SET done = excluded.done, how = excluded.how";
    let done = is_done.then_some(change.now);
    change.tx.run(sql, params![memory, place, change.now, done, how])?;
    Ok(())
}

/// Notes that every removal that waits at a place is done there.
pub(crate) fn all_done(change: &Change<'_>, place: &str, how: &str) -> Result<(), StoreError> {
    let sql = "UPDATE purges SET done = ?2, how = ?3 WHERE place = ?1 AND done IS NULL";
    change.tx.run(sql, params![place, change.now, how])?;
    Ok(())
}

impl Store {
    /// The memories whose removal waits at a place.
    pub(crate) fn purges_left(&self, place: &str) -> rusqlite::Result<Vec<MemoryId>> {
        let sql = "SELECT memory FROM purges WHERE place = ?1 AND done IS NULL";
        self.connection.all(sql, [place], |row| row.get(0))
    }

    /// The files from which something is still to be removed, by their names in the home.
    pub(crate) fn places_left(&self) -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT DISTINCT place FROM purges WHERE done IS NULL AND place NOT IN (?1, ?2, ?3, ?4)";
        self.connection.all(sql, [ROW, PAGES, COPIES, FILES], |row| row.get(0))
    }

    /// The steps of a removal, in the order they were begun.
    pub(crate) fn steps_of(&self, memory: MemoryId) -> rusqlite::Result<Vec<Step>> {
        let sql = "SELECT place, done, how FROM purges WHERE memory = ?1
                   ORDER BY at, place <> 'row', place <> 'pages', place <> 'copies', place";
        self.connection.all(sql, [memory], |row| Ok(Step { place: row.get(0)?, done: row.get(1)?, how: row.get(2)? }))
    }

    /// What became of a memory that was removed for good; `None` where it is there, or never was.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn purged(&self, reference: MemoryRef) -> Result<Option<Purged>, StoreError> {
        let read = || -> rusqlite::Result<Option<Purged>> {
            let (column, key): (&str, &dyn rusqlite::ToSql) = match &reference {
                MemoryRef::Handle(handle) => ("handle", handle),
                MemoryRef::Id(id) => ("id", id),
            };
            let sql = format!("SELECT id, handle FROM memories WHERE {column} = ?1 AND purged > 0");
            let found = self.connection.query_row(&sql, [key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let Some((id, handle)) = found else { return Ok(None) };
            Ok(Some(Purged { id, handle, steps: self.steps_of(id)?, server: self.told_server(id)? }))
        };
        read().map_err(|error| self.failed(error))
    }

    fn told_server(&self, id: MemoryId) -> rusqlite::Result<Option<ToldServer>> {
        let one = |sql: &str| self.connection.query_row(sql, [id], |row| row.get::<_, Option<String>>(0)).optional();
        if !self.connection.prepare_cached("SELECT 1 FROM server")?.exists([])? {
            return Ok(None);
        }
        Ok(Some(
            match (
                one("SELECT refused FROM outbox WHERE memory = ?1")?,
                one("SELECT trail FROM trails WHERE memory = ?1")?,
            ) {
                (Some(Some(why)), _) => ToldServer::Refused(why),
                (Some(None), _) => ToldServer::Waits,
                (None, Some(_)) => ToldServer::Done,
                (None, None) => ToldServer::NeverHadIt,
            },
        ))
    }
}
