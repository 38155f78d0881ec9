//! Small files of a home directory that may contain texts: queued turns, logs, exports. They are rewritten as a whole.

use std::cell::Cell;
use std::path::Path;
use std::{fs, io};

use serde_json::Value;

use super::purges::Removed;
use crate::store::file::private;
use crate::store::file::snapshot::version;

/// Maximum bytes of a checked file.
const MOST_BYTES: u64 = 256 << 20;
/// How often a concurrently changed file is read again.
const ATTEMPTS: u32 = 5;

/// Rewrites one of Tessera's files without the given texts, if the file contains one of them. True if it did.
///
/// # Errors
/// Returns an error if the file cannot be read or written, or is too large.
pub(crate) fn without(path: &Path, removed: &Removed) -> io::Result<bool> {
    let is_lines = path.extension().is_none_or(|extension| extension != "json");
    rewritten(path, &|line| {
        if let Ok(mut value) = serde_json::from_str::<Value>(line)
            && !value.is_string()
        {
            let is_changed = each_string(&mut value, &|text| removed.is_in(text).then(String::new));
            // A line of a log belongs to one event, so it is removed as a whole. A queued turn only loses these words.
            return is_changed.then(|| if is_lines { String::new() } else { value.to_string() });
        }
        removed.is_in(line).then(String::new)
    })
}

/// True if a file contains one of the given texts, directly or in a line of JSON.
///
/// # Errors
/// Returns an error if it cannot be read, or is too large.
pub(crate) fn holds(path: &Path, removed: &Removed) -> io::Result<bool> {
    let Some(text) = text_of(path)? else { return Ok(false) };
    let is_in_json = |text: &str| {
        let found = Cell::new(false);
        let see = |text: &str| -> Option<String> {
            found.set(found.get() || removed.is_in(text));
            None
        };
        serde_json::from_str::<Value>(text).is_ok_and(|mut value| {
            each_string(&mut value, &see);
            found.get()
        })
    };
    Ok(removed.is_in(&text) || is_in_json(&text) || text.lines().any(is_in_json))
}

/// Changes the lines of a file and rewrites the file. A JSON file counts as one line. An empty line is removed. True if
/// one was changed.
///
/// # Errors
/// Returns the same errors as [`without`].
pub(crate) fn rewritten(path: &Path, change: &dyn Fn(&str) -> Option<String>) -> io::Result<bool> {
    for _ in 0..ATTEMPTS {
        let before = version(path);
        let Some(text) = text_of(path)? else { return Ok(false) };
        let Some(changed) = changed(path, &text, change)? else { return Ok(false) };
        match version(path) {
            // The file was deleted meanwhile, and is not created again.
            None => return Ok(false),
            now if now == before => return private::replace(path, changed.as_bytes()).map(|()| true),
            _ => {}
        }
    }
    Err(io::Error::other("is constantly being written; try again later"))
}

/// The text of a file with changed lines; `None` if none was changed.
fn changed(path: &Path, text: &str, change: &dyn Fn(&str) -> Option<String>) -> io::Result<Option<String>> {
    if path.extension().is_some_and(|extension| extension == "json") && serde_json::from_str::<Value>(text).is_ok() {
        return Ok(change(text));
    }
    let (mut kept, mut is_changed) = (String::with_capacity(text.len()), false);
    for line in text.split_inclusive('\n') {
        let Some(changed) = change(line.trim_end_matches(['\n', '\r'])) else {
            kept.push_str(line);
            continue;
        };
        is_changed = true;
        if !changed.is_empty() {
            kept.push_str(&changed);
            kept.push('\n');
        }
    }
    if is_changed {
        check_is_text(text)?;
    }
    Ok(is_changed.then_some(kept))
}

/// A binary file contains lengths and offsets that a changed word would break.
///
/// # Errors
/// Returns an error if the text is not plain text.
pub(crate) fn check_is_text(text: &str) -> io::Result<()> {
    let problem = "is not text, so it was not changed; delete it yourself if you no longer need it";
    if text.contains('\0') { Err(io::Error::new(io::ErrorKind::InvalidData, problem)) } else { Ok(()) }
}

/// The text of a file; `None` if it does not exist.
pub(crate) fn text_of(path: &Path) -> io::Result<Option<String>> {
    let read = fs::metadata(path).and_then(|found| match found.len() {
        0..=MOST_BYTES => fs::read(path),
        _ => Err(io::Error::other("is too large to scan")),
    });
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => Ok(Some(String::from_utf8_lossy(&other?).into_owned())),
    }
}

/// Changes the texts in a JSON value. True if one was changed.
pub(crate) fn each_string(value: &mut Value, change: &dyn Fn(&str) -> Option<String>) -> bool {
    match value {
        Value::String(text) => change(text).map(|changed| *text = changed).is_some(),
        Value::Array(items) => items.iter_mut().fold(false, |is, item| each_string(item, change) | is),
        Value::Object(fields) => fields.values_mut().fold(false, |is, field| each_string(field, change) | is),
        _ => false,
    }
}
