//! Hides a text of a memory everywhere. The database is changed first, in one transaction. Then the text is removed from
//! backups, other copies of the store, logs and queued turns. The table `hidden_secrets` records what is still to do, so
//! an interrupted run continues.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::copies::{WORDS, rows, set_aside};
use super::hide::{self, CleanedFile, Hidden};
use crate::domain::{DomainError, MemoryRef, MemoryUuid, ShortId};
use crate::screen::{KnownValues, MARKED, Version};
use crate::store::base::allowed_texts::disallow;
use crate::store::base::config::{Actor, SecretMode};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::file::private;
use crate::store::logs::beside::{fix_marked, holds_marked, without_marked};
use crate::store::logs::purges::{
    Copy, FOREIGN, forget_context, holds_piece, is_foreign, is_rewriting, reader, remove_beside,
};
use crate::store::logs::questions::forget_those_saying;
use crate::store::logs::traces::THEIRS;
use crate::store::logs::{candidates, small_files};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;
use crate::store::rows::tables::has;
use crate::sync::SyncState;

/// The minimum length of a text to hide, in characters. A shorter text would be found in too many places.
const LEAST: usize = 3;
/// The report for a copy that cannot be changed.
const LEFT: &str = "contains the text, and cannot be rewritten now";

/// Which pending work is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// Only what was not tried yet, because an earlier run was interrupted.
    NotYet,
    /// Also what failed earlier.
    Again,
}

/// The values to hide.
struct Sought {
    /// The values of each memory.
    of: BTreeMap<MemoryUuid, KnownValues>,
    /// All values, for texts that belong to no memory.
    words: KnownValues,
    texts: Vec<String>,
}

impl Sought {
    fn of(texts: &[(MemoryUuid, String)]) -> Self {
        let mut sought = Self { of: BTreeMap::new(), words: KnownValues::default(), texts: Vec::new() };
        for (memory, text) in texts {
            hide::mark(sought.of.entry(*memory).or_default(), MARKED.as_str(), text);
            sought.words.note_marked(MARKED.as_str(), text);
            sought.texts.push(text.clone());
        }
        sought
    }
}

impl Store {
    /// Hides a text of a memory: encrypts it, and replaces it with a name in the memory, its history, the logs, backups
    /// and other files. Other machines do the same when they sync.
    ///
    /// # Errors
    /// Returns an error if the text is too short or not in the memory, if the memory belongs to somebody else or is a
    /// file, or if the store cannot be written. An interrupted run continues with the next one.
    pub fn hide(&mut self, reference: MemoryRef, text: &str, actor: &Actor) -> Result<Hidden, StoreError> {
        let text = text.trim();
        if text.chars().count() < LEAST {
            let fix = "pass at least 3 characters";
            return Err(DomainError::invalid("text", "is too short to be hidden", fix).into());
        }
        // Recorded texts are also in spools.
        self.fold_questions()?;
        self.fold_deliveries()?;
        let mut files = Vec::new();
        if self.secrets.rules().mode == SecretMode::Drop {
            // Nobody knows the value afterwards, so an interrupted run could not continue with the files.
            files = self.sweep_before(reference, text)?;
            // What could not be changed is reported below.
            files.retain(|file| file.problem.is_none());
        }
        let (known, done) = self.write(|change| hide::hide(change, reference, text, actor))?;
        let id = known.memory.id;
        files.extend(self.sweep(&[(id, text.to_owned())])?);
        if let Err(error) = self.scrub() {
            tracing::debug!(%error, "the write-ahead log cannot be truncated now");
        }
        self.maintain();
        let sql = "SELECT short_id FROM memories WHERE id <> ?1 AND purged = 0 AND shared_by IS NULL AND file IS NULL
                   AND instr(content, ?2) > 0 ORDER BY short_id";
        let also_in: Vec<ShortId> = self.all(sql, params![id, text], |row| row.get(0))?;
        let name = done.names.into_iter().next();
        Ok(Hidden { memory: known.memory.short_id, name, versions: done.versions, files, also_in })
    }

