//! The arguments of the commands that store, find, change and delete memories.

use clap::{Args, ValueHint};
use clap_complete::ArgValueCandidates;
use tessera_desk::use_cases::Named;
use tessera_engine::domain::{
    Breadth, Category, Cursor, Expiry, Importance, MAX_LIMIT, MemoryRef, MemoryType, Metadata, Packing, RecallRequest,
    Scope, Sort, TokenProfile, Trust, WrittenTime,
};

use super::notes::Filter;
use super::text::word;
use super::values::{Ids, Tags, importance, named, whole};
use crate::commands::candidates;

/// The arguments of `tessera remember`.
#[derive(Debug, Args)]
pub(crate) struct Remember {
    /// The text to remember, with or without quotes; - reads stdin
    #[arg(value_parser = word, value_name = "TEXT", value_hint = ValueHint::Other)]
    pub(crate) text: Vec<String>,
    /// facts, preferences, projects, people, decisions or another name
    #[arg(long, short, add = ArgValueCandidates::new(candidates::categories))]
    pub(crate) category: Option<Category>,
    /// fact, entity, relationship or self
    #[arg(long = "type", value_name = "TYPE", add = ArgValueCandidates::new(candidates::types))]
    pub(crate) kind: Option<MemoryType>,
    /// The importance, 0 to 1; a value above 1 is divided by 10
    #[arg(long, short, value_parser = importance, allow_negative_numbers = true)]
    pub(crate) importance: Option<Importance>,
    /// Tags, comma-separated
    #[arg(long, short, alias = "tag", value_name = "TAGS", add = ArgValueCandidates::new(candidates::tags))]
    pub(crate) tags: Vec<Tags>,
    /// Additional search words, comma-separated
    #[arg(long, value_delimiter = ',', alias = "keyword")]
    pub(crate) keywords: Vec<String>,
    /// Named things in the text, comma-separated [default: extracted]
    #[arg(long, value_delimiter = ',', alias = "entity")]
    pub(crate) entities: Vec<String>,
    /// The project of the memory, or `global`
    ///
    /// By default, it is the project of this directory. Your preferences for all projects are global.
    #[arg(long, short, add = ArgValueCandidates::new(candidates::scopes))]
    pub(crate) scope: Option<Scope>,
    /// The session that the memory comes from
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// A JSON object to store with the text
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<Metadata>,
    /// When the text became true, such as yesterday [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) created: Option<WrittenTime>,
    /// When to hide the memory: a date, 30d, end of March, or never
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) expires: Option<Expiry>,
    /// Why the memory is stored, or its source; kept in the history
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// The memory that this one replaces
    #[arg(long, value_name = "ID", value_parser = named, add = ArgValueCandidates::new(candidates::ids))]
    pub(crate) supersedes: Option<Named>,
    /// Encrypt the whole text; recall shows only the --as description
    #[arg(long)]
    pub(crate) sensitive: bool,
    /// The public description of a sensitive text
    ///
    /// By default, the description is "Sensitive note" and the category.
    #[arg(long = "as", value_name = "DESCRIPTION", requires = "sensitive")]
    pub(crate) described: Option<String>,
}

/// The arguments of `tessera recall`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each field is a command-line switch")]
pub(crate) struct Recall {
    /// The question, with or without quotes; - reads stdin
    #[arg(value_parser = word, value_name = "QUERY", value_hint = ValueHint::Other)]
    pub(crate) query: Vec<String>,
    /// Maximum number of tokens in the whole reply
    #[arg(long, short, default_value_t = 1000, value_name = "N", value_parser = whole(1..=u32::MAX), allow_negative_numbers = true)]
    pub(crate) max_tokens: u32,
    /// Maximum number of memories, 1 to 200
    ///
    /// The limit includes full results and summaries. For a reply with many short rows, the default maximum is 60
    /// instead of 20.
    #[arg(long, short = 'n', default_value_t = RecallRequest::DEFAULT_LIMIT, value_name = "N", value_parser = whole(1..=MAX_LIMIT), allow_negative_numbers = true)]
    pub(crate) limit: u32,
    /// The filter.
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// The current project [default: the project of this directory]
    ///
    /// Memories of other projects are left out, unless the question names their project or nothing else matches
    /// nearly as well. `--project global` covers all projects.
    #[arg(long, short, add = ArgValueCandidates::new(candidates::scopes))]
    pub(crate) project: Option<Scope>,
    /// hybrid, relevance, importance or recency
    #[arg(long, default_value = "hybrid", add = ArgValueCandidates::new(candidates::sorts))]
    pub(crate) sort: Sort,
    /// How results fill the budget: dual, all or details (no summaries)
    #[arg(long, default_value = "dual", add = ArgValueCandidates::new(candidates::packings))]
    pub(crate) packing: Packing,
    /// Return many short rows in chronological order: on, off or auto
    #[arg(long, default_value = "auto", add = ArgValueCandidates::new(candidates::breadths))]
    pub(crate) breadth: Breadth,
    /// Additional search words with a lower weight
    #[arg(long, value_name = "WORDS")]
    pub(crate) expanded_query: Option<String>,
    /// Continue at this cursor, which the previous page returned
    #[arg(long)]
    pub(crate) cursor: Option<Cursor>,
    /// Tokenizer: o200k, claude, or claude:FACTOR (count times FACTOR)
    #[arg(long)]
    pub(crate) token_profile: Option<TokenProfile>,
    /// If nothing matches well, list all low-confidence matches
    #[arg(long)]
    pub(crate) weak: bool,
    /// Explain scores, token counts and omitted matches
    #[arg(long, short = 'x')]
    pub(crate) explain: bool,
    /// With --json: return complete memories with all fields
    #[arg(long)]
    pub(crate) full: bool,
    /// Print the reply as a model receives it; a pipe always gets this form
    #[arg(long)]
    pub(crate) as_model: bool,
}

