//! Salvage: moves the readable content of a damaged database to a new one, and keeps the damaged file.
//!
//! Memories keep their IDs, their owners and their sync state: memories of other users do not become the user's own,
//! and local memories stay local.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use serde::Serialize;

use super::backup::stamp;
use crate::compose::{self, Composed};
use crate::domain::Memory;
use crate::store::base::config::{StoreConfig, Usage};
use crate::store::base::store::Store;
use crate::store::base::transaction::{Change, PATIENCE};
use crate::store::change::write::{Written, write_row};
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::file::marker;
use crate::store::file::replacement::Replacement;
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::columns::MEMORY;
use crate::store::rows::tables::{Salvaged, TABLES};
use crate::store::rows::{memory as row, tables};
use crate::store::sync::server::queue_all;
use crate::text::O200k;

/// The result of a salvage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Salvage {
    /// The directory with the damaged files.
    pub set_aside: PathBuf,
    /// Salvaged memories.
    pub kept: u64,
    /// Lost memories; `None` if the file does not show how many there were.
    pub lost: Option<u64>,
    /// The last count of memories, if known.
    pub counted: Option<u64>,
}

impl fmt::Display for Salvage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kept {}, ", self.kept)?;
        match (self.lost, self.counted) {
            (Some(lost), _) => write!(f, "lost {lost}")?,
            (None, Some(counted)) => write!(f, "lost an unknown number of memories (the last count was {counted})")?,
            (None, None) => write!(f, "lost an unknown number of memories")?,
        }
        write!(f, "; the damaged files are in {}", self.set_aside.display())
    }
}

/// After this number of consecutive unreadable rows, the salvage stops reading.
const MOST_UNREADABLE: u32 = 10_000;
/// Memories per transaction.
const BATCH: usize = 500;
/// The entries of `meta` that a salvage copies: those about the store itself, without its counters. The other entries
/// describe the rows of the old file.
const OF_THE_STORE: &str = "key = 'store_id' AND typeof(value) = 'blob' AND length(value) = 16
     OR key IN ('secret_key', 'rotating', 'leaving', 'unscrubbed') OR key LIKE 'folded:%'";

/// Creates a new store with all readable memories of a damaged one. When the new database is complete, the damaged one
/// is moved to another directory. Until then, the damaged database remains in place and is locked.
///
/// # Errors
/// Returns an error if the new store cannot be written, or another process is writing. Then nothing has changed.
pub(crate) fn salvage(config: StoreConfig) -> Result<(Store, Salvage), StoreError> {
    let home = config.home.clone();
    let replacement = Replacement::begin(&home)?;
    let counted = marker::counted(&home);
    let wreck = DamagedStore::open(&home)?;
    let mut made = Store::open(StoreConfig { home: replacement.home(), usage: Usage::Write, ..config.clone() })?;
    let (kept, lost) = match &wreck {
        Some(wreck) => wreck.carry_into(&mut made)?,
        None => (0, None),
    };
    drop(made);
    let aside = replacement.put_in_place(&stamp(config.clock.now()))?;
    let set_aside = aside.unwrap_or_else(|| home.dir().to_path_buf());
    drop(wreck);
    marker::write(&home, kept)?;
    let mut store = Store::open(config)?;
    store.rebuild_snapshot()?;
    Ok((store, Salvage { set_aside, kept, lost, counted: if lost.is_some() { None } else { counted } }))
}

/// A damaged database. Every query may fail.
pub(super) struct DamagedStore {
    connection: Connection,
}

/// A memory of a damaged database, with related data.
struct Found {
    memory: Memory,
    mark: u8,
    successor: Option<u32>,
    newer: Option<u32>,
    related: bool,
}

