//! What can go wrong with the embedded store, and who mends it.

use std::path::{Path, PathBuf};

use tessera_seal::SealError;

use crate::domain::{DomainError, FilePath, MemoryRef, MemoryUuid, Timestamp};

/// A failure of the store. Messages name paths and ids, never the text of a memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A value that the user mends.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// No such memory here.
    #[error("no memory {0}")]
    NotFound(MemoryRef),
    /// No memory came over that another system calls so.
    #[error(
        "{0} is the id of another system, and no memory came over under it; `tessera import memory-mcp` brings them"
    )]
    NotCameOver(String),
    /// Something that does not fit the state of the memory. The user mends it.
    #[error("{memory}: {problem}")]
    Conflict {
        /// Which memory.
        memory: MemoryRef,
        /// Why it cannot be done.
        problem: &'static str,
    },
    /// The store belongs to another team server, or to another user there.
    #[error("this store belongs to {user} at {url}; `tessera sync leave` parts them")]
    OtherServer {
        /// The server.
        url: String,
        /// The user there.
        user: String,
    },
    /// The file is not a store of ours. It was not touched.
    #[error("{path} is not a Tessera store ({found}); it was left untouched")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// The file was written by a newer Tessera. It was not touched.
    #[error("{path} has schema {found}, newer than {known}; update Tessera to open it")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema this program knows.
        known: i64,
    },
    /// The file is damaged. `doctor --repair` sets it aside and salvages what can be read.
    #[error("{path} is damaged; run `tessera doctor --repair` to set it aside and salvage it")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The database file is gone although this home once held memories.
    #[error(
        "{path} is missing or empty, although it held at least {memories} memories when they were last counted; `tessera restore-backup FILE` brings a backup back, and without {marker} a new store begins"
    )]
    Vanished {
        /// Where it was.
        path: PathBuf,
        /// How many memories it held.
        memories: u64,
        /// The file that remembers.
        marker: PathBuf,
    },
    /// Keys are wanted within a transaction, and a keyring is asked outside of one. A write does so, and begins again.
    #[error("{}: the keys are not at hand; try again", path.display())]
    KeysWanted {
        /// The file.
        path: PathBuf,
        /// True where one is to be made if there is none.
        to_seal: bool,
    },
    /// Another process replaced the database while this one had it open. The store must be opened again.
    #[error("{path} was replaced by another process while it was open; try again")]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// Another process holds the store beyond patience. Nothing was written; try again.
    #[error("{path} is busy: another process has been writing for too long; nothing was written, try again")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// No space is left. Nothing was written.
    #[error("no space left to write {path}; nothing was written")]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The store cannot be written here. Reading works.
    #[error("{path} cannot be written (read-only); nothing was written")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The disk failed. What was not acknowledged may not be there.
    #[error("{path}: the disk failed: {source}")]
    Disk {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// A file beside the database failed.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something that cannot be done with a file, or a part of one. The user mends it.
    #[error("{path}: {problem}")]
    InFile {
        /// The file, by its folder.
        path: FilePath,
        /// Why.
        problem: String,
    },
    /// Code of the user's own said no. Nothing was done.
    #[error("refused by plugin {by}: {reason}")]
    Refused {
        /// The plugin.
        by: String,
        /// What it says.
        reason: String,
    },
    /// A credential stands in what was to be stored, and the settings say that no such text is.
    #[error("{field}: holds a {kind}, and secrets.mode is refuse; take it out, or set secrets.mode to encrypt")]
    Credential {
        /// Where it stands.
        field: &'static str,
        /// What it is, in words.
        kind: String,
    },
    /// What is sealed does not open, or nothing can be sealed.
    #[error("secret {name}: {source}")]
    Sealed {
        /// The secret, or what was to become one.
        name: String,
        /// Why.
        source: SealError,
    },
    /// The keys that secrets are sealed with cannot be had.
    #[error("the key of the secrets cannot be had: {problem}")]
    NoKey {
        /// Why, and what mends it.
        problem: String,
    },
    /// No such import.
    #[error("import {n} is not in the list; `tessera import list` shows those that are")]
    NoImport {
        /// Its number, as it was asked for.
        n: u32,
    },
    /// Data of another system are coming over just now. Nothing was written.
    #[error("an import is running; wait for its end, or stop it, and undo it then")]
    Importing,
    /// No such secret here, or none that may be shown: nobody learns which.
    #[error("no secret {asked} here; `tessera secret list` shows those that are kept")]
    NoSecret {
        /// What was asked for.
        asked: String,
    },
    /// Several secrets have names that begin so.
    #[error("several are called so, as far as {asked} goes ({}); give the whole name, or the memory", found.join(", "))]
    ManySecrets {
        /// What was asked for.
        asked: String,
        /// Their names, and their memories.
        found: Vec<String>,
    },
    /// A text names a secret whose value is not here.
    #[error("the value of secret {name} is not here: {why}")]
    ValueElsewhere {
        /// The secret.
        name: String,
        /// The memory whose text names it.
        memory: MemoryUuid,
        /// Where it may be.
        why: UnavailableBecause,
    },
    /// A line of an import cannot be read.
    #[error("line {line}: {problem}")]
    Line {
        /// Line number, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// SQLite failed in another way.
    #[error("{path}: {source}")]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

/// Why the value of a secret is not here, though a text names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnavailableBecause {
    /// It never was.
    #[error(
        "it was set aside on another machine, and only that machine gives it back, or a team server that keeps secrets"
    )]
    NeverHere,
    /// Nor has the team server it.
    #[error(
        "it was set aside on another machine, and the team server has not got it; ask there, or let that machine send it"
    )]
    NorOnServer,
    /// The team server has it and cannot open it.
    #[error("the team server keeps it, sealed with a key that it has not")]
    ServerLacksKey,
    /// Somebody forgot it.
    #[error("it was forgotten on {0}")]
    Forgotten(Timestamp),
    /// A vault has it.
    #[error("a vault keeps it: set VAULT_ADDR, and a token, and it is asked")]
    InVault,
    /// The vault has nothing of it any more.
    #[error("it was moved to a vault, and the vault has not got it any more")]
    NotInVault,
}

