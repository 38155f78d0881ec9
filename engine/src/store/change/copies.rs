//! Scans copies of the store, whatever their schema version. Credentials in them are counted and removed. If a copy
//! contains a credential of the user's own memory, the credential becomes a secret in the store. In the copy, the
//! secret's name replaces it.
//!
//! Also scans texts that belong to no memory, in tables and files. Credentials in them are counted and removed
//! permanently.

use std::path::Path;

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::clean::{self, Kinds, kinds_in};
use crate::compose;
use crate::domain::{MemoryUuid, Metadata};
use crate::screen::{KnownValues, Part, Texts, Words, screened_for};
use crate::store::base::kept;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::logs::beside::{self, json_in};
use crate::store::logs::purges::{Copy, reader, remove_beside};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::columns::{Analysed, AnalysisColumns, CostColumns, MEMORY};
use crate::store::rows::tables::has;
use crate::store::rows::{memory as row, tables};
use crate::text::O200k;

/// A column of a memory with the kind of its texts.
type Column = (&'static str, Part);

/// The columns with lists of texts, as JSON.
const LISTS: [&str; 3] = ["keywords", "entities", "tags"];

/// The columns of a memory that contain texts, and the kinds of these texts. Lists are JSON. The column `metadata`, a
/// JSON object, is scanned separately.
const TEXTS: [Column; 12] = [
    ("content", Part::Text),
    ("summary", Part::Text),
    ("heading", Part::Text),
    ("keywords", Part::Text),
    ("entities", Part::Text),
    ("session", Part::Text),
    ("client", Part::Text),
    ("tags", Part::Slug),
    ("category", Part::Slug),
    ("cwd", Part::Text),
    ("scope", Part::Slug),
    ("origin", Part::Slug),
];
/// The first of them contain the words of the memory. The others name its directory, project and origin.
pub(crate) const WORDS: &[Column] = TEXTS.split_at(9).0;

/// Records the credentials of a store or a copy, as far as readable.
pub(crate) fn note(connection: &Connection, known: &mut KnownValues) {
    for row in rows(connection, &TEXTS, None).unwrap_or_default() {
        row.words().0.iter().for_each(|(_, text)| known.note_all(text));
        row.metadata.iter().for_each(|value| value.each_text(&mut |_, text| known.note_all(text)));
    }
    for (table, _, column) in tables::texts(true).chain(tables::texts(false)) {
        if has(connection, table, column).is_ok_and(|has| has) {
            let texts = texts_beside(connection, table, column).unwrap_or_default();
            texts.iter().for_each(|text| note_texts(known, text));
        }
    }
}

/// The credentials of a copy.
pub(crate) fn look(path: &Path, known: &KnownValues) -> rusqlite::Result<Kinds> {
    let connection = reader(path)?;
    let mut kinds = Kinds::new();
    let mut add = |more: Kinds| more.into_iter().for_each(|(kind, count)| *kinds.entry(kind).or_default() += count);
    for row in rows(&connection, &TEXTS, None)? {
        add(kinds_in(&row.words(), known));
        row.metadata.iter().for_each(|value| add(kinds_in(value, known)));
    }
    for (table, _, column) in tables::texts(true).chain(tables::texts(false)) {
        if has(&connection, table, column)? {
            add(kinds_beside(&connection, table, column, known)?);
        }
    }
    Ok(kinds)
}

/// Removes credentials from a copy. Each credential of a memory becomes a secret in the store before it is removed from
/// the copy. The store is not locked while the copy is cleaned.
pub(crate) fn fix(store: &mut Store, path: &Path, known: &KnownValues) -> Result<(), StoreError> {
    let copy = Copy::open(path)?;
    let transaction = copy.begin()?;
    for row in rows(&copy.connection, &TEXTS, None)? {
        if !kinds_in(&row.words(), known).is_empty() {
            row.fix(store, &copy, known)?;
        }
        row.fix_metadata(store, &copy, known)?;
    }
    for (table, key, column) in tables::texts(true) {
        if has(&copy.connection, table, column)? {
            fix_json(store, &copy.connection, (table, key, column), known)?;
        }
    }
    for (table, key, column) in tables::texts(false) {
        if has(&copy.connection, table, column)? {
            beside::fix(&copy.connection, table, key, column, known)?;
        }
    }
    if has(&copy.connection, "trusted_directories", "path")? {
        forget_places(&copy.connection, known)?;
    }
    transaction.commit()?;
    copy.finish()?;
    remove_beside(path);
    Ok(())
}

/// A row of a copy, with only those columns that contain texts.
pub(crate) struct Row {
    id: MemoryUuid,
    /// The columns that the copy has, with their texts.
    texts: Vec<(&'static str, Part, String)>,
    metadata: Option<Metadata>,
}

/// The rows with these columns, or the row of one memory.
pub(crate) fn rows(connection: &Connection, columns: &[Column], of: Option<MemoryUuid>) -> rusqlite::Result<Vec<Row>> {
    let mut there = Vec::new();
    for (column, part) in columns {
        if has(connection, "memories", column)? {
            there.push((*column, *part));
        }
    }
    let metadata = if has(connection, "memories", "metadata")? { "metadata" } else { "NULL" };
    let names: Vec<&str> = there.iter().map(|(column, _)| *column).collect();
    let sql = format!(
        "SELECT id, {metadata}, {} FROM memories WHERE content <> '' AND (?1 IS NULL OR id = ?1)",
        names.join(", ")
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([of], |row| {
        let mut texts = Vec::new();
        for (at, (column, part)) in there.iter().enumerate() {
            if let Some(text) = row.get::<_, Option<String>>(at + 2)? {
                texts.push((*column, *part, text));
            }
        }
        let metadata = row.get::<_, Option<String>>(1)?;
        Ok(Row { id: row.get(0)?, texts, metadata: metadata.and_then(|text| text.parse().ok()) })
    })?;
    rows.collect()
}

impl Row {
    /// The metadata of the row.
    pub(crate) fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// The texts of the row, one by one; each item of a list is a separate text.
    pub(crate) fn words(&self) -> Words {
        let mut words = Vec::new();
        for (column, part, text) in &self.texts {
            match items_of(column, text) {
                Some(items) => words.extend(items.into_iter().map(|item| (*part, item))),
                None => words.push((*part, text.clone())),
            }
        }
        Words(words)
    }

    /// Writes the row without credentials, together with its new derived data.
    pub(crate) fn fix(&self, store: &mut Store, copy: &Copy, known: &KnownValues) -> Result<(), StoreError> {
        let clean = set_aside(store, self.words(), self.id, known)?;
        let mut clean = clean.0.into_iter().map(|(_, text)| text);
        for (column, part, text) in &self.texts {
            let value = match items_of(column, text) {
                Some(items) => clean.by_ref().take(items.len()).map(slugged(*part)).collect::<Value>().to_string(),
                None => clean.next().unwrap_or_default(),
            };
            let sql = format!("UPDATE memories SET {column} = ?2 WHERE id = ?1");
            copy.connection.run(&sql, params![self.id, value])?;
        }
        self.derive(&copy.connection)
    }

    /// Writes the metadata without credentials.
    pub(crate) fn fix_metadata(&self, store: &mut Store, copy: &Copy, known: &KnownValues) -> Result<(), StoreError> {
        let Some(metadata) = self.metadata.as_ref().filter(|value| !kinds_in(*value, known).is_empty()) else {
            return Ok(());
        };
        let clean = set_aside(store, metadata.clone(), self.id, known)?;
        copy.connection.run("UPDATE memories SET metadata = ?2 WHERE id = ?1", params![self.id, clean.to_string()])?;
        Ok(())
    }

    /// Writes the data derived from the texts, if the copy has a column for it.
    fn derive(&self, connection: &Connection) -> Result<(), StoreError> {
        let names: Vec<&str> = MEMORY.split(", ").collect();
        let mut read = Vec::new();
        for name in &names {
            let is_there = has(connection, "memories", name)?;
            read.push(if is_there { (*name).to_owned() } else { format!("NULL AS {name}") });
        }
        let sql = format!("SELECT {} FROM memories WHERE id = ?1", read.join(", "));
        let memory = connection.query_row(&sql, [self.id], row::memory)?;
        let composed = compose::carried(memory, &O200k);
        if has(connection, "memories", "summary")? {
            // The old one may end within a value.
            let summary = &composed.memory().summary;
            connection.run("UPDATE memories SET summary = ?2 WHERE id = ?1", params![self.id, summary])?;
        }
        let (analysed, mut values) = (Analysed::of(&composed), Vec::new());
        AnalysisColumns::write(&analysed, &mut values)?;
        CostColumns::write(composed.costs(), &mut values)?;
        for (name, value) in AnalysisColumns::NAMES.iter().chain(CostColumns::NAMES).zip(values) {
            if has(connection, "memories", name)? {
                let sql = format!("UPDATE memories SET {name} = ?2 WHERE id = ?1");
                connection.run(&sql, params![self.id, value])?;
            }
        }
        Ok(())
    }
}

/// The items of a column with a list; `None` for a column with one text.
fn items_of(column: &str, text: &str) -> Option<Vec<String>> {
    if LISTS.contains(&column) { serde_json::from_str(text).ok() } else { None }
}

/// Converts a text to the form of tags.
fn slugged(part: Part) -> impl Fn(String) -> String {
    move |text| if part == Part::Slug { text.to_lowercase().replace([' ', '\t'], "-") } else { text }
}

/// True for the user's own memory that is not permanently deleted.
fn is_own(connection: &Connection, id: MemoryUuid) -> rusqlite::Result<bool> {
    let sql = "SELECT shared_by IS NULL AND purged = 0 FROM memories WHERE id = ?1";
    Ok(connection.maybe(sql, [id], |row| row.get(0))?.unwrap_or(false))
}

/// Moves the credentials of a copy's texts to the store, and returns the texts without them.
pub(crate) fn set_aside<T: Texts>(
    store: &mut Store,
    words: T,
    id: MemoryUuid,
    known: &KnownValues,
) -> Result<T, StoreError> {
    let (clean, found) = {
        let mut keeper = store.secrets.keeper_of_old(&store.connection, is_own(&store.connection, id)?);
        screened_for(words, id, &mut keeper, known)?.into_parts()
    };
    if !found.is_empty() {
        store.write(|change| kept::write_all(change, id, &found))?;
    }
    Ok(clean)
}

fn fix_json(
    store: &mut Store,
    connection: &Connection,
    (table, key, column): (&str, &str, &str),
    known: &KnownValues,
) -> Result<(), StoreError> {
    let sql = format!("SELECT {key}, memory, {column} FROM {table} WHERE {column} IS NOT NULL");
    let mut statement = connection.prepare(&sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let rows: Vec<(Cell, MemoryUuid, String)> = statement.query_map([], read)?.collect::<Result<_, _>>()?;
    for (row, id, text) in rows {
        let clean = match serde_json::from_str::<Value>(&text) {
            Ok(value) if kinds_in(&value, known).is_empty() => continue,
            Ok(value) => set_aside(store, value, id, known)?.to_string(),
            Err(_) => match known.taken_out_of(&text) {
                Some(clean) => clean,
                None => continue,
            },
        };
        connection.execute(&format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1"), params![row, clean])?;
    }
    Ok(())
}

/// Forgets directories whose names contain a credential.
pub(crate) fn forget_places(connection: &Connection, known: &KnownValues) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT path FROM trusted_directories")?;
    let paths: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for path in paths.iter().filter(|path| known.taken_out_of(path).is_some()) {
        connection.execute("DELETE FROM trusted_directories WHERE path = ?1", [path])?;
    }
    Ok(())
}

/// The texts of one column of a table.
pub(crate) fn texts_beside(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<Vec<String>> {
    let sql = format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL");
    connection.prepare(&sql)?.query_map([], |row| row.get(0))?.collect()
}

/// Counts the credentials in one column of a table.
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

/// Records the credentials of a text that may be JSON.
pub(crate) fn note_texts(known: &mut KnownValues, text: &str) {
    match json_in(text) {
        Some(value) => value.each_text(&mut |_, text| known.note_all(text)),
        None => known.note_all(text),
    }
}

/// Counts the credentials in a text. If the text is JSON, counts those in its strings.
pub(crate) fn kinds_in_json(text: &str, known: &KnownValues) -> Kinds {
    if let Some(value) = json_in(text) {
        return kinds_in(&value, known);
    }
    let mut kinds = Kinds::new();
    clean::count(&mut kinds, text, known);
    kinds
}
