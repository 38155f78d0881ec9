//! Removes a text that a person marked as secret from backups, other copies of the store, logs and queued turns. The
//! table `hidden_secrets` records what is still to do, so an interrupted run continues.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};
use serde::de::DeserializeOwned;

use super::scan_copies::{WORDS, rows, set_aside};
use crate::domain::MemoryUuid;
use crate::screen::{KnownValues, MARKED, Texts, Version};
use crate::store::base::store::Store;
use crate::store::change::hide::CleanedFile;
use crate::store::file::error::StoreError;
use crate::store::logs::beside::without;
use crate::store::logs::purges::{Copy, FOREIGN, holds_piece, is_foreign, remove_beside};
use crate::store::logs::small_files;
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::tables::has;
use crate::sync::SyncState;

/// The report for a file that Tessera did not write.
const THEIRS: &str = "contains the text, but is not one of Tessera's files; change or delete it yourself";
/// The report for a damaged copy.
const DAMAGED: &str = "contains the text, but cannot be read; delete it if you do not need it";

/// JSON about a memory in a column of a copy, and what replaces it if it cannot be read.
const STATES: [(&str, &str, &str, &str); 2] = [
    ("history", "before", "rev", "UPDATE history SET before = NULL WHERE rev = ?1"),
    ("sync_states", "sync_state", "memory", "DELETE FROM sync_states WHERE memory = ?1"),
];

impl Store {
    /// Continues with hidden texts that may still be in files and copies. If a key is locked or a file is in use, this
    /// is tried again later.
    pub(crate) fn sweep_hidden(&mut self) -> Result<(), StoreError> {
        let sql = "SELECT memory, name FROM hidden_secrets";
        let left: Vec<(MemoryUuid, String)> = self.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut texts = Vec::new();
        for (memory, name) in left {
            match self.secret_value(memory, &name) {
                Ok(Some(value)) => texts.push((memory, value.to_string())),
                // The value was deleted or moved to a vault, so nothing can be searched for.
                Ok(None) => self.swept(memory, &name)?,
                Err(error) => tracing::debug!(%error, name, "a hidden text cannot be removed from files now"),
            }
        }
        if texts.is_empty() { Ok(()) } else { self.sweep(&texts).map(drop) }
    }

    /// Removes hidden texts of memories from files and copies. Returns those that contained one.
    pub(crate) fn sweep(&mut self, texts: &[(MemoryUuid, String)]) -> Result<Vec<CleanedFile>, StoreError> {
        let mut words = KnownValues::default();
        let mut marks: BTreeMap<MemoryUuid, KnownValues> = BTreeMap::new();
        for (memory, text) in texts {
            marks.entry(*memory).or_default().mark(MARKED.as_str(), text);
            words.note_word(MARKED.as_str(), text);
        }
        let mut cleaned = Vec::new();
        for path in self.home.small_files() {
            let done = self.sweep_file(&path, &words);
            cleaned.extend(self.told(&path, done.map_err(|error| error.to_string())));
        }
        let only: Vec<String> = texts.iter().map(|(_, text)| text.clone()).collect();
        for path in self.home.copies() {
            let done = self.sweep_copy(&path, &marks).map_err(|error| error.to_string());
            let done = done.or_else(|problem| match fs::read(&path) {
                Ok(bytes) if !holds_piece(&bytes, &only) => Ok(false),
                _ if is_foreign(&path) => Err(FOREIGN.to_owned()),
                _ => Err(format!("{DAMAGED} ({problem})")),
            });
            cleaned.extend(self.told(&path, done));
        }
        if cleaned.iter().all(|file| file.problem.is_none()) {
            let sql = "SELECT memory, name FROM hidden_secrets";
            let left: Vec<(MemoryUuid, String)> = self.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            for (memory, name) in left {
                let value = self.secret_value(memory, &name).ok().flatten();
                if texts.iter().any(|(of, text)| *of == memory && value.as_ref().is_some_and(|value| **value == *text))
                {
                    self.swept(memory, &name)?;
                }
            }
        }
        Ok(cleaned)
    }

