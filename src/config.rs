//! The settings. A value comes from an option, otherwise from the environment, otherwise from `config.toml`, otherwise
//! it is the default. All settings are declared here.

mod clients;
mod files;
mod hooks;
mod older;
mod plugins;
mod secrets;
mod switches;
mod team;
mod unknown;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use etcetera::{AppStrategy, AppStrategyArgs};
use tessera_engine::domain::{Clock, FixedClock, Scope, SystemClock, Timestamp, TokenBudget, TokenProfile};
use tessera_engine::score::Weights;
use tessera_engine::store::{Home, SecretMode, StoreConfig, Usage};
use tessera_tables::settings;

use tessera_desk::Caller;
use tessera_desk::project::{Claim, claim_of};
use tessera_hooks::{Settings as HookSettings, Surroundings};

use crate::config_file::ConfigFile;
use crate::exit::{SetupError, UsageError, of_system, starts_with_verb};
use clients::running_claude;
pub(crate) use clients::{client_session, leaves_hook_to_settings, leaves_tools_to_settings, places};
pub(crate) use files::{file_rules, memory_files};
use hooks::hook_settings;
pub(crate) use older::older_places;
pub(crate) use plugins::{plugin_rules, search_path};
use secrets::secret_rules;
pub(crate) use secrets::vault;
pub(crate) use team::{Used, direct_server, is_left, is_switched_off, team, team_address, team_key_for};
pub(crate) use unknown::{problem, problem_to_report, unknown};

/// A setting: an environment variable, or a key of `config.toml` in the store's directory.
pub(crate) struct Setting {
    /// The environment variable of the setting, and its aliases.
    pub(crate) names: &'static [&'static str],
    /// The setting's key in `config.toml`; `None` for settings that can only be set as variables.
    pub(crate) key: Option<&'static str>,
    /// Its description.
    pub(crate) help: &'static str,
}

