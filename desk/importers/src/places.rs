//! Where each system keeps its data on this machine.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::draft::Told;
use crate::error::OlderError;
use crate::json;
use crate::source::{Source, system_of, system_of_row};
use crate::system::System;
use crate::vault;

/// Databases up to this size are examined before they are offered automatically.
const SHORT_LOOK: u64 = 256 << 10;

/// Paths from the environment. The caller reads the environment and sets these fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The user's home directory.
    pub home: PathBuf,
    /// The user's data directory, or the system's default if the environment does not set one.
    pub data: Option<PathBuf>,
    /// `MEMORY_HOME`: V's directory.
    pub memory_home: Option<PathBuf>,
    /// `MEMORY_DB` and `MEMORY_DB_PATH`: a database of claude-memory-mcp or memory-mcp.
    pub databases: Vec<PathBuf>,
}

/// Found data of a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The system.
    pub system: System,
    /// Its path.
    pub path: PathBuf,
    /// The number of its rows.
    pub rows: u64,
}

impl Places {
    /// The possible places of a system's data, the user's choice first. Reads nothing.
    pub fn of(&self, system: System) -> Vec<PathBuf> {
        let in_home = |path: &str| self.home.join(path);
        let named = self.databases.iter().cloned();
        match system {
            System::ClaudeMemoryMcp => {
                let homes = self.memory_home.iter().map(|home| home.join("memory/memory.db"));
                let usual = [".claude/claude-memory/memory/memory.db", ".claude/metaclaw/memory/memory.db"];
                named.chain(homes).chain(usual.map(in_home)).collect()
            }
            System::MemoryMcp => {
                let data = self.data.clone().unwrap_or_else(|| in_home(".local/share"));
                let usual = [
                    data.join("claude-memories/memory.db"),
                    in_home(".claude-memories/memory.db"),
                    in_home(".memory-mcp/memory.db"),
                ];
                named.chain(usual).collect()
            }
            System::BasicMemory => vec![in_home(".basic-memory"), in_home("basic-memory")],
        }
    }

    /// Returns each existing place once, without opening files. A database that the user named may belong to either
    /// system.
    pub fn there(&self) -> Vec<(System, PathBuf)> {
        let mut there: Vec<(System, PathBuf)> = Vec::new();
        for system in System::ALL {
            let is_there = |path: &PathBuf| match system {
                System::BasicMemory => path.join("config.json").is_file(),
                System::ClaudeMemoryMcp | System::MemoryMcp => path.is_file(),
            };
            for path in self.of(system).into_iter().filter(is_there) {
                if !there.iter().any(|(_, known)| *known == path) {
                    there.push((system, path));
                }
            }
        }
        there
    }

    /// Places that may exist but cannot be accessed.
    fn barred(&self) -> Vec<OlderError> {
        let is_absent = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
        let mut paths: Vec<PathBuf> = System::ALL.into_iter().flat_map(|system| self.of(system)).collect();
        paths.sort();
        paths.dedup();
        let barred = |path: PathBuf| match path.metadata() {
            Err(error) if !is_absent(error.kind()) => Some(OlderError::file(path)(error)),
            _ => None,
        };
        paths.into_iter().filter_map(barred).collect()
    }

    /// True if a place contains rows to import, as far as a quick check shows.
    pub fn holds_any(&self, system: System, path: &Path) -> bool {
        if system == System::BasicMemory {
            return vault::holds_note(path, &self.home);
        }
        let log = PathBuf::from(format!("{}-wal", path.display()));
        let bytes: u64 = [path, &log].iter().filter_map(|path| path.metadata().ok()).map(|found| found.len()).sum();
        // A large database is not empty, and is not copied for a check.
        bytes > SHORT_LOOK
            || looked_at(system, path, &self.home).is_ok_and(|found| found.is_some_and(|one| one.rows > 0))
    }

    /// Places with rows. Places that cannot be read are reported with the reason.
    pub fn found(&self) -> (Vec<Found>, Vec<OlderError>) {
        let (mut found, mut unread) = (Vec::new(), self.barred());
        for (system, path) in self.there() {
            match looked_at(system, &path, &self.home) {
                Ok(Some(one)) if one.rows > 0 => found.push(one),
                Ok(_) => {}
                Err(error) => unread.push(error),
            }
        }
        (found, unread)
    }

