//! The arguments of `tessera note` and `tessera graph`.
//!
//! The arguments of `tessera unanswered`.
//!
//! What memories must be that a command asks for.

use clap::{Args, Subcommand};
use tessera_engine::domain::{Category, MemoryType, Scope, Tag, Timestamp};

/// What to do with notes.
#[derive(Debug, Subcommand)]
pub(crate) enum NoteTask {
    /// Find notes by a question, by how they are called, and by tags (`tag:x`).
    Search {
        /// The question.
        query: String,
        /// Of these types.
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        /// With all of these tags.
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<Tag>,
        /// Changed since then: today, 7d, 2026-11-01.
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
        /// Which notes, and how many.
        #[command(flatten)]
        bounds: NoteBounds,
    },
    /// Show a note by its title, permalink, path, memory:// address or number.
    Read {
        /// What it is called.
        identifier: String,
        /// The folder or the project that it is in.
        #[arg(long)]
        project: Option<String>,
        /// The line to begin with.
        #[arg(long, default_value_t = 1)]
        line: u32,
        /// Tokens that the reply may cost.
        #[arg(long, default_value_t = 4_000)]
        max_tokens: u32,
    },
    /// List notes that were changed, the newest change first.
    Recent {
        /// Since when: today, 2 days ago, 1h, 7d.
        #[arg(default_value = "7d")]
        timeframe: String,
        /// Of these types.
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        /// Which notes, and how many.
        #[command(flatten)]
        bounds: NoteBounds,
    },
    /// List all notes, the newest change first.
    List {
        /// Of these types.
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        /// Which notes, and how many.
        #[command(flatten)]
        bounds: NoteBounds,
    },
}

/// Which notes, and how many.
#[derive(Debug, Clone, Args)]
pub(crate) struct NoteBounds {
    /// A folder or a project; all, if absent.
    #[arg(long)]
    pub(crate) project: Option<String>,
    /// Rows of a page.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) page_size: u32,
    /// The page, from 1.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: u32,
    /// Rows that are stepped over, instead of pages.
    #[arg(long)]
    pub(crate) after: Option<u32>,
    /// Tokens that the reply may cost.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) max_tokens: u32,
}

/// Where to begin, and how far to walk.
#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    /// A memory:// address, which may hold *; or any name of a note, or the number of a memory.
    pub(crate) url: String,
    /// Steps, 0 to 5.
    #[arg(long, default_value_t = 1)]
    pub(crate) depth: u32,
    /// Related notes that were changed since then: 7d, today.
    #[arg(long)]
    pub(crate) timeframe: Option<String>,
    /// Related notes of each note.
    #[arg(long, default_value_t = 10)]
    pub(crate) max_related: u32,
    /// Which notes, and how many.
    #[command(flatten)]
    pub(crate) bounds: NoteBounds,
}

/// What was asked in vain.
#[derive(Debug, Args)]
pub(crate) struct UnansweredArguments {
    /// Only questions asked at or after.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Timestamp>,
    /// Topics, those asked most often.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Those too that something answers by now.
    #[arg(long)]
    pub(crate) all: bool,
    /// Forget all questions that were noted.
    #[arg(long, conflicts_with_all = ["since", "all", "limit"])]
    pub(crate) clear: bool,
}

/// What a memory must be.
#[derive(Debug, Args)]
pub(crate) struct Filter {
    /// Only these categories, comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(crate) category: Vec<Category>,
    /// Only these types, comma-separated.
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub(crate) kind: Vec<MemoryType>,
    /// Only with one of these tags, comma-separated.
    #[arg(long, alias = "tag", value_delimiter = ',')]
    pub(crate) tags: Vec<Tag>,
    /// Only with one of these named things, comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(crate) entities: Vec<String>,
    /// Only of these projects (`global` for what belongs to none), comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(crate) scope: Vec<Scope>,
    /// Only created at or after.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Timestamp>,
    /// Only created before.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<Timestamp>,
}
