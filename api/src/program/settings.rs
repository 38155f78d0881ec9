//! Environment variables of the server. Everything else is an option.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::Arc;

use tessera_api::{SecretMode, SecretRules, SemanticSearch};
use tessera_engine::domain::{Clock, FixedClock, SystemClock, Timestamp};
use tessera_tables::settings;
use tessera_vault::Config;
use zeroize::Zeroizing;

use crate::output::SetupError;

/// A setting: an environment variable.
pub(crate) struct Setting {
    /// The names of the environment variable, the preferred name first. For the vault, the names of several variables.
    pub(crate) names: &'static [&'static str],
    /// The setting's key in a settings file. The server reads no such file.
    #[expect(dead_code, reason = "the table of settings is shared with the command line")]
    key: Option<&'static str>,
    /// Its description.
    pub(crate) help: &'static str,
}

settings! {
    DATABASE_URL = "DATABASE_URL":
        "address of PostgreSQL: postgres://role@host/database; the role must not be a superuser";
    OLDER_KEYS = "API_KEYS":
        "keys of the older API, as JSON: {\"user\": \"key\"}";
    OLDER_KEY = "API_KEY":
        "one key of the older API, for the user `default`";
    SECRET_KEY = "TESSERA_SECRET_KEY" "MEMORY_ENCRYPTION_KEY":
        "key that encrypts secrets: 64 hexadecimal digits or a passphrase; the second variable is the older name of the first";
    SECRET_KEY_BEFORE = "TESSERA_SECRET_KEY_BEFORE":
        "previous keys, comma-separated; used only for decryption";
    SECRETS_MODE = "TESSERA_SECRETS_MODE":
        "handling of secrets: encrypt, vault, refuse or drop [default: vault if VAULT_ADDR is set, encrypt if a key \
        is set, otherwise refuse]";
    VAULT = "VAULT_ADDR" "VAULT_TOKEN" "VAULT_TOKEN_FILE" "VAULT_ROLE" "VAULT_NAMESPACE" "VAULT_MOUNT"
         "VAULT_PREFIX" "VAULT_K8S_MOUNT" "VAULT_K8S_TOKEN_PATH" "VAULT_CACERT":
        "address and credentials of a Vault or OpenBao server for secrets";
    SEMANTIC = "TESSERA_RECALL_SEMANTIC":
        "semantic search: on or off [default: on]";
    LOG = "TESSERA_LOG":
        "log filter for stderr (tracing syntax)";
    NOW = "TESSERA_NOW":
        "fixed time, for replays and tests";
    NO_COLOR = "NO_COLOR":
        "turns colours off if set to any value";
}

/// A variable that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "the only place that reads the environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty() && !value.to_string_lossy().starts_with("${"))
}

impl Setting {
    fn text(&self) -> Option<String> {
        let value = self.names.iter().find_map(|name| variable(name))?;
        Some(value.to_string_lossy().into_owned())
    }

    fn wrong(&self, problem: impl std::fmt::Display) -> SetupError {
        SetupError { setting: self.names.first().copied().unwrap_or(""), problem: problem.to_string() }
    }
}

/// The database.
pub(crate) fn database_url() -> Result<String, SetupError> {
    DATABASE_URL.text().ok_or_else(|| DATABASE_URL.wrong("is not set; use postgres://role@host/database"))
}

/// Keys of the older API: users and their keys.
pub(crate) fn older_keys() -> Result<Vec<(String, String)>, SetupError> {
    let mut keys: Vec<(String, String)> = Vec::new();
    if let Some(text) = OLDER_KEYS.text().filter(|text| !text.trim().is_empty()) {
        let known: std::collections::BTreeMap<String, String> = serde_json::from_str(&text)
            .map_err(|error| OLDER_KEYS.wrong(format!("is not a JSON object of users and keys: {error}")))?;
        keys.extend(known);
    }
    keys.extend(OLDER_KEY.text().map(|key| ("default".to_owned(), key)));
    // An image may set an empty value.
    keys.retain(|(_, key)| !key.trim().is_empty());
    let of =
        |key: &str| keys.iter().filter(|(_, other)| other == key).map(|(user, _)| user.as_str()).collect::<Vec<_>>();
    if let Some(users) = keys.iter().map(|(_, key)| of(key)).find(|users| users.len() > 1) {
        return Err(
            OLDER_KEYS.wrong(format!("assigns one key to {}; a key can belong to only one user", users.join(" and ")))
        );
    }
    Ok(keys)
}

/// The handling of secrets. If both variables contain a key, the key in the older variable is used only for decryption.
pub(crate) fn secrets() -> Result<SecretRules, SetupError> {
    let mut keys = SECRET_KEY.names.iter().filter_map(|name| variable(name));
    let key = keys.next().map(secret_text);
    let before = SECRET_KEY_BEFORE.text().map(Zeroizing::new).unwrap_or_default();
    let listed = before.split(',').map(str::trim).filter(|text| !text.is_empty());
    let before = keys.map(secret_text).chain(listed.map(|text| Zeroizing::new(text.to_owned()))).collect();
    let mode = SECRETS_MODE.text().map(|text| text.parse::<SecretMode>()).transpose();
    let mode = mode.map_err(|error| SECRETS_MODE.wrong(error))?;
    let known = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
    let vault = Config::read(known).map_err(|error| VAULT.wrong(error))?;
    // A vault variable without VAULT_ADDR is a mistake.
    let alone = VAULT.names.iter().find(|name| vault.is_none() && variable(name).is_some());
    if let Some(setting) = alone {
        return Err(SetupError { setting, problem: "is set, but VAULT_ADDR is not; set both or neither".into() });
    }
    Ok(SecretRules { mode, key, before, vault })
}

fn secret_text(value: OsString) -> Zeroizing<String> {
    Zeroizing::new(value.to_string_lossy().into_owned())
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

/// The setting for semantic search.
pub(crate) fn embedding() -> Result<SemanticSearch, SetupError> {
    match SEMANTIC.text().as_deref().map(str::trim) {
        None | Some("on" | "true" | "1") => Ok(SemanticSearch::On),
        Some("off" | "false" | "0") => Ok(SemanticSearch::Off),
        Some(other) => Err(SEMANTIC.wrong(format!("{other:?} is not valid; use on or off"))),
    }
}

/// True if colours are switched off.
pub(crate) fn no_color() -> bool {
    NO_COLOR.text().is_some()
}

/// Logs to stderr: one line of JSON per request while serving, otherwise nothing; more with `-v` or `TESSERA_LOG`.
pub(crate) fn init_logging(verbose: u8, is_serving: bool) {
    let filter = LOG.text().unwrap_or_else(|| {
        match verbose {
            0 if is_serving => "info,sqlx=warn",
            0 => "off",
            1 => "info",
            _ => "debug",
        }
        .to_owned()
    });
    if filter == "off" {
        return;
    }
    let builder = tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    // A closed stderr is not an error.
    let builder = builder.with_env_filter(tracing_subscriber::EnvFilter::new(filter)).log_internal_errors(false);
    // Only a test initialises twice; the first one stays.
    let _ = if is_serving { builder.json().flatten_event(true).try_init() } else { builder.try_init() };
}
