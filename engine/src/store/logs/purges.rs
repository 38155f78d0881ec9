//! Records from which places a permanently deleted memory was removed, and which places remain. The record never
//! contains a text.
//!
//! Also searches a text for several deleted texts at once.
//!
//! Also erases memories from copies of the store (backups and replaced damaged files) of any schema version.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use aho_corasick::{AhoCorasick, MatchKind};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params, params_from_iter};
use serde::Serialize;

use crate::domain::{MemoryRef, MemoryUuid, ShortId, Timestamp};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::file::home::{Home, is_database};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;
use crate::store::rows::tables::{columns, erase_beside_in_copy, has};

/// The row of the memory with all related rows.
pub(crate) const ROW: &str = "row";
/// The free pages of the database, its write-ahead log, and its snapshot.
pub(crate) const PAGES: &str = "pages";
/// Backups, and replaced damaged files.
pub(crate) const COPIES: &str = "copies";
/// Queued turns, logs, and the user's files in the home directory.
pub(crate) const FILES: &str = "files";

/// A permanently deleted memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Purged {
    /// Its UUID.
    #[serde(rename = "uuid")]
    pub id: MemoryUuid,
    /// Its ID.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The state on the team server; `None` if there is none.
    pub server: Option<ServerDeletion>,
}

/// One place from which a memory is erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Step {
    /// The place.
    pub place: String,
    /// The time when the memory was removed from this place; `None` if that is not done.
    pub done: Option<Timestamp>,
    /// How the memory was removed from this place, or why it could not be removed yet.
    pub how: String,
}

/// The state of a deletion on the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerDeletion {
    /// It never had the memory.
    NeverHadIt,
    /// The server has not received the deletion yet.
    Waits,
    /// It rejected the deletion; contains the reason.
    Refused(String),
    /// It has deleted the memory too.
    Done,
}

/// Records a permanent deletion. If the owner only withdrew the memory, copies stay unchanged.
pub(crate) fn note(change: &Change<'_>, memory: MemoryUuid, mark: u8) -> Result<(), StoreError> {
    let row = "removed the memory's text, history, links and secrets";
    step(change, memory, ROW, true, row)?;
    step(change, memory, PAGES, false, "the pages and the write-ahead log of the database still contain it")?;
    if mark == row::PURGED {
        step(change, memory, COPIES, false, "backups were not checked yet")?;
    }
    Ok(())
}

