//! Settings: a flag, else the environment, else `config.toml`, else the default. Every one is declared here.

mod clients;
mod files;
mod older;
mod plugins;
mod secrets;
mod switches;
mod team;
mod unknown;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use etcetera::{AppStrategy, AppStrategyArgs};
use tessera_engine::domain::{Clock, FixedClock, Scope, SystemClock, Timestamp, TokenBudget, TokenProfile};
use tessera_engine::score::Weights;
use tessera_engine::store::{Home, SecretMode, StoreConfig, Usage};
use tessera_tables::settings;

use tessera_desk::Caller;
use tessera_desk::project::{Claim, claim_of};
use tessera_hooks::{Settings as HookSettings, Surroundings};

use crate::config_file::ConfigFile;
use crate::exit::SetupError;
use clients::running_claude;
pub(crate) use clients::{client_session, leaves_hook_to_settings, leaves_tools_to_settings, places};
pub(crate) use files::{file_rules, memory_files};
pub(crate) use older::older_places;
pub(crate) use plugins::{plugin_rules, search_path};
use secrets::secret_rules;
pub(crate) use secrets::vault;
pub(crate) use team::{Used, direct_server, is_left, is_switched_off, team, team_address, team_key_for};
pub(crate) use unknown::{problem, unknown};

/// A setting: an environment variable, or a key of `config.toml` in the store's directory.
pub(crate) struct Setting {
    /// Its variable, and the other names that mean the same.
    pub(crate) names: &'static [&'static str],
    /// Its key in `config.toml`; none for what is needed to find that file, or belongs to one run.
    pub(crate) key: Option<&'static str>,
    /// What it does.
    pub(crate) help: &'static str,
}

