//! The arguments of `tessera files` and `tessera memory-tool`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tessera_engine::domain::{Scope, Trust};

/// What to do with folders of files.
#[derive(Debug, Subcommand)]
pub(crate) enum FilesTask {
    /// Know the texts of a directory from now on. Nothing is written into it unless --writable says that it may be.
    Add(AddArguments),
    /// List the folders.
    List,
    /// Let go of a folder: what its files say goes out of recall, the files stay.
    Remove {
        /// The name of the folder.
        name: String,
    },
    /// Look for changed files now.
    Scan,
    /// List files that recall, `get` and the memory tool gave nobody for long, and that nobody changed, oldest first. What an
    /// editor opens, or another machine gives, is not counted.
    Unread {
        /// For so many days.
        #[arg(long, value_name = "N")]
        days: Option<u32>,
        /// Delete them after a question, where their folder may be written; `restore` with a path brings one back.
        #[arg(long, requires = "days")]
        clear: bool,
        /// Do not ask.
        #[arg(long, short, requires = "clear")]
        yes: bool,
    },
}

/// A folder that is added.
#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// The directory.
    pub(crate) dir: PathBuf,
    /// Its name in paths; its own, if absent.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Where what its files say belongs: a project, or global.
    #[arg(long, default_value = "global")]
    pub(crate) scope: Scope,
    /// How far what is written there by hand is believed: user, model or foreign.
    #[arg(long, default_value = "user", value_name = "TRUST")]
    pub(crate) trust: Trust,
    /// Let `update` and `forget` change its files.
    #[arg(long)]
    pub(crate) writable: bool,
    /// Tell the team server of its files.
    #[arg(long)]
    pub(crate) sync: bool,
}