impl DamagedStore {
    /// Opens a damaged database and locks it against writers; `None` if there is no file.
    pub(super) fn open(home: &Home) -> Result<Option<Self>, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if !home.database().exists() {
            return Ok(None);
        }
        let failed = |error| StoreError::sqlite(&home.database(), error);
        let connection = Connection::open_with_flags(home.database(), flags).map_err(failed)?;
        let begun = connection.busy_timeout(PATIENCE).and_then(|()| connection.execute_batch("BEGIN IMMEDIATE"));
        match begun.map_err(failed) {
            // If the damage prevents this transaction, it also prevents other processes from writing.
            Ok(()) | Err(StoreError::Corrupt { .. }) => Ok(Some(Self { connection })),
            Err(error) => Err(error),
        }
    }

    /// Copies everything. Returns the numbers of salvaged and lost memories.
    fn carry_into(&self, store: &mut Store) -> Result<(u64, Option<u64>), StoreError> {
        let (memories, lost) = self.memories();
        let kept = memories.iter().filter(|found| found.mark == row::HERE).count() as u64;
        let highest = |of: fn(&Memory) -> u64| memories.iter().map(|found| of(&found.memory)).max().unwrap_or(0);
        // The history may contain higher revs than the remaining memories.
        let rev = self.rev().max(highest(|memory| memory.rev)).max(self.number("SELECT max(rev) FROM history"));
        let short_id = self.short_id().max(highest(|memory| u64::from(memory.short_id.get())));
        let carried = |how: Salvaged| TABLES.iter().filter(move |table| table.salvage == how);
        let is_private_whole = store.write(|change| {
            let sql = "UPDATE meta SET value = ?2 WHERE key = ?1";
            change.tx.execute(sql, ("rev", rev))?;
            change.tx.execute(sql, ("short_id", short_id))?;
            self.carry_rows(change, "meta", &["key"], OF_THE_STORE, "REPLACE")?;
            for table in carried(Salvaged::Rows) {
                self.carry_rows(change, table.name, table.key, "1", "IGNORE")?;
            }
            // The server may still have lost memories, so everything is downloaded again.
            change.tx.execute("UPDATE server SET is_whole = 0", [])?;
            self.carry_rows(change, "private", &["memory"], "1", "IGNORE")
        })?;
        for batch in memories.chunks(BATCH) {
            let composed: Vec<Composed> =
                batch.iter().map(|found| compose::carried(found.memory.clone(), &O200k)).collect();
            store
                .write(|change| batch.iter().zip(&composed).try_for_each(|(found, made)| carry(change, found, made)))?;
        }
        store.write(|change| {
            for table in carried(Salvaged::AfterMemories) {
                self.carry_rows(change, table.name, table.key, "1", "IGNORE")?;
            }
            self.carry_rows(change, "outbox", &["n"], "1", "IGNORE")?;
            settle(change, is_private_whole)?;
            change.tx.execute(
                "DELETE FROM outbox WHERE memory IN (SELECT id FROM memories WHERE shared_by IS NOT NULL
                     AND id NOT IN (SELECT memory FROM sync_states)) OR memory IN (SELECT memory FROM private)
                     OR memory NOT IN (SELECT id FROM memories)",
                [],
            )?;
            Ok(())
        })?;
        Ok((kept, lost))
    }

    /// Visits the rows by ID, and skips unreadable ones. The number of lost memories is known only if the file shows
    /// how many there were, and the salvage tried all of them.
    fn memories(&self) -> (Vec<Found>, Option<u64>) {
        let there = self.columns("memories");
        // A file of an older version has fewer columns.
        let read = |name: &str| if there.contains(name) { name.to_owned() } else { format!("NULL AS {name}") };
        let columns: Vec<String> = MEMORY.split(", ").map(read).collect();
        let sql = format!(
            "SELECT {}, purged, superseded_by, newer, related FROM memories NOT INDEXED WHERE short_id = ?1",
            columns.join(", ")
        );
        let (mut memories, mut lost, mut unreadable, mut short_id) = (Vec::new(), 0, 0, 1_u32);
        let highest = match self.short_id() {
            0 => u32::try_from(self.number("SELECT max(short_id) FROM memories NOT INDEXED")).unwrap_or(0),
            known => u32::try_from(known).unwrap_or(u32::MAX),
        };
        let is_known = highest > 0 || self.is_readable("SELECT count(*) FROM memories");
        let highest = if highest == 0 { 1_000_000 } else { highest };
        let found = |row: &rusqlite::Row<'_>| {
            Ok(Found {
                memory: row::memory(row)?,
                mark: row.get("purged")?,
                successor: row.get("superseded_by")?,
                newer: row.get("newer")?,
                related: row.get("related")?,
            })
        };
        while short_id <= highest && unreadable < MOST_UNREADABLE {
            let read = self.connection.prepare_cached(&sql).and_then(|mut query| query.query_row([short_id], found));
            match read {
                Ok(found) => {
                    memories.push(found);
                    unreadable = 0;
                }
                Err(rusqlite::Error::QueryReturnedNoRows) => {}
                Err(_) => {
                    lost += 1;
                    unreadable += 1;
                }
            }
            short_id += 1;
        }
        let is_known =
            is_known && unreadable < MOST_UNREADABLE && self.is_readable("SELECT count(*) FROM sqlite_schema");
        (memories, is_known.then_some(lost))
    }

    fn is_readable(&self, sql: &str) -> bool {
        self.connection.query_row(sql, [], |row| row.get::<_, i64>(0)).is_ok()
    }

    fn columns(&self, table: &str) -> BTreeSet<String> {
        tables::columns(&self.connection, table).unwrap_or_default()
    }

    /// Copies the rows of a table that satisfy a condition. If a table is damaged in the middle, the salvage reads it
    /// from both ends. True if all rows were read. A row that violates a constraint of the new table is damaged, and is
    /// skipped.
    fn carry_rows(
        &self,
        change: &Change<'_>,
        table: &str,
        key: &[&str],
        condition: &str,
        or: &str,
    ) -> Result<bool, StoreError> {
        let columns: Vec<String> = self.columns(table).into_iter().collect();
        let (list, places) = (columns.join(", "), vec!["?"; columns.len()].join(", "));
        let insert = format!("INSERT OR {or} INTO {table} ({list}) VALUES ({places})");
        // A table of another schema version.
        let Ok(mut insert) = change.tx.prepare(&insert) else { return Ok(false) };
        let mut is_whole = true;
        for direction in ["ASC", "DESC"] {
            let order: Vec<String> = key.iter().map(|column| format!("{column} {direction}")).collect();
            let sql = format!("SELECT {list} FROM {table} WHERE {condition} ORDER BY {}", order.join(", "));
            let Ok(mut statement) = self.connection.prepare(&sql) else { continue };
            let Ok(mut rows) = statement.query([]) else { continue };
            loop {
                let row = match rows.next() {
                    Ok(Some(row)) => row,
                    Ok(None) => return Ok(is_whole),
                    Err(_) => break,
                };
                let values: rusqlite::Result<Vec<Value>> = (0..columns.len()).map(|at| row.get(at)).collect();
                let Ok(values) = values else {
                    // For example a text that is not UTF-8 any more.
                    is_whole = false;
                    continue;
                };
                match insert.execute(params_from_iter(values)) {
                    Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {}
                    other => drop(other?),
                }
            }
        }
        Ok(false)
    }

    /// The last readable change number.
    pub(super) fn rev(&self) -> u64 {
        self.number("SELECT value FROM meta WHERE key = 'rev'")
    }

    /// The last readable memory ID.
    pub(super) fn short_id(&self) -> u64 {
        self.number("SELECT value FROM meta WHERE key = 'short_id'")
    }

    fn number(&self, sql: &str) -> u64 {
        self.connection.query_row(sql, [], |row| row.get::<_, Option<u64>>(0)).ok().flatten().unwrap_or(0)
    }
}

