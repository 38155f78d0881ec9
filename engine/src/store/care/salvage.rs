//! Salvage: what can be read of a damaged database is carried into a new one; the damaged file is kept.
//!
//! Memories keep their handles, their owners and what a server is known to hold of them: what other users share
//! does not come back as one's own, and what was to stay on this machine stays.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use serde::Serialize;

use crate::compose::{self, Composed};
use crate::domain::Memory;
use crate::store::base::config::StoreConfig;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::write::{Written, write_row};
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::file::marker;
use crate::store::file::private;
use crate::store::open::give_back::{GIVEN_BACK, give_back};
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// What a salvage kept and lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Salvage {
    /// Where the damaged files are now.
    pub set_aside: PathBuf,
    /// Memories carried over.
    pub kept: u64,
    /// Memories that could not be read; `None` where the file does not tell how many there were.
    pub lost: Option<u64>,
    /// How many memories there were when they were last counted, as far as that is known.
    pub counted: Option<u64>,
}

impl fmt::Display for Salvage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kept {}, ", self.kept)?;
        match (self.lost, self.counted) {
            (Some(lost), _) => write!(f, "lost {lost}")?,
            (None, Some(counted)) => write!(f, "lost an unknown number ({counted} memories when last counted)")?,
            (None, None) => write!(f, "lost an unknown number")?,
        }
        write!(f, "; the damaged files are in {}", self.set_aside.display())
    }
}

/// Rows in a row that cannot be read before the rest is given up.
const MOST_UNREADABLE: u32 = 10_000;
/// Memories of one transaction.
const BATCH: usize = 500;
/// Tables that are carried over row by row, as they are, and what orders their rows.
const BESIDE: [(&str, &str); 16] = [
    ("links", "source, type, target"),
    ("history", "rev"),
    ("receipts", "n"),
    ("learning", "session"),
    ("spending", "day, judge"),
    ("trails", "memory"),
    ("server", "only_row"),
    ("places", "path, project"),
    ("asked_in_vain", "n"),
    ("secrets", "memory, name"),
    ("secret_uses", "n"),
    ("purges", "memory, place"),
    ("imports", "n"),
    ("imported", "import, memory"),
    ("came_over", "key"),
    ("came_before", "key, import"),
];

/// Sets a damaged store aside and begins a new one with every memory that can still be read.
///
/// # Errors
/// When the damaged files cannot be moved or the new store not be written; nothing is removed.
pub(crate) fn salvage(config: StoreConfig) -> Result<(Store, Salvage), StoreError> {
    let aside = set_files_aside(&config)?;
    let damaged = Home::new(&aside);
    let counted = marker::counted(&damaged);
    let mut store = Store::open(config)?;
    let salvage = match Wreck::open(&damaged.database()) {
        Some(wreck) => Salvage { counted, ..wreck.carry_into(&mut store, aside)? },
        None => Salvage { set_aside: aside, kept: 0, lost: None, counted },
    };
    store.rebuild_snapshot()?;
    Ok((store, salvage))
}

/// Moves the files of a damaged store into a directory of their own, and returns it.
pub(super) fn set_files_aside(config: &StoreConfig) -> Result<PathBuf, StoreError> {
    let home = config.home.clone();
    let lock = home.open_lock();
    let lock = private::lock(&lock).map_err(|source| StoreError::file(&lock, source))?;
    let stamp = config.clock.now().to_string().replace(':', "-");
    let aside = home.set_aside(&stamp);
    private::make_private_dir(&aside).map_err(|source| StoreError::file(&aside, source))?;
    let damaged = Home::new(&aside);
    let files =
        |home: &Home| [home.database(), home.write_ahead_log(), home.shared_memory(), home.snapshot(), home.marker()];
    for (from, to) in files(&home).into_iter().zip(files(&damaged)) {
        if from.exists() {
            fs::rename(&from, to).map_err(|source| StoreError::file(&from, source))?;
        }
    }
    drop(lock);
    Ok(aside)
}

/// A damaged database. Whatever it is asked may fail.
struct Wreck {
    connection: Connection,
}

/// A memory of a wreck, with what does not stand in it.
struct Found {
    memory: Memory,
    mark: u8,
    successor: Option<u32>,
}

