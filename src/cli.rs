//! The command-line arguments, as types.

mod eval;
mod files;
mod import;
mod notes;
mod plugin;
mod setup;
mod team;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use tessera_desk::use_cases::Named;
use tessera_engine::domain::{
    Breadth, Category, Cursor, Expiry, Importance, LinkKind, MemoryRef, MemoryType, Metadata, Packing, RecallRequest,
    Scope, Sort, Tag, TokenProfile, Trust, WrittenTime,
};

pub(crate) use eval::{Eval, EvalOptions, EvalUnit, EvalVectors};
pub(crate) use files::{AddArguments, FilesTask};
pub(crate) use import::{ImportArguments, ImportKind, OlderArguments, Whose};
pub(crate) use notes::{Filter, GraphArguments, NoteBounds, NoteTask, UnansweredArguments};
pub(crate) use plugin::{AddPlugin, Language, PluginTask};
pub(crate) use setup::{ProjectTask, Setup, SetupClient};
pub(crate) use team::{Keep, Offered, SecretTask, Share, SyncTask, UploadChoice};

/// Persistent memory for coding agents, within the context budget.
#[derive(Debug, Parser)]
#[command(name = "tessera", version, about, propagate_version = true, max_term_width = 100, after_help = crate::exit::CODES)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Directory of the store [default: $TESSERA_HOME, or ~/.tessera]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print more to stderr; repeat for more detail
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Store a memory
    Remember(Remember),
    /// Find memories within a token budget
    Recall(Box<Recall>),
    /// Show memories in full, with their metadata
    Get {
        /// IDs, UUIDs or file paths
        #[arg(required = true)]
        ids: Vec<Named>,
    },
    /// List memories, newest first
    List(List),
    /// Change fields of a memory
    Update(Update),
    /// Delete memories; `restore` brings them back
    Forget {
        /// IDs, UUIDs or file paths
        #[arg(required = true)]
        ids: Vec<Named>,
        /// Delete permanently: also from the history, the index and backups
        #[arg(long)]
        hard: bool,
        /// Skip the confirmation prompt
        #[arg(long, short, requires = "hard")]
        yes: bool,
        /// The reason, kept in the history
        #[arg(long)]
        reason: Option<String>,
    },
    /// Show from which places a permanently deleted memory was removed
    Purged {
        /// An ID or a UUID
        id: MemoryRef,
    },
    /// Restore deleted memories, or an earlier text of one
    Restore {
        /// IDs, UUIDs or file paths; exactly one with --before
        #[arg(required = true, value_name = "ID")]
        ids: Vec<Named>,
        /// Undo this change (a number from `history`)
        #[arg(long, value_name = "REV")]
        before: Option<u64>,
    },
    /// Show who changed a memory, when and how
    History {
        /// An ID, a UUID or a file path
        id: Named,
    },
    /// Link one memory to another
    Link {
        /// The memory that holds the link: ID, UUID, file path or title
        id: String,
        /// The kind of link: supersedes, updates, part_of, see_also, ...
        #[arg(value_name = "TYPE")]
        kind: LinkKind,
        /// The memory to link to
        to: String,
        /// Remove the link
        #[arg(long)]
        remove: bool,
    },
    /// Import JSON lines, or the data of another system
    Import(ImportArguments),
    /// Export all memories as JSON lines or Markdown notes
    Export {
        /// The file to write [default: stdout]
        file: Option<PathBuf>,
        /// Write one Markdown note per memory into this directory instead
        #[arg(long, value_name = "DIR", conflicts_with = "file")]
        markdown: Option<PathBuf>,
        /// With --markdown: also write the sections of watched files
        #[arg(long, requires = "markdown")]
        parts: bool,
        /// Replace existing files
        #[arg(long)]
        force: bool,
    },
    /// Count memories, and show the state of the store
    Stats,
    /// Check the store for damage
    Doctor {
        /// Repair what can be repaired
        #[arg(long)]
        repair: bool,
        /// Skip the confirmation before a damaged store is replaced
        #[arg(long, short, requires = "repair")]
        yes: bool,
    },
    /// Copy the store to a file
    Backup {
        /// The file to write [default: a new file in the store's backups]
        file: Option<PathBuf>,
        /// Replace an existing file
        #[arg(long, visible_alias = "yes", requires = "file")]
        force: bool,
        /// Also write the secret keys to FILE.key
        ///
        /// Anyone who has both files can read the secrets.
        #[arg(long, requires = "file")]
        with_key: bool,
    },
    /// Replace the store with a backup; keep the current store as a copy
    RestoreBackup {
        /// The backup; keys in FILE.key are added to the store's keys
        file: PathBuf,
        /// Skip the confirmation prompt
        #[arg(long, short)]
        yes: bool,
    },
    /// Measure the quality of recall on an evaluation set
    Eval {
        /// The evaluation set.
        #[command(subcommand)]
        what: Eval,
    },
    /// Run the team server (starts the program tessera-server)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Serve {
        /// Arguments for tessera-server; see `tessera serve --help`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<OsString>,
    },
    /// Serve MCP clients over stdio or local HTTP
    Mcp {
        /// Serve HTTP on this loopback address instead of stdio
        ///
        /// Clients send the key in mcp-http.key, a file in the directory of the store, as "Authorization: Bearer KEY".
        #[arg(long, value_name = "ADDRESS")]
        http: Option<std::net::SocketAddr>,
    },
    /// Handle one Claude Code event, read from stdin
    #[command(hide = true)]
    Hook {
        /// The event, if stdin does not name it
        event: Option<String>,
    },
    /// Extract memories from finished sessions (run by the Stop hook)
    #[command(hide = true)]
    Learn,
    /// Show which memories the hooks added to prompts, and when
    Log {
        /// Only events of this session
        #[arg(long)]
        session: Option<String>,
        /// The number of recent events to show
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
    },
    /// Show where a memory comes from, and when and why it was recalled
    Why {
        /// An ID, a UUID or a file path
        id: Named,
    },
    /// Show the tokens used, day by day
    Usage {
        /// The number of days, including today
        #[arg(long, default_value_t = 14, value_name = "N")]
        days: u32,
    },
    /// Manage indexed folders of files
    #[command(subcommand)]
    Files(FilesTask),
    /// Manage plugins: your own code, called on memory events
    #[command(subcommand)]
    Plugin(PluginTask),
    /// Search, read and list notes in indexed folders
    #[command(subcommand)]
    Note(NoteTask),
    /// Show a note or a memory together with its links
    Graph(GraphArguments),
    /// Run one memory tool command: JSON on stdin, the answer on stdout
    MemoryTool,
    /// List frequent questions that no memory answers
    Unanswered(UnansweredArguments),
    /// Connect a client: shows the change, then asks
    Setup(Setup),
    /// Remove Tessera from the settings of all clients
    Uninstall {
        /// Also delete the store with all memories
        #[arg(long)]
        purge: bool,
        /// Show the changes without making them
        #[arg(long)]
        dry_run: bool,
        /// Skip the confirmation prompt
        #[arg(long, short)]
        yes: bool,
    },
    /// Sync this machine with a team server
    #[command(subcommand)]
    Sync(SyncTask),
    /// Share a memory, or a tag, with a teammate
    Share(Share),
    /// Stop sharing a memory or a tag
    Unshare(Share),
    /// List what you share and what others share with you
    Shares,
    /// Accept a tag that a teammate shares, now and in future
    Accept(Offered),
    /// Decline a tag that a teammate shares
    Decline(Offered),
    /// List sync conflicts, or resolve one
    Resolve {
        /// The memory or its conflict copy [default: list all conflicts]
        id: Option<MemoryRef>,
        /// The text to keep
        #[arg(long, conflicts_with = "content")]
        keep: Option<Keep>,
        /// A merged text; - reads stdin
        #[arg(long)]
        content: Option<String>,
    },
    /// Show, confirm or forget the project of this directory
    Project {
        /// The action; without one, the project is shown.
        #[command(subcommand)]
        task: Option<ProjectTask>,
    },
    /// Manage the secrets that were removed from texts
    #[command(subcommand)]
    Secret(SecretTask),
    /// Demonstrate recall on a few hundred sample notes
    Demo,
    /// List the settings, or change one in config.toml
    #[command(alias = "config")]
    Settings {
        /// The change.
        #[command(subcommand)]
        change: Option<SettingsChange>,
    },
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

