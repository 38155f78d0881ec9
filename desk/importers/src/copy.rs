//! Copies another program's database with its side files, and reads the copy. Nothing is created, changed or locked
//! beside the original.
//!
//! Also manages temporary directories, which only their owner can read. They are deleted at the end of the process. If
//! a process was killed, the next process deletes its temporary directories.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::error::OlderError;

/// The beginning of an SQLite database.
const HEAD: &[u8; 16] = b"SQLite format 3\0";
/// Maximum attempts to copy while another program writes.
const ATTEMPTS: u32 = 5;
/// The side files of a database: its log, which may contain the latest pages, and the rollback journal. The shared
/// memory is rebuilt.
const BESIDE: [&str; 2] = ["-wal", "-journal"];

/// An open copy.
#[derive(Debug)]
pub(crate) struct Copy {
    pub(crate) connection: Connection,
    /// If the system cannot delete an open file, the copy's directory stays until the connection is closed.
    _dir: Option<Scratch>,
}

/// True for a file that begins like a database. Only regular files are read, because reading a pipe may never end.
pub(crate) fn is_database(path: &Path) -> Result<bool, OlderError> {
    let read = || {
        if !path.metadata()?.is_file() {
            return Ok(false);
        }
        let mut head = [0; 16];
        match io::Read::read_exact(&mut File::open(path)?, &mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => read.map(|()| &head == HEAD),
        }
    };
    read().map_err(OlderError::file(path))
}

/// How long a database may be read. This maximum is sufficient: reading a hundred thousand rows takes a few seconds.
const MOST_TIME: Duration = Duration::from_mins(10);
/// The number of SQLite instructions between two checks of the time limit.
const STEPS: std::ffi::c_int = 100_000;
/// The maximum size of a row, in bytes.
const MOST_BYTES: i32 = 64 * 1024 * 1024;

impl Copy {
    /// Copies a database and opens the copy.
    pub(crate) fn of(path: &Path) -> Result<Self, OlderError> {
        let dir = Scratch::new().map_err(OlderError::file(std::env::temp_dir()))?;
        let copy = dir.path().join("copy.db");
        let is_whole = (0..ATTEMPTS).map(|_| copied(path, &copy)).find(|done| !matches!(done, Ok(false)));
        if !is_whole.unwrap_or(Ok(false))? {
            return Err(OlderError::Restless { path: path.to_owned() });
        }
        let damaged =
            |error: rusqlite::Error| OlderError::Damaged { path: path.to_owned(), problem: error.to_string() };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&copy, flags).map_err(damaged)?;
        // Runs nothing from the file: no functions in views, no triggers. Sorting uses a temporary file, so a large
        // table needs little memory.
        let calm = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
                    PRAGMA temp_store = FILE; PRAGMA cache_size = -16384; BEGIN";
        connection.execute_batch(calm).map_err(damaged)?;
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())).map_err(damaged)?;
        let since = Instant::now();
        connection.progress_handler(STEPS, Some(move || since.elapsed() > MOST_TIME)).map_err(damaged)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_BYTES).map_err(damaged)?;
        // The open files have no name any more, so their clear text disappears with the process.
        let kept = if cfg!(unix) { None } else { Some(dir) };
        Ok(Self { connection, _dir: kept })
    }

    /// The columns of a table. The list is empty if there is no such table, or if it is a view or a virtual table,
    /// because such a table may have endless rows.
    pub(crate) fn columns(&self, table: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.connection.prepare(
            "SELECT name FROM pragma_table_info(?1) WHERE EXISTS
                 (SELECT 1 FROM pragma_table_list(?1) WHERE schema = 'main' AND type = 'table')",
        )?;
        statement.query_map([table], |row| row.get(0))?.collect()
    }
}

/// Copies the files. Returns false if the files changed during the copying.
fn copied(original: &Path, to: &Path) -> Result<bool, OlderError> {
    let files: Vec<(PathBuf, PathBuf)> = std::iter::once("")
        .chain(BESIDE)
        .map(|suffix| {
            let beside = |path: &Path| {
                let mut name = path.as_os_str().to_owned();
                name.push(suffix);
                PathBuf::from(name)
            };
            (beside(original), beside(to))
        })
        .collect();
    let state = || -> Vec<_> {
        let of = |path: &PathBuf| path.metadata().ok().map(|found| (found.len(), found.modified().ok()));
        files.iter().map(|(from, _)| of(from)).collect()
    };
    let before = state();
    for (from, to) in &files {
        if from.metadata().is_ok_and(|found| !found.is_file()) {
            let problem = "belongs to a database, but is not a regular file; Tessera does not read it".to_owned();
            return Err(OlderError::Foreign { path: from.clone(), problem });
        }
        let mut source = match File::open(from) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound && from != original => {
                // A file from an earlier attempt has another state.
                drop(fs::remove_file(to));
                continue;
            }
            Err(error) => return Err(OlderError::file(from)(error)),
        };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut target = options.open(to).map_err(OlderError::file(to))?;
        io::copy(&mut source, &mut target).map_err(OlderError::file(to))?;
    }
    Ok(state() == before)
}