impl Wreck {
    fn open(path: &Path) -> Option<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Some(Self { connection: Connection::open_with_flags(path, flags).ok()? })
    }

    fn carry_into(&self, store: &mut Store, set_aside: PathBuf) -> Result<Salvage, StoreError> {
        let (memories, lost) = self.memories();
        let kept = memories.iter().filter(|found| found.mark == row::HERE).count() as u64;
        let (private, is_private_whole) = self.rows("private", "memory");
        let (outbox, _) = self.rows("outbox", "n");
        let highest = |column: &str| {
            let found = memories.iter().map(|found| match column {
                "rev" => found.memory.rev,
                _ => u64::from(found.memory.handle.get()),
            });
            self.counter(column).max(found.max().unwrap_or(0))
        };
        // Changes of memories that are lost are in the history alone.
        let revs = [highest("rev"), self.number("SELECT max(rev) FROM history")];
        let handles = highest("handle");
        store.write(|change| {
            let sql = "UPDATE meta SET value = ?2 WHERE key = ?1";
            change.tx.execute(sql, ("rev", revs.into_iter().max()))?;
            change.tx.execute(sql, ("handle", handles))?;
            // What is sealed was sealed for this store.
            if let Some(id) = self.store_id() {
                change.tx.execute(sql, ("store_id", id))?;
            }
            BESIDE.iter().try_for_each(|(table, order)| insert_all(change, table, &self.rows(table, order).0))?;
            // What was lost here may be there still: everything is fetched anew.
            change.tx.execute("UPDATE server SET is_whole = 0", [])?;
            insert_all(change, "private", &private)
        })?;
        for batch in memories.chunks(BATCH) {
            let composed: Vec<Composed> =
                batch.iter().map(|found| compose::carried(found.memory.clone(), &O200k)).collect();
            store
                .write(|change| batch.iter().zip(&composed).try_for_each(|(found, made)| carry(change, found, made)))?;
        }
        store.write(|change| {
            insert_all(change, "outbox", &outbox)?;
            settle(change, is_private_whole)?;
            change.tx.execute(
                "DELETE FROM outbox WHERE memory IN (SELECT id FROM memories WHERE shared_by IS NOT NULL
                     AND id NOT IN (SELECT memory FROM trails)) OR memory IN (SELECT memory FROM private)
                     OR memory NOT IN (SELECT id FROM memories)",
                [],
            )?;
            if self.number("PRAGMA user_version") < GIVEN_BACK.unsigned_abs() { give_back(change) } else { Ok(()) }
        })?;
        Ok(Salvage { set_aside, kept, lost, counted: None })
    }

    /// Walks the rows by handle; a handle that cannot be read is skipped. How many are lost is known only where the file
    /// says how many there were, and all of them were tried.
    fn memories(&self) -> (Vec<Found>, Option<u64>) {
        let there = self.columns("memories");
        // A file of an older version has fewer columns.
        let read = |name: &str| if there.contains(name) { name.to_owned() } else { format!("NULL AS {name}") };
        let columns: Vec<String> = MEMORY.split(", ").map(read).collect();
        let sql =
            format!("SELECT {}, purged, superseded_by FROM memories NOT INDEXED WHERE handle = ?1", columns.join(", "));
        let (mut memories, mut lost, mut unreadable, mut handle) = (Vec::new(), 0, 0, 1_u32);
        let highest = match self.counter("handle") {
            0 => u32::try_from(self.number("SELECT max(handle) FROM memories NOT INDEXED")).unwrap_or(0),
            known => u32::try_from(known).unwrap_or(u32::MAX),
        };
        let is_known = highest > 0 || self.is_readable("SELECT count(*) FROM memories");
        let highest = if highest == 0 { 1_000_000 } else { highest };
        let found = |row: &rusqlite::Row<'_>| {
            Ok(Found { memory: row::memory(row)?, mark: row.get("purged")?, successor: row.get("superseded_by")? })
        };
        while handle <= highest && unreadable < MOST_UNREADABLE {
            let read = self.connection.prepare_cached(&sql).and_then(|mut query| query.query_row([handle], found));
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
            handle += 1;
        }
        let is_known =
            is_known && unreadable < MOST_UNREADABLE && self.is_readable("SELECT count(*) FROM sqlite_schema");
        (memories, is_known.then_some(lost))
    }

    fn is_readable(&self, sql: &str) -> bool {
        self.connection.query_row(sql, [], |row| row.get::<_, i64>(0)).is_ok()
    }

    fn columns(&self, table: &str) -> BTreeSet<String> {
        let read = || -> rusqlite::Result<BTreeSet<String>> {
            let mut statement = self.connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
            statement.query_map([table], |row| row.get(0))?.collect()
        };
        read().unwrap_or_default()
    }

    /// The rows of a table by column, read from both ends where it is broken in between; true when all were read.
    fn rows(&self, table: &str, order: &str) -> (Rows, bool) {
        let columns: Vec<String> = self.columns(table).into_iter().collect();
        let mut rows = Rows { columns, values: Vec::new() };
        let backwards: Vec<String> = order.split(", ").map(|column| format!("{column} DESC")).collect();
        for order in [order.to_owned(), backwards.join(", ")] {
            let sql = format!("SELECT {} FROM {table} ORDER BY {order}", rows.columns.join(", "));
            let mut read = || -> rusqlite::Result<()> {
                let mut statement = self.connection.prepare(&sql)?;
                let mut found = statement.query([])?;
                while let Some(row) = found.next()? {
                    let values = (0..rows.columns.len()).map(|column| row.get::<_, Value>(column));
                    rows.values.push(values.collect::<rusqlite::Result<_>>()?);
                }
                Ok(())
            };
            if read().is_ok() {
                return (rows, true);
            }
        }
        (rows, false)
    }

    fn counter(&self, key: &str) -> u64 {
        let sql = "SELECT value FROM meta WHERE key = ?1";
        self.connection.query_row(sql, [key], |row| row.get(0)).unwrap_or(0)
    }

    fn store_id(&self) -> Option<Vec<u8>> {
        let sql = "SELECT value FROM meta WHERE key = 'store_id'";
        self.connection.query_row(sql, [], |row| row.get(0)).ok().filter(|id: &Vec<u8>| id.len() == 16)
    }

    fn number(&self, sql: &str) -> u64 {
        self.connection.query_row(sql, [], |row| row.get::<_, Option<u64>>(0)).ok().flatten().unwrap_or(0)
    }
}

