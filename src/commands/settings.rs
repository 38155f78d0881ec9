//! `settings`: lists, shows and changes settings.

use anyhow::Context as _;
use tessera_engine::store::Home;

use super::{Context, editor};
use crate::cli::SettingsTask;
use crate::config_file::ConfigFile;
use crate::exit::UsageError;
use crate::shapes::{SettingChanged, SettingFrom, SettingRow, SettingsFile};
use crate::{config, output};

/// The content of a new `config.toml`.
const BEGINNING: &str = "# The settings of Tessera. `tessera settings` lists all settings.\n";

/// Lists, shows or changes settings.
pub(super) fn run(context: &Context, task: Option<SettingsTask>) -> anyhow::Result<()> {
    let home = config::home(context.home.clone())?;
    match task {
        None | Some(SettingsTask::List) => list(context, &ConfigFile::read(&home)?),
        Some(SettingsTask::Get { key }) => get(context, &ConfigFile::read(&home)?, &key),
        Some(SettingsTask::Set { key, value }) => {
            // As in the file: `hooks.recall = off`.
            let words: Vec<String> = value.into_iter().skip_while(|word| word == "=").collect();
            set(context, ConfigFile::read(&home)?, &key, Some(&words.join(" ")))
        }
        Some(SettingsTask::Unset { key }) => set(context, ConfigFile::read(&home)?, &key, None),
        Some(SettingsTask::Path) => {
            let path = home.config();
            context.print(&SettingsFile { file: path.clone() }, || path.display().to_string())
        }
        Some(SettingsTask::Edit) => edit(context, &home),
    }
}

/// Prints the value of one setting.
fn get(context: &Context, file: &ConfigFile, key: &str) -> anyhow::Result<()> {
    let setting = config::named(key)?;
    let (value, from) = now(file, setting);
    let shown = row(setting, value, from);
    context.print(&shown, || match from {
        SettingFrom::Default => format!("not set; {}", setting.help),
        _ => output::shown(&shown.value),
    })
}

/// Opens `config.toml` in the editor, and reports an invalid result.
fn edit(context: &Context, home: &Home) -> anyhow::Result<()> {
    let path = home.config();
    home.make().with_context(|| home.dir().display().to_string())?;
    if !path.exists() {
        std::fs::write(&path, BEGINNING).with_context(|| path.display().to_string())?;
    }
    editor::open(&path)?;
    config::check(&ConfigFile::read(home)?.alone())?;
    context.print(&SettingsFile { file: path.clone() }, || format!("The settings in {} are valid.", path.display()))
}

fn set(context: &Context, file: ConfigFile, key: &str, value: Option<&str>) -> anyhow::Result<()> {
    // An invalid value is rejected before it is written, even if a variable overrides it.
    let mut file = file.alone();
    let setting = file.set(key, value)?;
    // A wrong value that the user has just typed is not an error of the file.
    config::check(&file).map_err(|error| UsageError(error.to_string()))?;
    file.write()?;
    let (name, path) = (setting.key.unwrap_or(key), file.path().display());
    let now = if setting.is_secret() { file.text(setting).map(|_| "set".to_owned()) } else { file.text(setting) };
    if context.json {
        return output::json(&SettingChanged { key: name.to_owned(), value: now, file: file.path().to_owned() });
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

fn row(setting: &config::Setting, value: String, from: SettingFrom) -> SettingRow {
    SettingRow { names: setting.names, key: setting.key, value, from, help: setting.help }
}

/// The value of a setting and its source. A secret value is not shown.
fn now(file: &ConfigFile, setting: &config::Setting) -> (String, SettingFrom) {
    let (value, from) = match setting.value() {
        Some(value) => (value.to_string_lossy().into_owned(), SettingFrom::Environment),
        None => file.text(setting).map_or((String::new(), SettingFrom::Default), |text| (text, SettingFrom::File)),
    };
    (if setting.is_secret() && from != SettingFrom::Default { "set".to_owned() } else { value }, from)
}

fn list(context: &Context, file: &ConfigFile) -> anyhow::Result<()> {
    for name in config::unknown(file) {
        output::note(&format!("unknown setting {}", output::shown(&name)));
    }
    if let Err(problem) = config::check(file) {
        output::note(&format!("the settings are invalid, so hooks do nothing: {problem}"));
    }
    if context.json {
        let each = config::SETTINGS.iter().map(|setting| {
            let (value, from) = now(file, setting);
            row(setting, value, from)
        });
        return output::json(&each.collect::<Vec<_>>());
    }
    let set = |setting: &config::Setting| match now(file, setting) {
        (_, SettingFrom::Default) => String::new(),
        (value, from) => format!("{value} ({})", from.as_str()),
    };
    if let Some(columns) = output::columns() {
        let one = |setting: &&config::Setting| paragraph(setting, &set(setting), columns);
        return output::page(&config::SETTINGS.iter().map(one).collect::<String>());
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
