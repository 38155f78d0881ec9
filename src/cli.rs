//! What can be typed: types only.

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
    Scope, Sort, Tag, Timestamp, TokenProfile, Trust,
};

pub(crate) use eval::{Eval, EvalOptions, EvalUnit};
pub(crate) use files::{AddArguments, FilesTask};
pub(crate) use import::{ImportArguments, ImportKind, OlderArguments, Whose};
pub(crate) use notes::{Filter, GraphArguments, NoteBounds, NoteTask, UnansweredArguments};
pub(crate) use plugin::{AddPlugin, Language, PluginTask};
pub(crate) use setup::{ProjectTask, Setup, SetupClient};
pub(crate) use team::{Keep, Offered, SecretTask, Share, SyncTask, UploadChoice};

/// A memory for coding agents, inside the context budget.
#[derive(Debug, Parser)]
#[command(name = "tessera", version, about, propagate_version = true, max_term_width = 100, after_help = crate::exit::CODES)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Directory of the store, instead of TESSERA_HOME.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Say more on stderr (-v, -vv).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Store a memory.
    Remember(Remember),
    /// Find memories, within a token budget.
    Recall(Box<Recall>),
    /// Show memories in full, with everything known of them.
    Get {
        /// IDs or ids, or paths of files.
        #[arg(required = true)]
        ids: Vec<Named>,
    },
    /// List memories, newest first.
    List(List),
    /// Change fields of a memory.
    Update(Update),
    /// Forget memories; `restore` brings them back unless --hard.
    Forget {
        /// IDs or ids, or paths of files.
        #[arg(required = true)]
        ids: Vec<Named>,
        /// Delete them permanently, from the history, the index and the backups too.
        #[arg(long)]
        hard: bool,
        /// Do not ask before deleting permanently.
        #[arg(long, short, requires = "hard")]
        yes: bool,
        /// Why; kept in the history.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Show what was done about a memory that was removed for good, where, and what is left to do.
    Purged {
        /// ID or id.
        id: MemoryRef,
    },
    /// Bring back forgotten memories, or an earlier text of one.
    Restore {
        /// IDs or ids, or the paths of files. With --before, one.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<Named>,
        /// Undo this change (a number from `history`).
        #[arg(long, value_name = "REV")]
        before: Option<u64>,
    },
    /// Show what was done to a memory, when, and by whom.
    History {
        /// ID or id, or the path of a file.
        id: Named,
    },
    /// Link a memory to another: supersedes, resolved_by, part_of, see_also, or whatever it is to it, such as depends_on.
    Link {
        /// The memory that carries the link; a file by its path or title too.
        id: String,
        /// What it is to the other.
        #[arg(value_name = "TYPE")]
        kind: LinkKind,
        /// The other memory.
        to: String,
        /// Take the link away.
        #[arg(long)]
        remove: bool,
    },
    /// Store every line of a JSON-lines file that is new, or take over what an older system kept.
    Import(ImportArguments),
    /// Write all memories: as JSON lines, or as Markdown notes.
    Export {
        /// The file; stdout if left out.
        file: Option<PathBuf>,
        /// Write one note for each memory into this directory instead: to be read, edited, compared, and made known
        /// elsewhere with `tessera files add`.
        #[arg(long, value_name = "DIR", conflicts_with = "file")]
        markdown: Option<PathBuf>,
        /// Write a note for each part of a file that recall knows, too. Files are left out otherwise: copy them.
        #[arg(long, requires = "markdown")]
        parts: bool,
        /// Replace an existing file; with --markdown, write into a directory with other files and over edited notes.
        #[arg(long)]
        force: bool,
    },
    /// Count what is there.
    Stats,
    /// Examine the store.
    Doctor {
        /// Mend what can be mended.
        #[arg(long)]
        repair: bool,
        /// Do not ask before a damaged store is set aside.
        #[arg(long, short, requires = "repair")]
        yes: bool,
    },
    /// Copy the store to a file.
    Backup {
        /// The file; the store's own backups if left out.
        file: Option<PathBuf>,
        /// Replace an existing file.
        #[arg(long, visible_alias = "yes", requires = "file")]
        force: bool,
        /// Write the keys of the secrets to FILE.key, too. Whoever has both files can read the secrets.
        #[arg(long, requires = "file")]
        with_key: bool,
    },
    /// Replace the store by a backup; the present content is kept aside.
    RestoreBackup {
        /// The backup. Keys in FILE.key are added to the store's own.
        file: PathBuf,
        /// Do not ask.
        #[arg(long, short)]
        yes: bool,
    },
    /// Measure how much evidence comes back, per token.
    Eval {
        /// What to measure on.
        #[command(subcommand)]
        what: Eval,
    },
    /// Serve a team: many users on PostgreSQL, in sync. Hands over to the program tessera-server.
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Serve {
        /// What tessera-server is told; `tessera serve --help` lists it.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<OsString>,
    },
    /// Serve MCP clients, over stdio or loopback HTTP.
    Mcp {
        /// Serve HTTP on this loopback address instead of stdio, to clients that send the key in mcp-http.key of the
        /// store's directory as "Authorization: Bearer KEY".
        #[arg(long, value_name = "ADDRESS")]
        http: Option<std::net::SocketAddr>,
    },
    /// ID one event of Claude Code, from stdin.
    #[command(hide = true)]
    Hook {
        /// The event, where stdin does not name it.
        event: Option<String>,
    },
    /// Learn from the sessions that wait; the Stop hook starts it.
    #[command(hide = true)]
    Learn,
    /// Show what models were given unasked, and what nothing was found for.
    Log {
        /// Only of this session.
        #[arg(long)]
        session: Option<String>,
        /// Events, the latest.
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
    },
    /// Show where a memory comes from, and when and why it was given.
    Why {
        /// ID or id, or the path of a file.
        id: Named,
    },
    /// Show tokens given to models and spent by judges, day by day.
    Usage {
        /// Days, today included.
        #[arg(long, default_value_t = 14, value_name = "N")]
        days: u32,
    },
    /// Know folders of notes: what their files say is found as memories are.
    #[command(subcommand)]
    Files(FilesTask),
    /// Have code of your own called before and after memories are stored, recalled, changed or forgotten.
    #[command(subcommand)]
    Plugin(PluginTask),
    /// Find, read and list notes: files in folders that are known.
    #[command(subcommand)]
    Note(NoteTask),
    /// Show a note or a memory, and what is related to it.
    Graph(GraphArguments),
    /// Run one command of the memory tool: a JSON object on stdin, what it answers on stdout.
    MemoryTool,
    /// List what was asked often and that nothing answers.
    Unanswered(UnansweredArguments),
    /// Connect a client: shows the change, asks, and makes it.
    Setup(Setup),
    /// Take everything out of clients' settings again.
    Uninstall {
        /// Remove the store too, with every memory.
        #[arg(long)]
        purge: bool,
        /// Show the change without making it.
        #[arg(long)]
        dry_run: bool,
        /// Do not ask.
        #[arg(long, short)]
        yes: bool,
    },
    /// Keep this machine in sync with a team server.
    #[command(subcommand)]
    Sync(SyncTask),
    /// Share a memory, or all that has a tag, with a teammate.
    Share(Share),
    /// Share it no longer.
    Unshare(Share),
    /// List what is shared, both ways, and what others offer.
    Shares,
    /// See what a teammate offers to share by a tag, now and later.
    Accept(Offered),
    /// See none of what a teammate shares by a tag.
    Decline(Offered),
    /// List memories that were changed on two machines at once, or decide one.
    Resolve {
        /// The memory, or its other text; left out: list.
        id: Option<MemoryRef>,
        /// Which text it shall have.
        #[arg(long, conflicts_with = "content")]
        keep: Option<Keep>,
        /// A text made of both; - reads stdin.
        #[arg(long)]
        content: Option<String>,
    },
    /// Show which project this directory says it is, and whether that is believed; confirm it, or take that back.
    Project {
        /// What to do instead of showing.
        #[command(subcommand)]
        task: Option<ProjectTask>,
    },
    /// List, give back, or let go of what was taken out of texts because it was a credential.
    #[command(subcommand)]
    Secret(SecretTask),
    /// Show recall on a few hundred sample notes.
    Demo,
    /// List the settings, or change one in config.toml.
    #[command(alias = "config")]
    Settings {
        /// What to change.
        #[command(subcommand)]
        change: Option<SettingsChange>,
    },
    /// Print a completion script.
    Completions {
        /// For which shell.
        shell: Shell,
    },
    /// Print the manual page.
    Man,
}

