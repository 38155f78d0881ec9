//! Why a client cannot be set up.

use std::io;
use std::path::PathBuf;

/// Why a client cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A file is not what it should be. It is left as it is.
    #[error("{path}: {problem}; mend it, nothing was changed")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file changed since it was read.
    #[error("{path}: was changed meanwhile; run the command again")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be written. It is as it was.
    #[error("{path}: cannot be written: {source}")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The client reads no file of a project.
    #[error("{client}: reads no settings of a project; leave --project out")]
    NoProjectLevel {
        /// The client.
        client: &'static str,
    },
}