// The declarations: the name in the code, the key in `config.toml`, the variables, and the help. `tessera settings` lists
// `SETTINGS`.
settings! {
    HOME = "TESSERA_HOME":
        "home directory of Tessera [default: the user's data directory]";
    DATABASE = "MEMORY_HOME" "MEMORY_DB" "MEMORY_DB_PATH":
        "where an import looks for the data of an older system; the setting does not move Tessera's own store";
    NOW = "TESSERA_NOW":
        "fixed time, for replays and tests";
    PROFILE("token_profile") = "TESSERA_TOKEN_PROFILE":
        "tokenizer that counts token budgets: o200k, claude or claude:FACTOR; the default is claude in hooks and o200k elsewhere";
    SEMANTIC("recall.semantic") = "TESSERA_RECALL_SEMANTIC":
        "semantic search: on (default) or off";
    LOG = "TESSERA_LOG":
        "log filter for stderr (tracing syntax)";
    NO_COLOR = "NO_COLOR":
        "turns colours off if set to any value";
    EDITOR = "TESSERA_EDITOR" "VISUAL" "EDITOR":
        "editor for `tessera edit` and `tessera settings edit`";
    PAGER = "TESSERA_PAGER" "PAGER":
        "pager for long output on a terminal (default less); cat switches it off";
    LESS = "LESS":
        "options of less; without it, Tessera sets FRX";
    SHELL = "SHELL":
        "your shell, for `tessera completions install`";
    KEEP_QUESTIONS("recall.keep_questions") = "TESSERA_RECALL_KEEP_QUESTIONS":
        "store the full text of unanswered questions (on), or only their words that occur in memories (off, the default)";
    MEMORY_FILES("memory_files") = "TESSERA_MEMORY_FILES":
        "offer the file-based memory tool to MCP clients: on or off (default)";
    FILES_OVERWRITE("files.overwrite") = "TESSERA_FILES_OVERWRITE":
        "let the memory tool's `create` command overwrite files (the old text stays in the history): on or off (default)";
    FILES_MAX_BYTES("files.max_bytes") = "TESSERA_FILES_MAX_BYTES":
        "maximum file size for the memory tool, in bytes (default 8388608); text above 32 KiB is not synced, and recall does not find text above 1 MiB";
    FILES_MAX_TOKENS("files.max_tokens") = "TESSERA_FILES_MAX_TOKENS":
        "maximum length of a reply of the memory tool, in tokens (default 8000)";
    FILES_TOPIC("files.topic") = "TESSERA_FILES_TOPIC":
        "a sentence that says what the memory tool's files are about; clients receive it in the instructions";
    RECALL("hooks.recall") = "TESSERA_HOOKS_RECALL" "CLAUDE_PLUGIN_OPTION_RECALL":
        "automatic recall for prompts and new sessions: on (default) or off";
    RECALL_TOKENS("hooks.recall_tokens") = "TESSERA_HOOKS_RECALL_TOKENS" "CLAUDE_PLUGIN_OPTION_RECALL_TOKENS":
        "maximum number of tokens of memories that are added to a prompt (default 800)";
    SESSION_TOKENS("hooks.session_tokens") = "TESSERA_HOOKS_SESSION_TOKENS":
        "maximum tokens of the session summary (default 300)";
    COMPACT_TOKENS("hooks.compact_tokens") = "TESSERA_HOOKS_COMPACT_TOKENS":
        "maximum number of tokens of memories that are added after a compaction (default 800)";
    ACTIONS("hooks.actions") = "TESSERA_HOOKS_ACTIONS":
        "automatic recall before an agent edits a file or runs a command: on (default) or off";
    ACTION_TOKENS("hooks.action_tokens") = "TESSERA_HOOKS_ACTION_TOKENS":
        "maximum number of tokens of memories for one edit or command (default 80)";
    SESSION_ACTION_TOKENS("hooks.session_action_tokens") = "TESSERA_HOOKS_SESSION_ACTION_TOKENS":
        "maximum number of tokens of memories for all edits and commands of a session (default 300)";
    SUBAGENTS("hooks.subagents") = "TESSERA_HOOKS_SUBAGENTS":
        "automatic recall for the tasks of subagents: on (default) or off";
    SUBAGENT_TOKENS("hooks.subagent_tokens") = "TESSERA_HOOKS_SUBAGENT_TOKENS":
        "maximum number of tokens of memories that are added to the task of a subagent (default 200)";
    HANDOFF("hooks.handoff") = "TESSERA_HOOKS_HANDOFF":
        "quote after a compaction what the session did, and offer the hand-off of the last session to the next one: on (default) or off";
    HANDOFF_TOKENS("hooks.handoff_tokens") = "TESSERA_HOOKS_HANDOFF_TOKENS":
        "maximum number of tokens of the hand-off that is added after a compaction (default 800)";
    AUTO_APPROVE("hooks.auto_approve") = "TESSERA_HOOKS_AUTO_APPROVE" "CLAUDE_PLUGIN_OPTION_AUTO_APPROVE":
        "let safe Tessera tools run without a permission prompt: on (default) or off";
    NO_APPROVAL = "DISABLE_CLAUDE_MEMORY_AUTO_APPROVE":
        "an older variable: 1, true or yes sets TESSERA_HOOKS_AUTO_APPROVE=off";
    DEBUG_HOOKS = "DEBUG_CLAUDE_MEMORY_HOOKS":
        "older variable: 1, true or yes makes hooks log to stderr; `tessera log` always works";
    DEBUG_MODE = "DEBUG_MODE":
        "older variable: 1, true or yes means TESSERA_LOG=debug; ignored if TESSERA_LOG is set";
    SHOW("hooks.show") = "TESSERA_HOOKS_SHOW":
        "what hooks show you in the client: what was learned (learned, the default), also what was added (all), or nothing (off)";
    DEADLINE("hooks.deadline_ms") = "TESSERA_HOOKS_DEADLINE_MS":
        "time limit of a hook in milliseconds (default 1000)";
    EXTRACTOR("learn.extractor") = "TESSERA_LEARN_EXTRACTOR" "CLAUDE_PLUGIN_OPTION_EXTRACTOR":
        "extractor for automatic learning: heuristic (default, free), off, ollama, claude, or auto";
    REVIEW("learn.review") = "TESSERA_LEARN_REVIEW":
        "which learned lines wait in `tessera review`: uncertain ones (ask, the default), all, or none (off)";
    DAILY_TOKENS("learn.daily_tokens") = "TESSERA_LEARN_DAILY_TOKENS":
        "daily token limit of the extractor (default 50000)";
    OLLAMA("learn.ollama") = "OLLAMA_HOST":
        "address of Ollama (default http://127.0.0.1:11434)";
    PLUGINS_PROMPT("plugins.prompt_ms") = "TESSERA_PLUGINS_PROMPT_MS":
        "total time in milliseconds that a prompt waits for fast plugins (default 5, at most 200)";
    SERVER("sync.server") = "TESSERA_SERVER" "MEMORY_API_URL" "CLAUDE_MEMORY_API_URL":
        "address of a team server; https, or http on this machine (default with MEMORY_API_KEY alone: \
        http://localhost:8080)";
    KEY("sync.key") = "TESSERA_API_KEY" "MEMORY_API_KEY" "CLAUDE_MEMORY_API_KEY":
        "key of the team server";
    SYNC("sync.mode") = "TESSERA_SYNC":
        "hybrid (default: sync in the background), direct (each call waits for the server) or off";
    SYNC_DISABLE = "MEMORY_SYNC_DISABLE":
        "an older variable: 1 sets TESSERA_SYNC=direct";
    INTERVAL("sync.interval") = "TESSERA_SYNC_INTERVAL" "MEMORY_SYNC_INTERVAL":
        "seconds between downloads of changes (default 60); local changes are sent at once";
    SECRETS_MODE("secrets.mode") = "TESSERA_SECRETS_MODE":
        "handling of secrets: encrypt (default), drop, refuse (the text is not stored), or vault";
    SECRETS_KEYRING("secrets.keyring") = "TESSERA_SECRETS_KEYRING":
        "auto (default) uses the system's keyring if it answers (on Linux only with --features keyring), and otherwise secret.key; off always uses secret.key";
    SECRET_KEY = "TESSERA_SECRET_KEY" "MEMORY_ENCRYPTION_KEY":
        "key for secrets, used instead of the stored key: 64 hexadecimal digits or a passphrase";
    SECRET_KEY_BEFORE = "TESSERA_SECRET_KEY_BEFORE":
        "previous key, needed until `tessera secret rotate-key` has encrypted all secrets again with the new key";
    VAULT = "VAULT_ADDR" "VAULT_TOKEN" "VAULT_TOKEN_FILE" "VAULT_NAMESPACE" "VAULT_MOUNT" "VAULT_PREFIX"
         "VAULT_ROLE" "VAULT_K8S_MOUNT" "VAULT_K8S_TOKEN_PATH" "VAULT_CACERT":
        "address and credentials of a vault (HashiCorp Vault, OpenBao), for secrets.mode vault; the names are \
        Vault's own";
}