/// Copies a memory unchanged, under its own ID.
fn carry(change: &Change<'_>, found: &Found, composed: &Composed) -> Result<(), StoreError> {
    let memory = &found.memory;
    let is_known = "SELECT EXISTS (SELECT 1 FROM memories WHERE id = ?1)";
    if change.tx.one(is_known, [memory.id], |row| row.get(0))? {
        return Ok(());
    }
    let is_taken = "SELECT EXISTS (SELECT 1 FROM memories WHERE rev = ?1)";
    let is_new = memory.rev == 0 || change.tx.one(is_taken, [memory.rev], |row| row.get(0))?;
    let rev = if is_new { change.next_rev()? } else { memory.rev };
    write_row(change, &composed.placed(memory.short_id, rev), Written::New)?;
    let sql = "UPDATE memories SET purged = ?2, superseded_by = ?3, newer = ?4, related = ?5 WHERE short_id = ?1";
    change.tx.run(sql, (memory.short_id, found.mark, found.successor, found.newer, found.related))?;
    Ok(())
}

/// Copies the links and the sync state of the memories, as far as readable.
fn settle(change: &Change<'_>, is_private_whole: bool) -> Result<(), StoreError> {
    change.tx.execute_batch(
        "UPDATE memories SET superseded_by = NULL WHERE superseded_by NOT IN (SELECT short_id FROM memories);
         UPDATE memories SET newer = NULL WHERE newer NOT IN (SELECT short_id FROM memories);",
    )?;
    queue_all(change)?;
    if !is_private_whole {
        // The server has not received these memories, and it is unknown whether it may, so they stay local.
        let sql = "INSERT OR IGNORE INTO private (memory) SELECT id FROM memories
                   WHERE id NOT IN (SELECT memory FROM sync_states) AND EXISTS (SELECT 1 FROM server)";
        change.tx.execute(sql, [])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Draft, LinkKind, MemoryRef};
    use crate::store::base::config::Actor;
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, config_at, named};

    #[test]
    fn what_can_be_read_is_carried_over_and_the_damaged_files_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path().join("h"));
        let mut store = Store::open(config_at(&home)).unwrap();
        let mut said = |text: &str| store.remember(Draft::new(text)).unwrap().memory;
        let (old, new, gone) = (said("Build with make"), said("Build with meson"), said("a secret"));
        store.link(named(&new), &LinkKind::Supersedes, named(&old), &Actor::default()).unwrap();
        store.forget(&[named(&gone)], Erase::Hard, &Actor::default()).unwrap();
        let before: Vec<_> = [&old, &new].map(|memory| store.get(named(memory)).unwrap().unwrap()).to_vec();
        let histories: Vec<_> = [&old, &new, &gone].map(|memory| store.history(named(memory)).unwrap()).to_vec();
        drop(store);
        // An unreadable row, with an unknown type.
        Connection::open(home.database())
            .unwrap()
            .execute_batch(
                "CREATE TEMP TABLE odd AS SELECT * FROM memories WHERE short_id = 1;
                 UPDATE odd SET short_id = 9, id = randomblob(16), type = 'no type', rev = 99, superseded_by = NULL;
                 INSERT INTO memories SELECT * FROM odd;
                 UPDATE meta SET value = 9 WHERE key = 'short_id'",
            )
            .unwrap();
        let (mut store, salvage) = salvage(config_at(&home)).unwrap();
        assert_eq!((salvage.kept, salvage.lost), (2, Some(1)));
        assert!(Home::new(&salvage.set_aside).database().exists());
        assert_eq!(home.copies(), [Home::new(&salvage.set_aside).database()]);
        for (memory, was) in [&old, &new].into_iter().zip(before) {
            assert_eq!(store.get(named(memory)).unwrap(), Some(was));
        }
        for (memory, was) in [&old, &new, &gone].into_iter().zip(histories) {
            assert_eq!(store.history(MemoryRef::Id(memory.id)).unwrap(), was);
        }
        assert!(store.get(named(&gone)).unwrap().is_none(), "a permanently deleted memory is not recovered");
        assert_eq!(store.remember(Draft::new("later")).unwrap().memory.short_id.get(), 10);
        let recall = store.recall(&crate::domain::RecallRequest::new("what do we build with?")).unwrap();
        assert_eq!(recall.details[0].memory.content, "Build with meson");
    }

    #[test]
    fn rows_that_do_not_fit_are_left_and_a_table_that_is_not_there_has_none() {
        let wreck = DamagedStore { connection: Connection::open_in_memory().unwrap() };
        let sql = "CREATE TABLE trusted_directories (path, project, how, since);
                   INSERT INTO trusted_directories VALUES ('/w', 'ledger', 'told', NULL), ('/w', 'ledger', 'told', 1), ('/w', 'ledger', 'told', 2)";
        wreck.connection.execute_batch(sql).unwrap();
        let mut store = InMemory::new();
        let mut carry = |table: &str, key: &'static str| {
            store.write(|change| wreck.carry_rows(change, table, &[key], "1", "IGNORE")).unwrap()
        };
        assert_eq!(
            (carry("trusted_directories", "since"), carry("links", "source"), carry("nowhere", "n")),
            (true, false, false)
        );
        assert_eq!(store.one::<i64>("SELECT max(since) FROM trusted_directories"), 1, "the first of a key stays");
        assert_eq!(wreck.memories().0.len(), 0);
    }

    #[test]
    fn a_text_that_is_no_utf8_and_a_broken_identity_end_no_salvage() {
        let wreck = DamagedStore { connection: Connection::open_in_memory().unwrap() };
        let sql = "CREATE TABLE trusted_directories (path, project, how, since);
                   INSERT INTO trusted_directories VALUES ('/a', 'x', 'told', 1), (CAST(x'ff00' AS TEXT), 'x', 'told', 1), ('/b', 'x', 'told', 1);
                   CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('store_id', 'short'), ('rotating', 'k')";
        wreck.connection.execute_batch(sql).unwrap();
        let mut store = InMemory::new();
        let is_whole = store.write(|change| {
            wreck.carry_rows(change, "meta", &["key"], OF_THE_STORE, "REPLACE")?;
            wreck.carry_rows(change, "trusted_directories", &["path"], "1", "IGNORE")
        });
        assert!(!is_whole.unwrap());
        assert_eq!(store.one::<u32>("SELECT count(*) FROM trusted_directories"), 2);
        assert_eq!(store.one::<u32>("SELECT length(value) FROM meta WHERE key = 'store_id'"), 16);
        assert_eq!(store.one::<u32>("SELECT count(*) FROM meta WHERE key = 'rotating'"), 1);
    }

    #[test]
    fn where_it_cannot_be_read_what_may_be_told_nothing_is() {
        let mut store = InMemory::new();
        store.join("https://t.example", "ada", crate::store::sync::server::Upload::All).unwrap();
        store.said("mine");
        store.write(|change| settle(change, false)).unwrap();
        assert_eq!(store.one::<u32>("SELECT count(*) FROM private"), 1);
    }
}
