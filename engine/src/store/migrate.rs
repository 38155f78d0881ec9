//! Schema versions: forward only, one transaction each, with a copy of the file made before.

use std::path::Path;
use std::sync::LazyLock;

use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};

use super::error::StoreError;

static MIGRATIONS: LazyLock<Migrations<'static>> = LazyLock::new(|| {
    Migrations::new(vec![
        M::up(include_str!("migrations/0001_store.sql")),
        M::up(include_str!("migrations/0002_sessions.sql")),
        M::up(include_str!("migrations/0003_sync.sql")),
        M::up(include_str!("migrations/0005_places.sql")),
    ])
});

/// The schema this program writes.
pub(super) const SCHEMA: i64 = 4;

/// Brings an older store to the present schema, after a backup beside it.
pub(super) fn migrate(connection: &mut Connection, path: &Path, found: i64) -> Result<(), StoreError> {
    if found == SCHEMA {
        return Ok(());
    }
    if found > 0 {
        let name = format!("pre-schema-{SCHEMA}-from-{found}.db");
        super::backup::write(connection, path, &path.with_file_name("backups").join(name))?;
    }
    MIGRATIONS.to_latest(connection).map_err(|error| match error {
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
        MIGRATIONS.validate().unwrap();
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, Path::new("t.db"), 0).unwrap();
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, SCHEMA);
    }
}
