//! `config.toml` in the store's directory: settings are read from it, and `tessera settings set` edits it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tessera_desk::files::read_small;
use tessera_engine::store::{Home, dir_of, make_private_dir, replace};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use crate::config::{SETTINGS, Setting, named};
use crate::exit::{SetupError, UsageError, of_system};

/// The content of the file.
pub(crate) struct ConfigFile {
    path: PathBuf,
    document: DocumentMut,
    /// True if environment variables are ignored to check the file itself.
    is_alone: bool,
}

impl ConfigFile {
    /// Reads the file; a file that does not exist counts as empty.
    pub(crate) fn read(home: &Home) -> Result<Self, SetupError> {
        let path = home.config();
        let wrong = |problem: String| SetupError(format!("the settings in {} {problem}", path.display()));
        let text = match read_small(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
                return Err(wrong("cannot be read: config.toml is a link to a file that does not exist".to_owned()));
            }
            // Opening the store reports why its directory cannot be used.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => String::new(),
            Err(error) => return Err(wrong(format!("cannot be read: {}", of_system(&error)))),
        };
        let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            wrong(format!(
                "are not valid TOML: {} in line {line}; correct the line, or delete the file",
                error.message()
            ))
        })?;
        Ok(Self { path, document, is_alone: false })
    }

    /// An empty file.
    pub(crate) fn empty(home: &Home) -> Self {
        Self { path: home.config(), document: DocumentMut::new(), is_alone: false }
    }

    /// Returns the file's settings without environment variables, to check the file's own values.
    pub(crate) fn alone(self) -> Self {
        Self { is_alone: true, ..self }
    }

    /// True if environment variables are ignored.
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
        // The value without decoration such as a comment.
        Some(match value {
            Value::String(text) => text.value().clone(),
            Value::Integer(number) => number.value().to_string(),
            other => other.clone().decorated("", "").to_string(),
        })
    }

    /// Unknown keys: mistyped, or from another version.
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

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets or removes a key, and keeps everything else as it is. Returns the setting.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) -> anyhow::Result<&'static Setting> {
        let setting = named(name)?;
        let key = setting.key.ok_or_else(|| {
            UsageError(format!("`{name}` is only an environment variable; it cannot be set in config.toml"))
        })?;
        let (table, leaf) = key.split_once('.').map_or((None, key), |(table, leaf)| (Some(table), leaf));
        let table = match table {
            None => self.document.as_table_mut() as &mut dyn TableLike,
            Some(table) => {
                let item = self.document.entry(table).or_insert_with(|| Item::Table(Table::new()));
                item.as_table_like_mut().ok_or_else(|| {
                    SetupError(format!("`{table}` is a value in config.toml, but must be a table; correct the file"))
                })?
            }
        };
        match value {
            None => drop(table.remove(leaf)),
            Some(value) => {
                let item = match (value.parse::<i64>(), value) {
                    // A number with leading zeros, for example a key, stays a text.
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

    /// Writes the file atomically.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        make_private_dir(dir_of(&self.path))?;
        replace(&self.path, self.document.to_string().as_bytes())?;
        Ok(())
    }
}