/// The words of a command in a variable, such as `code --wait`.
pub(crate) fn command_words(command: &str) -> Vec<String> {
    // On Windows, the backslashes of a path are no quotes.
    if cfg!(windows) { vec![command.to_owned()] } else { shlex::split(command).unwrap_or_default() }
}

/// The setting with a key or a variable.
///
/// # Errors
/// Returns an error that names the most similar key.
pub(crate) fn named(name: &str) -> Result<&'static Setting, UsageError> {
    let is_it = |setting: &&&Setting| setting.key == Some(name) || setting.names.contains(&name);
    if let Some(setting) = SETTINGS.iter().find(is_it) {
        return Ok(setting);
    }
    let group: Vec<&str> =
        SETTINGS.iter().filter_map(|setting| setting.key).filter(|key| key.starts_with(&format!("{name}."))).collect();
    if let [first, ..] = group.as_slice() {
        let all = group.join(", ");
        return Err(UsageError(format!("`{name}` is a group of settings ({all}); name one, for example `{first}`")));
    }
    let alike = |key: &str| {
        strsim::jaro_winkler(name, key).max(if key.split('.').any(|part| part == name) { 1.0 } else { 0.0 })
    };
    let keys = SETTINGS.iter().filter_map(|setting| setting.key);
    let nearest = keys.map(|key| (alike(key), key)).max_by(|(one, _), (other, _)| one.total_cmp(other));
    let fix = match nearest {
        Some((likeness, key)) if likeness > 0.8 => format!("did you mean `{key}`?"),
        _ => "`tessera settings` lists all settings".to_owned(),
    };
    Err(UsageError(format!("there is no setting `{name}`; {fix}")))
}

