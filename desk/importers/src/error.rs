//! Why something cannot be read at all.

use std::path::PathBuf;

use crate::system::System;

/// Why nothing is told of a source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OlderError {
    /// There is nothing at this path.
    #[error("{}: there is nothing; give the path of its {what}", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
        /// What is looked for there.
        what: &'static str,
    },
    /// No path was given, and there is nothing where the system keeps its data.
    #[error("{system}: nothing of it where it keeps its data ({looked}); give the path")]
    Nowhere {
        /// The system.
        system: System,
        /// Where it was looked for.
        looked: String,
    },
    /// A file, or the copy of it, cannot be read or written.
    #[error("{}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is something else than it was taken for.
    #[error("{}: {problem}", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// What it is or lacks, and what to do.
        problem: String,
    },
    /// SQLite cannot read it.
    #[error("{}: is damaged, and nothing was taken: {problem}; `sqlite3 FILE .recover | sqlite3 NEW` saves what can be read", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        problem: String,
    },
    /// It has more rows than are read.
    #[error("{}: has more than {most} rows; those before are imported, delete what is not needed and try again", path.display())]
    TooMany {
        /// The file.
        path: PathBuf,
        /// The number of rows that are read.
        most: u32,
    },
    /// It is written to all the time, so that no copy of it is whole.
    #[error("{}: changes while it is read; stop the program that writes it, and try again", path.display())]
    Restless {
        /// The file.
        path: PathBuf,
    },
    /// Whoever is told wants no more.
    #[error("stopped")]
    Stopped,
}

impl OlderError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
