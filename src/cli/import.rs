//! The arguments of `tessera import` and `tessera export`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tessera_engine::domain::Scope;

use super::values::whole;

/// The arguments of `tessera import`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ImportArguments {
    /// The file of JSON lines; - reads stdin
    #[arg(required_unless_present_any = ["detect", "undo"])]
    pub(crate) file: Option<PathBuf>,
    /// The trust level.
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// List the importable data of other systems on this machine
    #[arg(long, conflicts_with_all = ["file", "undo"])]
    pub(crate) detect: bool,
    /// Undo an import, by its number in `tessera import list`
    ///
    /// Imported memories are deleted and can be restored. Memories that the import changed get their earlier text back.
    /// If somebody changed a memory after the import, the memory keeps this change.
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "file",
        value_parser = whole(1..=u32::MAX),
        allow_negative_numbers = true
    )]
    pub(crate) undo: Option<u32>,
    /// With --undo: show the changes without making them
    #[arg(long, requires = "undo")]
    pub(crate) dry_run: bool,
    /// With --undo: skip the confirmation prompt
    #[arg(long, short, requires = "undo")]
    pub(crate) yes: bool,
    /// Another source.
    #[command(subcommand)]
    pub(crate) kind: Option<ImportKind>,
}

/// Options for the trust level of imported memories.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Whose {
    /// The memories are yours: trust them like text you type yourself
    #[arg(long, conflicts_with = "foreign")]
    pub(crate) mine: bool,
    /// Texts of other people: recall returns them only on request (default)
    #[arg(long)]
    pub(crate) foreign: bool,
}

/// The sources other than JSON lines.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportKind {
    /// Import from claude-memory-mcp (ViktorBarzin): database or JSON
    ClaudeMemoryMcp(OlderArguments),
    /// Import from memory-mcp (WhenMoon-afk): database or JSON
    MemoryMcp(OlderArguments),
    /// Import the notes of basic-memory as memories
    ///
    /// To use the notes as files instead, run `tessera files add FOLDER`.
    BasicMemory(OlderArguments),
    /// List past imports
    List,
    /// Import a CLAUDE.md or MEMORY.md, or a directory of such files
    ///
    /// Each list item or paragraph becomes one memory. Each file of Claude Code's auto-memory becomes one memory.
    ClaudeMd {
        /// The file or directory
        path: PathBuf,
        /// The trust level.
        #[command(flatten)]
        whose: Whose,
        /// The project of the memories [default: the file's project]
        #[arg(long)]
        scope: Option<Scope>,
    },
}

/// The arguments for importing from another memory system.
#[derive(Debug, Args)]
pub(crate) struct OlderArguments {
    /// The path of the data [default: where that system stores it]
    pub(crate) path: Option<PathBuf>,
    /// The trust level.
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// The project for new memories [default: global]
    ///
    /// Memories that are already in the store keep their project.
    #[arg(long, default_value = "global")]
    pub(crate) scope: Scope,
    /// Preview the import without storing anything
    ///
    /// If a row cannot be imported, the command reports the row and exits with code 1. A real import does the same.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// The arguments of `tessera export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The file to write [default: stdout]
    pub(crate) file: Option<PathBuf>,
    /// Write one Markdown note per memory into this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub(crate) markdown: Option<PathBuf>,
    /// With --markdown: also write the sections of watched files
    #[arg(long, requires = "markdown")]
    pub(crate) parts: bool,
    /// Replace existing files
    #[arg(long, short, visible_alias = "yes")]
    pub(crate) force: bool,
}