/// A change of the settings.
#[derive(Debug, Subcommand)]
pub(crate) enum SettingsChange {
    /// Set a key.
    Set {
        /// For instance learn.extractor.
        key: String,
        /// Its value.
        value: String,
    },
    /// Go back to the default.
    Unset {
        /// The key.
        key: String,
    },
}

/// Store a memory.
#[derive(Debug, Args)]
pub(crate) struct Remember {
    /// What to remember; - reads stdin.
    #[arg(allow_hyphen_values = true, value_parser = no_option)]
    pub(crate) text: String,
    /// facts, preferences, projects, people, decisions, or a word of your own.
    #[arg(long)]
    pub(crate) category: Option<Category>,
    /// fact, entity, relationship or self.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<MemoryType>,
    /// 0 to 1; above 1, on a scale to 10.
    #[arg(long, value_parser = importance)]
    pub(crate) importance: Option<Importance>,
    /// Comma-separated.
    #[arg(long, alias = "tag", value_delimiter = ',')]
    pub(crate) tags: Vec<Tag>,
    /// Further words under which to find it, comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(crate) keywords: Vec<String>,
    /// Named things in it, comma-separated; extracted if left out.
    #[arg(long, value_delimiter = ',')]
    pub(crate) entities: Vec<String>,
    /// The project it belongs to, or global; if left out, that of this directory, but global for preferences and people.
    #[arg(long)]
    pub(crate) scope: Option<Scope>,
    /// The session it comes from.
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// A JSON object to keep beside the text and give back with it.
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<Metadata>,
    /// When it became true; now if left out.
    #[arg(long, value_name = "TIME")]
    pub(crate) created: Option<Timestamp>,
    /// When it is to be hidden: a date, days such as 30d, or never; never if left out.
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<Expiry>,
    /// Why it is stored, or where it was heard; kept in the history.
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// The memory that it replaces.
    #[arg(long, value_name = "ID")]
    pub(crate) supersedes: Option<Named>,
    /// The whole text is one secret: it is sealed, and the memory says what --as says of it.
    #[arg(long)]
    pub(crate) sensitive: bool,
    /// What the memory says of a text that is a secret; "Sensitive note" with its category if left out.
    #[arg(long = "as", value_name = "DESCRIPTION", requires = "sensitive")]
    pub(crate) described: Option<String>,
}

