//! Unknown settings, and the notice about invalid ones.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{SETTINGS, check, home};
use crate::config_file::ConfigFile;

/// Unknown names: keys of the file, and variables with a prefix of Tessera.
pub(crate) fn unknown(file: &ConfigFile) -> Vec<String> {
    const GROUPS: [&str; 7] = ["HOOKS", "RECALL", "LEARN", "SYNC", "FILES", "SECRETS", "PLUGINS"];
    let is_ours = |name: &str| {
        let rest = name.strip_prefix("TESSERA_").unwrap_or_default();
        GROUPS.iter().any(|group| rest.strip_prefix(group).is_some_and(|rest| rest.starts_with('_')))
    };
    let is_known = |name: &str| SETTINGS.iter().any(|setting| setting.names.contains(&name));
    let mut variables: Vec<String> = variable_names().filter(|name| is_ours(name) && !is_known(name)).collect();
    variables.sort();
    let of_file = file.unknown().into_iter().map(|key| format!("{key} in config.toml"));
    of_file.chain(variables.into_iter().map(|name| format!("the variable {name}"))).collect()
}

static IS_REPORTED: AtomicBool = AtomicBool::new(false);

/// Remembers that the problems of the settings were reported.
pub(super) fn reported() {
    IS_REPORTED.store(true, Ordering::Relaxed);
}

/// The problems of the settings, if they were not reported yet.
pub(crate) fn problem_to_report(home_flag: Option<PathBuf>) -> Option<String> {
    problem(home_flag).filter(|_| !IS_REPORTED.load(Ordering::Relaxed))
}

/// The problems of the settings, in words; nothing if all are valid.
pub(crate) fn problem(home_flag: Option<PathBuf>) -> Option<String> {
    let file = match home(home_flag).and_then(|home| ConfigFile::read(&home)) {
        Ok(file) => file,
        Err(problem) => return Some(problem.to_string()),
    };
    if let Err(problem) = check(&file) {
        return Some(problem.to_string());
    }
    let unknown = unknown(&file);
    (!unknown.is_empty()).then(|| format!("unknown setting {}; `tessera settings` lists all", unknown.join(", ")))
}

/// The names of all environment variables.
fn variable_names() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}
