//! Why a source cannot be read at all.

use std::path::PathBuf;

use crate::system::System;

/// Why a source cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OlderError {
    /// The path does not exist.
    #[error("{} does not exist; name the {what}", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
        /// The expected kind of data.
        what: &'static str,
    },
    /// No path was given, and the usual places are empty.
    #[error("{system}: no data in its usual places ({looked}); add the path: `tessera import {system} PATH`")]
    Nowhere {
        /// The system.
        system: System,
        /// The searched places.
        looked: String,
    },
    /// A file or its copy cannot be read or written.
    #[error("{}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// It has another format.
    #[error("{}: {problem}", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// The problem and the fix.
        problem: String,
    },
    /// SQLite cannot read it.
    #[error("{0} is damaged, and nothing was imported: {problem}; `sqlite3 {0} .recover | sqlite3 NEW` \
        saves the readable part in the file NEW, which you can import", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        problem: String,
    },
    /// It has too many rows.
    #[error("{} has more than {most} rows, and only the first {most} were imported; an import of the rest needs a \
        smaller file", path.display())]
    TooMany {
        /// The file.
        path: PathBuf,
        /// The maximum number of rows.
        most: u32,
    },
    /// The database changes constantly, so Tessera cannot copy it consistently.
    #[error("{}: changed during the import; stop the program that writes to it, and try again", path.display())]
    Restless {
        /// The file.
        path: PathBuf,
    },
    /// The receiver stopped.
    #[error("stopped")]
    Stopped,
}

impl OlderError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
