//! Edits TOML settings, and keeps everything else.

use std::path::Path;

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value, value};

use crate::entry::{Run, SERVER, with_added};
use crate::error::SetupError;

const SERVERS: &str = "mcp_servers";

/// The setting in our own file that offers the memory tool.
const MEMORY_FILES: &str = "memory_files";

fn parsed(path: &Path, before: &[u8]) -> Result<DocumentMut, SetupError> {
    let wrong = |problem: String| SetupError::Unreadable { path: path.to_path_buf(), problem };
    let text = std::str::from_utf8(before).map_err(|error| wrong(error.to_string()))?;
    text.parse().map_err(|error: toml_edit::TomlError| wrong(error.to_string()))
}

/// A file with our server in it.
pub(crate) fn with_server(path: &Path, before: Option<&[u8]>, run: &Run) -> Result<Vec<u8>, SetupError> {
    let mut document = parsed(path, before.unwrap_or_default())?;
    let wrong = |problem: String| SetupError::Unreadable { path: path.to_path_buf(), problem };
    let mut servers = Table::new();
    servers.set_implicit(true);
    let servers = document.entry(SERVERS).or_insert(Item::Table(servers));
    let servers = servers.as_table_like_mut().ok_or_else(|| wrong(format!("{SERVERS} is not a table")))?;
    let ours = servers.entry(SERVER).or_insert(Item::Table(Table::new()));
    let ours = ours.as_table_like_mut().ok_or_else(|| wrong(format!("{SERVERS}.{SERVER} is not a table")))?;
    // The user's additions stay.
    let args = ours.get("args").and_then(Item::as_array);
    let args: Vec<String> = args.into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect();
    let wanted = with_added(run.arguments("mcp"), &args);
    if ours.get("command").and_then(Item::as_str) != Some(&run.program) {
        put(ours, "command", run.program.as_str().into());
    }
    if args != wanted {
        put(ours, "args", Array::from_iter(wanted).into());
    }
    Ok(document.to_string().into_bytes())
}

/// Sets a value, and keeps the comment after it.
fn put(table: &mut dyn TableLike, key: &str, mut new: Value) {
    if let Some(known) = table.get(key).and_then(Item::as_value) {
        *new.decor_mut() = known.decor().clone();
    }
    table.insert(key, Item::Value(new));
}

/// A file without Tessera's server entry; `None` if the file has no such entry.
pub(crate) fn without_server(path: &Path, before: &[u8]) -> Result<Option<Vec<u8>>, SetupError> {
    let mut document = parsed(path, before)?;
    let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) else { return Ok(None) };
    if servers.remove(SERVER).is_none() {
        return Ok(None);
    }
    if servers.is_empty() {
        document.remove(SERVERS);
    }
    Ok(Some(document.to_string().into_bytes()))
}

/// Our settings with the memory tool switched on.
pub(crate) fn with_memory_files(path: &Path, before: Option<&[u8]>) -> Result<Vec<u8>, SetupError> {
    let mut document = parsed(path, before.unwrap_or_default())?;
    let is_on =
        |item: &Item| matches!(item.as_str(), Some("on" | "true" | "yes" | "1")) || item.as_bool() == Some(true);
    if !document.get(MEMORY_FILES).is_some_and(is_on) {
        document.insert(MEMORY_FILES, value("on"));
    }
    Ok(document.to_string().into_bytes())
}

/// Returns Tessera's settings without this setting; `None` if they do not contain the setting.
pub(crate) fn without_memory_files(path: &Path, before: &[u8]) -> Result<Option<Vec<u8>>, SetupError> {
    let mut document = parsed(path, before)?;
    Ok(document.remove(MEMORY_FILES).map(|_| document.to_string().into_bytes()))
}
