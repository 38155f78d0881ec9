//! The arguments of `tessera setup`.
//!
//! The arguments of `tessera project`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Connect a client.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Setup {
    /// claude-code, claude-desktop, cursor, codex, gemini or vscode.
    #[arg(value_enum)]
    pub(crate) client: SetupClient,
    /// For the project in this directory alone, in files that can be committed.
    #[arg(long)]
    pub(crate) project: bool,
    /// Offer the memory tool too, which keeps files under /memories: to all clients that use this store.
    #[arg(long)]
    pub(crate) memory_files: bool,
    /// Show the change without making it.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Clients that can be set up.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SetupClient {
    /// Claude Code: server and hooks.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Visual Studio Code.
    Vscode,
}

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
