//! Rows as JSON: a list, an object that holds one, or an object a line.

use std::path::Path;

use serde_json::{Map, Value};

use crate::draft::Skipped;
use crate::error::OlderError;

/// The longest file that is read.
const MOST_BYTES: u64 = 1 << 30;
/// Under which a list of rows stands in an object.
const LISTS: [&str; 3] = ["memories", "results", "items"];

/// One row, or why it is none.
pub(crate) type JsonRow = (String, Result<Map<String, Value>, String>);

/// The rows of a file, each with where it stands.
pub(crate) fn rows(path: &Path) -> Result<Vec<JsonRow>, OlderError> {
    let foreign = |problem: String| OlderError::Foreign { path: path.to_owned(), problem };
    let found = path.metadata().map_err(OlderError::file(path))?;
    if found.len() > MOST_BYTES {
        return Err(foreign(format!("is {} bytes long; give at most 1 GiB at a time", found.len())));
    }
    let bytes = std::fs::read(path).map_err(OlderError::file(path))?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(foreign("is empty: nothing was exported into it".into()));
    }
    match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Array(items)) => Ok(listed(items)),
        Ok(Value::Object(mut object)) => {
            let list = LISTS.iter().find_map(|name| match object.get_mut(*name) {
                Some(Value::Array(items)) => Some(std::mem::take(items)),
                _ => None,
            });
            Ok(list.map_or_else(|| vec![("line 1".to_owned(), Ok(object))], listed))
        }
        Ok(_) => Err(foreign("is JSON, but no list of rows".into())),
        Err(error) => {
            let rows = lines(bytes);
            if rows.iter().all(|(_, row)| row.is_err()) {
                return Err(foreign(format!("is neither a database of SQLite nor rows as JSON: {error}")));
            }
            Ok(rows)
        }
    }
}

fn listed(items: Vec<Value>) -> Vec<JsonRow> {
    let row = |(index, item)| {
        let row = match item {
            Value::Object(object) => Ok(object),
            _ => Err("is no JSON object".to_owned()),
        };
        (format!("item {}", index + 1), row)
    };
    items.into_iter().enumerate().map(row).collect()
}

fn lines(bytes: &[u8]) -> Vec<JsonRow> {
    let is_said = |(_, line): &(usize, &[u8])| !line.iter().all(u8::is_ascii_whitespace);
    let row = |(index, line): (usize, &[u8])| {
        let row = serde_json::from_slice(line).map_err(|error| format!("is no JSON object: {error}"));
        (format!("line {}", index + 1), row)
    };
    bytes.split(|byte| *byte == b'\n').enumerate().filter(is_said).map(row).collect()
}

/// What is told of a row that cannot be read.
pub(crate) fn skipped(at: impl Into<String>, problem: impl Into<String>) -> Skipped {
    Skipped { at: at.into(), problem: problem.into() }
}
