//! `settings`: lists settings, and changes `config.toml`.

use serde_json::json;

use super::Context;
use crate::cli::SettingsChange;
use crate::config_file::ConfigFile;
use crate::{config, output};

/// Lists the settings, or changes one.
pub(super) fn run(context: &Context, change: Option<SettingsChange>) -> anyhow::Result<()> {
    let home = config::home(context.home.clone())?;
    let file = ConfigFile::read(&home)?;
    let (key, value) = match change {
        None => return list(context, &file),
        Some(SettingsChange::Set { key, value }) => (key, Some(value)),
        Some(SettingsChange::Unset { key }) => (key, None),
    };
    // An invalid value is rejected before it is written, even if a variable overrides it.
    let mut file = file.alone();
    let setting = file.set(&key, value.as_deref())?;
    config::check(&file)?;
    file.write()?;
    let (name, path) = (setting.key.unwrap_or(&key), file.path().display());
    let now = if setting.is_secret() { file.text(setting).map(|_| "set".to_owned()) } else { file.text(setting) };
    if context.json {
        return output::json(&json!({ "key": name, "value": now, "file": file.path() }));
    }
    output::line(&match now {
        Some(value) => format!("{name} = {value} (in {path})"),
        None => format!("{name} was reset to its default ({path})"),
    })?;
    if let Some(variable) = setting.names.iter().find(|_| setting.value().is_some()) {
        output::note(&format!("the environment variable {variable} overrides this setting"));
    }
    Ok(())
}

fn list(context: &Context, file: &ConfigFile) -> anyhow::Result<()> {
    for name in config::unknown(file) {
        output::note(&format!("unknown setting {}", output::shown(&name)));
    }
    if let Err(problem) = config::check(file) {
        output::note(&format!("the settings are invalid, so hooks do nothing: {problem}"));
    }
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
    let set = |setting: &config::Setting| match now(setting) {
        (_, "default") => String::new(),
        (value, from) => format!("{value} ({from})"),
    };
    if let Some(columns) = output::columns() {
        let one = |setting: &&config::Setting| paragraph(setting, &set(setting), columns);
        return output::text(&config::SETTINGS.iter().map(one).collect::<String>());
    }
    let row = |setting: &&config::Setting| {
        let value = set(setting);
        vec![setting.key.unwrap_or("").to_owned(), setting.names.join(", "), value, setting.help.to_owned()]
    };
    let rows = config::SETTINGS.iter().map(row).collect();
    output::text(&output::table(&["key", "variable", "set to", "description"], rows))
}

/// A setting as a paragraph for a terminal. Each setting is a paragraph, because a table with four columns would break
/// long names.
fn paragraph(setting: &config::Setting, value: &str, columns: u16) -> String {
    let name = setting.key.or(setting.names.first().copied()).unwrap_or_default();
    let others = setting.names.iter().filter(|other| **other != name);
    let others = others.copied().collect::<Vec<_>>().join(", ");
    let name = output::paint(name, output::Style::Bold);
    let head = if value.is_empty() { name } else { format!("{name} = {}", output::shown(value)) };
    let others = if others.is_empty() { String::new() } else { output::wrapped(&others, "    ", columns) };
    format!("{head}\n{others}{}", output::wrapped(setting.help, "    ", columns))
}