/// Find memories.
#[derive(Debug, Args)]
pub(crate) struct Recall {
    /// The question, in any words; - reads stdin.
    pub(crate) query: String,
    /// What the whole reply may cost.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub(crate) max_tokens: u32,
    /// Memories in index and details together, 1 to 200; 20 become 60 short ones where breadth is wanted.
    #[arg(long, default_value_t = RecallRequest::DEFAULT_LIMIT, value_name = "N")]
    pub(crate) limit: u32,
    /// What the memories must be.
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// The current project, that of this directory if left out: its memories and global ones come first.
    #[arg(long)]
    pub(crate) project: Option<Scope>,
    /// hybrid, relevance, importance or recency.
    #[arg(long, default_value = "hybrid")]
    pub(crate) sort: Sort,
    /// dual (details, then an index of the rest), all (the index names details too) or details.
    #[arg(long, default_value = "dual")]
    pub(crate) packing: Packing,
    /// Many short rows in order of time: on, off, or auto for questions such as "in which order did I ...".
    #[arg(long, default_value = "auto")]
    pub(crate) breadth: Breadth,
    /// Further words for the question, at a lower weight.
    #[arg(long, value_name = "WORDS")]
    pub(crate) expanded_query: Option<String>,
    /// Where to go on: the cursor of the page before.
    #[arg(long)]
    pub(crate) cursor: Option<Cursor>,
    /// Whose tokens: o200k, claude, or claude:FACTOR.
    #[arg(long)]
    pub(crate) token_profile: Option<TokenProfile>,
    /// Where nothing matches: list all that shares a word with the question, not only the best of it.
    #[arg(long)]
    pub(crate) weak: bool,
    /// Show score parts, tokens per memory, what was left out, and what was below the relevance floor.
    #[arg(long)]
    pub(crate) explain: bool,
    /// With --json: each memory in full with its summary, its times, its uses and its metadata.
    #[arg(long)]
    pub(crate) full: bool,
}

