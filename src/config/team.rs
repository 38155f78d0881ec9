//! Settings of the team server: where it is, how one gets in, and how it is used. The older system's variables mean here what
//! they meant there.

use std::path::PathBuf;
use std::time::Duration;

use tessera_desk::sync::{EVERY, Mode, Remote};

use super::{INTERVAL, KEY, SERVER, SYNC, SYNC_DISABLE, Setting, home, variable};
use crate::config_file::ConfigFile;
use crate::exit::SetupError;

/// The older system's names of the key: with one of them alone, its server is where it always was.
const OLDER_KEYS: [&str; 2] = ["MEMORY_API_KEY", "CLAUDE_MEMORY_API_KEY"];
const OLDER_ADDRESS: &str = "http://localhost:8080";
/// Seconds between two exchanges, at most.
const LONGEST_INTERVAL: u64 = 86_400;

/// How a team server is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) mode: Mode,
    /// How often it is asked for news.
    pub(crate) every: Duration,
}

fn text(setting: &Setting, file: &ConfigFile) -> Option<String> {
    setting.in_order(file).filter(|text| !text.trim().is_empty())
}

/// The address that the environment or the file holds.
pub(crate) fn team_address(file: &ConfigFile) -> Option<String> {
    let is_older = || OLDER_KEYS.iter().any(|name| variable(name).is_some());
    text(&SERVER, file).or_else(|| is_older().then(|| OLDER_ADDRESS.to_owned()))
}

/// The key that the environment or the file holds.
pub(crate) fn team_key(file: &ConfigFile) -> Option<String> {
    text(&KEY, file).map(|key| key.trim().to_owned())
}

/// What `sync.mode` says; `None` where the server is not to be used.
fn mode(file: &ConfigFile) -> Result<Option<Mode>, SetupError> {
    let mode = SYNC.parsed(file, Some(Mode::Hybrid), |text| match text.to_lowercase().as_str() {
        "hybrid" | "on" => Ok(Some(Mode::Hybrid)),
        "direct" => Ok(Some(Mode::Direct)),
        "off" => Ok(None),
        _ => Err("is unknown; give hybrid, direct or off".into()),
    })?;
    let is_direct = SYNC_DISABLE.text().is_some_and(|text| text.trim() == "1");
    Ok(if is_direct { mode.map(|_| Mode::Direct) } else { mode })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<u64> = text.parse().ok().filter(|seconds| (1..=LONGEST_INTERVAL).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| format!("is no number of seconds; give 1 to {LONGEST_INTERVAL}"))
}

/// The team server's address, its key, and how it is used; `None` where none is set or it is switched off.
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
        return Err(SERVER.wrong(format!("{address} is no address; give https://HOST, or http:// on this machine")));
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

/// The key to send to a server: that of a variable, or that of the user's file if the file names this server.
pub(crate) fn team_key_for(file: &ConfigFile, address: &str) -> Option<String> {
    team_key(file).filter(|_| keep_key_of_file(file, address).is_ok())
}

/// Refuses to send the key of the user's file to another address than the file's, because a directory can set variables.
fn keep_key_of_file(file: &ConfigFile, address: &str) -> Result<(), SetupError> {
    let has_variable = KEY.text().is_some_and(|text| !text.trim().is_empty());
    let of_file = file.text(&SERVER).unwrap_or_default();
    let plain = |address: &str| address.trim().trim_end_matches('/').to_owned();
    if has_variable || plain(&of_file) == plain(address) {
        return Ok(());
    }
    let problem = format!(
        "the server is {address}, but the key of config.toml is for {}; set TESSERA_API_KEY too, or write the address into \
         config.toml",
        if of_file.is_empty() { "no server" } else { of_file.as_str() }
    );
    Err(SERVER.wrong(problem))
}

fn remote(address: &str, key: &str) -> Result<Remote, SetupError> {
    let remote = Remote::new(address, key).map_err(|error| SERVER.wrong(error))?;
    // A directory can set variables; the file in the store's directory is the user's own.
    let is_own = SERVER.text().is_none() && KEY.text().is_none();
    Ok(if is_own { remote } else { remote.named_by_environment() })
}

/// The team server, and how it is used; `None` where none is set or it is switched off.
pub(crate) fn team(home_flag: Option<PathBuf>) -> Result<Option<(Remote, Used)>, SetupError> {
    let set = server(home_flag)?;
    set.map(|(address, key, used)| Ok((remote(&address, &key)?, used))).transpose()
}

/// True where no server is to be used, whatever is set: `tessera sync leave` says so.
pub(crate) fn is_switched_off(file: &ConfigFile) -> Result<bool, SetupError> {
    Ok(mode(file)?.is_none())
}

/// True where a server is set and not to be used.
pub(crate) fn is_left(home_flag: Option<PathBuf>) -> Result<bool, SetupError> {
    let file = ConfigFile::read(&home(home_flag)?)?;
    Ok(is_switched_off(&file)? && team_address(&file).is_some() && team_key(&file).is_some())
}

/// The team server where each call waits for it. Settings that cannot be read are no reason to wait: `doctor` and
/// whatever stores something say so.
pub(crate) fn direct_server(home_flag: Option<PathBuf>) -> Option<Remote> {
    // What it takes to speak to a server is made only where one is spoken to.
    let (address, key, _) = server(home_flag).ok()?.filter(|(.., used)| used.mode == Mode::Direct)?;
    remote(&address, &key).ok()
}
