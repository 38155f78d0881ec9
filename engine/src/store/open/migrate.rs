//! Schema versions: forward only, one transaction each, with a copy of the file made before.

use std::path::Path;

use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};

use super::copy;
use crate::store::base::{meaning, reanalysis};
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;

/// The schema this program writes.
pub(crate) const SCHEMA: i64 = 1;

const STEPS: [&str; 1] = [include_str!("migrations/0001_store.sql")];

fn migrations() -> Migrations<'static> {
    Migrations::new(STEPS.into_iter().map(M::up).collect())
}

/// Brings an older store to the present schema, after a backup beside it.
pub(crate) fn migrate(connection: &mut Connection, home: &Home, found: i64) -> Result<(), StoreError> {
    let path = &home.database();
    if found == SCHEMA {
        return Ok(());
    }
    if found > 0 {
        let name = format!("pre-schema-{SCHEMA}-from-{found}.db");
        copy::write(connection, path, &home.backups().join(name))?;
    }
    upgrade(connection, path, found)
}

/// Brings a database to the present schema.
pub(super) fn upgrade(connection: &mut Connection, path: &Path, found: i64) -> Result<(), StoreError> {
    migrations().to_latest(connection).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => StoreError::sqlite(path, err),
        other => StoreError::Sqlite {
            path: path.to_path_buf(),
            source: rusqlite::Error::ToSqlConversionFailure(Box::new(other)),
        },
    })?;
    if found == 0 {
        let noted = reanalysis::note_new(connection).and_then(|()| meaning::note_new(connection));
        noted.map_err(|error| StoreError::sqlite(path, error))?;
    }
    Ok(())
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
