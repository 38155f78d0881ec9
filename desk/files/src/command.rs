//! The six commands of the memory tool, as clients send them.

use serde_json::Value;

use crate::error::FileError;

/// The names of the commands.
pub const COMMANDS: [&str; 6] = ["view", "create", "str_replace", "insert", "delete", "rename"];

/// One command of the memory tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Shows a directory, a file, or some of its lines.
    View {
        /// The path to show.
        path: String,
        /// The first and the last line, counted from 1; -1 means the last line of the file.
        view_range: Option<(i64, i64)>,
    },
    /// Makes a file.
    Create {
        /// Its path.
        path: String,
        /// All of it.
        file_text: String,
    },
    /// Replaces a text that occurs once in a file.
    StrReplace {
        /// The file.
        path: String,
        /// The replaced text.
        old_str: String,
        /// By what.
        new_str: String,
    },
    /// Puts lines into a file.
    Insert {
        /// The file.
        path: String,
        /// The line before the new text; 0 is the top.
        insert_line: i64,
        /// The operation.
        insert_text: String,
    },
    /// Deletes a file, or a directory with its content.
    Delete {
        /// The operation.
        path: String,
    },
    /// Moves a file or a directory.
    Rename {
        /// Its name.
        old_path: String,
        /// Its new name.
        new_path: String,
    },
}

impl Command {
    /// Parses a command. A number may be given as a text, and unneeded arguments are ignored.
    pub fn from_json(value: &Value) -> Result<Self, FileError> {
        let command = text(value, "command")?;
        Ok(match command.as_str() {
            "view" => Self::View { path: text(value, "path")?, view_range: range(value)? },
            "create" => Self::Create { path: text(value, "path")?, file_text: text(value, "file_text")? },
            "str_replace" => Self::StrReplace {
                path: text(value, "path")?,
                old_str: text(value, "old_str")?,
                new_str: text_or_none(value, "new_str")?.unwrap_or_default(),
            },
            "insert" => Self::Insert {
                path: text(value, "path")?,
                insert_line: number(value, "insert_line")?,
                insert_text: text(value, "insert_text")?,
            },
            "delete" => Self::Delete { path: text(value, "path")? },
            "rename" => Self::Rename { old_path: text(value, "old_path")?, new_path: text(value, "new_path")? },
            _ => {
                let command = command.chars().filter(|letter| !letter.is_control()).take(40).collect();
                return Err(FileError::UnknownCommand { command });
            }
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::View { .. } => "view",
            Self::Create { .. } => "create",
            Self::StrReplace { .. } => "str_replace",
            Self::Insert { .. } => "insert",
            Self::Delete { .. } => "delete",
            Self::Rename { .. } => "rename",
        }
    }

    /// The texts that the command writes into files.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Create { file_text, .. } => vec![file_text],
            Self::StrReplace { new_str, .. } => vec![new_str],
            Self::Insert { insert_text, .. } => vec![insert_text],
            Self::View { .. } | Self::Delete { .. } | Self::Rename { .. } => Vec::new(),
        }
    }

    /// The paths as the caller spelled them. For a rename, the old path comes first.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Self::View { path, .. }
            | Self::Create { path, .. }
            | Self::StrReplace { path, .. }
            | Self::Insert { path, .. }
            | Self::Delete { path } => vec![path],
            Self::Rename { old_path, new_path } => vec![old_path, new_path],
        }
    }

    /// Whether it changes files.
    pub fn writes(&self) -> bool {
        !matches!(self, Self::View { .. })
    }
}

fn text_or_none(value: &Value, name: &'static str) -> Result<Option<String>, FileError> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(FileError::Argument { name, why: "must be a string" }),
    }
}

fn text(value: &Value, name: &'static str) -> Result<String, FileError> {
    text_or_none(value, name)?.ok_or(FileError::Missing { name })
}

/// Parses a whole number. A decimal point without a fraction, and a number in a string, are accepted.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| whole_of(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the preceding condition accepts only whole numbers below 2^53")]
fn whole_of(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
}

fn number(value: &Value, name: &'static str) -> Result<i64, FileError> {
    match value.get(name) {
        None | Some(Value::Null) => Err(FileError::Missing { name }),
        Some(given) => whole(given).ok_or(FileError::Argument { name, why: "must be a whole number" }),
    }
}

/// Two numbers, also as text. The list must have two numbers, because otherwise the reply would show lines that nobody
/// requested. An empty list means the whole file.
fn range(value: &Value) -> Result<Option<(i64, i64)>, FileError> {
    let name = "view_range";
    let wrong = FileError::Argument { name, why: "must be two line numbers, [first, last]; -1 is the last line" };
    let parsed;
    let given = match value.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => {
            let Ok(read) = serde_json::from_str::<Value>(text) else { return Err(wrong) };
            parsed = read;
            &parsed
        }
        Some(given) => given,
    };
    let numbers: Option<Vec<i64>> = given.as_array().and_then(|list| list.iter().map(whole).collect());
    match numbers.as_deref() {
        // Some clients send all parameters.
        Some([]) => Ok(None),
        Some([first, last]) if *last >= -1 => Ok(Some((*first, *last))),
        _ => Err(wrong),
    }
}