/// List memories.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// What the memories must be.
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// Memories a page, 1 to 200.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: u32,
    /// Where to go on: the last ID of the page before.
    #[arg(long, value_name = "HANDLE")]
    pub(crate) after: Option<MemoryRef>,
    /// List forgotten memories.
    #[arg(long)]
    pub(crate) deleted: bool,
    /// List memories that are hidden because the lifetime somebody asked for has ended.
    #[arg(long, conflicts_with = "deleted")]
    pub(crate) expired: bool,
}

/// Change fields of a memory.
#[derive(Debug, Args)]
pub(crate) struct Update {
    /// IDs or ids, or paths of files.
    #[arg(required_unless_present = "imported")]
    pub(crate) ids: Vec<Named>,
    /// Every memory that came from elsewhere and that nobody vouches for yet.
    #[arg(long, conflicts_with = "ids", requires = "trust")]
    pub(crate) imported: bool,
    /// How far it may be believed, by your word: user, model or foreign.
    #[arg(long)]
    pub(crate) trust: Option<Trust>,
    /// New text; - reads stdin.
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) content: Option<String>,
    /// New category.
    #[arg(long)]
    pub(crate) category: Option<Category>,
    /// New type.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<MemoryType>,
    /// New importance: 0 to 1; above 1, on a scale to 10.
    #[arg(long, value_parser = importance)]
    pub(crate) importance: Option<Importance>,
    /// New tags, comma-separated; an empty value removes all.
    #[arg(long)]
    pub(crate) tags: Option<String>,
    /// New keywords, comma-separated.
    #[arg(long)]
    pub(crate) keywords: Option<String>,
    /// New scope.
    #[arg(long)]
    pub(crate) scope: Option<Scope>,
    /// When it is to be hidden: a date, days such as 30d, or never.
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<Expiry>,
    /// What is kept beside the text: a JSON object, {} for none.
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<Metadata>,
    /// Why; kept in the history.
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// The whole new text is one secret: it is sealed, and the memory says what --as says of it.
    #[arg(long, requires = "content")]
    pub(crate) sensitive: bool,
    /// What the memory says of a text that is a secret; "Sensitive note" with its category if left out.
    #[arg(long = "as", value_name = "DESCRIPTION", requires = "sensitive")]
    pub(crate) described: Option<String>,
}

fn importance(text: &str) -> Result<Importance, String> {
    let value: f64 =
        text.parse().map_err(|_| "importance: is not a number; give 0 to 1, for example 0.8".to_owned())?;
    Importance::on_either_scale(value).map_err(|error| error.to_string())
}

/// A text may begin with dashes; one that looks like an option is a mistyped option.
fn no_option(text: &str) -> Result<String, String> {
    let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-')).unwrap_or("");
    if name.starts_with(char::is_alphabetic) && !text.contains(char::is_whitespace) {
        return Err("there is no such option; give a text that begins so after --, or from stdin".into());
    }
    Ok(text.to_owned())
}
