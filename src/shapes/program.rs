//! The program: its settings, plugins, checks and evaluations.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tessera_desk::folders::FilesCounted;
use tessera_engine::Timestamp;
use tessera_engine::domain::Scope;
use tessera_engine::store::{Check as StoreCheck, Salvage, Stats};
use tessera_eval::{Filing, LifeAnswer, LifeTally, ReplayReport, TimeAnswer, TurnAnswer};

/// The output of `tessera setup`, `tessera uninstall` and `tessera completions install`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SettingsPlan {
    /// The files that are changed.
    pub(crate) files: Vec<PathBuf>,
    /// False for a preview.
    pub(crate) changed: bool,
}

/// The output of `tessera project`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProjectShown<'a> {
    /// The directory.
    pub(crate) directory: String,
    /// Its project.
    pub(crate) project: &'a Scope,
    /// The source of the project.
    pub(crate) by: &'static str,
    /// True if the directory is trusted.
    pub(crate) believed: bool,
}

/// The output of `tessera backup`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BackedUp {
    /// The file.
    pub(crate) file: PathBuf,
    /// The number of encrypted secrets in it.
    pub(crate) secrets: usize,
    /// True if the keys were written beside it.
    pub(crate) holds_key: bool,
}

/// A check of a client.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Check {
    /// The checked item.
    pub(crate) name: &'static str,
    /// False if it does not work.
    pub(crate) good: bool,
    /// A description.
    pub(crate) detail: String,
}

/// The output of `tessera doctor`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Doctor {
    /// True if no check failed.
    pub(crate) good: bool,
    /// The checks of the store.
    pub(crate) checks: Vec<StoreCheck>,
    /// The part of a damaged store that was saved.
    pub(crate) salvage: Option<Salvage>,
    /// The checks of clients and settings.
    pub(crate) claude_code: Vec<Check>,
}

/// A plugin in the output of `tessera plugin list`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PluginRow {
    /// The name.
    pub(crate) name: String,
    /// The version.
    pub(crate) version: String,
    /// The description.
    pub(crate) description: String,
    /// A WebAssembly module or a program.
    pub(crate) kind: &'static str,
    /// `on`, `off`, or `changed` if a file of the plugin changed.
    pub(crate) state: &'static str,
    /// The number of failures.
    pub(crate) failures: u32,
    /// The number of failures since the last success.
    pub(crate) failures_in_a_row: u32,
    /// The events, such as `store.before`.
    #[schemars(with = "Vec<String>")]
    pub(crate) events: Value,
    /// The fields that the plugin may change.
    #[schemars(with = "Vec<String>")]
    pub(crate) change: Value,
    /// True if the plugin may refuse operations.
    pub(crate) refuse: bool,
    /// True if it is also called before automatic recall.
    pub(crate) fast: bool,
    /// True if it may read the time.
    pub(crate) clock: bool,
    /// Its files, with their digests.
    pub(crate) files: Value,
}

/// The output of `tessera plugin add`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PluginAdded {
    /// The name.
    pub(crate) name: String,
    /// False if the user declined.
    pub(crate) added: bool,
}

/// The output of `tessera plugin remove`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PluginRemoved {
    /// The name.
    pub(crate) name: String,
    /// Always true.
    pub(crate) removed: bool,
}

/// The output of `tessera plugin new`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PluginCreated {
    /// The directory.
    pub(crate) dir: PathBuf,
    /// The files in it.
    pub(crate) files: Vec<&'static str>,
}

/// A call in the output of `tessera plugin test`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PluginCall {
    /// The event, such as `store.before`.
    pub(crate) event: String,
    /// The answer; `null` if the call failed.
    pub(crate) answer: Option<PluginAnswer>,
    /// Why the call failed.
    pub(crate) failure: Option<String>,
    /// The run time in microseconds.
    pub(crate) took_micros: u64,
    /// The number of executed instructions of a module; 0 for a program.
    pub(crate) fuel: u64,
}

/// The answer of a plugin.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PluginAnswer {
    /// The changed fields.
    pub(crate) change: Value,
    /// Why the plugin refuses the operation.
    pub(crate) refuse: Option<String>,
    /// A note.
    pub(crate) note: Option<String>,
}

/// A question in the output of `tessera demo`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DemoAnswer {
    /// The reply, as `tessera recall` prints it.
    #[schemars(with = "super::RecallReply")]
    pub(crate) recall: Value,
    /// The duration in milliseconds.
    pub(crate) ms: f64,
}