impl StoreError {
    /// Sorts a failure of SQLite by who mends it.
    pub(crate) fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_path_buf();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { path, source },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::SystemIoFailure) if extended_code(&source) == NO_ROOM_FOR_SHM => Self::Full { path },
            Some(ErrorCode::SystemIoFailure) => Self::Disk { path, source },
            Some(ErrorCode::CannotOpen) if !is_writable(&path) => Self::ReadOnly { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path },
            _ => Self::Sqlite { path, source },
        }
    }

    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::Full { path },
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::File { path, source },
        }
    }

    /// True when the same call may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }
}

impl From<rusqlite::Error> for StoreError {
    /// Inside a transaction; the transaction adds the path.
    fn from(source: rusqlite::Error) -> Self {
        Self::Sqlite { path: "the store".into(), source }
    }
}

/// SQLITE_IOERR_SHMSIZE: the shared-memory file cannot grow.
const NO_ROOM_FOR_SHM: i32 = 4874;

fn extended_code(error: &rusqlite::Error) -> i32 {
    error.sqlite_error().map_or(0, |error| error.extended_code)
}

/// True when files can be made beside `path`.
fn is_writable(path: &Path) -> bool {
    let dir = path.parent().unwrap_or(Path::new("."));
    tempfile::tempfile_in(dir).is_ok()
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn sorted(code: i32, path: &Path) -> StoreError {
        StoreError::sqlite(path, rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    }

    #[test]
    fn a_failure_of_sqlite_is_sorted_by_who_mends_it_and_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.db");
        for (code, is_sorted) in [
            (ffi::SQLITE_CORRUPT, (|error| matches!(error, StoreError::Corrupt { .. })) as fn(&StoreError) -> bool),
            (ffi::SQLITE_NOTADB, |error| matches!(error, StoreError::Corrupt { .. })),
            (ffi::SQLITE_BUSY, |error| matches!(error, StoreError::Busy { .. }) && error.is_transient()),
            (ffi::SQLITE_FULL, |error| matches!(error, StoreError::Full { .. })),
            (NO_ROOM_FOR_SHM, |error| matches!(error, StoreError::Full { .. })),
            (ffi::SQLITE_IOERR_FSYNC, |error| matches!(error, StoreError::Disk { .. })),
            (ffi::SQLITE_READONLY, |error| matches!(error, StoreError::ReadOnly { .. })),
            (ffi::SQLITE_CANTOPEN, |error| matches!(error, StoreError::Sqlite { .. })),
            (ffi::SQLITE_CONSTRAINT, |error| matches!(error, StoreError::Sqlite { .. })),
        ] {
            let error = sorted(code, &path);
            assert!(is_sorted(&error), "{code}: {error:?}");
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        }
        let gone = sorted(ffi::SQLITE_CANTOPEN, &dir.path().join("missing/t.db"));
        assert!(matches!(gone, StoreError::ReadOnly { .. }), "{gone:?}");
    }

    #[test]
    fn a_full_disk_is_told_from_other_failures_of_a_file() {
        let path = Path::new("access.log");
        let failed = |kind: std::io::ErrorKind| StoreError::file(path, kind.into());
        assert!(matches!(failed(std::io::ErrorKind::StorageFull), StoreError::Full { .. }));
        assert!(matches!(failed(std::io::ErrorKind::ReadOnlyFilesystem), StoreError::ReadOnly { .. }));
        assert!(matches!(failed(std::io::ErrorKind::PermissionDenied), StoreError::File { .. }));
    }
}
