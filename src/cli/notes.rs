//! The arguments of `tessera note`, `tessera graph` and `tessera unanswered`, and the filter that several commands
//! share.

use clap::{Args, Subcommand};
use tessera_engine::domain::{Category, MemoryType, Scope, Tag, WrittenTime};

/// The actions of `tessera note`.
#[derive(Debug, Subcommand)]
pub(crate) enum NoteTask {
    /// Find notes by a question, a title, or a tag (`tag:x`)
    Search {
        /// The question
        query: String,
        /// Only notes of these types
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        /// Only notes with all of these tags
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<Tag>,
        /// Only notes changed since a time: today, 7d, 2026-11-01
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
        /// The bounds.
        #[command(flatten)]
        bounds: NoteBounds,
    },
    /// Show a note
    Read {
        /// Title, permalink, path, memory:// address or ID
        identifier: String,
        /// The folder or project of the note
        #[arg(long)]
        project: Option<String>,
        /// The first line to show
        #[arg(long, default_value_t = 1)]
        line: u32,
        /// Maximum number of tokens in the reply
        #[arg(long, default_value_t = 4_000)]
        max_tokens: u32,
    },
    /// List recently changed notes, newest first
    Recent {
        /// The period: today, 2 days ago, 1h, 7d
        #[arg(default_value = "7d")]
        timeframe: String,
        /// Only notes of these types
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        /// The bounds.
        #[command(flatten)]
        bounds: NoteBounds,
    },
    /// List all notes, most recently changed first
    List {
        /// Only notes of these types
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        /// The bounds.
        #[command(flatten)]
        bounds: NoteBounds,
    },
}

/// Options that limit a list of notes.
#[derive(Debug, Clone, Args)]
pub(crate) struct NoteBounds {
    /// Only this folder or project
    #[arg(long)]
    pub(crate) project: Option<String>,
    /// Rows per page
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) page_size: u32,
    /// The page number, from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: u32,
    /// Skip this many rows, instead of using pages
    #[arg(long)]
    pub(crate) after: Option<u32>,
    /// Maximum number of tokens in the reply
    #[arg(long, default_value_t = 2_000)]
    pub(crate) max_tokens: u32,
}

/// The arguments of `tessera graph`.
#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    /// A memory:// address (* matches any text), a note's name, or an ID
    pub(crate) url: String,
    /// Number of links to follow, 0 to 5
    #[arg(long, default_value_t = 1)]
    pub(crate) depth: u32,
    /// Only related notes that changed since a time: 7d, today
    #[arg(long)]
    pub(crate) timeframe: Option<String>,
    /// Maximum number of related notes per note
    #[arg(long, default_value_t = 10)]
    pub(crate) max_related: u32,
    /// The bounds.
    #[command(flatten)]
    pub(crate) bounds: NoteBounds,
}

/// The arguments of `tessera unanswered`.
#[derive(Debug, Args)]
pub(crate) struct UnansweredArguments {
    /// Only questions asked since this time
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<WrittenTime>,
    /// Maximum number of topics; the most frequent come first
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Also list topics that a memory now answers
    #[arg(long)]
    pub(crate) all: bool,
    /// Delete the record of all questions
    #[arg(long, conflicts_with_all = ["since", "all", "limit"])]
    pub(crate) clear: bool,
}

/// The filter that several commands share.
#[derive(Debug, Args)]
pub(crate) struct Filter {
    /// Only these categories, comma-separated
    #[arg(long, value_delimiter = ',')]
    pub(crate) category: Vec<Category>,
    /// Only these types, comma-separated
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub(crate) kind: Vec<MemoryType>,
    /// Only with one of these tags, comma-separated
    #[arg(long, alias = "tag", value_delimiter = ',')]
    pub(crate) tags: Vec<Tag>,
    /// Only memories that name one of these things, comma-separated
    #[arg(long, value_delimiter = ',')]
    pub(crate) entities: Vec<String>,
    /// Only these projects, comma-separated; `global` is also accepted
    #[arg(long, value_delimiter = ',')]
    pub(crate) scope: Vec<Scope>,
    /// Only memories created since this time, such as 7d or yesterday
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<WrittenTime>,
    /// Only memories created until the end of this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<WrittenTime>,
}
