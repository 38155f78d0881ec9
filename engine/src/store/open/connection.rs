//! Opens the database. Before anything is written, Tessera checks what kind of file the database is.
//!
//! A store is opened, created, or rejected.

use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::migrate::{SCHEMA, is_due, migrate, recount, upgrade};
use crate::store::base::config::{StoreConfig, Usage};
use crate::store::base::encoded::Encoded;
use crate::store::base::index_cache::IndexCache;
use crate::store::base::secrets::Secrets;
use crate::store::base::store::Store;
use crate::store::base::transaction::PATIENCE;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::file::identity::FileId;
use crate::store::file::{marker, private, replacement};

/// "TESS", in the database header.
const APPLICATION_ID: i64 = 0x5445_5353;

/// Maximum attempts to open a store while other processes may replace it.
const ATTEMPTS: u32 = 5;

/// An open database.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    /// The identity of the database file; `None` if the operating system cannot provide it.
    pub(crate) file: Option<FileId>,
}

pub(crate) fn open(home: &Home, usage: Usage) -> Result<Opened, StoreError> {
    for _ in 0..ATTEMPTS {
        match finish_replacement(home) {
            // A read-only store can still be read.
            Err(_) if usage == Usage::ReadOnce && home.database().exists() => {}
            finished => finished?,
        }
        let before = FileId::of(&home.database());
        let connected = connect(home, usage);
        let file = FileId::of(&home.database());
        // If it was replaced while it was opened, the log may belong to the new database, and the data read may be
        // wrong.
        if before.is_none() || before == file {
            return connected.map(|connection| Opened { connection, file });
        }
    }
    Err(StoreError::Busy { path: home.database() })
}

/// Finishes a replacement whose process was killed. The old database stays open during the replacement. When the last
/// process closes the database, SQLite deletes the log with its name. This log may belong to the new database.
fn finish_replacement(home: &Home) -> Result<(), StoreError> {
    if !home.replacement().exists() {
        return Ok(());
    }
    let held = open_to_write(&home.database());
    let _held = held.and_then(|held| identify(&held, home).map(|_| held));
    replacement::finish(home)
}

fn connect(home: &Home, usage: Usage) -> Result<Connection, StoreError> {
    let path = &home.database();
    if usage == Usage::ReadOnce && path.exists() {
        return open_to_read(home);
    }
    home.make().map_err(|source| StoreError::file(home.dir(), source))?;
    if path.exists() {
        let connection = open_to_write(path)?;
        match identify(&connection, home)? {
            Found::Ours(SCHEMA) if !is_due(&connection).map_err(|error| StoreError::sqlite(path, error))? => {
                prepare(&connection, path)?;
                return Ok(connection);
            }
            Found::Ours(_) | Found::Empty => {}
        }
    }
    create_or_migrate(home)
}

/// Only one process at a time creates or migrates a store.
fn create_or_migrate(home: &Home) -> Result<Connection, StoreError> {
    finish_replacement(home)?;
    let (path, lock) = (&home.database(), home.open_lock());
    let _lock = private::lock(&lock).map_err(|source| StoreError::file(&lock, source))?;
    replacement::finish_locked(home)?;
    if !path.exists() {
        marker::refuse_vanished(home)?;
        private::private_file()
            .create_new(true)
            .write(true)
            .open(path)
            .map_err(|source| StoreError::file(path, source))?;
    }
    let mut connection = open_to_write(path)?;
    let schema = match identify(&connection, home)? {
        Found::Ours(schema) => schema,
        Found::Empty => {
            // A file that lost its content is not a new store.
            marker::refuse_vanished(home)?;
            0
        }
    };
    if schema == 0 {
        // With the rollback journal, so that the file itself shows its kind after the first commit.
        run(&connection, path, &format!("PRAGMA application_id = {APPLICATION_ID}"))?;
    }
    prepare(&connection, path)?;
    migrate(&mut connection, home, schema)?;
    recount(&mut connection).map_err(|error| StoreError::sqlite(path, error))?;
    Ok(connection)
}

enum Found {
    Ours(i64),
    Empty,
}

