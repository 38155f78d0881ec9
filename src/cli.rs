//! The command-line arguments, as types.

mod eval;
mod files;
mod groups;
mod handoff;
mod import;
mod memories;
mod notes;
mod plugin;
mod program;
mod review;
mod setup;
mod team;
mod text;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::ArgValueCandidates;
use tessera_desk::use_cases::Named;
use tessera_engine::domain::{LinkKind, MemoryRef};

use crate::commands::candidates;
use crate::output::ColorChoice;
use values::{named, revision, whole};

pub(crate) use eval::{Eval, EvalOptions, EvalUnit, EvalVectors};
pub(crate) use files::{AddArguments, FilesTask};
#[cfg(test)]
pub(crate) use groups::GROUPS;
pub(crate) use groups::{command, command_for};
pub(crate) use handoff::HandoffArguments;
pub(crate) use import::{ExportArguments, ImportArguments, ImportKind, OlderArguments, Whose};
pub(crate) use memories::{Forget, List, Recall, Remember, Update};
pub(crate) use notes::{Filter, GraphArguments, LogArguments, NoteBounds, NoteTask, UnansweredArguments};
pub(crate) use plugin::{AddPlugin, Language, PluginTask};
pub(crate) use program::{CompletionsTask, SettingsTask, manner};
pub(crate) use review::{ReviewArguments, ReviewTask};
pub(crate) use setup::{ProjectTask, Setup, SetupClient};
pub(crate) use team::{Keep, Offered, SecretTask, Share, SyncTask, UploadChoice};
pub(crate) use text::arguments;
pub(crate) use values::{Ids, Tags};