/// A change of the settings.
#[derive(Debug, Subcommand)]
pub(crate) enum SettingsChange {
    /// Set a setting
    Set {
        /// The setting, for example learn.extractor
        key: String,
        /// The value
        value: String,
    },
    /// Reset a setting to its default
    Unset {
        /// The setting
        key: String,
    },
}

/// The arguments of `tessera remember`.
#[derive(Debug, Args)]
pub(crate) struct Remember {
    /// The text to remember; - reads stdin
    #[arg(allow_hyphen_values = true, value_parser = no_option)]
    pub(crate) text: String,
    /// facts, preferences, projects, people, decisions or another name
    #[arg(long)]
    pub(crate) category: Option<Category>,
    /// fact, entity, relationship or self
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<MemoryType>,
    /// The importance, 0 to 1; a value above 1 is divided by 10
    #[arg(long, value_parser = importance)]
    pub(crate) importance: Option<Importance>,
    /// Tags, comma-separated
    #[arg(long, alias = "tag", value_delimiter = ',')]
    pub(crate) tags: Vec<Tag>,
    /// Additional search words, comma-separated
    #[arg(long, value_delimiter = ',')]
    pub(crate) keywords: Vec<String>,
    /// Named things in the text, comma-separated [default: extracted]
    #[arg(long, value_delimiter = ',')]
    pub(crate) entities: Vec<String>,
    /// The project of the memory, or `global`
    ///
    /// By default, it is the project of this directory. Your preferences for all projects are global.
    #[arg(long)]
    pub(crate) scope: Option<Scope>,
    /// The session that the memory comes from
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// A JSON object to store with the text
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<Metadata>,
    /// When the text became true, such as yesterday [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) created: Option<WrittenTime>,
    /// When to hide the memory: a date, 30d, end of March, or never
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<Expiry>,
    /// Why the memory is stored, or its source; kept in the history
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// The memory that this one replaces
    #[arg(long, value_name = "ID")]
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
pub(crate) struct Recall {
    /// The question, in any words; - reads stdin
    pub(crate) query: String,
    /// Maximum number of tokens in the whole reply
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub(crate) max_tokens: u32,
    /// Maximum number of memories, 1 to 200
    ///
    /// The limit includes full results and summaries. For a reply with many short rows, the default maximum is 60
    /// instead of 20.
    #[arg(long, default_value_t = RecallRequest::DEFAULT_LIMIT, value_name = "N")]
    pub(crate) limit: u32,
    /// The filter.
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// The current project [default: the project of this directory]
    ///
    /// Memories of other projects are left out, unless the question names their project or nothing else matches
    /// nearly as well. `--project global` covers all projects.
    #[arg(long)]
    pub(crate) project: Option<Scope>,
    /// hybrid, relevance, importance or recency
    #[arg(long, default_value = "hybrid")]
    pub(crate) sort: Sort,
    /// How results fill the budget: dual, all or details (no summaries)
    #[arg(long, default_value = "dual")]
    pub(crate) packing: Packing,
    /// Return many short rows in chronological order: on, off or auto
    #[arg(long, default_value = "auto")]
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
    #[arg(long)]
    pub(crate) explain: bool,
    /// With --json: return complete memories with all fields
    #[arg(long)]
    pub(crate) full: bool,
}

/// The arguments of `tessera list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// The filter.
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// Memories per page, 1 to 200
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: u32,
    /// Continue after this ID, the last of the previous page
    #[arg(long, value_name = "HANDLE")]
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
    #[arg(required_unless_present = "imported")]
    pub(crate) ids: Vec<Named>,
    /// All imported memories that nobody has confirmed yet
    #[arg(long, conflicts_with = "ids", requires = "trust")]
    pub(crate) imported: bool,
    /// Set the trust level: user, model or foreign
    #[arg(long)]
    pub(crate) trust: Option<Trust>,
    /// New text; - reads stdin
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) content: Option<String>,
    /// New category
    #[arg(long)]
    pub(crate) category: Option<Category>,
    /// New type
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<MemoryType>,
    /// New importance, 0 to 1; a value above 1 is divided by 10
    #[arg(long, value_parser = importance)]
    pub(crate) importance: Option<Importance>,
    /// New tags, comma-separated; an empty value removes all
    #[arg(long)]
    pub(crate) tags: Option<String>,
    /// New keywords, comma-separated
    #[arg(long)]
    pub(crate) keywords: Option<String>,
    /// New scope
    #[arg(long)]
    pub(crate) scope: Option<Scope>,
    /// When to hide the memory: a date, a period such as 30d, or never
    #[arg(long, value_name = "TIME")]
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

fn importance(text: &str) -> Result<Importance, String> {
    let value: f64 = text.parse().map_err(|_| "importance: is not a number; use 0 to 1, for example 0.8".to_owned())?;
    Importance::on_either_scale(value).map_err(|error| error.to_string())
}

/// Accepts a text that begins with dashes, but rejects a text that looks like a mistyped option.
fn no_option(text: &str) -> Result<String, String> {
    let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-')).unwrap_or("");
    if name.starts_with(char::is_alphabetic) && !text.contains(char::is_whitespace) {
        return Err("unknown option; to use it as text, put it after --, or pass it through stdin".into());
    }
    Ok(text.to_owned())
}