    fn swept(&mut self, memory: MemoryUuid, name: &str) -> Result<(), StoreError> {
        let sql = "DELETE FROM hidden_secrets WHERE memory = ?1 AND name = ?2";
        self.write(|change| Ok(change.tx.run(sql, params![memory, name]).map(drop)?))
    }

    fn told(&self, path: &Path, done: Result<bool, String>) -> Option<CleanedFile> {
        let path = path.strip_prefix(self.home.dir()).unwrap_or(path).to_string_lossy().into_owned();
        match done {
            Ok(false) => None,
            Ok(true) => Some(CleanedFile { path, problem: None }),
            Err(problem) => Some(CleanedFile { path, problem: Some(problem) }),
        }
    }

    fn sweep_file(&self, path: &Path, words: &KnownValues) -> std::io::Result<bool> {
        let text = small_files::text_of(path)?.unwrap_or_default();
        if !words.stands_in(&text) {
            return Ok(false);
        }
        if !self.home.is_own_small_file(path) {
            return Err(std::io::Error::other(THEIRS));
        }
        small_files::rewritten(path, &|line| without(line, words))
    }

    fn sweep_copy(&mut self, path: &Path, marks: &BTreeMap<MemoryUuid, KnownValues>) -> Result<bool, StoreError> {
        let reader = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut held = Vec::new();
        for (memory, marks) in marks {
            if holds(&reader, *memory, marks)? {
                held.push((*memory, marks));
            }
        }
        drop(reader);
        if held.is_empty() {
            return Ok(false);
        }
        let copy = Copy::open(path)?;
        let transaction = copy.begin()?;
        for (memory, marks) in held {
            self.sweep_memory(&copy, memory, marks)?;
        }
        transaction.commit()?;
        copy.finish()?;
        remove_beside(path);
        Ok(true)
    }

    /// Removes the marked texts of one memory from a copy.
    fn sweep_memory(&mut self, copy: &Copy, memory: MemoryUuid, marks: &KnownValues) -> Result<(), StoreError> {
        for row in rows(&copy.connection, &WORDS, Some(memory))? {
            row.fix(self, copy, marks)?;
        }
        for (table, column, key, instead) in STATES {
            for (key_of, text) in states(&copy.connection, (table, column, key), memory)? {
                let clean = if table == "history" {
                    self.clean_state::<Version>(memory, &text, marks)?
                } else {
                    self.clean_state::<SyncState>(memory, &text, marks)?
                };
                match clean {
                    Some(clean) => {
                        let sql = format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1");
                        copy.connection.execute(&sql, params![key_of, clean])?;
                    }
                    None => drop(copy.connection.execute(instead, [key_of])?),
                }
            }
        }
        Ok(())
    }

    /// A state of a memory without the marked texts; `None` if it cannot be read.
    fn clean_state<T: Texts + DeserializeOwned + serde::Serialize>(
        &mut self,
        memory: MemoryUuid,
        text: &str,
        marks: &KnownValues,
    ) -> Result<Option<String>, StoreError> {
        let Ok(state) = serde_json::from_str::<T>(text) else { return Ok(None) };
        let clean = set_aside(self, state, memory, marks)?;
        Ok(serde_json::to_string(&clean).ok())
    }
}

/// The states of a memory in one column of a copy; none if an older copy lacks the column.
fn states(
    connection: &Connection,
    (table, column, key): (&str, &str, &str),
    memory: MemoryUuid,
) -> rusqlite::Result<Vec<(rusqlite::types::Value, String)>> {
    if !has(connection, table, column)? {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT {key}, {column} FROM {table} WHERE memory = ?1 AND {column} IS NOT NULL");
    connection.all(&sql, [memory], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// True if a copy contains a marked text of a memory.
fn holds(connection: &Connection, memory: MemoryUuid, marks: &KnownValues) -> rusqlite::Result<bool> {
    let mut is_in_it = false;
    for row in rows(connection, &WORDS, Some(memory))? {
        row.words().each_text(&mut |_, text| is_in_it |= marks.stands_in(text));
    }
    for (table, column, key, _) in STATES {
        for (_, text) in states(connection, (table, column, key), memory)? {
            let value = serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default();
            value.each_text(&mut |_, text| is_in_it |= marks.stands_in(text));
        }
    }
    Ok(is_in_it)
}