/// Rows of a table as they were found.
struct Rows {
    columns: Vec<String>,
    values: Vec<Vec<Value>>,
}

/// Puts rows into the table of the same name. One that does not fit it is damaged.
fn insert_all(change: &Change<'_>, table: &str, rows: &Rows) -> Result<(), StoreError> {
    if rows.values.is_empty() {
        return Ok(());
    }
    let places = vec!["?"; rows.columns.len()].join(", ");
    let sql = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({places})", rows.columns.join(", "));
    let Ok(mut insert) = change.tx.prepare(&sql) else { return Ok(()) };
    for row in &rows.values {
        match insert.execute(params_from_iter(row)) {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {}
            other => drop(other?),
        }
    }
    Ok(())
}

/// Takes in a memory as it was, under its own handle.
fn carry(change: &Change<'_>, found: &Found, composed: &Composed) -> Result<(), StoreError> {
    let memory = &found.memory;
    let is_known = "SELECT EXISTS (SELECT 1 FROM memories WHERE id = ?1)";
    if change.tx.prepare_cached(is_known)?.query_row([memory.id], |row| row.get(0))? {
        return Ok(());
    }
    let is_taken = "SELECT EXISTS (SELECT 1 FROM memories WHERE rev = ?1)";
    let is_new = memory.rev == 0 || change.tx.prepare_cached(is_taken)?.query_row([memory.rev], |row| row.get(0))?;
    let rev = if is_new { change.next_rev()? } else { memory.rev };
    write_row(change, &composed.placed(memory.handle, rev), Written::New)?;
    let sql = "UPDATE memories SET purged = ?2, superseded_by = ?3 WHERE handle = ?1";
    change.tx.prepare_cached(sql)?.execute((memory.handle, found.mark, found.successor))?;
    Ok(())
}