/// True in a program that an extractor or a plugin started.
pub(crate) fn is_child_of_ours() -> bool {
    variable(tessera_learn::CHILD).is_some() || plugins::is_inside()
}

/// An environment variable that is set and not empty. A variable that still contains a client's placeholder, such as
/// `${VAR}`, counts as not set.
#[expect(clippy::disallowed_methods, reason = "the only place that reads the environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| {
        let text = value.to_string_lossy();
        !text.trim().is_empty() && !text.trim_start().starts_with("${")
    })
}

impl Setting {
    /// True for a value that must not be shown.
    pub(crate) fn is_secret(&self) -> bool {
        [KEY.names, SECRET_KEY.names, SECRET_KEY_BEFORE.names, VAULT.names].contains(&self.names)
    }

    /// The value of the first variable that is set.
    pub(crate) fn value(&self) -> Option<OsString> {
        self.names.iter().find_map(|name| variable(name))
    }

    pub(crate) fn text(&self) -> Option<String> {
        self.value().map(|value| value.to_string_lossy().into_owned())
    }

    pub(crate) fn wrong(&self, problem: impl std::fmt::Display) -> SetupError {
        let name = match (self.key, self.names) {
            (Some(key), _) => format!("the setting {key}"),
            (None, names) => format!("the variable {}", names.first().copied().unwrap_or_default()),
        };
        let problem = problem.to_string();
        SetupError(if starts_with_verb(&problem) { format!("{name} {problem}") } else { format!("{name}: {problem}") })
    }

    /// The value from the environment, otherwise from the file, otherwise from an option of the client plugin. The
    /// plugin option comes last, because a client may pass on its default as if the user had set it.
    pub(crate) fn in_order(&self, file: &ConfigFile) -> Option<String> {
        let (of_plugin, own): (Vec<&str>, Vec<&str>) =
            self.names.iter().partition(|name| name.starts_with("CLAUDE_PLUGIN_OPTION_"));
        let told = |names: &[&str]| {
            let value = names.iter().filter(|_| !file.is_alone()).find_map(|name| variable(name));
            value.map(|value| value.to_string_lossy().into_owned())
        };
        told(&own).or_else(|| file.text(self)).or_else(|| told(&of_plugin))
    }