/// Persistent memory for coding agents, within the context budget.
#[derive(Debug, Parser)]
#[command(name = "tessera", version, about, max_term_width = 100, after_help = crate::exit::CODES)]
pub(crate) struct Cli {
    /// The command; `None` for `tessera` alone.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Print JSON instead of text, also for errors
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Directory of the store [default: $TESSERA_HOME, or the user's data]
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) home: Option<PathBuf>,
    /// When to use colours: auto (default), always or never
    #[arg(long, global = true, value_name = "WHEN", hide_possible_values = true)]
    pub(crate) color: Option<ColorChoice>,
    /// Do not show long output in a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Do not print remarks, only results and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Print more to stderr; repeat for more detail
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Store a memory
    #[command(aliases = ["add", "store", "save", "new"], after_help = "Examples:
  tessera remember I prefer tabs in Go files
  tessera remember 'the demo is on Friday' --expires friday
  git log -1 --format=%B | tessera remember -")]
    Remember(Remember),
    /// Find memories that answer a question
    #[command(aliases = ["search", "find", "query", "ask", "grep"], after_help = "Examples:
  tessera recall which port does staging use
  tessera recall 'what did we decide last week?' --max-tokens 400
  tessera recall deploy --as-model")]
    Recall(Box<Recall>),
    /// Show memories in full, with their metadata
    #[command(aliases = ["show", "view", "cat", "read"], after_help = "Examples:
  tessera get 42
  tessera get 42 57 --json")]
    Get {
        /// IDs, UUIDs or file paths
        #[arg(required = true, value_name = "ID", add = ArgValueCandidates::new(candidates::ids))]
        ids: Vec<Ids>,
    },
    /// List memories, newest first
    #[command(aliases = ["ls", "all"], after_help = "Examples:
  tessera list
  tessera list --tags ops --since 7d
  tessera list --deleted")]
    List(List),
    /// Search memories while you type, and show or change them
    #[command(aliases = ["pick", "tui", "ui"], after_help = "Keys: Enter shows a memory; then e edits it, d deletes it, and u undoes. Esc leaves.

Examples:
  tessera browse
  tessera browse deploy
  tessera browse --print    (prints the chosen text; for shell key bindings)")]
    Browse {
        /// The words to begin with
        words: Vec<String>,
        /// Print the text of the chosen memory, and exit
        #[arg(long)]
        print: bool,
    },
    /// Edit the text of a memory in your editor
    #[command(after_help = "The editor is $VISUAL, $EDITOR, or the system's default editor.

Example:
  tessera edit 42")]
    Edit {
        /// An ID, a UUID or a file path
        #[arg(value_parser = named, add = ArgValueCandidates::new(candidates::ids))]
        id: Named,
    },
    /// Change fields of a memory
    #[command(aliases = ["set", "change", "modify"], after_help = "Examples:
  tessera update 42 --content 'The API listens on port 8490'
  tessera update 42 43 --tags ops,ports --importance 0.8")]
    Update(Update),
    /// Delete memories; `undo` and `restore` bring them back
    #[command(aliases = ["delete", "rm", "remove", "del"], after_help = "Examples:
  tessera forget 42
  tessera forget --matching old staging port
  tessera forget 42 --hard")]
    Forget(Forget),
    /// Undo the last change of a memory
    #[command(after_help = "Without an ID, the command undoes the last change in the store, after a question.

Examples:
  tessera undo
  tessera undo 42")]
    Undo {
        /// An ID, a UUID or a file path [default: the memory changed last]
        #[arg(value_parser = named, add = ArgValueCandidates::new(candidates::ids))]
        id: Option<Named>,
        /// Skip the confirmation prompt
        #[arg(long, short)]
        yes: bool,
    },
    /// Restore deleted memories, or an earlier text of one
    #[command(aliases = ["undelete", "unforget"], after_help = "Examples:
  tessera restore 42 43
  tessera restore 42 --before 117")]
    Restore {
        /// IDs, UUIDs or file paths; exactly one with --before
        #[arg(required = true, value_name = "ID", add = ArgValueCandidates::new(candidates::deleted))]
        ids: Vec<Ids>,
        /// Undo this change (a number from `history`)
        #[arg(long, value_name = "REV", allow_negative_numbers = true, value_parser = revision)]
        before: Option<u64>,
    },
    /// Show who changed a memory, when and how
    #[command(after_help = "Example:
  tessera history 42")]
    History {
        /// An ID, a UUID or a file path
        #[arg(value_parser = named, add = ArgValueCandidates::new(candidates::ids))]
        id: Named,
    },
    /// Link one memory to another
    #[command(after_help = "Examples:
  tessera link 57 supersedes 42
  tessera link 57 see_also 12
  tessera link 57 see_also 12 --remove")]
    Link {
        /// The memory that holds the link: ID, UUID, file path or title
        #[arg(add = ArgValueCandidates::new(candidates::ids))]
        id: String,
        /// The kind of link: supersedes, updates, part_of, see_also, ...
        #[arg(value_name = "TYPE", add = ArgValueCandidates::new(candidates::links))]
        kind: LinkKind,
        /// The memory to link to
        #[arg(add = ArgValueCandidates::new(candidates::ids))]
        to: String,
        /// Remove the link
        #[arg(long)]
        remove: bool,
    },
    /// Manage the secrets that were removed from texts
    #[command(
        subcommand,
        alias = "secrets",
        after_help = "Examples:
  tessera secret list
  tessera secret show s7k4q2
  tessera secret scan"
    )]
    Secret(SecretTask),
    /// Manage indexed folders of files
    #[command(
        subcommand,
        alias = "file",
        after_help = "Examples:
  tessera files add ~/notes
  tessera files list"
    )]
    Files(FilesTask),
    /// Search, read and list notes in indexed folders
    #[command(
        subcommand,
        alias = "notes",
        after_help = "Examples:
  tessera note search release checklist
  tessera note recent 7d"
    )]
    Note(NoteTask),
    /// Show a note or a memory together with its links
    #[command(after_help = "Examples:
  tessera graph 42
  tessera graph memory://projects/*")]
    Graph(GraphArguments),
    /// Run one memory tool command: JSON on stdin, the answer on stdout
    #[command(after_help = r#"Example:
  echo '{"command":"view","path":"/memories"}' | tessera memory-tool"#)]
    MemoryTool,
    /// Connect a client: shows the change, then asks
    #[command(
        alias = "init",
        after_help = "Examples:
  tessera setup claude-code
  tessera setup cursor --dry-run"
    )]
    Setup(Setup),
    /// Remove Tessera from the settings of all clients
    #[command(after_help = "Examples:
  tessera uninstall --dry-run
  tessera uninstall --purge")]
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
    /// Show, confirm or forget the project of this directory
    #[command(
        alias = "projects",
        after_help = "Examples:
  tessera project
  tessera project trust"
    )]
    Project {
        /// The action; without one, the project is shown.
        #[command(subcommand)]
        task: Option<ProjectTask>,
    },
    /// Show what hooks added to prompts, and what was learned
    #[command(
        alias = "logs",
        after_help = "Example:
  tessera log --limit 5"
    )]
    Log(LogArguments),
    /// Print one line about this session, for a client's status line
    #[command(after_help = program::STATUSLINE_HELP)]
    Statusline,
    /// Print what the next agent needs from a session of this project
    Handoff(HandoffArguments),
    /// Show where a memory comes from, and when and why it was recalled
    #[command(after_help = "Example:
  tessera why 42")]
    Why {
        /// An ID, a UUID or a file path
        #[arg(value_parser = named, add = ArgValueCandidates::new(candidates::ids))]
        id: Named,
    },
    /// Show the tokens used, day by day
    #[command(after_help = "Example:
  tessera usage --days 30")]
    Usage {
        /// The number of days, including today
        #[arg(long, default_value_t = 14, value_name = "N", value_parser = whole(1..=36_500), allow_negative_numbers = true)]
        days: u32,
    },
    /// Accept, edit or drop what Tessera proposes to store, mark or delete
    Review(ReviewArguments),
    /// List frequent questions that no memory answers
    #[command(after_help = "Example:
  tessera unanswered --since 30d")]
    Unanswered(UnansweredArguments),
    /// Serve MCP clients over stdio or local HTTP
    #[command(after_help = "Clients start this command themselves; `tessera setup` configures them.

