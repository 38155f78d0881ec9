//! Texts that stand beside memories, in tables and files: the credentials in them are counted, and taken out for good.

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::screen::{KnownValues, Texts};
use crate::store::change::clean::{self, Kinds};
use crate::store::logs::small_files;

/// Lets go of directories whose names hold a credential.
pub(crate) fn forget_places(connection: &Connection, known: &KnownValues) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT path FROM places")?;
    let paths: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for path in paths.iter().filter(|path| known.taken_out_of(path).is_some()) {
        connection.execute("DELETE FROM places WHERE path = ?1", [path])?;
    }
    Ok(())
}

/// The texts of one column of a table.
pub(crate) fn texts_beside(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<Vec<String>> {
    let sql = format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL");
    connection.prepare(&sql)?.query_map([], |row| row.get(0))?.collect()
}

/// The credentials of one column of a table.
pub(crate) fn kinds_beside(
    connection: &Connection,
    table: &str,
    column: &str,
    known: &KnownValues,
) -> rusqlite::Result<Kinds> {
    let mut kinds = Kinds::new();
    for (kind, count) in texts_beside(connection, table, column)?.iter().flat_map(|text| kinds_in_json(text, known)) {
        *kinds.entry(kind).or_default() += count;
    }
    Ok(kinds)
}

/// Takes them out: nothing that is said there can be asked for again.
pub(crate) fn fix_beside(
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

/// JSON, unless it is a number or none at all.
pub(crate) fn json_in(text: &str) -> Option<Value> {
    serde_json::from_str::<Value>(text).ok().filter(|value| !value.is_number())
}

/// Notes the credentials of a text that may be JSON.
pub(crate) fn note_texts(known: &mut KnownValues, text: &str) {
    match json_in(text) {
        Some(value) => value.each_text(&mut |_, text| known.note_all(text)),
        None => known.note_all(text),
    }
}

/// The credentials of a text that may be JSON: those of the texts in it.
pub(crate) fn kinds_in_json(text: &str, known: &KnownValues) -> Kinds {
    if let Some(value) = json_in(text) {
        return clean::kinds_in(&value, known);
    }
    let mut kinds = Kinds::new();
    clean::count(&mut kinds, text, known);
    kinds
}

/// The same text without them; `None` where there are none.
pub(crate) fn without(text: &str, known: &KnownValues) -> Option<String> {
    match json_in(text) {
        Some(mut value) => {
            small_files::each_string(&mut value, &|text| known.taken_out_of(text)).then(|| value.to_string())
        }
        None => known.taken_out_of(text),
    }
}