/// Records the progress of a deletion at a place.
pub(crate) fn step(
    change: &Change<'_>,
    memory: MemoryUuid,
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

/// Records that all pending deletions are done at a place.
pub(crate) fn all_done(change: &Change<'_>, place: &str, how: &str) -> Result<(), StoreError> {
    let sql = "UPDATE purges SET done = ?2, how = ?3 WHERE place = ?1 AND done IS NULL";
    change.tx.run(sql, params![place, change.now, how])?;
    Ok(())
}

impl Store {
    /// The memories whose deletion is pending at a place.
    pub(crate) fn purges_left(&self, place: &str) -> rusqlite::Result<Vec<MemoryUuid>> {
        let sql = "SELECT memory FROM purges WHERE place = ?1 AND done IS NULL";
        self.connection.all(sql, [place], |row| row.get(0))
    }

    /// The files that must still be erased, by their names in the home directory.
    pub(crate) fn places_left(&self) -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT DISTINCT place FROM purges WHERE done IS NULL AND place NOT IN (?1, ?2, ?3, ?4)";
        self.connection.all(sql, [ROW, PAGES, COPIES, FILES], |row| row.get(0))
    }

    /// The steps of a deletion in order.
    pub(crate) fn steps_of(&self, memory: MemoryUuid) -> rusqlite::Result<Vec<Step>> {
        let sql = "SELECT place, done, how FROM purges WHERE memory = ?1
                   ORDER BY at, place <> 'row', place <> 'pages', place <> 'copies', place";
        self.connection.all(sql, [memory], |row| Ok(Step { place: row.get(0)?, done: row.get(1)?, how: row.get(2)? }))
    }

    /// The state of a permanently deleted memory; `None` if the memory still exists or never existed.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn purged(&self, reference: MemoryRef) -> Result<Option<Purged>, StoreError> {
        let read = || -> rusqlite::Result<Option<Purged>> {
            let (column, key): (&str, &dyn rusqlite::ToSql) = match &reference {
                MemoryRef::ShortId(short_id) => ("short_id", short_id),
                MemoryRef::Id(id) => ("id", id),
            };
            let sql = format!("SELECT id, short_id FROM memories WHERE {column} = ?1 AND purged > 0");
            let found = self.connection.query_row(&sql, [key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let Some((id, short_id)) = found else { return Ok(None) };
            Ok(Some(Purged { id, short_id, steps: self.steps_of(id)?, server: self.told_server(id)? }))
        };
        read().map_err(|error| self.failed(error))
    }

    fn told_server(&self, id: MemoryUuid) -> rusqlite::Result<Option<ServerDeletion>> {
        let one = |sql: &str| self.connection.query_row(sql, [id], |row| row.get::<_, Option<String>>(0)).optional();
        if !self.connection.prepare_cached("SELECT 1 FROM server")?.exists([])? {
            return Ok(None);
        }
        Ok(Some(
            match (
                one("SELECT refused FROM outbox WHERE memory = ?1")?,
                one("SELECT sync_state FROM sync_states WHERE memory = ?1")?,
            ) {
                (Some(Some(why)), _) => ServerDeletion::Refused(why),
                (Some(None), _) => ServerDeletion::Waits,
                (None, Some(_)) => ServerDeletion::Done,
                (None, None) => ServerDeletion::NeverHadIt,
            },
        ))
    }
}

/// Minimum bytes of a line that identifies its text.
const TELLING: usize = 16;

/// The texts in searchable form.
pub(crate) struct Removed {
    automaton: Option<AhoCorasick>,
    /// For each pattern, whether it is a whole deleted text, or a line of one or more deleted texts.
    patterns: Vec<Pattern>,
    /// For each deleted text, the number of lines that identify it.
    lines: Vec<usize>,
}

#[derive(Default)]
struct Pattern {
    is_whole: bool,
    line_of: BTreeSet<usize>,
}

impl Removed {
    /// `texts` as they were stored.
    pub(crate) fn of(texts: &[String]) -> Self {
        let mut patterns: BTreeMap<String, Pattern> = BTreeMap::new();
        let mut lines = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            let whole = folded(text);
            if !whole.is_empty() {
                patterns.entry(whole).or_default().is_whole = true;
            }
            // A heading may belong to many texts.
            let is_telling = |line: &String| line.len() >= TELLING && !line.starts_with('#');
            let telling: BTreeSet<String> = text.lines().map(folded).filter(is_telling).collect();
            lines.push(telling.len());
            for line in telling {
                patterns.entry(line).or_default().line_of.insert(at);
            }
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(patterns.keys()).ok();
        Self { automaton, patterns: patterns.into_values().collect(), lines }
    }

    /// True if a text contains a complete deleted text, or most of its lines. A single line is not enough, because it
    /// may belong to many texts.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let Some(automaton) = &self.automaton else { return false };
        let text = folded(text);
        let mut seen = BTreeSet::new();
        let mut found: BTreeMap<usize, usize> = BTreeMap::new();
        for hit in automaton.find_overlapping_iter(&text) {
            if !seen.insert(hit.pattern()) {
                continue;
            }
            let Some(pattern) = self.patterns.get(hit.pattern().as_usize()) else { continue };
            if pattern.is_whole {
                return true;
            }
            for of in &pattern.line_of {
                let count = found.entry(*of).or_default();
                *count += 1;
                if self.lines.get(*of).is_some_and(|all| *count * 2 > *all) {
                    return true;
                }
            }
        }
        false
    }
}

/// A text with all white space reduced to single spaces, because logs and queued turns may have other line breaks.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How long to wait for another program that has a copy open.
const PATIENCE: Duration = Duration::from_secs(2);
/// Columns of a memory that depend on its store and not on its content.
const OF_ITS_STORE: [&str; 6] = ["id", "short_id", "rev", "superseded_by", "newer", "related"];
/// Minimum bytes of a piece that identifies a text.
const PIECE: usize = 16;

/// The `meta` table of a copy contains this key until all its pages have been rewritten.
const REWRITING: &str = "rewriting";

/// A copy opened for changes.
pub(crate) struct Copy {
    pub(crate) connection: Connection,
}

impl Copy {
    /// Opens a copy. A log next to the copy is merged into the copy, so that there is only one file.
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
        connection
            .execute_batch("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF;")?;
        Ok(Self { connection })
    }

    /// Begins an erasure and records it. A copy whose rows no longer contain the text may still contain it in free
    /// pages.
    pub(crate) fn begin(&self) -> rusqlite::Result<Transaction<'_>> {
        let transaction = self.connection.unchecked_transaction()?;
        transaction.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, 1)", [REWRITING])?;
        Ok(transaction)
    }

    /// Rewrites all pages, so that free pages contain nothing.
    pub(crate) fn finish(self) -> rusqlite::Result<()> {
        self.connection.execute_batch("VACUUM")?;
        self.connection.execute("DELETE FROM meta WHERE key = ?1", [REWRITING])?;
        self.connection.close().map_err(|(_, error)| error)
    }
}

/// The message about a database that is not a store.
pub(crate) const FOREIGN: &str = "is a database but not a Tessera store; it was not changed";

/// True for a readable database that is not a store.
pub(crate) fn is_foreign(path: &Path) -> bool {
    let read = || -> rusqlite::Result<bool> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let sql =
            "SELECT count(*) FROM pragma_table_info('memories') WHERE name IN ('id', 'short_id', 'content', 'scope')";
        connection.query_row(sql, [], |row| Ok(row.get::<_, i64>(0)? < 4))
    };
    is_database(path) && read().unwrap_or(false)
}

/// True if a copy was changed, and its free pages may still contain what was removed.
pub(crate) fn is_rewriting(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare("SELECT 1 FROM meta WHERE key = ?1")?.exists([REWRITING])
}