/// The output of `tessera unanswered --clear`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct QuestionsForgotten {
    /// The number of deleted questions.
    pub(crate) forgotten: usize,
}

/// The output of the learning worker.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Learned {
    /// The number of new memories.
    pub(crate) learned: usize,
}

/// The output of `tessera eval life`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EvalLife {
    /// The results by group of questions.
    pub(crate) groups: BTreeMap<String, LifeTally>,
    /// How many notes got the right category and scope.
    pub(crate) filing: Filing,
    /// The answers.
    pub(crate) answers: Vec<LifeAnswer>,
    /// The learned turns.
    pub(crate) turns: Vec<TurnAnswer>,
}

/// The output of `tessera eval time`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EvalTimes {
    /// The answers.
    pub(crate) answers: Vec<TimeAnswer>,
}

/// The output of `tessera eval prompts`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EvalPrompts {
    /// The sum over all kinds.
    pub(crate) total: ReplayReport,
    /// The share of added memories that are relevant.
    pub(crate) precision: f64,
    /// The results by kind of prompt.
    pub(crate) kinds: BTreeMap<String, ReplayReport>,
}

/// The output of `tessera man --all`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ManualWritten {
    /// The directory with the pages.
    pub(crate) directory: PathBuf,
}

/// Where the value of a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) enum SettingFrom {
    /// An environment variable.
    #[serde(rename = "environment")]
    Environment,
    /// `config.toml`.
    #[serde(rename = "config.toml")]
    File,
    /// The setting is not set.
    #[serde(rename = "default")]
    Default,
}

impl SettingFrom {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::File => "config.toml",
            Self::Default => "default",
        }
    }
}

/// A setting, as `tessera settings` lists it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SettingRow {
    /// The environment variables of the setting.
    pub(crate) names: &'static [&'static str],
    /// Its key in `config.toml`; `null` for a setting that only a variable can set.
    pub(crate) key: Option<&'static str>,
    /// Its value; empty if it is not set, and `set` for a secret.
    pub(crate) value: String,
    /// Where the value comes from.
    pub(crate) from: SettingFrom,
    /// A description.
    pub(crate) help: &'static str,
}

/// A changed setting.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SettingChanged {
    /// Its key.
    pub(crate) key: String,
    /// Its new value; `null` if it was reset, and `set` for a secret.
    pub(crate) value: Option<String>,
    /// The path of `config.toml`.
    pub(crate) file: PathBuf,
}

/// The path of `config.toml`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SettingsFile {
    /// The path.
    pub(crate) file: PathBuf,
}

/// The output of `tessera status`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StatusShown {
    /// The version of this program.
    pub(crate) version: &'static str,
    /// The directory of the store.
    pub(crate) home: PathBuf,
    /// False if there is no store yet.
    pub(crate) exists: bool,
    /// The number of memories, without deleted and expired ones.
    pub(crate) memories: u64,
    /// The number of memories in the project of this directory.
    pub(crate) memories_of_project: u64,
    /// The project of this directory, or `global`.
    pub(crate) project: String,
    /// The time at which the newest memory was created.
    pub(crate) newest: Option<Timestamp>,
    /// The number of deleted memories that can be restored.
    pub(crate) deleted: u64,
    /// The number of indexed folders.
    pub(crate) folders: usize,
    /// The clients whose settings start Tessera.
    pub(crate) clients: Vec<String>,
    /// The extractor for automatic learning.
    pub(crate) learning: String,
    /// The number of lines that wait for review.
    pub(crate) waiting: usize,
    /// The team server.
    pub(crate) server: Option<String>,
    /// Problems in the settings.
    pub(crate) problem: Option<String>,
}

/// The output of `tessera statusline`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StatusLine {
    /// The session in the client's input; empty if there is none.
    pub(crate) session: String,
    /// The number of different memories that the session and its subagents received.
    pub(crate) memories: usize,
    /// Their tokens, as the settings count them.
    pub(crate) tokens: u64,
    /// The number of lines that wait for review.
    pub(crate) waiting: usize,
}

/// The output of `tessera stats`: statistics about the store, files, and data that has not been imported yet.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Statistics {
    #[serde(flatten)]
    pub(crate) stats: Stats,
    pub(crate) files: FilesCounted,
    /// The data of other systems on this machine that was never imported.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) offers: Vec<String>,
}
