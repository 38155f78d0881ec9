//! `config.toml` in the store's directory: read for settings, edited by `tessera settings set`.

use std::path::{Path, PathBuf};

use tessera_desk::files::read_small;
use tessera_engine::store::{Home, dir_of, make_private_dir, replace};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use crate::config::{SETTINGS, Setting};
use crate::exit::SetupError;

/// The file as it is.
pub(crate) struct ConfigFile {
    path: PathBuf,
    document: DocumentMut,
    /// True where variables of the environment are passed over: the file itself is looked at.
    is_alone: bool,
}

impl ConfigFile {
    /// Reads the file; one that is not there is empty.
    pub(crate) fn read(home: &Home) -> Result<Self, SetupError> {
        let path = home.config();
        let wrong = |problem: String| SetupError { setting: "config.toml", problem };
        let text = match read_small(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(wrong(error.to_string())),
        };
        let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| wrong(error.to_string()))?;
        Ok(Self { path, document, is_alone: false })
    }

    /// A file that says nothing.
    pub(crate) fn empty(home: &Home) -> Self {
        Self { path: home.config(), document: DocumentMut::new(), is_alone: false }
    }

    /// The same, to look at what it says itself, whatever the environment says.
    pub(crate) fn alone(self) -> Self {
        Self { is_alone: true, ..self }
    }

    /// True where variables of the environment are passed over.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// The text of a setting, whatever its TOML type.
    pub(crate) fn text(&self, setting: &Setting) -> Option<String> {
        let mut item = self.document.as_item();
        for part in setting.key?.split('.') {
            item = item.get(part)?;
        }
        let value = item.as_value()?;
        // As it is meant, without what stands around it, such as a comment.
        Some(match value {
            Value::String(text) => text.value().clone(),
            Value::Integer(number) => number.value().to_string(),
            other => other.clone().decorated("", "").to_string(),
        })
    }

    /// Keys that mean nothing: mistyped, or of another version.
    pub(crate) fn unknown(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (name, item) in self.document.iter() {
            match item.as_table_like() {
                Some(table) => found.extend(table.iter().map(|(leaf, _)| format!("{name}.{leaf}"))),
                None => found.push(name.to_owned()),
            }
        }
        found.retain(|key| !SETTINGS.iter().any(|setting| setting.key == Some(key)));
        found
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets or removes a key, keeping everything else as it stands. Gives the setting that it belongs to.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) -> Result<&'static Setting, SetupError> {
        let known = SETTINGS.iter().find_map(|setting| {
            let key = setting.key.filter(|key| *key == name || setting.names.contains(&name))?;
            Some((*setting, key))
        });
        let (setting, key) = known.ok_or_else(|| {
            let keys: Vec<&str> = SETTINGS.iter().filter_map(|setting| setting.key).collect();
            SetupError { setting: "settings", problem: format!("{name} is unknown; known are {}", keys.join(", ")) }
        })?;
        let (table, leaf) = key.split_once('.').map_or((None, key), |(table, leaf)| (Some(table), leaf));
        let table = match table {
            None => self.document.as_table_mut() as &mut dyn TableLike,
            Some(table) => {
                let item = self.document.entry(table).or_insert_with(|| Item::Table(Table::new()));
                item.as_table_like_mut()
                    .ok_or_else(|| SetupError { setting: "config.toml", problem: format!("{table} is not a table") })?
            }
        };
        match value {
            None => drop(table.remove(leaf)),
            Some(value) => {
                let item = match (value.parse::<i64>(), value) {
                    // Other digits, such as those of a key, are a text.
                    (Ok(number), _) if number.to_string() == value => toml_edit::value(number),
                    (_, "true") => toml_edit::value(true),
                    (_, "false") => toml_edit::value(false),
                    _ => toml_edit::value(value),
                };
                table.insert(leaf, item);
            }
        }
        Ok(setting)
    }

    /// Writes the file, whole or not at all.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        make_private_dir(dir_of(&self.path))?;
        replace(&self.path, self.document.to_string().as_bytes())?;
        Ok(())
    }
}