    /// Removes a text from the small files, if the memory contains it and may be changed.
    fn sweep_before(&mut self, reference: MemoryRef, text: &str) -> Result<Vec<CleanedFile>, StoreError> {
        let memory = row::find(&self.connection, reference).map_err(|error| self.failed(error))?;
        let own = memory.filter(|memory| memory.share.is_none() && memory.file.is_none());
        let is_in_it = self.said_by(&[reference])?.iter().any(|said| said.contains(text));
        let sought = own.filter(|_| is_in_it).map(|memory| Sought::of(&[(memory.id, text.to_owned())]));
        Ok(sought.map(|sought| self.sweep_files(&sought)).unwrap_or_default())
    }

    fn sweep_files(&self, sought: &Sought) -> Vec<CleanedFile> {
        let swept = self.home.small_files().into_iter().map(|path| {
            let done = self.sweep_file(&path, sought).map_err(|error| error.to_string());
            self.told(&path, done)
        });
        swept.flatten().collect()
    }

    /// Removes the texts that were hidden in this store from an old copy of it. The copy gets the encrypted values, and
    /// the work that is still to do. Returns the number of texts whose values are not available here.
    ///
    /// # Errors
    /// Returns an error if the copy cannot be written.
    pub(crate) fn hide_again_in(&mut self, copy: &Path) -> Result<usize, StoreError> {
        let (mut texts, mut unknown) = (Vec::new(), 0);
        for (memory, name) in self.marked()? {
            match self.secret_value(memory, &name) {
                Ok(Some(value)) => texts.push((memory, value.to_string())),
                Ok(None) | Err(_) => unknown += 1,
            }
        }
        if !texts.is_empty() {
            self.sweep_copy(copy, &Sought::of(&texts))?;
        }
        let left = self.left_to_sweep(Tried::Again)?;
        if !left.is_empty() {
            let copy = Copy::open(copy)?;
            if has(&copy.connection, "hidden_secrets", "tried")? {
                for (memory, name) in left {
                    hide::must_sweep(&copy.connection, memory, &name)?;
                }
            }
            copy.finish()?;
        }
        Ok(unknown)
    }