/// What the memories say of one another and of a server, as far as it was read.
fn settle(change: &Change<'_>, is_private_whole: bool) -> Result<(), StoreError> {
    change.tx.execute_batch(
        "UPDATE memories SET superseded_by = NULL WHERE superseded_by NOT IN (SELECT handle FROM memories);
         INSERT OR IGNORE INTO outbox (memory) SELECT id FROM memories WHERE shared_by IS NULL AND purged = 0
             AND (file IS NULL OR whole = 1)
             ORDER BY handle;",
    )?;
    if !is_private_whole {
        // Of these no server was told, and it can no longer be read whether any may be.
        let sql = "INSERT OR IGNORE INTO private (memory) SELECT id FROM memories
                   WHERE id NOT IN (SELECT memory FROM trails) AND EXISTS (SELECT 1 FROM server)";
        change.tx.execute(sql, [])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::{Draft, FixedClock, LinkKind, MemoryRef, Timestamp};
    use crate::score::Weights;
    use crate::store::base::config::SecretRules;
    use crate::store::base::config::{Actor, Usage};
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, named};

    fn config(home: &Home) -> StoreConfig {
        let clock = Arc::new(FixedClock(Timestamp::from_micros(1_795_132_800_000_000)));
        StoreConfig {
            home: home.clone(),
            clock,
            weights: Weights::default(),
            usage: Usage::Write,
            meaning: true,
            secrets: SecretRules::default(),
        }
    }

    #[test]
    fn what_can_be_read_is_carried_over_and_the_damaged_files_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path().join("h"));
        let mut store = Store::open(config(&home)).unwrap();
        let mut said = |text: &str| store.remember(Draft::new(text)).unwrap().memory;
        let (old, new, gone) = (said("Build with make"), said("Build with meson"), said("a secret"));
        store.link(named(&new), &LinkKind::Supersedes, named(&old), &Actor::default()).unwrap();
        store.forget(&[named(&gone)], Erase::Hard, &Actor::default()).unwrap();
        let before: Vec<_> = [&old, &new].map(|memory| store.get(named(memory)).unwrap().unwrap()).to_vec();
        let histories: Vec<_> = [&old, &new, &gone].map(|memory| store.history(named(memory)).unwrap()).to_vec();
        drop(store);
        // A row that cannot be read: it says a type that there is not.
        Connection::open(home.database())
            .unwrap()
            .execute_batch(
                "CREATE TEMP TABLE odd AS SELECT * FROM memories WHERE handle = 1;
                 UPDATE odd SET handle = 9, id = randomblob(16), type = 'no type', rev = 99, superseded_by = NULL;
                 INSERT INTO memories SELECT * FROM odd;
                 UPDATE meta SET value = 9 WHERE key = 'handle'",
            )
            .unwrap();
        let (mut store, salvage) = salvage(config(&home)).unwrap();
        assert_eq!((salvage.kept, salvage.lost), (2, Some(1)));
        assert!(Home::new(&salvage.set_aside).database().exists());
        assert_eq!(home.copies(), [Home::new(&salvage.set_aside).database()]);
        for (memory, was) in [&old, &new].into_iter().zip(before) {
            assert_eq!(store.get(named(memory)).unwrap(), Some(was));
        }
        for (memory, was) in [&old, &new, &gone].into_iter().zip(histories) {
            assert_eq!(store.history(MemoryRef::Id(memory.id)).unwrap(), was);
        }
        assert!(store.get(named(&gone)).unwrap().is_none(), "what was removed for good stays so");
        assert_eq!(store.remember(Draft::new("later")).unwrap().memory.handle.get(), 10);
        let recall = store.recall(&crate::domain::RecallRequest::new("what do we build with?")).unwrap();
        assert_eq!(recall.details[0].memory.content, "Build with meson");
    }

    #[test]
    fn rows_that_do_not_fit_are_left_and_a_table_that_is_not_there_has_none() {
        let mut store = InMemory::new();
        let value = |text: &str| Value::Text(text.to_owned());
        let columns = ["path", "project", "how", "since"].map(str::to_owned).to_vec();
        let fits = |since: Value| vec![value("/w"), value("acme/ledger"), value("told"), since];
        let rows = Rows { columns, values: vec![fits(Value::Null), fits(Value::Integer(1)), fits(Value::Integer(2))] };
        store.write(|change| insert_all(change, "places", &rows)).unwrap();
        store.write(|change| insert_all(change, "nowhere", &rows)).unwrap();
        assert_eq!(store.one::<i64>("SELECT max(since) FROM places"), 1, "the first of a key stays");
        let wreck = Wreck { connection: Connection::open_in_memory().unwrap() };
        assert!(wreck.rows("places", "path").0.values.is_empty());
        assert_eq!(wreck.memories().0.len(), 0);
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
