//! `settings`: what can be set, what is set, and changes of `config.toml`.

use serde_json::json;

use super::Context;
use crate::cli::SettingsChange;
use crate::config_file::ConfigFile;
use crate::{config, output};

/// Lists the settings, or changes one.
pub(super) fn run(context: &Context, change: Option<SettingsChange>) -> anyhow::Result<()> {
    let home = config::home(context.home.clone())?;
    let mut file = ConfigFile::read(&home)?;
    let (key, value) = match change {
        None => return list(context, &file),
        Some(SettingsChange::Set { key, value }) => (key, Some(value)),
        Some(SettingsChange::Unset { key }) => (key, None),
    };
    file.set(&key, value.as_deref())?;
    // A value that cannot be used is refused before it is written.
    config::check(&file)?;
    file.write()?;
    list(context, &file)
}

fn list(context: &Context, file: &ConfigFile) -> anyhow::Result<()> {
    let now = |setting: &config::Setting| {
        let (value, from) = match setting.value() {
            Some(value) => (value.to_string_lossy().into_owned(), "environment"),
            None => file.text(setting).map_or((String::new(), "default"), |text| (text, "config.toml")),
        };
        (if setting.is_secret() && from != "default" { "set".to_owned() } else { value }, from)
    };
    if context.json {
        let row = |setting: &&config::Setting| {
            let (value, from) = now(setting);
            json!({ "names": setting.names, "key": setting.key, "value": value, "from": from, "help": setting.help })
        };
        return output::json(&config::SETTINGS.iter().map(row).collect::<Vec<_>>());
    }
    let row = |setting: &&config::Setting| {
        let (value, from) = now(setting);
        let value = if from == "default" { String::new() } else { format!("{value} ({from})") };
        vec![setting.key.unwrap_or("").to_owned(), setting.names.join(", "), value, setting.help.to_owned()]
    };
    let rows = config::SETTINGS.iter().map(row).collect();
    output::text(&output::table(&["key", "variable", "set to", "what it does"], rows))
}
