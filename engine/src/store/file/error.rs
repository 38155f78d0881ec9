//! The errors of the embedded store.

use std::path::{Path, PathBuf};

use tessera_seal::SealError;

use crate::domain::{DomainError, FilePath, MemoryRef, MemoryUuid, Timestamp};

/// An error of the store. Messages contain paths and IDs, never the text of a memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An invalid value.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// There is no such memory here.
    #[error("there is no memory {0}; `tessera list` lists memories")]
    NotFound(MemoryRef),
    /// There is no such note or folder.
    #[error("there is no {what} `{name}`; {fix}")]
    Unknown {
        /// The kind, such as `note`.
        what: &'static str,
        /// The name.
        name: String,
        /// How to find the right name.
        fix: String,
    },
    /// No imported memory has this ID from another system.
    #[error("{0} is an ID from another system, and no imported memory has it; run `tessera import memory-mcp`")]
    NotCameOver(String),
    /// The operation does not fit the state of the memory.
    #[error("{memory} {problem}")]
    Conflict {
        /// The memory.
        memory: MemoryRef,
        /// The problem.
        problem: &'static str,
    },
    /// The store belongs to another team server, or to another user there.
    #[error("this store is already joined to {url} as {user}; run `tessera sync leave` first")]
    OtherServer {
        /// The server.
        url: String,
        /// The user there.
        user: String,
    },
    /// The file is not a Tessera store. It was not changed.
    #[error(
        "{path} is not a Tessera store ({found}), and was not changed; move it away, or use another directory with --home"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Its kind.
        found: &'static str,
    },
    /// The file is from a newer Tessera. It was not changed.
    #[error(
        "{path} was written by a newer version of Tessera (format {found}, this version knows {known}), and was not changed; install the newer version"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest schema version that this program supports.
        known: i64,
    },
    /// The file is damaged. `doctor --repair` salvages what can be read.
    #[error("{path} is damaged; run `tessera doctor --repair` to move it aside and save its memories")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The database file is missing, although this home directory contained memories.
    #[error(
        "{path} is missing or empty, but contained at least {memories} memories at the last count; restore a backup \
        with `tessera restore-backup FILE`, or delete {marker} to start with an empty store"
    )]
    Vanished {
        /// Its path.
        path: PathBuf,
        /// The last number of memories.
        memories: u64,
        /// The file with that number.
        marker: PathBuf,
    },
    /// A transaction needs keys, but a keyring can only be queried outside of a transaction. The write operation
    /// queries the keyring and repeats the transaction.
    #[error("the keys for the secrets in {} are not available yet; run the command again", path.display())]
    KeysWanted {
        /// The file.
        path: PathBuf,
        /// True if a missing key is to be created.
        to_seal: bool,
    },
    /// Another process replaced the database while it was open. The store must be opened again.
    #[error("another process replaced {path} while it was open; run the command again")]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// Another process locked the store for too long. Nothing was written; try again.
    #[error(
        "{path} is busy, because another process has been writing for too long; nothing was written; run the command again"
    )]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The disk is full. Nothing was written.
    #[error("there is no space left to write {path}; nothing was written; free some space on this disk")]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The store is read-only here.
    #[error("{path} is read-only, or belongs to another user; nothing was written; check its owner and permissions")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The disk failed. Unacknowledged writes may be lost.
    #[error(
        "the disk failed while Tessera used {path}, so the last change may be missing; check the disk, then run `tessera doctor`"
    )]
    Disk {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// An operation on a file next to the database failed.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file that the user named is not a backup. Nothing was changed.
    #[error("{path}: {problem}; nothing was changed")]
    NotABackup {
        /// The file.
        path: PathBuf,
        /// The problem and the fix.
        problem: &'static str,
    },
    /// The operation is not possible with this file, or with a section of it.
    #[error("{path} {problem}")]
    InFile {
        /// The file.
        path: FilePath,
        /// The problem.
        problem: String,
    },
    /// A plugin rejected the operation. Nothing was done.
    #[error("the plugin {by} refused this: {reason}")]
    Refused {
        /// The plugin.
        by: String,
        /// Its reason.
        reason: String,
    },
    /// The text contains a credential, and the settings reject such texts.
    #[error(
        "{field}: contains a {kind}, and the setting secrets.mode is refuse; remove the {kind}, or run `tessera settings \
        set secrets.mode encrypt`"
    )]
    Credential {
        /// The field.
        field: &'static str,
        /// Its kind, in words.
        kind: String,
    },
    /// A secret cannot be decrypted or encrypted.
    #[error("secret {name}: {source}")]
    Sealed {
        /// The name of the secret.
        name: String,
        /// The reason.
        source: SealError,
    },
    /// The keys of the secrets are not available.
    #[error("the key for secrets is not available: {problem}")]
    NoKey {
        /// The reason and the fix.
        problem: String,
    },
    /// There is no such import.
    #[error("there is no import {n}; `tessera import list` lists all")]
    NoImport {
        /// The requested number.
        n: u32,
    },
    /// An import is running. Nothing was written.
    #[error("this import is still running; wait until it ends, and then undo it")]
    Importing,
    /// There is no such secret, or it may not be shown; the message does not say which.
    #[error("there is no secret {asked}; `tessera secret list` lists all")]
    NoSecret {
        /// The requested name.
        asked: String,
    },
    /// Several secrets have names that begin with this text.
    #[error("{asked} matches several secrets ({}); use the whole name, or the ID of the memory", found.join(", "))]
    ManySecrets {
        /// The requested name.
        asked: String,
        /// The name of each secret, with the memory that contains it.
        found: Vec<String>,
    },
    /// A text names a secret whose value is not on this machine.
    #[error("the value of secret {name} is not on this machine: {why}")]
    ValueElsewhere {
        /// The secret.
        name: String,
        /// The memory whose text contains the secret's name.
        memory: MemoryUuid,
        /// Where the value may be.
        why: UnavailableBecause,
    },
    /// A line of an import cannot be read.
    #[error("line {line}: {problem}")]
    Line {
        /// Line number, from 1.
        line: u64,
        /// The problem.
        problem: String,
    },
    /// Another error of SQLite.
    #[error("{path}: {source}")]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
}

/// The reason why the value of a named secret is not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnavailableBecause {
    /// It was never here.
    #[error("it is stored on another device, and only that device, or a team server that stores secrets, can show it")]
    NeverHere,
    /// Neither this machine nor the team server has the value.
    #[error("it is stored on another device that has not sent it to the team server yet")]
    NorOnServer,
    /// The team server stores the value, but cannot decrypt it.
    #[error("the team server stores the secret, but does not have the key")]
    ServerLacksKey,
    /// It was deleted.
    #[error("it was deleted on {0}")]
    Forgotten(Timestamp),
    /// A vault has it.
    #[error("it is in a vault; set VAULT_ADDR and a token")]
    InVault,
    /// The vault no longer has it.
    #[error("it was moved to a vault, which no longer contains it")]
    NotInVault,
}

impl StoreError {
    /// Classifies an error of SQLite.
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

    /// True if the same call may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }
}

impl From<rusqlite::Error> for StoreError {
    /// Converts an error inside a transaction. The path of the database is added later.
    fn from(source: rusqlite::Error) -> Self {
        Self::Sqlite { path: "the store".into(), source }
    }
}

/// SQLITE_IOERR_SHMSIZE: the shared-memory file cannot grow.
const NO_ROOM_FOR_SHM: i32 = 4874;

fn extended_code(error: &rusqlite::Error) -> i32 {
    error.sqlite_error().map_or(0, |error| error.extended_code)
}

/// True if files can be created beside `path`.
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
