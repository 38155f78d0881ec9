//! Settings: a flag, else the environment, else the default. Every variable is declared here.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use etcetera::{AppStrategy, AppStrategyArgs};
use tessera_engine::domain::{Clock, FixedClock, SystemClock, Timestamp, TokenProfile};
use tessera_engine::score::Weights;
use tessera_engine::store::{StoreConfig, Usage};

use crate::exit::SetupError;

/// A setting that is read from the environment.
pub(crate) struct Setting {
    /// Its name, and the older names that mean the same.
    pub(crate) names: &'static [&'static str],
    /// What it does.
    pub(crate) help: &'static str,
}

/// The directory of the store.
pub(crate) const HOME: Setting = Setting {
    names: &["TESSERA_HOME", "MEMORY_HOME"],
    help: "directory of the store (default: the user's data directory)",
};
/// A file whose directory is the store's.
pub(crate) const DATABASE: Setting = Setting {
    names: &["MEMORY_DB", "MEMORY_DB_PATH"],
    help: "older names: a database file, in whose directory the store is kept",
};
/// The time to take for now.
pub(crate) const NOW: Setting =
    Setting { names: &["TESSERA_NOW"], help: "the time to take for now, for replays and tests" };
/// Whose tokens budgets count.
pub(crate) const PROFILE: Setting = Setting {
    names: &["TESSERA_TOKEN_PROFILE"],
    help: "whose tokens budgets count: o200k (default), claude, or claude:FACTOR",
};
/// What is logged.
pub(crate) const LOG: Setting =
    Setting { names: &["TESSERA_LOG"], help: "what is logged to stderr, as a tracing filter" };

/// No colours, by the convention of many programs.
pub(crate) const NO_COLOR: Setting = Setting { names: &["NO_COLOR"], help: "no colours, whatever the value" };

/// True when the user wants no colours.
pub(crate) fn no_color() -> bool {
    NO_COLOR.value().is_some()
}

/// Every setting, for `tessera settings` and the documentation.
pub(crate) const SETTINGS: [&Setting; 6] = [&HOME, &DATABASE, &NOW, &PROFILE, &LOG, &NO_COLOR];

impl Setting {
    /// The value of the first name that is set and not empty.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    fn value(&self) -> Option<OsString> {
        self.names.iter().filter_map(std::env::var_os).find(|value| !value.is_empty())
    }

    fn text(&self) -> Option<String> {
        self.value().map(|value| value.to_string_lossy().into_owned())
    }

    fn wrong(&self, problem: impl std::fmt::Display) -> SetupError {
        SetupError { setting: self.names.first().copied().unwrap_or(""), problem: problem.to_string() }
    }
}

/// Where the store is.
pub(crate) fn home(flag: Option<PathBuf>) -> Result<PathBuf, SetupError> {
    if let Some(home) = flag {
        return Ok(home);
    }
    if let Some(home) = HOME.value() {
        return Ok(PathBuf::from(home));
    }
    if let Some(database) = DATABASE.value() {
        let dir = PathBuf::from(database).parent().map(|dir| dir.join("tessera"));
        return dir.ok_or_else(|| DATABASE.wrong("has no directory"));
    }
    let names =
        AppStrategyArgs { top_level_domain: "dev".into(), author: "tessera".into(), app_name: "tessera".into() };
    let dirs = etcetera::choose_app_strategy(names)
        .map_err(|error| HOME.wrong(format!("no home directory ({error}); set it")))?;
    Ok(dirs.data_dir())
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

/// Whose tokens budgets count.
pub(crate) fn profile(flag: Option<TokenProfile>) -> Result<TokenProfile, SetupError> {
    match (flag, PROFILE.text()) {
        (Some(profile), _) => Ok(profile),
        (None, Some(text)) => text.parse().map_err(|error| PROFILE.wrong(error)),
        (None, None) => Ok(TokenProfile::O200K),
    }
}

/// How to open the user's store.
pub(crate) fn store(home_flag: Option<PathBuf>, usage: Usage) -> Result<StoreConfig, SetupError> {
    Ok(StoreConfig { home: home(home_flag)?, clock: clock()?, weights: Weights::default(), usage })
}

/// Sends the log to stderr: nothing by default, more with `-v`, or what `TESSERA_LOG` says.
pub(crate) fn init_logging(verbose: u8) {
    let filter = LOG.text().unwrap_or_else(|| {
        match verbose {
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
    // A second initialisation can only come from a test; the first one stands.
    let _ = builder.with_env_filter(tracing_subscriber::EnvFilter::new(filter)).try_init();
}
