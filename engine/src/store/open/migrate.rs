//! Schema versions: forward only, one transaction each, with a copy of the file made before.

use rusqlite::{Connection, Transaction, TransactionBehavior};
use rusqlite_migration::{M, Migrations};

use super::copy;
use super::give_back::give_back;
use crate::domain::Timestamp;
use crate::store::base::reanalysis;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;

fn migrations() -> Migrations<'static> {
    Migrations::new(vec![
        M::up(include_str!("migrations/0001_store.sql")),
        M::up(include_str!("migrations/0002_sessions.sql")),
        M::up(include_str!("migrations/0003_sync.sql")),
        M::up_with_hook(include_str!("migrations/0004_authors.sql"), |tx: &Transaction<'_>| {
            Ok(tx.execute("INSERT INTO meta (key, value) VALUES (?1, 1)", [GIVE_BACK]).map(drop)?)
        }),
        M::up(include_str!("migrations/0005_places.sql")),
        M::up(include_str!("migrations/0006_marks.sql")),
    ])
}

/// Noted in a store of the rule of lifetimes until what that took is given back: rows are written as they are today,
/// so that comes after all migrations.
const GIVE_BACK: &str = "give_back";

/// The schema this program writes.
pub(crate) const SCHEMA: i64 = 6;

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
    migrations().to_latest(connection).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => StoreError::sqlite(path, err),
        other => {
            StoreError::Sqlite { path: path.clone(), source: rusqlite::Error::ToSqlConversionFailure(Box::new(other)) }
        }
    })?;
    if found == 0 {
        reanalysis::note_new(connection).map_err(|error| StoreError::sqlite(path, error))?;
    }
    Ok(())
}

/// True when what the rule of lifetimes took was not given back yet.
pub(crate) fn is_give_back_due(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare("SELECT 1 FROM meta WHERE key = ?1")?.exists([GIVE_BACK])
}

/// Gives back what the rule of lifetimes took, in one transaction with the note that it is done.
pub(crate) fn give_back_if_due(connection: &mut Connection, now: Timestamp) -> Result<(), StoreError> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if is_give_back_due(&tx)? {
        give_back(&Change::of(&tx, now))?;
        tx.execute("DELETE FROM meta WHERE key = ?1", [GIVE_BACK])?;
    }
    Ok(tx.commit()?)
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

    #[test]
    fn directories_where_memories_were_made_are_known_from_the_beginning() {
        let mut connection = Connection::open_in_memory().unwrap();
        let migrations = migrations();
        migrations.to_version(&mut connection, 3).unwrap();
        let insert = "INSERT INTO memories (handle, id, content, summary, category, type, importance, tags, keywords, entities,
             scope, created, updated, origin, trust, cwd, rev, standing, length, signature, forward, detail_tokens,
             index_tokens, json_detail_tokens, json_index_tokens, passages, deleted) VALUES (?1, randomblob(16), 'x', 'x',
             'facts', 'fact', 50, '[]', '[]', '[]', ?2, ?1, 1, ?3, ?4, ?5, ?1, 0, 1, 0, x'', 1, 1, 1, 1, x'', ?6)";
        for (handle, scope, origin, trust, cwd, deleted) in [
            (1, "ledger", "user", "user", Some("/w/ledger"), None),
            (2, "ledger", "auto_learn", "model", Some("/w/ledger"), None),
            (3, "global", "user", "user", Some("/w/everywhere"), None),
            (4, "ledger", "import", "foreign", Some("/w/imported"), None),
            (5, "ledger", "user", "user", None, None),
            (6, "ledger", "user", "user", Some("/w/deleted"), Some(9)),
        ] {
            connection.execute(insert, rusqlite::params![handle, scope, origin, trust, cwd, deleted]).unwrap();
        }
        migrations.to_latest(&mut connection).unwrap();
        let mut read = connection.prepare("SELECT path, project, how, since FROM places").unwrap();
        let places = read.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        let places: Vec<(String, String, String, i64)> = places.unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(places, [("/w/ledger".into(), "ledger".into(), "made".into(), 1)]);
    }
}
