//! What the environment says to a server. Every variable is declared here; the rest is flags.

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
    /// The variable, and others that mean the same kind of thing.
    pub(crate) names: &'static [&'static str],
    /// A key of a file; no setting of the server has one.
    #[expect(dead_code, reason = "the table of settings is shared with the command line")]
    key: Option<&'static str>,
    /// What it does.
    pub(crate) help: &'static str,
}

settings! {
    DATABASE_URL = "DATABASE_URL":
        "the PostgreSQL: postgres://role@host/database, of a role that is no superuser";
    OLDER_KEYS = "API_KEYS":
        "keys of the older API that are taken over, as JSON: {\"user\": \"key\"}";
    OLDER_KEY = "API_KEY":
        "the same for one key, of the user default";
    SECRET_KEY = "TESSERA_SECRET_KEY" "MEMORY_ENCRYPTION_KEY":
        "the key that credentials are encrypted with: 64 hexadecimal digits, or a passphrase; the second name is \
         the older one";
    SECRET_KEY_BEFORE = "TESSERA_SECRET_KEY_BEFORE":
        "keys of before, separated by commas: they open what they sealed, and seal nothing";
    SECRETS_MODE = "TESSERA_SECRETS_MODE":
        "encrypt, vault, refuse or drop: what becomes of credentials; vault where VAULT_ADDR is set, else encrypt \
         where there is a key, else refuse";
    VAULT = "VAULT_ADDR" "VAULT_TOKEN" "VAULT_TOKEN_FILE" "VAULT_ROLE" "VAULT_NAMESPACE" "VAULT_MOUNT"
         "VAULT_PREFIX" "VAULT_K8S_MOUNT" "VAULT_K8S_TOKEN_PATH" "VAULT_CACERT":
        "a Vault or OpenBao that keeps credentials, and how to get in";
    MEANING = "TESSERA_RECALL_SEMANTIC":
        "on or off: off, recall goes by words alone, and nothing is found out of what memories mean";
    LOG = "TESSERA_LOG":
        "what is logged to stderr, as a tracing filter";
    NOW = "TESSERA_NOW":
        "the time to take for now, for replays and tests";
    NO_COLOR = "NO_COLOR":
        "no colours, whatever the value";
}

/// A variable of the environment that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
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
    DATABASE_URL.text().ok_or_else(|| DATABASE_URL.wrong("is not set; give postgres://role@host/database"))
}

/// Keys of the older API: users and their keys.
pub(crate) fn older_keys() -> Result<Vec<(String, String)>, SetupError> {
    let mut keys: Vec<(String, String)> = Vec::new();
    if let Some(text) = OLDER_KEYS.text().filter(|text| !text.trim().is_empty()) {
        let known: std::collections::BTreeMap<String, String> = serde_json::from_str(&text)
            .map_err(|error| OLDER_KEYS.wrong(format!("is not JSON of users and keys: {error}")))?;
        keys.extend(known);
    }
    keys.extend(OLDER_KEY.text().map(|key| ("default".to_owned(), key)));
    // An image may set what nobody gave.
    keys.retain(|(_, key)| !key.trim().is_empty());
    let of =
        |key: &str| keys.iter().filter(|(_, other)| other == key).map(|(user, _)| user.as_str()).collect::<Vec<_>>();
    if let Some(users) = keys.iter().map(|(_, key)| of(key)).find(|users| users.len() > 1) {
        return Err(OLDER_KEYS.wrong(format!("gives one key to {}; a key is of one user", users.join(" and "))));
    }
    Ok(keys)
}

/// What becomes of credentials. Where a key has two names and both are given, the older one's opens what it encrypted.
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
    // Whoever sets one of these believes that there is a vault.
    let alone = VAULT.names.iter().find(|name| vault.is_none() && variable(name).is_some());
    if let Some(setting) = alone {
        return Err(SetupError { setting, problem: "is set, and VAULT_ADDR is not; give both or neither".into() });
    }
    Ok(SecretRules { mode, key, before, vault })
}

fn secret_text(value: OsString) -> Zeroizing<String> {
    Zeroizing::new(value.to_string_lossy().into_owned())
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

/// What the server makes of what memories mean.
pub(crate) fn meaning() -> Result<SemanticSearch, SetupError> {
    match MEANING.text().as_deref().map(str::trim) {
        None | Some("on" | "true" | "1") => Ok(SemanticSearch::On),
        Some("off" | "false" | "0") => Ok(SemanticSearch::Off),
        Some(other) => Err(MEANING.wrong(format!("{other:?} is neither on nor off"))),
    }
}

/// True when the user wants no colours.
pub(crate) fn no_color() -> bool {
    NO_COLOR.text().is_some()
}

/// Sends the log to stderr: a line of JSON for each request while serving, else nothing; more with `-v`, or what
/// `TESSERA_LOG` says.
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
    // Nobody reads the log any more: that is no reason to fail.
    let builder = builder.with_env_filter(tracing_subscriber::EnvFilter::new(filter)).log_internal_errors(false);
    // A second initialisation can only come from a test; the first one stands.
    let _ = if is_serving { builder.json().flatten_event(true).try_init() } else { builder.try_init() };
}