// Each setting once: its name here, its key in `config.toml`, its variables, and its help. `SETTINGS` lists all for
// `tessera settings` and the documentation.
settings! {
    HOME = "TESSERA_HOME":
        "directory of the store (default: the user's data directory)";
    DATABASE = "MEMORY_HOME" "MEMORY_DB" "MEMORY_DB_PATH":
        "where an import looks for the data of an older system; it does not move this store";
    NOW = "TESSERA_NOW":
        "the time to take for now, for replays and tests";
    PROFILE("token_profile") = "TESSERA_TOKEN_PROFILE":
        "whose tokens budgets count: o200k (default; claude in hooks), claude, or claude:FACTOR";
    MEANING("recall.semantic") = "TESSERA_RECALL_SEMANTIC":
        "on (default) or off: memories are found by what they mean too, not by their words alone";
    LOG = "TESSERA_LOG":
        "what is logged to stderr, as a tracing filter";
    NO_COLOR = "NO_COLOR":
        "no colours, whatever the value";
    KEEP_QUESTIONS("recall.keep_questions") = "TESSERA_RECALL_KEEP_QUESTIONS":
        "on or off (default): keep questions that nothing answers for `tessera unanswered` as they are, not only known \
         words of them";
    MEMORY_FILES("memory_files") = "TESSERA_MEMORY_FILES":
        "on or off (default): offer the memory tool, which keeps files, to MCP clients";
    FILES_OVERWRITE("files.overwrite") = "TESSERA_FILES_OVERWRITE":
        "on or off (default): the memory tool's create may write over a file; its old text stays in the history";
    FILES_MAX_BYTES("files.max_bytes") = "TESSERA_FILES_MAX_BYTES":
        "the largest file that the memory tool writes (default 8388608); what is over 32 KiB is not synced, over 1 \
         MiB not found by recall";
    FILES_MAX_TOKENS("files.max_tokens") = "TESSERA_FILES_MAX_TOKENS":
        "the longest reply of the memory tool, in tokens (default 8000)";
    FILES_TOPIC("files.topic") = "TESSERA_FILES_TOPIC":
        "what the memory tool's files should be about: a sentence that clients are told beside its protocol";
    RECALL("hooks.recall") = "TESSERA_HOOKS_RECALL" "CLAUDE_PLUGIN_OPTION_RECALL":
        "on (default) or off: memories for prompts and new sessions";
    RECALL_TOKENS("hooks.recall_tokens") = "TESSERA_HOOKS_RECALL_TOKENS" "CLAUDE_PLUGIN_OPTION_RECALL_TOKENS":
        "what the memories for a prompt may cost (default 800)";
    SESSION_TOKENS("hooks.session_tokens") = "TESSERA_HOOKS_SESSION_TOKENS":
        "what the brief at the start of a session may cost (default 300)";
    COMPACT_TOKENS("hooks.compact_tokens") = "TESSERA_HOOKS_COMPACT_TOKENS":
        "what may be given again after a compaction (default 800)";
    AUTO_APPROVE("hooks.auto_approve") = "TESSERA_HOOKS_AUTO_APPROVE" "CLAUDE_PLUGIN_OPTION_AUTO_APPROVE":
        "on (default) or off: our own safe tools run without a permission prompt";
    NO_APPROVAL = "DISABLE_CLAUDE_MEMORY_AUTO_APPROVE":
        "an older name: 1, true or yes means TESSERA_HOOKS_AUTO_APPROVE=off";
    DEBUG_HOOKS = "DEBUG_CLAUDE_MEMORY_HOOKS":
        "an older name: 1, true or yes has hooks say on stderr what they were asked and what they decided; `tessera \
         log` always knows";
    DEBUG_MODE = "DEBUG_MODE":
        "an older name: 1, true or yes means TESSERA_LOG=debug where that is not set";
    DEADLINE("hooks.deadline_ms") = "TESSERA_HOOKS_DEADLINE_MS":
        "milliseconds after which a hook gives up (default 1000)";
    JUDGE("learn.extractor") = "TESSERA_LEARN_EXTRACTOR" "CLAUDE_PLUGIN_OPTION_JUDGE":
        "who decides what is learned: heuristic (default, free), off, ollama, claude, or auto";
    DAILY_TOKENS("learn.daily_tokens") = "TESSERA_LEARN_DAILY_TOKENS":
        "tokens that a judge may read and write in a day (default 50000)";
    OLLAMA("learn.ollama") = "OLLAMA_HOST":
        "where Ollama listens (default http://127.0.0.1:11434)";
    PLUGINS_PROMPT("plugins.prompt_ms") = "TESSERA_PLUGINS_PROMPT_MS":
        "milliseconds that a prompt waits for plugins that were added as fast, for all of them together (default 5, \
         at most 200)";
    SERVER("sync.server") = "TESSERA_SERVER" "MEMORY_API_URL" "CLAUDE_MEMORY_API_URL":
        "the address of a team server; with a key, memories are kept in sync with it; https, or http on this \
         machine (default with MEMORY_API_KEY alone: http://localhost:8080)";
    KEY("sync.key") = "TESSERA_API_KEY" "MEMORY_API_KEY" "CLAUDE_MEMORY_API_KEY":
        "the key of the team server";
    SYNC("sync.mode") = "TESSERA_SYNC":
        "hybrid (default: in the background), direct (each call waits for the server) or off";
    SYNC_DISABLE = "MEMORY_SYNC_DISABLE":
        "an older name: 1 means TESSERA_SYNC=direct";
    INTERVAL("sync.interval") = "TESSERA_SYNC_INTERVAL" "MEMORY_SYNC_INTERVAL":
        "seconds after which the server is asked for news, if nobody asked anything here (default 60); what is \
         stored here is sent at once";
    SECRETS_MODE("secrets.mode") = "TESSERA_SECRETS_MODE":
        "what becomes of a credential in a text: encrypt (default: it is sealed and kept beside its memory), drop, \
         refuse (the text is not stored), or vault";
    SECRETS_KEYRING("secrets.keyring") = "TESSERA_SECRETS_KEYRING":
        "auto (default: the key of secrets lies in the system's keyring where one answers, on Linux in a program \
         built with --features keyring) or off (always in secret.key)";
    SECRET_KEY = "TESSERA_SECRET_KEY" "MEMORY_ENCRYPTION_KEY":
        "the key of secrets, instead of one that is kept: 64 hexadecimal digits, or a passphrase";
    SECRET_KEY_BEFORE = "TESSERA_SECRET_KEY_BEFORE":
        "the key of before, to open what it sealed until `tessera secret rotate-key` has sealed all anew";
    VAULT = "VAULT_ADDR" "VAULT_TOKEN" "VAULT_TOKEN_FILE" "VAULT_NAMESPACE" "VAULT_MOUNT" "VAULT_PREFIX"
         "VAULT_ROLE" "VAULT_K8S_MOUNT" "VAULT_K8S_TOKEN_PATH" "VAULT_CACERT":
        "where a vault is (HashiCorp Vault, OpenBao) and how to get in, for secrets.mode vault; their names are \
         Vault's own";
}

/// True when the user wants no colours.
pub(crate) fn no_color() -> bool {
    NO_COLOR.value().is_some()
}

/// True inside a program that a judge or a plugin started.
pub(crate) fn is_child_of_ours() -> bool {
    variable(tessera_learn::CHILD).is_some() || plugins::is_inside()
}