/// The prefix of all temporary directories.
const PREFIX: &str = "tessera-copy-";
/// The lock file in each directory, held by its process. The file gets this name only after it was locked, so an
/// unlocked file with this name belongs to a process that has ended.
const LOCK: &str = "lock";
/// Its name until then.
const UNLOCKED: &str = "lock.new";

/// A directory that is deleted when dropped.
#[derive(Debug)]
pub struct Scratch {
    // Released before the directory, because some systems cannot delete locked files.
    _lock: File,
    dir: TempDir,
}

impl Scratch {
    /// Creates a directory, and deletes the directories of killed processes.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn new() -> io::Result<Self> {
        // It contains other people's data in clear text, so only the owner may read it.
        let mut made = tempfile::Builder::new();
        #[cfg(unix)]
        made.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let dir = made.prefix(PREFIX).tempdir()?;
        let (unlocked, held) = (dir.path().join(UNLOCKED), dir.path().join(LOCK));
        let lock = OpenOptions::new().write(true).create_new(true).open(&unlocked)?;
        lock.lock()?;
        fs::rename(unlocked, held)?;
        sweep(dir.path());
        Ok(Self { _lock: lock, dir })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Deletes abandoned directories next to the directory of this process. Directories that cannot be deleted stay.
fn sweep(own: &Path) {
    let Some(entries) = own.parent().and_then(|beside| fs::read_dir(beside).ok()) else { return };
    for entry in entries.flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_named && entry.path() != own && is_of_same(&entry.path(), own) && is_left(&entry.path()) {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// True for a real directory of the same user.
fn is_of_same(path: &Path, own: &Path) -> bool {
    let (Ok(found), Ok(own)) = (path.symlink_metadata(), own.symlink_metadata()) else { return false };
    #[cfg(unix)]
    let is_same = std::os::unix::fs::MetadataExt::uid(&found) == std::os::unix::fs::MetadataExt::uid(&own);
    #[cfg(not(unix))]
    let is_same = own.is_dir();
    found.is_dir() && is_same
}

/// True if the owning process is gone.
fn is_left(path: &Path) -> bool {
    let lock: PathBuf = path.join(LOCK);
    let is_file = lock.symlink_metadata().is_ok_and(|found| found.is_file());
    is_file && OpenOptions::new().write(true).open(lock).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_what_is_in_the_log_alone_and_no_name_once_it_is_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let theirs = Connection::open(&path).unwrap();
        theirs.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)").unwrap();
        let copy = Copy::of(&path).unwrap();
        let count = |of: &Connection| of.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, u32>(0)).unwrap();
        assert_eq!(count(&copy.connection), 2);
        theirs.execute_batch("DELETE FROM t").unwrap();
        assert_eq!((count(&copy.connection), count(&theirs)), (2, 0), "it is read as it was");
        assert_eq!(copy.columns("t").unwrap(), ["a"]);
        assert!(copy.columns("nowhere").unwrap().is_empty());
        if cfg!(unix) {
            let name = copy.connection.path().unwrap_or_default().to_owned();
            assert!(!name.is_empty() && !Path::new(&name).exists(), "{name}");
        }
        assert!(Copy::of(&dir.path().join("gone.db")).is_err());
    }
}

#[cfg(test)]
mod scratch_tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_swept_and_all_else_stays() {
        let beside = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let dir = beside.path().join(name);
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join("copy.db"), "x").unwrap();
            dir
        };
        let (own, left, held, begun) = (at("own"), at("tessera-copy-a"), at("tessera-copy-b"), at("tessera-copy-c"));
        let others = at("other-copy-d");
        for dir in [&left, &held, &others] {
            fs::write(dir.join(LOCK), "").unwrap();
        }
        fs::write(begun.join(UNLOCKED), "").unwrap();
        let lock = OpenOptions::new().write(true).open(held.join(LOCK)).unwrap();
        lock.lock().unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&others, beside.path().join("tessera-copy-e")).unwrap();
        sweep(&own);
        assert!(!left.exists());
        assert!([&own, &held, &begun, &others].iter().all(|dir| dir.join("copy.db").is_file()));
        drop(lock);
        sweep(&own);
        assert!(!held.exists());
    }

    #[test]
    fn it_is_gone_when_it_is_dropped() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        assert!(path.join(LOCK).is_file() && !is_left(&path));
        drop(scratch);
        assert!(!path.exists());
    }
}