/// The arguments of `tessera list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// The filter.
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// Memories per page, 1 to 200
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N", value_parser = whole(1..=MAX_LIMIT), allow_negative_numbers = true)]
    pub(crate) limit: u32,
    /// Continue after this ID, the last of the previous page
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<MemoryRef>,
    /// List deleted memories
    #[arg(long)]
    pub(crate) deleted: bool,
    /// List expired memories
    #[arg(long, conflicts_with = "deleted")]
    pub(crate) expired: bool,
}

/// The arguments of `tessera update`.
#[derive(Debug, Args)]
pub(crate) struct Update {
    /// IDs, UUIDs or file paths
    #[arg(required_unless_present = "imported", value_name = "ID", add = ArgValueCandidates::new(candidates::ids))]
    pub(crate) ids: Vec<Ids>,
    /// All imported memories that nobody has confirmed yet
    #[arg(long, conflicts_with = "ids", requires = "trust")]
    pub(crate) imported: bool,
    /// Set the trust level: user, model or foreign
    #[arg(long, add = ArgValueCandidates::new(candidates::trusts))]
    pub(crate) trust: Option<Trust>,
    /// New text; - reads stdin
    #[arg(long, alias = "text", allow_hyphen_values = true)]
    pub(crate) content: Option<String>,
    /// New category
    #[arg(long, short, add = ArgValueCandidates::new(candidates::categories))]
    pub(crate) category: Option<Category>,
    /// New type
    #[arg(long = "type", value_name = "TYPE", add = ArgValueCandidates::new(candidates::types))]
    pub(crate) kind: Option<MemoryType>,
    /// New importance, 0 to 1; a value above 1 is divided by 10
    #[arg(long, short, value_parser = importance, allow_negative_numbers = true)]
    pub(crate) importance: Option<Importance>,
    /// New tags, comma-separated; an empty value removes all
    #[arg(long, short, alias = "tag", add = ArgValueCandidates::new(candidates::tags))]
    pub(crate) tags: Option<String>,
    /// New keywords, comma-separated
    #[arg(long, alias = "keyword")]
    pub(crate) keywords: Option<String>,
    /// New scope
    #[arg(long, short, add = ArgValueCandidates::new(candidates::scopes))]
    pub(crate) scope: Option<Scope>,
    /// When to hide the memory: a date, a period such as 30d, or never
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) expires: Option<Expiry>,
    /// New metadata: a JSON object; {} removes it
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<Metadata>,
    /// The reason, kept in the history
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// Encrypt the whole new text; recall shows the --as description
    #[arg(long, requires = "content")]
    pub(crate) sensitive: bool,
    /// The public description of a sensitive text
    ///
    /// By default, the description is "Sensitive note" and the category.
    #[arg(long = "as", value_name = "DESCRIPTION", requires = "sensitive")]
    pub(crate) described: Option<String>,
}

/// The arguments of `tessera forget`.
#[derive(Debug, Args)]
pub(crate) struct Forget {
    /// IDs, UUIDs or file paths
    #[arg(required_unless_present = "matching", value_name = "ID", add = ArgValueCandidates::new(candidates::ids))]
    pub(crate) ids: Vec<Ids>,
    /// Delete the memories that contain all these words, after a question
    #[arg(long, short, value_name = "WORDS", num_args = 1.., conflicts_with = "ids", value_parser = word)]
    pub(crate) matching: Vec<String>,
    /// Delete permanently: also from the history, the index and backups
    #[arg(long)]
    pub(crate) hard: bool,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// The reason, kept in the history
    #[arg(long)]
    pub(crate) reason: Option<String>,
}