/// A variable of the environment that is set and not empty. A client that could not fill in an option
/// leaves its placeholder: that is not set either.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| {
        let text = value.to_string_lossy();
        !text.trim().is_empty() && !text.trim_start().starts_with("${")
    })
}

impl Setting {
    /// True for a value that is shown to nobody.
    pub(crate) fn is_secret(&self) -> bool {
        [KEY.names, SECRET_KEY.names, SECRET_KEY_BEFORE.names, VAULT.names].contains(&self.names)
    }

    /// The value of the first name that is set.
    pub(crate) fn value(&self) -> Option<OsString> {
        self.names.iter().find_map(|name| variable(name))
    }

    pub(crate) fn text(&self) -> Option<String> {
        self.value().map(|value| value.to_string_lossy().into_owned())
    }

    pub(crate) fn wrong(&self, problem: impl std::fmt::Display) -> SetupError {
        SetupError { setting: self.key.or(self.names.first().copied()).unwrap_or(""), problem: problem.to_string() }
    }

    /// The text from the environment, else from the file, else from an option of the plugin, whose defaults a client may hand on
    /// as if the user had set them.
    pub(crate) fn in_order(&self, file: &ConfigFile) -> Option<String> {
        let (of_plugin, own): (Vec<&str>, Vec<&str>) =
            self.names.iter().partition(|name| name.starts_with("CLAUDE_PLUGIN_OPTION_"));
        let told = |names: &[&str]| {
            let value = names.iter().filter(|_| !file.is_alone()).find_map(|name| variable(name));
            value.map(|value| value.to_string_lossy().into_owned())
        };
        told(&own).or_else(|| file.text(self)).or_else(|| told(&of_plugin))
    }

    /// The value from the environment, else from the file, else the default.
    fn parsed<T>(
        &self,
        file: &ConfigFile,
        default: T,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, SetupError> {
        match self.in_order(file) {
            Some(text) => parse(text.trim()).map_err(|problem| self.wrong(problem)),
            None => Ok(default),
        }
    }
}

/// Where the store is.
pub(crate) fn home(flag: Option<PathBuf>) -> Result<Home, SetupError> {
    if let Some(home) = named_home(flag) {
        // Each process stands in another directory: one that is started from here would look elsewhere.
        return Ok(std::path::absolute(&home).unwrap_or(home).into());
    }
    let names =
        AppStrategyArgs { top_level_domain: "dev".into(), author: "tessera".into(), app_name: "tessera".into() };
    let dirs = etcetera::choose_app_strategy(names)
        .map_err(|error| HOME.wrong(format!("no home directory ({error}); set it")))?;
    Ok(dirs.data_dir().into())
}

/// The directory of the store as the user named it. A shell does not expand `~` in a variable or behind `=`.
fn named_home(flag: Option<PathBuf>) -> Option<PathBuf> {
    let named = flag.or_else(|| HOME.value().map(PathBuf::from))?;
    Some(match (named.strip_prefix("~"), user_home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => named,
    })
}

/// Names a store that an earlier version kept where a variable of an older system points, if that is not the store in use.
pub(crate) fn earlier_store(home: &Home) -> Option<String> {
    let store = store_of_older_variable().filter(|store| *store != home.database())?;
    let store = store.display();
    Some(format!("an earlier version kept a store in {store}; `tessera restore-backup {store}` copies it here"))
}

fn store_of_older_variable() -> Option<PathBuf> {
    let by_home = variable("MEMORY_HOME").map(PathBuf::from);
    let by_database = ["MEMORY_DB", "MEMORY_DB_PATH"]
        .into_iter()
        .filter_map(|name| PathBuf::from(variable(name)?).parent().map(|dir| dir.join("tessera")));
    let stores = by_home.into_iter().chain(by_database).map(|dir| Home::from(dir).database());
    stores.into_iter().find(|database| database.is_file())
}

/// The clock: the machine's, or the one a replay sets.
pub(crate) fn clock() -> Result<Arc<dyn Clock>, SetupError> {
    match NOW.text() {
        None => Ok(Arc::new(SystemClock)),
        Some(text) => {
            let time: Timestamp = text.parse().map_err(|error| NOW.wrong(error))?;
            Ok(Arc::new(FixedClock(time)))
        }
    }
}

/// Somebody who asks, with what the settings say of that: whose tokens budgets count, and what is kept of questions.
pub(crate) fn asking(
    caller: Caller,
    profile: Option<TokenProfile>,
    home_flag: Option<PathBuf>,
) -> Result<Caller, SetupError> {
    let home = home(home_flag)?;
    // A file that cannot be read is no reason to answer nothing: the command says what is wrong with it.
    let file = ConfigFile::read(&home).unwrap_or_else(|_| ConfigFile::empty(&home));
    let profile = match profile {
        Some(profile) => profile,
        None => PROFILE.parsed(&file, TokenProfile::O200K, any)?,
    };
    Ok(Caller { profile, keeps_questions: KEEP_QUESTIONS.parsed(&file, false, switch)?, ..caller })
}

/// True where questions that nothing answers are kept as they are.
pub(crate) fn keeps_questions(home_flag: Option<PathBuf>) -> Result<bool, SetupError> {
    KEEP_QUESTIONS.parsed(&ConfigFile::read(&home(home_flag)?)?, false, switch)
}

fn any<T: std::str::FromStr>(text: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn switch(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Ok(true),
        "off" | "false" | "no" | "0" => Ok(false),
        _ => Err("is neither on nor off".into()),
    }
}

fn budget(text: &str) -> Result<TokenBudget, String> {
    let tokens: u32 = text.parse().map_err(|_| "is not a number; give 1 to 100000".to_owned())?;
    TokenBudget::try_from(tokens).map_err(|error| error.to_string())
}

fn number(text: &str) -> Result<u64, String> {
    text.replace('_', "").parse().map_err(|_| "is not a whole number".to_owned())
}

/// What hooks and the worker run in.
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
        program: std::env::current_exe().map_err(|error| HOME.wrong(format!("this program is nowhere: {error}")))?,
        claude: running_claude(),
        search_path: variable("PATH"),
        secrets: secret_rules(&file)?,
        ollama: address_of_ollama(&ollama),
    })
}