    /// The marked secrets of this store.
    pub(crate) fn marked(&self) -> Result<Vec<(MemoryUuid, String)>, StoreError> {
        let sql = "SELECT memory, name FROM secrets WHERE kind = ?1";
        self.all(sql, [MARKED.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Continues with hidden texts that may still be in files and copies.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. Files that cannot be changed are left for [`Tried::Again`].
    pub fn go_on_hiding(&mut self, tried: Tried) -> Result<(), StoreError> {
        let mut texts = Vec::new();
        for (memory, name) in self.left_to_sweep(tried)? {
            match self.secret_value(memory, &name) {
                Ok(Some(value)) => texts.push((memory, value.to_string())),
                // The value was deleted or moved to a vault, so nothing can be searched for.
                Ok(None) => self.write(|change| {
                    hide::refresh_copies(change, memory)?;
                    swept(change.tx, memory, &name)
                })?,
                Err(error) => tracing::debug!(%error, name, "a hidden text cannot be removed from files now"),
            }
        }
        if texts.is_empty() { Ok(()) } else { self.sweep(&texts).map(drop) }
    }

    /// Finishes pending work as far as possible, before a value is deleted that the work needs.
    pub(crate) fn finish_hiding(&mut self) {
        if let Err(error) = self.go_on_hiding(Tried::Again) {
            tracing::debug!(%error, "hidden texts cannot be removed from files now");
        }
    }

    /// The number of hidden texts that may still be in files or copies.
    pub(crate) fn hidden_left(&self) -> Result<usize, StoreError> {
        Ok(self.left_to_sweep(Tried::Again)?.len())
    }

    fn left_to_sweep(&self, tried: Tried) -> Result<Vec<(MemoryUuid, String)>, StoreError> {
        let sql = "SELECT memory, name FROM hidden_secrets WHERE tried = 0 OR ?1";
        self.all(sql, [tried == Tried::Again], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Removes hidden texts of memories from files and copies. Returns those that contained one.
    fn sweep(&mut self, texts: &[(MemoryUuid, String)]) -> Result<Vec<CleanedFile>, StoreError> {
        let sought = Sought::of(texts);
        let mut cleaned = Vec::new();
        let mut is_done = true;
        for file in self.sweep_files(&sought) {
            // Nobody but the user can finish the work in a file of the user.
            is_done &= file.problem.is_none() || !self.home.is_own_small_file(&self.home.dir().join(&file.path));
            cleaned.push(file);
        }
        for path in self.home.copies() {
            let done = self.sweep_copy(&path, &sought).or_else(|error: StoreError| match fs::read(&path) {
                Ok(bytes) if !holds_piece(&bytes, &sought.texts) => Ok(false),
                _ if is_foreign(&path) => Err(FOREIGN.to_owned()),
                _ => Err(format!("{LEFT}: {error}")),
            });
            is_done &= done.is_ok();
            cleaned.extend(self.told(&path, done));
        }
        for (memory, name) in self.left_to_sweep(Tried::Again)? {
            let value = self.secret_value(memory, &name).ok().flatten();
            if !value.is_some_and(|value| texts.iter().any(|(of, text)| *of == memory && *text == *value)) {
                continue;
            }
            let sql = "UPDATE hidden_secrets SET tried = 1 WHERE memory = ?1 AND name = ?2";
            self.write(|change| {
                if is_done {
                    return swept(change.tx, memory, &name);
                }
                Ok(change.tx.run(sql, params![memory, name]).map(drop)?)
            })?;
        }
        Ok(cleaned)
    }

    fn told(&self, path: &Path, done: Result<bool, String>) -> Option<CleanedFile> {
        let path = self.in_home(path);
        match done {
            Ok(false) => None,
            Ok(true) => Some(CleanedFile { path, problem: None }),
            Err(problem) => Some(CleanedFile { path, problem: Some(problem) }),
        }
    }

    fn sweep_file(&self, path: &Path, sought: &Sought) -> io::Result<bool> {
        let Some(text) = small_files::text_of(path)? else { return Ok(false) };
        let is_in_line = text.lines().any(|line| without_marked(line, &sought.words).is_some());
        let whole = without_marked(&text, &sought.words);
        if !is_in_line && whole.is_none() {
            return Ok(false);
        }
        if !self.home.is_own_small_file(path) {
            return Err(io::Error::other(THEIRS));
        }
        if is_in_line {
            small_files::rewritten(path, &|line| without_marked(line, &sought.words))?;
        }
        // A value of several lines, or a file that is one JSON object on several lines.
        let text = small_files::text_of(path)?.unwrap_or_default();
        match without_marked(&text, &sought.words) {
            Some(clean) => private::replace(path, clean.as_bytes()).map(|()| true),
            None => Ok(true),
        }
    }

    fn sweep_copy(&mut self, path: &Path, sought: &Sought) -> Result<bool, StoreError> {
        let copy = reader(path)?;
        let is_interrupted = is_rewriting(&copy)?;
        let mut held = Vec::new();
        for (memory, marks) in &sought.of {
            if holds(&copy, *memory, marks)? {
                held.push((*memory, marks));
            }
        }
        let is_in_logs = holds_marked(&copy, &sought.words)?;
        drop(copy);
        if held.is_empty() && !is_in_logs && !is_interrupted {
            return Ok(false);
        }
        let copy = Copy::open(path)?;
        let transaction = copy.begin()?;
        for (memory, marks) in held {
            self.sweep_memory(&copy, memory, marks)?;
        }
        fix_marked(&copy.connection, &sought.words)?;
        for text in &sought.texts {
            if has(&copy.connection, "unanswered_questions", "words")? {
                forget_those_saying(&copy.connection, text)?;
            }
            if has(&copy.connection, "candidates", "candidate")? {
                candidates::forget_those_saying(&copy.connection, text)?;
            }
            if has(&copy.connection, "allowed_texts", "value")? {
                disallow(&copy.connection, text)?;
            }
        }
        transaction.commit()?;
        copy.finish()?;
        remove_beside(path);
        Ok(true)
    }

    /// Removes the marked texts of one memory from a copy. The copy gets the encrypted values, too.
    fn sweep_memory(&mut self, copy: &Copy, memory: MemoryUuid, marks: &KnownValues) -> Result<(), StoreError> {
        for row in rows(&copy.connection, WORDS, Some(memory))? {
            row.fix(self, copy, marks)?;
            row.fix_metadata(self, copy, marks)?;
        }
        forget_context(&copy.connection, memory)?;
        for (rev, text) in states(&copy.connection, HISTORY, memory)? {
            let clean = match serde_json::from_str::<Version>(&text) {
                Ok(before) => hide::cleaned(&before, marks, |version| set_aside(self, version, memory, marks))?,
                Err(_) => None,
            };
            if clean.is_some() || holds_json(&text, marks) {
                let sql = "UPDATE history SET before = ?2 WHERE rev = ?1";
                copy.connection.execute(sql, params![rev, clean])?;
            }
        }
        for (_, text) in states(&copy.connection, SYNC, memory)? {
            if !holds_json(&text, marks) {
                continue;
            }
            let clean = match serde_json::from_str::<SyncState>(&text) {
                Ok(state) => serde_json::to_string(&set_aside(self, state, memory, marks)?).ok(),
                Err(_) => None,
            };
            // Without its state, the memory is compared with the server again.
            match clean {
                Some(clean) => copy
                    .connection
                    .execute("UPDATE sync_states SET sync_state = ?2 WHERE memory = ?1", params![memory, clean])?,
                None => copy.connection.execute("DELETE FROM sync_states WHERE memory = ?1", [memory])?,
            };
        }
        Self::sweep_reasons(copy, memory, marks)?;
        self.hand_over(copy, memory)
    }

    /// Removes the marked texts of a memory from the reasons and names in its history.
    fn sweep_reasons(copy: &Copy, memory: MemoryUuid, marks: &KnownValues) -> Result<(), StoreError> {
        for column in MADE_BY {
            for (rev, text) in states(&copy.connection, ("history", column, "rev"), memory)? {
                if let Some(clean) = marks.cleaned(&text) {
                    let sql = format!("UPDATE history SET {column} = ?2 WHERE rev = ?1");
                    copy.connection.execute(&sql, params![rev, clean])?;
                }
            }
        }
        Ok(())
    }

    /// Writes the encrypted values of a memory to a copy, so that a restored copy can show them.
    fn hand_over(&self, copy: &Copy, memory: MemoryUuid) -> Result<(), StoreError> {
        const COLUMNS: &str = "memory, name, kind, mark, sealed, place, made, told";
        if !has(&copy.connection, "secrets", "told")? {
            return Ok(());
        }
        let sql = format!("SELECT {COLUMNS} FROM secrets WHERE memory = ?1 AND sealed IS NOT NULL");
        let secrets: Vec<Vec<Cell>> =
            self.all(&sql, [memory], |row| (0..8).map(|at| row.get(at)).collect::<rusqlite::Result<_>>())?;
        let sql = format!("INSERT OR IGNORE INTO secrets ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
        for secret in secrets {
            copy.connection.execute(&sql, rusqlite::params_from_iter(secret))?;
        }
        Ok(())
    }
}

fn swept(connection: &Connection, memory: MemoryUuid, name: &str) -> Result<(), StoreError> {
    connection.run("DELETE FROM hidden_secrets WHERE memory = ?1 AND name = ?2", params![memory, name])?;
    Ok(())
}

/// A column with JSON about memories: its table, its name, and the key of the table.
type State = (&'static str, &'static str, &'static str);
/// The columns of the history that say who made a change, and why.
const MADE_BY: [&str; 3] = ["reason", "session", "client"];
const HISTORY: State = ("history", "before", "rev");
const SYNC: State = ("sync_states", "sync_state", "memory");

/// The texts of a memory in one column of a copy; none if an older copy lacks the column.
fn states(
    connection: &Connection,
    (table, column, key): State,
    memory: MemoryUuid,
) -> rusqlite::Result<Vec<(Cell, String)>> {
    if !has(connection, table, column)? {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT {key}, {column} FROM {table} WHERE memory = ?1 AND {column} IS NOT NULL");
    connection.all(&sql, [memory], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// True if JSON contains a marked text.
fn holds_json(text: &str, marks: &KnownValues) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| hide::holds(&value, marks))
}

/// True if a copy contains a marked text of a memory.
fn holds(connection: &Connection, memory: MemoryUuid, marks: &KnownValues) -> rusqlite::Result<bool> {
    let mut is_in_it = false;
    for row in rows(connection, WORDS, Some(memory))? {
        is_in_it |= hide::holds(&row.words(), marks) || row.metadata().is_some_and(|value| hide::holds(value, marks));
    }
    for state in [HISTORY, SYNC] {
        is_in_it |= states(connection, state, memory)?.iter().any(|(_, text)| holds_json(text, marks));
    }
    for column in MADE_BY {
        is_in_it |=
            states(connection, ("history", column, "rev"), memory)?.iter().any(|(_, text)| marks.stands_in(text));
    }
    Ok(is_in_it)
}