Examples:
  tessera mcp
  tessera mcp --http 127.0.0.1:8765")]
    Mcp {
        /// Serve HTTP on this loopback address instead of stdio
        ///
        /// Clients send the key in mcp-http.key, a file in the directory of the store, as "Authorization: Bearer KEY".
        #[arg(long, value_name = "ADDRESS")]
        http: Option<std::net::SocketAddr>,
    },
    /// Sync this machine with a team server
    #[command(
        subcommand,
        after_help = "Examples:
  tessera sync join https://memory.example.com
  tessera sync status"
    )]
    Sync(SyncTask),
    /// Share a memory, or a tag, with a teammate
    #[command(after_help = "Examples:
  tessera share 42 --with bo
  tessera share --tag ops --with bo --permission write")]
    Share(Share),
    /// Stop sharing a memory or a tag
    #[command(after_help = "Example:
  tessera unshare 42 --with bo")]
    Unshare(Share),
    /// List what you share and what others share with you
    #[command(after_help = "Example:
  tessera shares")]
    Shares,
    /// Accept a tag that a teammate shares, now and in future
    #[command(after_help = "Example:
  tessera accept bo ops")]
    Accept(Offered),
    /// Decline a tag that a teammate shares
    #[command(after_help = "Example:
  tessera decline bo ops")]
    Decline(Offered),
    /// List sync conflicts, or resolve one
    #[command(after_help = "Examples:
  tessera resolve
  tessera resolve 42 --keep copy")]
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
    /// Run the team server (starts the program tessera-server)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Serve {
        /// Arguments for tessera-server; see `tessera serve --help`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<OsString>,
    },
    /// Import JSON lines, or the data of another system
    #[command(after_help = "Examples:
  tessera import --detect
  tessera import memories.jsonl --mine
  tessera import claude-md CLAUDE.md
  tessera import --undo 3")]
    Import(ImportArguments),
    /// Export all memories as JSON lines or Markdown notes
    #[command(after_help = "Examples:
  tessera export memories.jsonl
  tessera export --markdown ~/notes/memories")]
    Export(ExportArguments),
    /// Copy the store to a file
    #[command(after_help = "Examples:
  tessera backup
  tessera backup ~/tessera-backup.db --with-key")]
    Backup {
        /// The file to write [default: a new file in the store's backups]
        file: Option<PathBuf>,
        /// Replace an existing file
        #[arg(long, short, visible_alias = "yes", requires = "file")]
        force: bool,
        /// Also write the secret keys to FILE.key
        ///
        /// Anyone who has both files can read the secrets.
        #[arg(long, requires = "file")]
        with_key: bool,
    },
    /// Replace the store with a backup; keep the current store as a copy
    #[command(after_help = "Example:
  tessera restore-backup ~/tessera-backup.db")]
    RestoreBackup {
        /// The backup; keys in FILE.key are added to the store's keys
        file: PathBuf,
        /// Skip the confirmation prompt
        #[arg(long, short)]
        yes: bool,
    },
    /// Show from which places a permanently deleted memory was removed
    #[command(after_help = "Example:
  tessera purged 42")]
    Purged {
        /// An ID or a UUID
        id: MemoryRef,
    },
    /// Show at a glance what Tessera holds, and what is set up
    #[command(
        alias = "info",
        after_help = "Example:
  tessera status"
    )]
    Status,
    /// Count memories by category, type, scope and tag
    #[command(aliases = ["count", "tags", "categories", "scopes"], after_help = "Example:
  tessera stats")]
    Stats,
    /// Check the store and the clients' settings, and repair the store
    #[command(aliases = ["check", "repair"], after_help = "Examples:
  tessera doctor
  tessera doctor --repair")]
    Doctor {
        /// Repair what can be repaired
        #[arg(long)]
        repair: bool,
        /// Skip the confirmation before a damaged store is replaced
        #[arg(long, short, requires = "repair")]
        yes: bool,
    },
    /// List, show or change the settings in config.toml
    #[command(aliases = ["config", "setting"], after_help = "Examples:
  tessera settings
  tessera settings get learn.extractor
  tessera settings set learn.extractor off
  tessera settings edit")]
    Settings {
        /// The action; without one, all settings are listed.
        #[command(subcommand)]
        task: Option<SettingsTask>,
    },
    /// Manage plugins: your own code, called on memory events
    #[command(
        subcommand,
        alias = "plugins",
        after_help = "Examples:
  tessera plugin new my-rules
  tessera plugin list"
    )]
    Plugin(PluginTask),
    /// Print or install a shell completion script
    #[command(
        alias = "completion",
        after_help = "Examples:
  tessera completions install
  source <(tessera completions bash)"
    )]
    Completions {
        /// The shell, or `install`
        #[command(subcommand)]
        task: CompletionsTask,
    },
    /// Print the manual page of Tessera or of one command
    #[command(
        alias = "manual",
        after_help = "Examples:
  tessera man recall | man -l -
  tessera man --all ~/.local/share/man/man1"
    )]
    Man {
        /// The command, such as `recall` or `settings set`
        #[arg(add = ArgValueCandidates::new(candidates::commands))]
        command: Vec<String>,
        /// Write the pages of all commands into this directory
        #[arg(long, value_name = "DIR", conflicts_with = "command")]
        all: Option<PathBuf>,
    },
    /// Demonstrate recall on a few hundred sample notes
    #[command(after_help = "Example:
  tessera demo")]
    Demo,
    /// Measure the quality of recall on an evaluation set
    #[command(after_help = "Example:
  tessera eval questions my-questions.json")]
    Eval {
        /// The evaluation set.
        #[command(subcommand)]
        what: Eval,
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
    /// Print the version
    #[command(hide = true)]
    Version,
}