fn identify(connection: &Connection, home: &Home) -> Result<Found, StoreError> {
    let path = &home.database();
    let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let read = || -> rusqlite::Result<(i64, i64, i64)> {
        // In one transaction, because another process may be creating the store.
        let _moment = connection.unchecked_transaction()?;
        Ok((one("PRAGMA application_id")?, one("PRAGMA user_version")?, one("SELECT count(*) FROM sqlite_schema")?))
    };
    let foreign = |found| StoreError::Foreign { path: path.clone(), found };
    match read() {
        Ok((APPLICATION_ID, schema, _)) if schema > SCHEMA => {
            Err(StoreError::Newer { path: path.clone(), found: schema, known: SCHEMA })
        }
        Ok((APPLICATION_ID, schema, _)) => Ok(Found::Ours(schema)),
        Ok((0, 0, 0)) => Ok(Found::Empty),
        Ok(_) => Err(foreign("another program's SQLite database")),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) && !was_ours(home) => {
            Err(foreign("not an SQLite database"))
        }
        Err(error) => Err(StoreError::sqlite(path, error)),
    }
}

/// True if the home directory contains other files of a store. Then an unreadable database is a damaged store, and not
/// a foreign file.
fn was_ours(home: &Home) -> bool {
    home.marker().exists() || home.open_lock().exists() || home.snapshot().exists()
}

fn open_to_write(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| StoreError::sqlite(path, error))?;
    connection.busy_timeout(PATIENCE).map_err(|error| StoreError::sqlite(path, error))?;
    Ok(connection)
}

/// Opens read-only, even in a read-only directory.
fn open_to_read(home: &Home) -> Result<Connection, StoreError> {
    let path = &home.database();
    let failed = |error| StoreError::sqlite(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    let found = match identify(&connection, home) {
        Err(StoreError::Sqlite { .. } | StoreError::ReadOnly { .. }) if !home.write_ahead_log().exists() => {
            // In a read-only directory without a WAL, nobody can be writing.
            let uri = format!("file:{}?immutable=1", percent_encoded(path));
            connection = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI).map_err(failed)?;
            identify(&connection, home)?
        }
        other => other?,
    };
    match found {
        Found::Ours(SCHEMA) if !is_due(&connection).map_err(|error| StoreError::sqlite(path, error))? => {}
        Found::Ours(schema) => match create_or_migrate(home) {
            Err(StoreError::ReadOnly { .. } | StoreError::File { .. } | StoreError::Busy { .. }) => {
                connection = in_memory(&connection, path, schema)?;
            }
            made => return made,
        },
        Found::Empty => return create_or_migrate(home),
    }
    harden(&connection).map_err(failed)?;
    Ok(connection)
}

/// A migrated copy in memory, for a store that cannot be written.
fn in_memory(source: &Connection, path: &Path, schema: i64) -> Result<Connection, StoreError> {
    let failed = |error| StoreError::sqlite(path, error);
    let mut copy = Connection::open_in_memory().map_err(failed)?;
    let copied = Backup::new(source, &mut copy).and_then(|pages| pages.step(-1)).map_err(failed)?;
    if copied != StepResult::Done {
        return Err(StoreError::Busy { path: path.to_path_buf() });
    }
    upgrade(&mut copy, path, schema)?;
    recount(&mut copy).map_err(failed)?;
    copy.pragma_update(None, "query_only", true).map_err(failed)?;
    Ok(copy)
}

fn percent_encoded(path: &Path) -> String {
    let encode = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => char::from(*byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    path.as_os_str().as_encoded_bytes().iter().map(encode).collect()
}

fn prepare(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::sqlite(path, error);
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        tracing::debug!(store.journal_mode = mode, "the file system does not support WAL");
    }
    run(
        connection,
        path,
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;
         PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 16777216;",
    )?;
    harden(connection).map_err(failed)
}

fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;")
}

fn run(connection: &Connection, path: &Path, sql: &str) -> Result<(), StoreError> {
    connection.execute_batch(sql).map_err(|error| StoreError::sqlite(path, error))
}

impl Store {
    /// Opens the store in `config.home`, and creates it if missing.
    ///
    /// # Errors
    /// Returns an error if the file belongs to another program, has a newer schema, is damaged or is lost. Then it
    /// stays unchanged.
    pub fn open(config: StoreConfig) -> Result<Self, StoreError> {
        let Opened { connection, file } = open(&config.home, config.usage)?;
        let secrets = Secrets::of(config.secrets, &config.home);
        Ok(Self {
            connection,
            file,
            open: Self::open,
            index: IndexCache::new(config.usage),
            path: config.home.database(),
            home: config.home,
            clock: config.clock,
            weights: config.weights,
            usage: config.usage,
            embedding: config.embedding,
            encoded: Encoded::default(),
            is_marked: false,
            secrets,
        })
    }

