//! Removes values from texts that belong to no memory: columns of tables, and lines of files.

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::small_files;
use crate::screen::KnownValues;

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
