//! The arguments of `tessera project`.

use std::path::PathBuf;

use clap::Subcommand;

/// What to do about a directory.
#[derive(Debug, Subcommand)]
pub(crate) enum ProjectTask {
    /// Confirm that a directory is the project it says: its memories are then given there unasked.
    Trust {
        /// The directory; this one if left out.
        path: Option<PathBuf>,
    },
    /// List the directories that are known to be of a project.
    List,
    /// Take that back, and what was concluded from memories made there.
    Forget {
        /// The directory; this one if left out.
        path: Option<PathBuf>,
    },
}
