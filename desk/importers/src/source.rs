//! A source of rows.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::copy::{Copy, is_database};
use crate::draft::Told;
use crate::error::OlderError;
use crate::json::JsonRow;
use crate::system::System;
use crate::vault::Vault;
use crate::{claude_memory_mcp, json, memory_mcp, system};

/// The data of one system at one place, which can be read repeatedly.
#[derive(Debug)]
pub struct Source {
    system: System,
    path: PathBuf,
    held: Held,
}

#[derive(Debug)]
enum Held {
    Database(Copy),
    Rows(Vec<JsonRow>),
    Vault(Vault),
}

/// Receives the rows of a reader.
pub(crate) struct RowSink<'a> {
    see: &'a mut dyn FnMut(Told) -> ControlFlow<()>,
    is_stopped: bool,
    /// Rows that may still be read.
    left: u32,
}

/// The maximum number of rows per source, a hundred times the largest known store.
const MOST_ROWS: u32 = 1_000_000;

impl RowSink<'_> {
    /// Reports one item. Returns an error if the receiver returns `ControlFlow::Break`; this error stops the reader.
    pub(crate) fn told(&mut self, told: Told) -> Result<(), rusqlite::Error> {
        self.left = self.left.checked_sub(1).ok_or(rusqlite::Error::StatementChangedRows(MOST_ROWS as usize))?;
        if (self.see)(told).is_break() {
            self.is_stopped = true;
            return Err(rusqlite::Error::QueryReturnedNoRows);
        }
        Ok(())
    }
}

impl Source {
    /// Opens a path as data of another memory system. A database is copied first; nothing is changed at the path.
    /// `home` replaces `~` in the paths of basic-memory's settings.
    ///
    /// # Errors
    /// Returns an error if nothing is there, it has another format, is damaged, or cannot be read.
    pub fn open(system: System, path: &Path, home: &Path) -> Result<Self, OlderError> {
        let what = match system {
            System::ClaudeMemoryMcp | System::MemoryMcp => "database, or a JSON file with its exported rows",
            System::BasicMemory => "folder of notes, or the directory with config.json",
        };
        match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(OlderError::Missing { path: path.to_owned(), what });
            }
            found => found.map_err(OlderError::file(path))?,
        };
        let held = match system {
            System::BasicMemory => Held::Vault(Vault::open(path, home)?),
            System::ClaudeMemoryMcp | System::MemoryMcp => of_rows(system, path)?,
        };
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(Self { system, path, held })
    }

    /// The system of the data.
    pub fn system(&self) -> System {
        self.system
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if the source is complete. Then a row that is missing was deleted. An export may be a part only.
    pub fn is_whole(&self) -> bool {
        !matches!(self.held, Held::Rows(_))
    }

    /// Reports every row in the order of the source.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read completely, or if `see` returns `ControlFlow::Break`.
    pub fn each(&self, see: &mut dyn FnMut(Told) -> ControlFlow<()>) -> Result<(), OlderError> {
        let mut teller = RowSink { see, is_stopped: false, left: MOST_ROWS };
        let place = system::of_place(&self.path);
        let done = match (&self.held, self.system) {
            (Held::Database(copy), System::ClaudeMemoryMcp) => {
                claude_memory_mcp::tell_database(copy, &place, &mut teller)
            }
            (Held::Database(copy), System::MemoryMcp | System::BasicMemory) => {
                memory_mcp::tell_database(copy, &place, &mut teller)
            }
            (Held::Rows(rows), System::ClaudeMemoryMcp) => claude_memory_mcp::tell_rows(rows, &place, &mut teller),
            (Held::Rows(rows), System::MemoryMcp | System::BasicMemory) => {
                memory_mcp::tell_rows(rows, &place, &mut teller)
            }
            (Held::Vault(vault), _) => vault.tell(&mut teller),
        };
        match done {
            _ if teller.is_stopped => Err(OlderError::Stopped),
            Ok(()) => Ok(()),
            Err(_) if teller.left == 0 => Err(OlderError::TooMany { path: self.path.clone(), most: MOST_ROWS }),
            Err(error) => Err(OlderError::Damaged { path: self.path.clone(), problem: error.to_string() }),
        }
    }
}

/// The system of a database file; `None` for any other file.
///
/// # Errors
/// Returns an error if the file is a database that cannot be read.
pub(crate) fn system_of(path: &Path) -> Result<Option<System>, OlderError> {
    if !is_database(path)? {
        return Ok(None);
    }
    let copy = Copy::of(path)?;
    system_in(&copy).map_err(|error| OlderError::Damaged { path: path.to_owned(), problem: error.to_string() })
}

fn system_in(copy: &Copy) -> rusqlite::Result<Option<System>> {
    if claude_memory_mcp::is_here(copy)? {
        return Ok(Some(System::ClaudeMemoryMcp));
    }
    Ok(memory_mcp::is_here(copy)?.then_some(System::MemoryMcp))
}

/// The system of a row as JSON; `None` for any other object.
pub(crate) fn system_of_row(row: &Map<String, Value>) -> Option<System> {
    if memory_mcp::is_row(row) {
        Some(System::MemoryMcp)
    } else {
        claude_memory_mcp::is_row(row).then_some(System::ClaudeMemoryMcp)
    }
}

fn of_rows(system: System, path: &Path) -> Result<Held, OlderError> {
    let foreign = |problem: String| OlderError::Foreign { path: path.to_owned(), problem };
    if path.is_dir() {
        return Err(foreign(
            "is a directory; pass the database file in the directory, or a JSON file with exported rows".into(),
        ));
    }
    if !path.is_file() {
        return Err(foreign("is a pipe or a device; save its data to a file first".into()));
    }
    if !is_database(path)? {
        let rows = json::rows(path)?;
        let theirs = rows.iter().filter_map(|(_, row)| row.as_ref().ok()).find_map(system_of_row);
        return match theirs {
            Some(other) if other != system => Err(foreign(instead(other))),
            _ if rows.iter().any(|(_, row)| row.as_ref().is_ok_and(|row| row.contains_key("content"))) => {
                Ok(Held::Rows(rows))
            }
            _ => Err(foreign(format!("contains no rows from {}: no row has a field `content`", system.title()))),
        };
    }
    let copy = Copy::of(path)?;
    let found = system_in(&copy);
    match found.map_err(|error| OlderError::Damaged { path: path.to_owned(), problem: error.to_string() })? {
        Some(found) if found == system => Ok(Held::Database(copy)),
        Some(other) => Err(foreign(instead(other))),
        None => Err(foreign(format!(
            "is a database, but not one from {}: it does not have that system's table of memories",
            system.title()
        ))),
    }
}

fn instead(other: System) -> String {
    format!("belongs to {}; use `tessera import {other}`", other.title())
}
