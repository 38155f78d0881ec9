//! Settings of plugins.

use std::path::PathBuf;
use std::time::Duration;

use tessera_desk::PluginRules;
use tessera_plugins::command::INSIDE;

use super::{ConfigFile, PLUGINS_PROMPT, SetupError, number, variable};

/// The maximum time for plugins before automatic recall. The limit is much shorter than the time limit of a hook.
const MOST_PROMPT_MS: u64 = 200;

/// True in a program that a plugin started.
pub(super) fn is_inside() -> bool {
    variable(INSIDE).is_some()
}

/// The rules for calling plugins. In a program that a plugin started, no plugin is called.
pub(crate) fn plugin_rules() -> PluginRules {
    PluginRules { are_off: is_inside(), ..PluginRules::default() }
}

/// The rules for plugins in hooks, with the time limit.
pub(super) fn of_hooks(file: &ConfigFile) -> Result<PluginRules, SetupError> {
    let prompt = PLUGINS_PROMPT.parsed(file, 5, number)?.min(MOST_PROMPT_MS);
    Ok(PluginRules { prompt: Duration::from_millis(prompt), ..plugin_rules() })
}

/// The search path for programs.
pub(crate) fn search_path() -> Vec<PathBuf> {
    variable("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}
