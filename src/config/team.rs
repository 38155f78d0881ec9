//! Settings of the team server: its address, the key, and the mode. The environment variables of claude-memory-mcp have
//! the same effect in Tessera.

use std::path::PathBuf;
use std::time::Duration;

use tessera_desk::sync::{EVERY, Mode, Remote};

use super::{INTERVAL, KEY, SERVER, SYNC, SYNC_DISABLE, Setting, home, variable};
use crate::config_file::ConfigFile;
use crate::exit::SetupError;

/// The variables in which claude-memory-mcp expects the server's key. If one of these keys is set without an address,
/// the server has claude-memory-mcp's default address.
const OLDER_KEYS: [&str; 2] = ["MEMORY_API_KEY", "CLAUDE_MEMORY_API_KEY"];
const OLDER_ADDRESS: &str = "http://localhost:8080";
/// Maximum seconds between two syncs.
const LONGEST_INTERVAL: u64 = 86_400;

/// How a team server is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) mode: Mode,
    /// The interval between two syncs.
    pub(crate) every: Duration,
}

fn text(setting: &Setting, file: &ConfigFile) -> Option<String> {
    setting.in_order(file).filter(|text| !text.trim().is_empty())
}

/// The address from the environment or the file.
pub(crate) fn team_address(file: &ConfigFile) -> Option<String> {
    let is_older = || OLDER_KEYS.iter().any(|name| variable(name).is_some());
    text(&SERVER, file).or_else(|| is_older().then(|| OLDER_ADDRESS.to_owned()))
}

/// The key from the environment or the file.
pub(crate) fn team_key(file: &ConfigFile) -> Option<String> {
    text(&KEY, file).map(|key| key.trim().to_owned())
}

/// The value of `sync.mode`; `None` if the server is switched off.
fn mode(file: &ConfigFile) -> Result<Option<Mode>, SetupError> {
    let mode = SYNC.parsed(file, Some(Mode::Hybrid), |text| match text.to_lowercase().as_str() {
        "hybrid" | "on" => Ok(Some(Mode::Hybrid)),
        "direct" => Ok(Some(Mode::Direct)),
        "off" => Ok(None),
        _ => Err("is unknown; use hybrid, direct or off".into()),
    })?;
    let is_direct = SYNC_DISABLE.text().is_some_and(|text| text.trim() == "1");
    Ok(if is_direct { mode.map(|_| Mode::Direct) } else { mode })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<u64> = text.parse().ok().filter(|seconds| (1..=LONGEST_INTERVAL).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| format!("is not a number of seconds; use 1 to {LONGEST_INTERVAL}"))
}

/// The team server's address, key and mode; `None` if there is none or it is switched off.
fn server(home_flag: Option<PathBuf>) -> Result<Option<(String, String, Used)>, SetupError> {
    let file = ConfigFile::read(&home(home_flag)?)?;
    let (Some(address), Some(key), Some(mode)) = (team_address(&file), team_key(&file), mode(&file)?) else {
        return Ok(None);
    };
    keep_key_of_file(&file, &address)?;
    Ok(Some((address, key, Used { mode, every: INTERVAL.parsed(&file, EVERY, seconds)? })))
}

/// Checks the settings of the team server.
pub(super) fn check(file: &ConfigFile) -> Result<(), SetupError> {
    INTERVAL.parsed(file, EVERY, seconds)?;
    if let Some(address) = text(&SERVER, file).filter(|address| !address.trim().starts_with("http")) {
        return Err(
            SERVER.wrong(format!("`{address}` is not a valid address; use https://HOST, or http:// on this machine"))
        );
    }
    if file.is_alone() {
        mode(file)?;
        return Ok(());
    }
    match (team_address(file), team_key(file), mode(file)?) {
        (Some(address), Some(_), Some(_)) => keep_key_of_file(file, &address),
        _ => Ok(()),
    }
}

/// The key for a server: from a variable, or from the user's file if the file names this server.
pub(crate) fn team_key_for(file: &ConfigFile, address: &str) -> Option<String> {
    team_key(file).filter(|_| keep_key_of_file(file, address).is_ok())
}

/// Returns an error if the key in `config.toml` would be sent to an address that is not the address in `config.toml`. A
/// project directory can set variables.
fn keep_key_of_file(file: &ConfigFile, address: &str) -> Result<(), SetupError> {
    let has_variable = KEY.text().is_some_and(|text| !text.trim().is_empty());
    let of_file = file.text(&SERVER).unwrap_or_default();
    let plain = |address: &str| address.trim().trim_end_matches('/').to_owned();
    if has_variable || plain(&of_file) == plain(address) {
        return Ok(());
    }
    let problem = format!(
        "the server is {address}, but the key in config.toml belongs to {}; set TESSERA_API_KEY too, or write the \
        address into config.toml",
        if of_file.is_empty() { "no server" } else { of_file.as_str() }
    );
    Err(SERVER.wrong(problem))
}

fn remote(address: &str, key: &str) -> Result<Remote, SetupError> {
    let remote = Remote::new(address, key).map_err(|error| SERVER.wrong(error))?;
    // A directory can set variables, but the file in the store's directory belongs to the user.
    let is_own = SERVER.text().is_none() && KEY.text().is_none();
    Ok(if is_own { remote } else { remote.named_by_environment() })
}

/// The team server and its mode; `None` if there is none or it is switched off.
pub(crate) fn team(home_flag: Option<PathBuf>) -> Result<Option<(Remote, Used)>, SetupError> {
    let set = server(home_flag)?;
    set.map(|(address, key, used)| Ok((remote(&address, &key)?, used))).transpose()
}

/// True if no server is to be used, whatever else is set. Set by `tessera sync leave`.
pub(crate) fn is_switched_off(file: &ConfigFile) -> Result<bool, SetupError> {
    Ok(mode(file)?.is_none())
}

/// True if a server is configured but switched off.
pub(crate) fn is_left(home_flag: Option<PathBuf>) -> Result<bool, SetupError> {
    let file = ConfigFile::read(&home(home_flag)?)?;
    Ok(is_switched_off(&file)? && team_address(&file).is_some() && team_key(&file).is_some())
}

/// The team server, if it is used in direct mode. Unreadable settings do not count as direct mode; `doctor` and the
/// commands that store something report them.
pub(crate) fn direct_server(home_flag: Option<PathBuf>) -> Option<Remote> {
    // A connection to a server is prepared only if it is needed.
    let (address, key, _) = server(home_flag).ok()?.filter(|(.., used)| used.mode == Mode::Direct)?;
    remote(&address, &key).ok()
}