    /// A function with which another thread opens the same store independently.
    pub fn opener(&self, usage: Usage) -> impl Fn() -> Result<Self, StoreError> + Send + use<> {
        let config = self.config(usage);
        move || Self::open(config.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(home: &Home, usage: Usage) -> Result<Connection, StoreError> {
        open(home, usage).map(|opened| opened.connection)
    }

    fn at_home(make: impl FnOnce(&Home)) -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path().join("h"));
        home.make().unwrap();
        make(&home);
        (dir, home)
    }

    #[test]
    fn a_store_is_made_once_and_opened_as_it_was() {
        let (_dir, home) = at_home(|_| ());
        let first = opened(&home, Usage::Write).unwrap();
        let id = |connection: &Connection| -> Vec<u8> {
            connection.query_row("SELECT value FROM meta WHERE key = 'store_id'", [], |row| row.get(0)).unwrap()
        };
        for usage in [Usage::Write, Usage::Serve, Usage::ReadOnce] {
            let again = opened(&home, usage).unwrap();
            assert_eq!(id(&again), id(&first));
            let synchronous: i64 = again.query_row("PRAGMA synchronous", [], |row| row.get(0)).unwrap();
            assert_eq!(synchronous, 2, "a commit is on disk");
            let written = again.execute("UPDATE meta SET value = 1 WHERE key = 'rev'", []);
            assert_eq!(written.is_err(), usage == Usage::ReadOnce);
        }
        assert!(home.open_to_others().is_empty());
    }

    #[test]
    fn what_is_not_ours_is_refused_and_left_as_it_was() {
        let (_dir, home) = at_home(|home| std::fs::write(home.database(), "a text").unwrap());
        for usage in [Usage::Write, Usage::ReadOnce] {
            let refused = opened(&home, usage);
            assert!(matches!(refused, Err(StoreError::Foreign { .. })), "{refused:?}");
        }
        assert_eq!(std::fs::read(home.database()).unwrap(), b"a text");
        let (_dir, home) = at_home(|home| {
            Connection::open(home.database()).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
        });
        let refused = opened(&home, Usage::Write);
        assert!(matches!(refused, Err(StoreError::Foreign { .. })), "{refused:?}");
    }

    #[test]
    fn a_newer_store_a_damaged_one_and_one_that_vanished_are_told_apart() {
        let (_dir, home) = at_home(|_| ());
        opened(&home, Usage::Write).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
        let refused = opened(&home, Usage::Write);
        assert!(matches!(refused, Err(StoreError::Newer { found: 99, .. })), "{refused:?}");
        marker::write(&home, 5).unwrap();
        std::fs::write(home.database(), "a text where a store was").unwrap();
        let refused = opened(&home, Usage::Write);
        assert!(matches!(refused, Err(StoreError::Corrupt { .. })), "{refused:?}");
        std::fs::remove_file(home.database()).unwrap();
        let refused = opened(&home, Usage::Write);
        assert!(matches!(refused, Err(StoreError::Vanished { memories: 5, .. })), "{refused:?}");
        assert!(!home.database().exists(), "none is begun in its place");
    }

    #[test]
    fn a_store_that_cannot_be_written_is_brought_up_to_date_in_memory() {
        let (_dir, home) = at_home(|_| ());
        let written = opened(&home, Usage::Write).unwrap();
        written.execute("UPDATE meta SET value = 1 WHERE key = 'line_form'", []).unwrap();
        assert!(is_due(&written).unwrap());
        let copy = in_memory(&written, &home.database(), SCHEMA).unwrap();
        assert!(!is_due(&copy).unwrap() && is_due(&written).unwrap());
        assert!(copy.execute("DELETE FROM meta", []).is_err());
    }

    #[test]
    fn a_path_is_written_as_a_uri_wants_it() {
        assert_eq!(percent_encoded(Path::new("/a b/ü?.db")), "/a%20b/%C3%BC%3F.db");
    }
}