    /// The value from the environment, otherwise from the file, otherwise the default.
    fn parsed<T>(
        &self,
        file: &ConfigFile,
        default: T,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, SetupError> {
        let Some(text) = self.in_order(file) else { return Ok(default) };
        let text = text.trim();
        let quoted = if self.is_secret() { String::new() } else { format!("`{text}` ") };
        parse(text).map_err(|problem| {
            let mut names = self.names.iter().filter(|name| !file.is_alone() && variable(name).is_some());
            match names.find(|name| !name.starts_with("CLAUDE_PLUGIN_OPTION_")) {
                Some(name) => SetupError(format!("the variable {name}: {quoted}{problem}")),
                None => self.wrong(format!("{quoted}{problem}")),
            }
        })
    }
}

/// The directory of the store.
pub(crate) fn home(flag: Option<PathBuf>) -> Result<Home, SetupError> {
    if let Some(home) = named_home(flag) {
        // Each process has its own working directory, so the path is made absolute.
        return Ok(std::path::absolute(&home).unwrap_or(home).into());
    }
    let names =
        AppStrategyArgs { top_level_domain: "dev".into(), author: "tessera".into(), app_name: "tessera".into() };
    let dirs = etcetera::choose_app_strategy(names).map_err(|error| {
        HOME.wrong(format!("is not set, and your home directory is unknown ({error}); set TESSERA_HOME or HOME"))
    })?;
    Ok(dirs.data_dir().into())
}

/// The directory of the store as the user named it. `~` is expanded here, because a shell does not expand it in a
/// variable or after `=`.
fn named_home(flag: Option<PathBuf>) -> Option<PathBuf> {
    let named = flag.or_else(|| HOME.value().map(PathBuf::from))?;
    Some(match (named.strip_prefix("~"), user_home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => named,
    })
}

/// Finds a store that an earlier version created at the path in an older variable, if it is not the store in use.
pub(crate) fn earlier_store(home: &Home) -> Option<String> {
    let store = store_of_older_variable().filter(|store| *store != home.database())?;
    let store = store.display();
    Some(format!(
        "an earlier version stored memories in {store}; `tessera restore-backup {store}` replaces the store with them"
    ))
}

fn store_of_older_variable() -> Option<PathBuf> {
    let by_home = variable("MEMORY_HOME").map(PathBuf::from);
    let by_database = ["MEMORY_DB", "MEMORY_DB_PATH"]
        .into_iter()
        .filter_map(|name| PathBuf::from(variable(name)?).parent().map(|dir| dir.join("tessera")));
    let stores = by_home.into_iter().chain(by_database).map(|dir| Home::from(dir).database());
    stores.into_iter().find(|database| database.is_file())
}

/// The clock: the machine's, or a fixed one for replays.
pub(crate) fn clock() -> Result<Arc<dyn Clock>, SetupError> {
    match NOW.text() {
        None => Ok(Arc::new(SystemClock)),
        Some(text) => {
            let time: Timestamp = text.parse().map_err(|error| NOW.wrong(error))?;
            Ok(Arc::new(FixedClock(time)))
        }
    }
}

/// Sets two values of the caller: the tokenizer for budgets, and whether unanswered questions are recorded in full.
pub(crate) fn asking(
    caller: Caller,
    profile: Option<TokenProfile>,
    home_flag: Option<PathBuf>,
) -> Result<Caller, SetupError> {
    let home = home(home_flag)?;
    // An unreadable file does not prevent an answer. The command reports the error.
    let file = ConfigFile::read(&home).unwrap_or_else(|_| ConfigFile::empty(&home));
    let profile = match profile {
        Some(profile) => profile,
        None => PROFILE.parsed(&file, TokenProfile::O200K, any)?,
    };
    Ok(Caller { profile, keeps_questions: KEEP_QUESTIONS.parsed(&file, false, switch)?, ..caller })
}

/// True if unanswered questions are recorded in full.
pub(crate) fn keeps_questions(home_flag: Option<PathBuf>) -> Result<bool, SetupError> {
    KEEP_QUESTIONS.parsed(&ConfigFile::read(&home(home_flag)?)?, false, switch)
}

fn any<T: std::str::FromStr>(text: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| without_field(&error.to_string()))
}

/// The message of an invalid value without the name of its field, because the setting has another name.
fn without_field(message: &str) -> String {
    let rest = message.split_once(": ").filter(|(field, _)| !field.contains(' ')).map(|(_, rest)| rest);
    rest.unwrap_or(message).to_owned()
}

fn switch(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Ok(true),
        "off" | "false" | "no" | "0" => Ok(false),
        _ => Err("is not valid; use on or off".into()),
    }
}

fn budget(text: &str) -> Result<TokenBudget, String> {
    let tokens: u32 = text.parse().map_err(|_| "is not a number; use 1 to 100000".to_owned())?;
    TokenBudget::try_from(tokens).map_err(|_| "is out of range; use 1 to 100000".to_owned())
}

fn tokens(text: &str) -> Result<u32, String> {
    budget(text).map(TokenBudget::get)
}

fn number(text: &str) -> Result<u64, String> {
    text.replace('_', "").parse().map_err(|_| "is not a whole number; use a number such as 1000".to_owned())
}

