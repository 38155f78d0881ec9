//! Finds the plugin of Claude Code. The client lists enabled plugins in its settings, and the places of their files in a file
//! of its own.

use std::path::PathBuf;

use serde_json::Value;

use crate::client::{Level, Places, hooks_file};
use crate::json::parsed;

/// The name of the plugin. The client adds the name of the marketplace: `tessera@NAME`.
const NAME: &str = "tessera";

/// An enabled plugin.
pub(crate) struct Plugin {
    /// Its name with that of the marketplace.
    pub(crate) name: String,
    /// The program that its hooks run; `None` if it does not exist.
    pub(crate) program: Option<PathBuf>,
}

/// The plugin that the user's settings enable.
pub(crate) fn enabled(places: &Places) -> Option<Plugin> {
    let settings = parsed(&hooks_file(&Level::User, places))?;
    let plugins = settings.get("enabledPlugins")?.as_object()?;
    let is_ours = |(name, is_on): &(&String, &Value)| {
        name.split('@').next() == Some(NAME) && name.contains('@') && is_on.as_bool() == Some(true)
    };
    let (name, _) = plugins.iter().find(is_ours)?;
    Some(Plugin { name: name.clone(), program: program(name, places) })
}

fn program(name: &str, places: &Places) -> Option<PathBuf> {
    let client = hooks_file(&Level::User, places);
    let installed = parsed(&client.parent()?.join("plugins/installed_plugins.json"))?;
    let copies = installed.get("plugins")?.get(name)?.as_array()?;
    let programs = copies.iter().filter_map(|copy| Some(PathBuf::from(copy.get("installPath")?.as_str()?)));
    programs.map(|dir| dir.join("bin").join(NAME)).find(|program| program.is_file())
}
