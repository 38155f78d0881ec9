//! Removes values from texts that belong to no memory: columns of tables, and lines of files.

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::small_files;
use crate::screen::KnownValues;
use crate::store::rows::codec::Ask as _;
use crate::store::rows::tables::has;

/// Removes credentials from one column of a table, permanently.
pub(crate) fn fix(
    connection: &Connection,
    table: &str,
    key: &str,
    column: &str,
    known: &KnownValues,
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare(&format!("SELECT {key}, {column} FROM {table} WHERE {column} IS NOT NULL"))?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Cell>(0)?, row.get::<_, String>(1)?));
    let rows: Vec<(Cell, String)> = statement.query_map([], read)?.collect::<Result<_, _>>()?;
    let update = format!("UPDATE OR REPLACE {table} SET {column} = ?2 WHERE {key} = ?1");
    for (key, text) in rows {
        if let Some(clean) = without(&text, known) {
            connection.execute(&update, params![key, clean])?;
        }
    }
    Ok(())
}

/// Columns of logs with words of people or of other programs. Questions are deleted as a whole, and candidates too.
const COLUMNS: [(&str, &str, &str); 5] = [
    ("candidates", "digest", "candidate"),
    ("outbox", "n", "refused"),
    ("outbox", "n", "failing"),
    ("server", "only_row", "problem"),
    ("imports", "n", "source"),
];
/// Fields of JSON with such words. Other fields are names, times and paths.
const WORDS: [&str; 12] = [
    "answer", "content", "keywords", "message", "problem", "prompt", "query", "question", "reason", "summary", "text",
    "words",
];

/// Removes marked values from the logs in a store or a copy, permanently.
pub(crate) fn fix_marked(connection: &Connection, marked: &KnownValues) -> rusqlite::Result<()> {
    for (table, key, column) in COLUMNS {
        for (key_of, text) in texts(connection, (table, key, column))? {
            if let Some(clean) = without_marked(&text, marked) {
                let update = format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1");
                connection.execute(&update, params![key_of, clean])?;
            }
        }
    }
    Ok(())
}

/// True if the logs in a store or a copy contain a marked value.
pub(crate) fn holds_marked(connection: &Connection, marked: &KnownValues) -> rusqlite::Result<bool> {
    for column in COLUMNS {
        if texts(connection, column)?.iter().any(|(_, text)| without_marked(text, marked).is_some()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The texts of a column with their keys; none if an older copy lacks the column.
fn texts(connection: &Connection, (table, key, column): (&str, &str, &str)) -> rusqlite::Result<Vec<(Cell, String)>> {
    if !has(connection, table, column)? {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT {key}, {column} FROM {table} WHERE {column} IS NOT NULL");
    connection.all(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns a text without marked values; `None` if it contains none. Of JSON, only texts of people are changed.
pub(crate) fn without_marked(text: &str, marked: &KnownValues) -> Option<String> {
    let clean = |text: &str| marked.cleaned(text);
    match json_in(text) {
        Some(mut value) => each_word(&mut value, true, &clean).then(|| value.to_string()),
        None => clean(text),
    }
}

fn each_word(value: &mut Value, is_said: bool, change: &dyn Fn(&str) -> Option<String>) -> bool {
    match value {
        Value::String(text) if is_said => change(text).map(|changed| *text = changed).is_some(),
        Value::Array(items) => items.iter_mut().fold(false, |is, item| each_word(item, is_said, change) | is),
        Value::Object(fields) => fields
            .iter_mut()
            .fold(false, |is, (name, field)| each_word(field, WORDS.contains(&name.as_str()), change) | is),
        _ => false,
    }
}

/// Parses JSON; `None` if it is a number or not JSON.
pub(crate) fn json_in(text: &str) -> Option<Value> {
    serde_json::from_str::<Value>(text).ok().filter(|value| !value.is_number())
}

/// Returns the text without its credentials; `None` if it contains none.
pub(crate) fn without(text: &str, known: &KnownValues) -> Option<String> {
    match json_in(text) {
        Some(mut value) => {
            small_files::each_string(&mut value, &|text| known.taken_out_of(text)).then(|| value.to_string())
        }
        None => known.taken_out_of(text),
    }
}
