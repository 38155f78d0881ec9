//! The arguments of `tessera note`, `tessera graph` and `tessera unanswered`, and the filter that several commands
//! share.

use clap::{Args, Subcommand};
use clap_complete::ArgValueCandidates;
use tessera_engine::domain::{Category, MemoryType, Scope, WrittenTime};

use super::text::word;
use super::values::{Tags, rows, whole};
use crate::commands::candidates;

/// The actions of `tessera note`.
#[derive(Debug, Subcommand)]
pub(crate) enum NoteTask {
    /// Find notes by a question, a title, or a tag (`tag:x`)
    Search {
        /// The question, with or without quotes
        #[arg(required = true, value_name = "QUERY", value_parser = word)]
        query: Vec<String>,
        /// Only notes of these types
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        /// Only notes with all of these tags
        #[arg(long = "tag", alias = "tags", short, value_name = "TAG", add = ArgValueCandidates::new(candidates::tags))]
        tags: Vec<Tags>,
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
        #[arg(value_name = "NOTE")]
        identifier: String,
        /// The folder or project of the note
        #[arg(long)]
        project: Option<String>,
        /// The first line to show
        #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole(1..=u32::MAX), allow_negative_numbers = true)]
        line: u32,
        /// Maximum number of tokens in the reply
        #[arg(long, short, default_value_t = 4_000, value_name = "N", value_parser = whole(1..=u32::MAX), allow_negative_numbers = true)]
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
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N", value_parser = whole(1..=200), allow_negative_numbers = true)]
    pub(crate) page_size: u32,
    /// The page number, from 1
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole(1..=u32::MAX), allow_negative_numbers = true)]
    pub(crate) page: u32,
    /// Skip this many rows, instead of using pages
    #[arg(long, value_name = "N", value_parser = whole(0..=u32::MAX), allow_negative_numbers = true)]
    pub(crate) after: Option<u32>,
    /// Maximum number of tokens in the reply
    #[arg(long, short, default_value_t = 2_000, value_name = "N", value_parser = whole(1..=u32::MAX), allow_negative_numbers = true)]
    pub(crate) max_tokens: u32,
}

/// The arguments of `tessera graph`.
#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    /// A memory:// address (* matches any text), a note's name, or an ID
    #[arg(value_name = "NOTE", add = ArgValueCandidates::new(candidates::ids))]
    pub(crate) url: String,
    /// Number of links to follow, 0 to 5
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole(0..=5), allow_negative_numbers = true)]
    pub(crate) depth: u32,
    /// Only related notes that changed since a time: 7d, today
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) timeframe: Option<String>,
    /// Maximum number of related notes per note
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = whole(1..=200), allow_negative_numbers = true)]
    pub(crate) max_related: u32,
    /// The bounds.
    #[command(flatten)]
    pub(crate) bounds: NoteBounds,
}

/// The arguments of `tessera log`.
#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    /// Only events of this session
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// The number of recent events to show
    #[arg(long, short = 'n', default_value = "20", value_name = "N", value_parser = rows, allow_negative_numbers = true)]
    pub(crate) limit: usize,
}

/// The arguments of `tessera unanswered`.
#[derive(Debug, Args)]
pub(crate) struct UnansweredArguments {
    /// Only questions asked since this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<WrittenTime>,
    /// Maximum number of topics; the most frequent come first
    #[arg(long, short = 'n', default_value = "20", value_name = "N", value_parser = rows, allow_negative_numbers = true)]
    pub(crate) limit: usize,
    /// Also list topics that a memory now answers
    #[arg(long)]
    pub(crate) all: bool,
    /// Delete the record of all questions
    #[arg(long, conflicts_with_all = ["since", "all", "limit"])]
    pub(crate) clear: bool,
}

/// The filter that several commands share.
#[derive(Debug, Clone, Args)]
pub(crate) struct Filter {
    /// Only these categories, comma-separated
    #[arg(long, short, value_delimiter = ',', add = ArgValueCandidates::new(candidates::categories))]
    pub(crate) category: Vec<Category>,
    /// Only these types, comma-separated
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', add = ArgValueCandidates::new(candidates::types))]
    pub(crate) kind: Vec<MemoryType>,
    /// Only with one of these tags, comma-separated
    #[arg(long, short, alias = "tag", value_name = "TAGS", add = ArgValueCandidates::new(candidates::tags))]
    pub(crate) tags: Vec<Tags>,
    /// Only memories that name one of these things, comma-separated
    #[arg(long, alias = "entity", value_delimiter = ',')]
    pub(crate) entities: Vec<String>,
    /// Only these projects, comma-separated; `global` is also accepted
    #[arg(long, short, value_delimiter = ',', add = ArgValueCandidates::new(candidates::scopes))]
    pub(crate) scope: Vec<Scope>,
    /// Only memories created since this time, such as 7d or yesterday
    #[arg(long, alias = "after-date", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<WrittenTime>,
    /// Only memories created until the end of this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<WrittenTime>,
}
