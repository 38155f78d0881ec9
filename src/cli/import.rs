//! The arguments of `tessera import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tessera_engine::domain::Scope;

/// What is imported.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ImportArguments {
    /// The file of JSON lines; - for stdin.
    #[arg(required_unless_present_any = ["detect", "undo"])]
    pub(crate) file: Option<PathBuf>,
    /// Whose they are.
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// List what older systems keep on this machine, and how to take it over.
    #[arg(long, conflicts_with_all = ["file", "undo"])]
    pub(crate) detect: bool,
    /// Take an import back, by its number in `tessera import list`: what it stored goes, restorable, and what it changed is
    /// as before. What somebody changed since stays.
    #[arg(long, value_name = "N", conflicts_with = "file")]
    pub(crate) undo: Option<u32>,
    /// Show what --undo does without doing it.
    #[arg(long, requires = "undo")]
    pub(crate) dry_run: bool,
    /// Do not ask before --undo.
    #[arg(long, short, requires = "undo")]
    pub(crate) yes: bool,
    /// Another source.
    #[command(subcommand)]
    pub(crate) kind: Option<ImportKind>,
}

/// Whose memories come from elsewhere.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Whose {
    /// They are your own: believe them as what you type yourself.
    #[arg(long, conflicts_with = "foreign")]
    pub(crate) mine: bool,
    /// They are somebody else's: given when asked, never unasked. So it is where nobody says anything.
    #[arg(long)]
    pub(crate) foreign: bool,
}

/// What to import other than JSON lines.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportKind {
    /// Take over what claude-memory-mcp (ViktorBarzin) kept: its database, or its rows as JSON.
    ClaudeMemoryMcp(OlderArguments),
    /// Take over what memory-mcp (WhenMoon-afk) kept: its database, or its rows as JSON.
    MemoryMcp(OlderArguments),
    /// Take over the notes of basic-memory as memories; `tessera files add FOLDER` makes them known as the files they are.
    BasicMemory(OlderArguments),
    /// List the imports.
    List,
    /// Notes of a CLAUDE.md or MEMORY.md, with the files that it lists, or of a directory of them: one memory for each item or
    /// paragraph, and for each file of Claude Code's auto-memory.
    ClaudeMd {
        /// The file or directory.
        path: PathBuf,
        /// Whose they are.
        #[command(flatten)]
        whose: Whose,
        /// The project they belong to; the file's own if left out.
        #[arg(long)]
        scope: Option<Scope>,
    },
}

/// What an older system kept.
#[derive(Debug, Args)]
pub(crate) struct OlderArguments {
    /// Where it lies; where that system keeps its data if left out.
    pub(crate) path: Option<PathBuf>,
    /// Whose it is.
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// The project that new rows go to; global if left out. Those that are here stay in theirs.
    #[arg(long, default_value = "global")]
    pub(crate) scope: Scope,
    /// Show what would be taken over without taking it. Where a row is left out, and told, the exit code is 1, here and when
    /// the rest is taken.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
}
