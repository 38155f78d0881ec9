//! Schema versions: forward only, one transaction each, with a copy of the file made before.

use std::cell::OnceCell;
use std::path::Path;

use rusqlite::{Connection, Transaction};
use rusqlite_migration::{HookError, M, Migrations};

use super::error::StoreError;
use super::give_back::give_back;
use super::write::Change;
use crate::domain::Timestamp;

fn migrations(now: Timestamp) -> Migrations<'static> {
    Migrations::new(vec![
        M::up(include_str!("migrations/0001_store.sql")),
        M::up(include_str!("migrations/0002_sessions.sql")),
        M::up(include_str!("migrations/0003_sync.sql")),
        M::up_with_hook(include_str!("migrations/0004_authors.sql"), move |tx: &Transaction<'_>| {
            give_back(&Change::of(tx, &OnceCell::new(), now)).map_err(|error| match error {
                StoreError::Sqlite { source, .. } => HookError::RusqliteError(source),
                other => HookError::Hook(other.to_string()),
            })
        }),
    ])
}

/// The schema this program writes.
pub(super) const SCHEMA: i64 = 4;

/// Brings an older store to the present schema, after a backup beside it.
pub(super) fn migrate(connection: &mut Connection, path: &Path, found: i64, now: Timestamp) -> Result<(), StoreError> {
    if found == SCHEMA {
        return Ok(());
    }
    if found > 0 {
        let name = format!("pre-schema-{SCHEMA}-from-{found}.db");
        super::backup::write(connection, path, &path.with_file_name("backups").join(name))?;
    }
    migrations(now).to_latest(connection).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => StoreError::sqlite(path, err),
        other => StoreError::Sqlite {
            path: path.to_path_buf(),
            source: rusqlite::Error::ToSqlConversionFailure(Box::new(other)),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_migrations_are_sound_and_end_at_the_schema() {
        let now = Timestamp::from_micros(0);
        migrations(now).validate().unwrap();
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, Path::new("t.db"), 0, now).unwrap();
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, SCHEMA);
    }
}
