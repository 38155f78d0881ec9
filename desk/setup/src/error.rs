//! Why a client cannot be set up.

use std::io;
use std::path::PathBuf;

/// Why a client cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A file has another format. It is not changed.
    #[error("{path}: {problem}; fix it and try again; nothing was changed")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A file changed since it was read.
    #[error("{path}: was changed in the meantime; run the command again")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be written. It is unchanged.
    #[error("{path}: cannot be written: {source}")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// This program is in a directory that a package manager replaces.
    #[error(
        "{program} is a temporary copy, which {runner} deletes later; run `{install}` and then `tessera setup` again"
    )]
    Temporary {
        /// The program.
        program: PathBuf,
        /// The package manager or runner.
        runner: &'static str,
        /// The command that installs the program permanently.
        install: &'static str,
    },
    /// The client has no project settings.
    #[error("{client}: has no project settings; omit --project")]
    NoProjectLevel {
        /// The client.
        client: &'static str,
    },
}