/// True if a copy is readable and contains none of these memories.
pub(crate) fn is_free_of(path: &Path, removed: &[MemoryUuid]) -> bool {
    let read = || -> rusqlite::Result<bool> {
        let connection = reader(path)?;
        if is_rewriting(&connection)? {
            return Ok(false);
        }
        let mut statement = connection.prepare(
            "SELECT EXISTS (SELECT 1 FROM memories WHERE id = ?1 AND purged = 0)
                 OR EXISTS (SELECT 1 FROM history WHERE memory = ?1 AND before IS NOT NULL)",
        )?;
        for id in removed {
            if statement.query_row([id], |row| row.get(0))? {
                return Ok(false);
            }
        }
        // A line of the review queue may have become one of these memories.
        let has_lines = || connection.prepare("SELECT 1 FROM candidates")?.exists([]);
        Ok(!(has(&connection, "candidates", "candidate")? && has_lines()?))
    };
    read().unwrap_or(false)
}

/// Erases memories from a copy, which then shows them as permanently deleted.
pub(crate) fn take_out(path: &Path, live: &Connection, removed: &[MemoryUuid]) -> rusqlite::Result<()> {
    let copy = Copy::open(path)?;
    let names: Vec<String> = columns(&copy.connection, "memories")?
        .into_iter()
        .filter(|column| !OF_ITS_STORE.contains(&column.as_str()))
        .collect();
    let set: Vec<String> = names.iter().enumerate().map(|(at, column)| format!("{column} = ?{}", at + 2)).collect();
    let read = live.prepare(&format!("SELECT {} FROM memories WHERE id = ?1", names.join(", ")))?;
    let sql = format!("UPDATE memories SET {} WHERE id = ?1", set.join(", "));
    let (mut read, transaction) = (read, copy.begin()?);
    for id in removed {
        let emptied = read
            .query_row([id], |row| (0..names.len()).map(|at| row.get(at)).collect::<rusqlite::Result<Vec<Value>>>());
        let Some(emptied) = emptied.optional()? else { continue };
        forget_context(&copy.connection, *id)?;
        let values = [Value::Blob(id.as_bytes().to_vec())].into_iter().chain(emptied);
        copy.connection.execute(&sql, params_from_iter(values))?;
        let is_live = "SELECT 1 FROM memories WHERE id = ?1 AND purged = 0";
        if live.prepare_cached(is_live)?.exists([id])? {
            // Only its earlier texts are erased; they may contain a hidden text that is not known here.
            copy.connection.execute("UPDATE history SET before = NULL WHERE memory = ?1", [id])?;
            copy.connection.execute("DELETE FROM sync_states WHERE memory = ?1", [id])?;
        } else {
            erase_beside_in_copy(&copy.connection, *id)?;
        }
    }
    transaction.commit()?;
    copy.finish()
}

/// Deletes the stored terms of the turns around a memory in a copy, because their context contains words of their
/// neighbours. They are rebuilt when the copy is opened.
pub(crate) fn forget_context(copy: &Connection, id: MemoryUuid) -> rusqlite::Result<()> {
    let around = "UPDATE memories SET forward = x'' WHERE deleted IS NULL AND session =
                      (SELECT session FROM memories WHERE id = ?1 AND origin = 'conversation')";
    copy.execute(around, [id]).map(drop)
}

/// Opens a copy for reading. If a change of it was interrupted, the change is first undone.
pub(crate) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    if Path::new(&journal).exists() {
        drop(Copy::open(path)?);
    }
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Deletes the files next to a database copy that contain the same data. They are rebuilt when needed.
pub(crate) fn remove_beside(path: &Path) {
    let Some(dir) = path.parent() else { return };
    let of_copy = Home::new(dir);
    if of_copy.database() == path {
        // A missing file is fine.
        let _ = fs::remove_file(of_copy.snapshot());
    }
}

/// True if the bytes of a file contain a piece of one of the texts.
pub(crate) fn holds_piece(bytes: &[u8], texts: &[String]) -> bool {
    // A short text is one piece. The remainder at the end of a longer one is not used.
    let pieces = texts
        .iter()
        .map(String::as_bytes)
        .flat_map(|text| text.chunks(PIECE).filter(|piece| piece.len() == PIECE.min(text.len())));
    AhoCorasick::new(pieces).is_ok_and(|pieces| pieces.is_match(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_whole_or_by_most_of_its_lines_and_not_by_one_that_many_share() {
        let note = "## Open questions of the week\n\nThe zebra lives on birch\nThe okapi lives on alder now";
        let removed = Removed::of(&[note.to_owned(), "short".to_owned(), " ".to_owned()]);
        assert!(removed.is_in(note) && removed.is_in(&note.replace('\n', " \t ")));
        assert!(removed.is_in("it said: The zebra lives on birch, and\nThe okapi lives on alder now"));
        assert!(!removed.is_in("## Open questions of the week\n\nNone."));
        assert!(removed.is_in("in short") && !removed.is_in("sho rt") && !removed.is_in(""));
        assert!(!Removed::of(&[]).is_in("anything"));
    }
}
