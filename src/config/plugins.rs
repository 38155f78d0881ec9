//! Settings of plugins.

use std::path::PathBuf;
use std::time::Duration;

use tessera_desk::PluginRules;
use tessera_plugins::command::INSIDE;

use super::{ConfigFile, PLUGINS_PROMPT, SetupError, number, variable};

/// The longest that a prompt may be set to wait: well within what a hook has.
const MOST_PROMPT_MS: u64 = 200;

/// True inside a program that a plugin started.
pub(super) fn is_inside() -> bool {
    variable(INSIDE).is_some()
}

/// How plugins are called: not at all inside a program that one of them started.
pub(crate) fn plugin_rules() -> PluginRules {
    PluginRules { are_off: is_inside(), ..PluginRules::default() }
}

/// The same with how long a prompt waits.
pub(super) fn of_hooks(file: &ConfigFile) -> Result<PluginRules, SetupError> {
    let prompt = PLUGINS_PROMPT.parsed(file, 5, number)?.min(MOST_PROMPT_MS);
    Ok(PluginRules { prompt: Duration::from_millis(prompt), ..plugin_rules() })
}

/// Where programs are looked for.
pub(crate) fn search_path() -> Vec<PathBuf> {
    variable("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}
