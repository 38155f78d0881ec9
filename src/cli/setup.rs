//! The arguments of `tessera setup` and `tessera project`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// The arguments of `tessera setup`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each field is a command-line switch")]
pub(crate) struct Setup {
    /// claude-code, claude-desktop, cursor, codex, gemini or vscode
    #[arg(value_enum)]
    pub(crate) client: SetupClient,
    /// Set up only this project, in files that the team shares
    #[arg(long)]
    pub(crate) project: bool,
    /// Also offer the file-based memory tool to every client of this store
    #[arg(long)]
    pub(crate) memory_files: bool,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// The supported clients.
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

/// The actions of `tessera project`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProjectTask {
    /// Confirm that a directory belongs to the project that it claims
    ///
    /// Then automatic recall in this directory uses the project's memories.
    Trust {
        /// The directory [default: this one]
        path: Option<PathBuf>,
    },
    /// List the directories of known projects
    List,
    /// Stop trusting a directory
    Forget {
        /// The directory [default: this one]
        path: Option<PathBuf>,
    },
}
