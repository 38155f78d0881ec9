//! The arguments of `tessera files` and `tessera memory-tool`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tessera_engine::domain::{Scope, Trust};

use super::values::whole;

/// The actions of `tessera files`.
#[derive(Debug, Subcommand)]
pub(crate) enum FilesTask {
    /// Index the files of a directory from now on
    ///
    /// Tessera writes into the directory only if --writable is given.
    Add(AddArguments),
    /// List the indexed folders
    List,
    /// Stop indexing a folder; its files stay
    Remove {
        /// The name of the folder
        name: String,
    },
    /// Look for changed files now
    Scan,
    /// List files that nobody has read or changed for a long time
    ///
    /// Only access through recall, `get` or the memory tool counts as a read. Tessera does not notice when an editor or
    /// another machine reads a file. The oldest files come first.
    Unread {
        /// The number of days without a read or a change
        #[arg(long, value_name = "N", value_parser = whole(0..=36_500), allow_negative_numbers = true)]
        days: Option<u32>,
        /// Delete the listed files from writable folders, after confirmation
        ///
        /// `tessera restore PATH` restores a deleted file.
        #[arg(long, requires = "days")]
        clear: bool,
        /// Skip the confirmation prompt
        #[arg(long, short, requires = "clear")]
        yes: bool,
    },
}

/// The arguments of `tessera files add`.
#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// The directory
    pub(crate) dir: PathBuf,
    /// The folder's name in paths [default: the directory's own name]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The project of the files, or `global`
    #[arg(long, default_value = "global")]
    pub(crate) scope: Scope,
    /// Trust level of the texts: user, model or foreign
    #[arg(long, default_value = "user", value_name = "TRUST")]
    pub(crate) trust: Trust,
    /// Allow `update` and `forget` to change the files
    #[arg(long)]
    pub(crate) writable: bool,
    /// Also send the files to the team server
    #[arg(long)]
    pub(crate) sync: bool,
}