/// As Ollama itself reads it: a host alone means its own port, and "everywhere" is asked here.
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

fn hook_settings(file: &ConfigFile) -> Result<HookSettings, SetupError> {
    let unset = HookSettings::default();
    Ok(HookSettings {
        recall: RECALL.parsed(file, unset.recall, switch)?,
        recall_tokens: RECALL_TOKENS.parsed(file, unset.recall_tokens, budget)?,
        session_summary_tokens: SESSION_TOKENS.parsed(file, unset.session_summary_tokens, budget)?,
        compact_tokens: COMPACT_TOKENS.parsed(file, unset.compact_tokens, budget)?,
        profile: PROFILE.parsed(file, unset.profile, any)?,
        auto_approve: AUTO_APPROVE.parsed(file, unset.auto_approve, switch)? && !NO_APPROVAL.is_on(),
        extractor: JUDGE.parsed(file, unset.extractor, any)?,
        daily_tokens: DAILY_TOKENS.parsed(file, unset.daily_tokens, number)?,
        meaning: MEANING.parsed(file, unset.meaning, switch)?,
        plugins: plugins::of_hooks(file)?,
        deadline: Duration::from_millis(DEADLINE.parsed(file, 1000, number)?.clamp(10, 60_000)),
    })
}

/// Refuses a file with a value that cannot be used.
pub(crate) fn check(file: &ConfigFile) -> Result<(), SetupError> {
    KEEP_QUESTIONS.parsed(file, false, switch)?;
    OLLAMA.parsed(file, String::new(), any)?;
    files::check(file)?;
    secret_rules(file)?;
    team::check(file)?;
    hook_settings(file).map(drop)
}

/// The user's home directory, which is no project.
pub(crate) fn user_home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// What a directory says that it is.
pub(crate) fn claim(dir: &Path) -> Claim {
    claim_of(dir, user_home().as_deref())
}

/// The project of a directory, as the directory says.
pub(crate) fn project(dir: &Path) -> Scope {
    claim(dir).scope
}

/// How to open the user's store.
pub(crate) fn store(home_flag: Option<PathBuf>, usage: Usage) -> Result<StoreConfig, SetupError> {
    let home = home(home_flag)?;
    // A file that cannot be read is no reason to store nothing: `doctor` and hooks say what is wrong with it.
    let read = ConfigFile::read(&home);
    let is_read = read.is_ok();
    let file = read.unwrap_or_else(|error| {
        static TOLD: Once = Once::new();
        TOLD.call_once(|| {
            crate::output::note(&format!("{error}; until it is mended, nothing with a credential is stored"));
        });
        ConfigFile::empty(&home)
    });
    let meaning = MEANING.parsed(&file, true, switch)?;
    let mut secrets = secret_rules(&file)?;
    if !is_read && SECRETS_MODE.value().is_none() {
        // What the user wants done with credentials cannot be read.
        secrets.mode = SecretMode::Refuse;
    }
    Ok(StoreConfig { home, clock: clock()?, weights: Weights::default(), usage, meaning, secrets })
}
