//! Rows as JSON: a list, an object with a list, or an object per line.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};

use crate::draft::Skipped;
use crate::error::OlderError;

/// The maximum file size.
const MOST_BYTES: u64 = 64 << 20;
/// The maximum number of bytes before the first row.
const HEAD_BYTES: u64 = 64 << 10;
/// The maximum number of invalid lines before the first row, and in total.
const MOST_UNREAD: (usize, usize) = (1000, 100_000);
/// The names under which an object may contain its list of rows.
const LISTS: [&str; 3] = ["memories", "results", "items"];

/// One row, or the reason why it is invalid.
pub(crate) type JsonRow = (String, Result<Map<String, Value>, String>);

/// The rows of a file, with their positions.
pub(crate) fn rows(path: &Path) -> Result<Vec<JsonRow>, OlderError> {
    let foreign = |problem: String| OlderError::Foreign { path: path.to_owned(), problem };
    let found = path.metadata().map_err(OlderError::file(path))?;
    if !found.is_file() {
        return Err(foreign("is not a file".into()));
    }
    let mut file = File::open(path).map_err(OlderError::file(path))?;
    let mut bytes = Vec::new();
    (&mut file).take(HEAD_BYTES).read_to_end(&mut bytes).map_err(OlderError::file(path))?;
    match without_mark(&bytes).iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[' | b'{') => {}
        None if found.len() <= HEAD_BYTES => return Err(foreign("is empty, so it contains no export".into())),
        _ => return Err(foreign("is neither an SQLite database nor JSON".into())),
    }
    file.take(MOST_BYTES + 1 - HEAD_BYTES).read_to_end(&mut bytes).map_err(OlderError::file(path))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(foreign(format!("is {} bytes long; import at most 64 MiB at a time", found.len())));
    }
    let bytes = without_mark(&bytes);
    match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Array(items)) => Ok(listed(items)),
        Ok(Value::Object(mut object)) => {
            let list = LISTS.iter().find_map(|name| match object.get_mut(*name) {
                Some(Value::Array(items)) => Some(std::mem::take(items)),
                _ => None,
            });
            Ok(list.map_or_else(|| vec![("line 1".to_owned(), Ok(object))], listed))
        }
        Ok(_) => Err(foreign("is JSON, but not a list of rows".into())),
        Err(error) => {
            let rows = lines(bytes).ok_or_else(|| foreign("contains too many lines that are not rows".into()))?;
            if rows.iter().all(|(_, row)| row.is_err()) {
                return Err(foreign(format!("is neither an SQLite database nor JSON: {error}")));
            }
            Ok(rows)
        }
    }
}

fn listed(items: Vec<Value>) -> Vec<JsonRow> {
    let row = |(index, item)| {
        let row = match item {
            Value::Object(object) => Ok(object),
            _ => Err("is not a JSON object".to_owned()),
        };
        (format!("item {}", index + 1), row)
    };
    items.into_iter().enumerate().map(row).collect()
}

/// Removes a byte order mark.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// One object per line; `None` if too many lines are invalid.
fn lines(bytes: &[u8]) -> Option<Vec<JsonRow>> {
    let is_said = |(_, line): &(usize, &[u8])| !line.iter().all(u8::is_ascii_whitespace);
    let row = |(index, line): (usize, &[u8])| {
        let row = serde_json::from_slice(line).map_err(|error| format!("is not a JSON object: {error}"));
        (format!("line {}", index + 1), row)
    };
    let (mut rows, mut unread) = (Vec::new(), 0);
    for row in bytes.split(|byte| *byte == b'\n').enumerate().filter(is_said).map(row) {
        unread += usize::from(row.1.is_err());
        rows.push(row);
        if (unread == rows.len() && unread > MOST_UNREAD.0) || unread > MOST_UNREAD.1 {
            return None;
        }
    }
    Some(rows)
}

/// The report for an unreadable row.
pub(crate) fn skipped(at: impl Into<String>, problem: impl Into<String>) -> Skipped {
    Skipped { at: at.into(), problem: problem.into() }
}