/// What hooks and the worker need from their environment.
pub(crate) fn surroundings(home_flag: Option<PathBuf>) -> Result<Surroundings, SetupError> {
    let home = home(home_flag)?;
    let file = ConfigFile::read(&home)?;
    let settings = hook_settings(&file)?;
    let ollama = OLLAMA.parsed(&file, "http://127.0.0.1:11434".to_owned(), |text| Ok(text.to_owned()))?;
    Ok(Surroundings {
        home,
        clock: clock()?,
        settings,
        unknown_settings: unknown(&file),
        project_dir: variable("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute()),
        user_home: user_home(),
        older: older_places(),
        program: std::env::current_exe().map_err(|error| {
            SetupError(format!("cannot find the path of the running program: {}", of_system(&error)))
        })?,
        claude: running_claude(),
        search_path: variable("PATH"),
        secrets: secret_rules(&file)?,
        ollama: address_of_ollama(&ollama),
    })
}

/// Parses an address without a scheme as Ollama does: adds a missing port, and replaces an empty host or 0.0.0.0 with
/// 127.0.0.1. An address with a scheme stays unchanged.
fn address_of_ollama(text: &str) -> String {
    let address = text.trim().trim_end_matches('/');
    if address.contains("://") {
        return address.to_owned();
    }
    let (host, port) = match address.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ => (address, "11434"),
    };
    format!("http://{}:{port}", if host.is_empty() || host == "0.0.0.0" { "127.0.0.1" } else { host })
}

/// The extractor for automatic learning, by its name.
pub(crate) fn extractor(home_flag: Option<PathBuf>) -> String {
    let file = home(home_flag).and_then(|home| ConfigFile::read(&home));
    let set = file.ok().and_then(|file| EXTRACTOR.in_order(&file));
    set.unwrap_or_else(|| HookSettings::default().extractor.to_string())
}

/// Rejects a file with an invalid value.
pub(crate) fn check(file: &ConfigFile) -> Result<(), SetupError> {
    KEEP_QUESTIONS.parsed(file, false, switch)?;
    OLLAMA.parsed(file, String::new(), any)?;
    files::check(file)?;
    secret_rules(file)?;
    team::check(file)?;
    hook_settings(file).map(drop)
}

/// The user's home directory, which is not a project.
pub(crate) fn user_home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// The project to which a directory claims to belong.
pub(crate) fn claim(dir: &Path) -> Claim {
    claim_of(dir, user_home().as_deref())
}

/// The project that a directory claims to belong to.
pub(crate) fn project(dir: &Path) -> Scope {
    claim(dir).scope
}

/// True if a store exists and semantic search is on.
pub(crate) fn is_semantic(home_flag: Option<PathBuf>) -> bool {
    let Ok(home) = home(home_flag) else { return false };
    let file = ConfigFile::read(&home).unwrap_or_else(|_| ConfigFile::empty(&home));
    home.holds_store() && SEMANTIC.parsed(&file, true, switch).unwrap_or(false)
}

/// The configuration for opening the user's store.
pub(crate) fn store(home_flag: Option<PathBuf>, usage: Usage) -> Result<StoreConfig, SetupError> {
    let home = home(home_flag)?;
    // An unreadable file does not prevent storing. `doctor` and hooks report the error.
    let read = ConfigFile::read(&home);
    let is_read = read.is_ok();
    let file = read.unwrap_or_else(|error| {
        static TOLD: Once = Once::new();
        TOLD.call_once(|| {
            unknown::reported();
            crate::output::note(&format!("{error}; until then, texts with credentials are not stored"));
        });
        ConfigFile::empty(&home)
    });
    let embedding = SEMANTIC.parsed(&file, true, switch)?;
    let mut secrets = secret_rules(&file)?;
    if !is_read && SECRETS_MODE.value().is_none() {
        // The rule for credentials cannot be read, so texts with credentials are rejected.
        secrets.mode = SecretMode::Refuse;
    }
    Ok(StoreConfig { home, clock: clock()?, weights: Weights::default(), usage, embedding, secrets })
}
