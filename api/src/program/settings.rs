//! What the environment says to a server. Every variable is declared here; the rest is flags.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::Arc;

use tessera_api::MeaningUse;
use tessera_engine::domain::{Clock, FixedClock, SystemClock, Timestamp};

use crate::exit::SetupError;

/// A setting: an environment variable.
pub(crate) struct Setting {
    /// The variable, and others that mean the same kind of thing.
    pub(crate) names: &'static [&'static str],
    /// What it does.
    pub(crate) help: &'static str,
}

macro_rules! setting {
    ($name:ident, [$($variable:literal),+], $help:literal) => {
        #[doc = $help]
        pub(crate) const $name: Setting = Setting { names: &[$($variable),+], help: $help };
    };
}

setting!(
    DATABASE_URL,
    ["DATABASE_URL"],
    "the PostgreSQL: postgres://role@host/database, of a role that is no superuser"
);
setting!(OLDER_KEYS, ["API_KEYS"], "keys of the older API that are taken over, as JSON: {\"user\": \"key\"}");
setting!(OLDER_KEY, ["API_KEY"], "the same for one key, of the user default");
setting!(
    ENCRYPTION_KEY,
    ["MEMORY_ENCRYPTION_KEY"],
    "an older name: nothing is encrypted yet, and a server does not start while it is set"
);
setting!(
    VAULT,
    ["VAULT_ADDR", "VAULT_TOKEN", "VAULT_ROLE"],
    "older names: no secret is kept in a vault yet, and a server does not start with them"
);
setting!(
    MEANING,
    ["TESSERA_RECALL_MEANING"],
    "on or off: off, recall goes by words alone, and nothing is found out of what memories mean"
);
setting!(LOG, ["TESSERA_LOG"], "what is logged to stderr, as a tracing filter");
setting!(NOW, ["TESSERA_NOW"], "the time to take for now, for replays and tests");
setting!(NO_COLOR, ["NO_COLOR"], "no colours, whatever the value");

/// Every setting, for `--help`.
pub(crate) const SETTINGS: [&Setting; 9] =
    [&DATABASE_URL, &OLDER_KEYS, &OLDER_KEY, &ENCRYPTION_KEY, &VAULT, &MEANING, &LOG, &NOW, &NO_COLOR];

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
    if let Some(text) = OLDER_KEYS.text() {
        let known: std::collections::BTreeMap<String, String> = serde_json::from_str(&text)
            .map_err(|error| OLDER_KEYS.wrong(format!("is not JSON of users and keys: {error}")))?;
        keys.extend(known);
    }
    keys.extend(OLDER_KEY.text().map(|key| ("default".to_owned(), key)));
    Ok(keys)
}

/// Variables of these settings that are set.
pub(crate) fn set_variables(settings: &[&Setting]) -> Vec<&'static str> {
    let names = settings.iter().flat_map(|setting| setting.names);
    names.copied().filter(|name| variable(name).is_some()).collect()
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
pub(crate) fn meaning() -> Result<MeaningUse, SetupError> {
    match MEANING.text().as_deref().map(str::trim) {
        None | Some("on" | "true" | "1") => Ok(MeaningUse::On),
        Some("off" | "false" | "0") => Ok(MeaningUse::Off),
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