    /// The path of a system's data.
    ///
    /// # Errors
    /// Returns an error if there is no data in the usual places.
    pub fn usual(&self, system: System) -> Result<PathBuf, OlderError> {
        let mut unread = Vec::new();
        for (guessed, path) in self.there() {
            match if system == System::BasicMemory { Ok(Some(guessed)) } else { system_of(&path) } {
                Ok(its) if its == Some(system) => return Ok(path),
                Ok(_) => {}
                Err(error) => unread.push(error),
            }
        }
        let unread = unread.into_iter().chain(self.barred()).next();
        Err(unread.unwrap_or_else(|| OlderError::Nowhere {
            system,
            looked: self.of(system).iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
        }))
    }
}

/// The folders in basic-memory's settings; each may have been imported separately.
pub fn folders_in(settings: &Path) -> Vec<PathBuf> {
    settings.parent().and_then(|home| vault::projects(settings, home)).unwrap_or_default()
}

/// Returns the system and the number of rows of the data at a path; `None` if the data belongs to no known system.
fn looked_at(system: System, path: &Path, home: &Path) -> Result<Option<Found>, OlderError> {
    let system = match system {
        System::BasicMemory if vault::projects(path, home).is_some() => System::BasicMemory,
        System::BasicMemory => return Ok(None),
        _ => match system_of(path)? {
            Some(system) => system,
            None => return Ok(None),
        },
    };
    let mut rows = 0;
    Source::open(system, path, home)?.each(&mut |told| {
        rows += u64::from(matches!(told, Told::Row(_)));
        ControlFlow::Continue(())
    })?;
    Ok(Some(Found { system, path: path.to_owned(), rows }))
}

/// Returns the system of a file that was passed as JSON lines, because the file may be another system's database or
/// contain its rows as JSON. `None` for any other file.
pub fn belongs_to(path: &Path, first: &[u8]) -> Option<System> {
    if let Ok(Some(system)) = system_of(path) {
        return Some(system);
    }
    // A list is one value over many lines; our lines are one value each.
    let is_list = first.trim_ascii_start().starts_with(b"[");
    let rows = if is_list { json::rows(path).ok()? } else { return of_line(first) };
    rows.iter().find_map(|(_, row)| row.as_ref().ok()).and_then(system_of_row)
}

/// The system of a JSON line, or of bytes that begin with one.
pub fn of_line(bytes: &[u8]) -> Option<System> {
    let line = bytes.trim_ascii_start().split(|byte| *byte == b'\n').next()?;
    let row: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let list = row.get("memories").and_then(Value::as_array).and_then(|rows| rows.first()).and_then(Value::as_object);
    system_of_row(list.unwrap_or(&row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_apart_by_its_keys_and_one_of_ours_is_nobodys() {
        for (line, system) in [
            (r#"{"id":3,"content":"x"}"#, Some(System::ClaudeMemoryMcp)),
            (r#"{"content":"x","expanded_keywords":"a b"}"#, Some(System::ClaudeMemoryMcp)),
            ("\n {\"memories\":[{\"id\":3,\"content\":\"x\"}]}\n{", Some(System::ClaudeMemoryMcp)),
            (r#"{"id":"mem_a1","content":"x"}"#, Some(System::MemoryMcp)),
            (r#"{"id":"0198c2f0-0000-7000-8000-000000000001","content":"x","category":"facts"}"#, None),
            (r#"{"key":"a","content":"x"}"#, None),
            ("", None),
            ("# CLAUDE.md", None),
        ] {
            assert_eq!(of_line(line.as_bytes()), system, "{line}");
        }
    }

    #[test]
    fn what_the_user_named_is_looked_at_first_and_each_place_once() {
        let dir = tempfile::tempdir().unwrap();
        let named = dir.path().join("memory/memory.db");
        std::fs::create_dir_all(named.parent().unwrap()).unwrap();
        std::fs::write(&named, "").unwrap();
        let places = Places {
            home: dir.path().join("home"),
            data: None,
            memory_home: Some(dir.path().to_owned()),
            databases: vec![named.clone()],
        };
        assert_eq!(places.there(), [(System::ClaudeMemoryMcp, named)]);
        let (found, unread) = places.found();
        assert!(found.is_empty() && unread.is_empty(), "an empty database file is not offered for import: {unread:?}");
        assert!(matches!(places.usual(System::MemoryMcp), Err(OlderError::Nowhere { .. })));
    }
}
