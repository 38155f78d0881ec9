//! Schema migrations: forward only, one transaction each, after a copy of the file.
//!
//! SQLite makes a complete copy next to its final path, and the copy is then renamed.
//!
//! Also counts the tokens of memories again if the form of their lines has changed.
//!
//! Token counts are stored with the rows, so that a recall does not need to count tokens. Stored token counts are valid
//! for one version of the reply lines ([`LineCosts::FORM`]). A store with older counts is counted again when it is
//! opened.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, ToSql, TransactionBehavior, params, params_from_iter};
use rusqlite_migration::{M, Migrations};

use crate::domain::ShortId;
use crate::pack::{CUT_TOKENS, LineCosts, may_be_changed};
use crate::store::base::{embedding, reanalysis};
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::file::private;
use crate::store::file::scratch::Scratch;
use crate::store::rows::codec::sql;
use crate::store::rows::columns::{CostColumns, MEMORY};
use crate::store::rows::{codec, memory as row};
use crate::text::O200k;

/// The schema version of this program.
pub(crate) const SCHEMA: i64 = 1;

const STEPS: [&str; 1] = [include_str!("migrations/0001_store.sql")];

fn migrations() -> Migrations<'static> {
    Migrations::new(STEPS.into_iter().map(M::up).collect())
}

/// Migrates an older store to the present schema, after a backup.
pub(crate) fn migrate(connection: &mut Connection, home: &Home, found: i64) -> Result<(), StoreError> {
    let path = &home.database();
    if found == SCHEMA {
        return Ok(());
    }
    if found > 0 {
        let name = format!("pre-schema-{SCHEMA}-from-{found}.db");
        write(connection, path, &home.backups().join(name))?;
    }
    upgrade(connection, path, found)
}

/// Migrates a database to the present schema.
pub(super) fn upgrade(connection: &mut Connection, path: &Path, found: i64) -> Result<(), StoreError> {
    migrations().to_latest(connection).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => StoreError::sqlite(path, err),
        other => StoreError::Sqlite {
            path: path.to_path_buf(),
            source: rusqlite::Error::ToSqlConversionFailure(Box::new(other)),
        },
    })?;
    if found == 0 {
        let noted = reanalysis::note_new(connection).and_then(|()| embedding::note_new(connection));
        noted.map_err(|error| StoreError::sqlite(path, error))?;
    }
    Ok(())
}

/// Copies the database to `target`. In case of an error, an existing file stays.
pub(crate) fn write(connection: &Connection, database: &Path, target: &Path) -> Result<(), StoreError> {
    let dir = private::dir_of(target);
    private::make_private_dir(dir).map_err(|source| StoreError::file(dir, source))?;
    let failed = |source| StoreError::file(target, source);
    let scratch = Scratch::beside(dir).map_err(failed)?;
    let copy = scratch.path().join("copy.db");
    let bytes = copy.as_os_str().as_encoded_bytes();
    let name = std::str::from_utf8(bytes).map_err(|_| failed(std::io::ErrorKind::InvalidFilename.into()))?;
    connection.execute("VACUUM INTO ?1", [name]).map_err(|error| StoreError::sqlite(database, error))?;
    private::tighten(&copy);
    fs::File::open(&copy).and_then(|file| file.sync_all()).map_err(failed)?;
    fs::rename(&copy, target).and_then(|()| private::sync_dir(dir)).map_err(failed)
}

const KEY: &str = "line_form";

/// True if the stored token counts belong to an older version of the reply lines. Counts of a newer version are kept.
/// Otherwise an older and a newer version of Tessera would overwrite each other's counts again and again.
pub(crate) fn is_due(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT value FROM meta WHERE key = ?1";
    let form: Option<u32> = connection.query_row(sql, [KEY], |row| row.get(0)).optional()?;
    Ok(form.is_none_or(|form| form < LineCosts::FORM))
}

/// Counts the tokens of rows whose lines have changed, in one transaction.
pub(crate) fn recount(connection: &mut Connection) -> rusqlite::Result<()> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !is_due(&tx)? {
        return Ok(());
    }
    let changed = changed(&tx)?;
    if !changed.is_empty() {
        let select = sql!("SELECT ", MEMORY, " FROM memories WHERE short_id = ?1");
        let (mut select, mut update) = (tx.prepare(select)?, tx.prepare(&codec::update(&[CostColumns::NAMES]))?);
        for short_id in changed {
            let memory = select.query_row([short_id], row::memory)?;
            let costs = LineCosts::measure(&memory, &O200k);
            let mut values = vec![short_id.to_sql()?];
            CostColumns::write(&costs, &mut values)?;
            update.execute(params_from_iter(values))?;
        }
    }
    tx.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", params![KEY, LineCosts::FORM])?;
    tx.commit()
}

/// Rows whose lines may have changed: memories of other users, long memories, and memories with certain characters.
fn changed(connection: &Connection) -> rusqlite::Result<Vec<ShortId>> {
    let sql =
        "SELECT short_id, shared_by IS NOT NULL OR edited_by IS NOT NULL OR detail_tokens >= ?1 AS is_changed, content, summary, category, tags, entities
               FROM memories WHERE purged = 0";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([CUT_TOKENS])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let mut is_changed: bool = row.get("is_changed")?;
        for column in ["content", "summary", "category", "tags", "entities"] {
            is_changed = is_changed || may_be_changed(row.get_ref(column)?.as_str()?);
        }
        if is_changed {
            changed.push(row.get("short_id")?);
        }
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_migrations_are_sound_and_end_at_the_schema() {
        migrations().validate().unwrap();
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &Home::new("t"), 0).unwrap();
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, SCHEMA);
    }
}
