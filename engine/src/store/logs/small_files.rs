//! Small files of a home in which a text may stand: queued turns, logs, exports. They are rewritten whole.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::store::file::private;

/// Bytes of a file that is looked through, at most.
const MOST_BYTES: u64 = 256 << 20;
/// Bytes of a line of a text from which on it tells the text.
const TELLING: usize = 16;

/// Writes a file anew without some texts, where it holds one. True when it did.
///
/// # Errors
/// When it cannot be read or written, or is too long to be looked through.
pub(crate) fn without(path: &Path, texts: &[String]) -> io::Result<bool> {
    let telling: Vec<&str> = texts
        .iter()
        .flat_map(|text| std::iter::once(text.as_str()).chain(text.lines()))
        .map(str::trim)
        .filter(|part| part.len() >= TELLING)
        .chain(texts.iter().map(String::as_str).filter(|text| !text.trim().is_empty() && text.len() < TELLING))
        .collect();
    let is_lines = path.extension().is_none_or(|extension| extension != "json");
    let holds = |text: &str| telling.iter().any(|part| text.contains(part));
    rewritten(path, &|line| {
        if let Ok(mut value) = serde_json::from_str::<Value>(line)
            && !value.is_string()
        {
            let is_changed = each_string(&mut value, &|text| holds(text).then(String::new));
            // A line of an export is all of one memory; a queued turn is a turn without these words.
            return is_changed.then(|| if is_lines { String::new() } else { value.to_string() });
        }
        holds(line).then(String::new)
    })
}

/// Writes a file anew with its lines changed; a file that is JSON as a whole is one line. A line that becomes empty goes.
/// True when one was changed.
///
/// # Errors
/// As [`without`].
pub(crate) fn rewritten(path: &Path, change: &dyn Fn(&str) -> Option<String>) -> io::Result<bool> {
    let Some(text) = text_of(path)? else { return Ok(false) };
    if path.extension().is_some_and(|extension| extension == "json") && serde_json::from_str::<Value>(&text).is_ok() {
        return change(&text).map_or(Ok(false), |changed| private::replace(path, changed.as_bytes()).map(|()| true));
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
        check_is_text(&text)?;
        private::replace(path, kept.as_bytes())?;
    }
    Ok(is_changed)
}

/// A file that is no text has lengths and places in it, which a changed word would put wrong.
///
/// # Errors
/// When it is none.
pub(crate) fn check_is_text(text: &str) -> io::Result<()> {
    let problem = "is no text, and is left as it is: remove it where you want it gone";
    if text.contains('\0') { Err(io::Error::new(io::ErrorKind::InvalidData, problem)) } else { Ok(()) }
}

/// The text of a file; `None` where it is gone.
pub(crate) fn text_of(path: &Path) -> io::Result<Option<String>> {
    let read = fs::metadata(path).and_then(|found| match found.len() {
        0..=MOST_BYTES => fs::read(path),
        _ => Err(io::Error::other("is too long to be looked through")),
    });
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => Ok(Some(String::from_utf8_lossy(&other?).into_owned())),
    }
}

/// Changes the texts within a JSON value. True when one was changed.
pub(crate) fn each_string(value: &mut Value, change: &dyn Fn(&str) -> Option<String>) -> bool {
    match value {
        Value::String(text) => change(text).map(|changed| *text = changed).is_some(),
        Value::Array(items) => items.iter_mut().fold(false, |is, item| each_string(item, change) | is),
        Value::Object(fields) => fields.values_mut().fold(false, |is, field| each_string(field, change) | is),
        _ => false,
    }
}
