//! Schema versions: forward only, one transaction each, with a copy of the file made before.

use rusqlite::{Connection, Transaction};
use rusqlite_migration::{HookError, M, Migrations};

use super::copy;
use super::give_back::{GIVEN_BACK, give_back};
use crate::domain::Timestamp;
use crate::store::base::config::SecretRules;
use crate::store::base::secrets::Secrets;
use crate::store::base::transaction::Change;
use crate::store::base::{meaning, reanalysis};
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;

/// The schema this program writes.
pub(crate) const SCHEMA: i64 = 13;

const STEPS: [&str; 13] = [
    include_str!("migrations/0001_store.sql"),
    include_str!("migrations/0002_sessions.sql"),
    include_str!("migrations/0003_sync.sql"),
    include_str!("migrations/0004_authors.sql"),
    include_str!("migrations/0005_places.sql"),
    include_str!("migrations/0006_marks.sql"),
    include_str!("migrations/0007_lists.sql"),
    include_str!("migrations/0008_meaning.sql"),
    include_str!("migrations/0009_questions.sql"),
    include_str!("migrations/0010_secrets.sql"),
    include_str!("migrations/0011_files.sql"),
    include_str!("migrations/0012_coming_over.sql"),
    include_str!("migrations/0013_failing.sql"),
];

/// The steps from a schema that was found. What reads and writes memories comes after the last of them, in the same
/// transaction: it knows the columns of the present schema alone.
fn migrations(found: i64, home: &Home, now: Timestamp) -> Migrations<'static> {
    let mut steps: Vec<M<'static>> = STEPS.into_iter().map(M::up).collect();
    if let (1..GIVEN_BACK, Some((last, _))) = (found, STEPS.split_last()) {
        steps.pop();
        let home = home.clone();
        steps.push(M::up_with_hook(last, move |tx: &Transaction<'_>| {
            // Nothing is looked for in what is there already: it comes back as it was.
            let secrets = Secrets::of(SecretRules::default(), &home);
            let change = Change::of(tx, now, &secrets);
            give_back(&change).and_then(|()| change.settle()).map_err(|error| match error {
                StoreError::Sqlite { source, .. } => HookError::RusqliteError(source),
                other => HookError::Hook(other.to_string()),
            })
        }));
    }
    Migrations::new(steps)
}

/// Brings an older store to the present schema, after a backup beside it.
pub(crate) fn migrate(connection: &mut Connection, home: &Home, found: i64, now: Timestamp) -> Result<(), StoreError> {
    let path = &home.database();
    if found == SCHEMA {
        return Ok(());
    }
    if found > 0 {
        let name = format!("pre-schema-{SCHEMA}-from-{found}.db");
        copy::write(connection, path, &home.backups().join(name))?;
    }
    upgrade(connection, home, found, now)
}

/// Brings a database to the present schema.
pub(super) fn upgrade(connection: &mut Connection, home: &Home, found: i64, now: Timestamp) -> Result<(), StoreError> {
    let path = &home.database();
    migrations(found, home, now).to_latest(connection).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => StoreError::sqlite(path, err),
        other => {
            StoreError::Sqlite { path: path.clone(), source: rusqlite::Error::ToSqlConversionFailure(Box::new(other)) }
        }
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
        let now = Timestamp::from_micros(0);
        migrations(0, &Home::new("t"), now).validate().unwrap();
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &Home::new("t"), 0, now).unwrap();
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, SCHEMA);
    }

    #[test]
    fn directories_where_memories_were_made_are_known_from_the_beginning() {
        let mut connection = Connection::open_in_memory().unwrap();
        let migrations = migrations(3, &Home::new("t"), Timestamp::from_micros(0));
        migrations.to_version(&mut connection, 3).unwrap();
        let insert = "INSERT INTO memories (handle, id, content, summary, category, type, importance, tags, keywords, entities,
             scope, created, updated, origin, trust, cwd, rev, standing, length, signature, forward, detail_tokens,
             index_tokens, json_detail_tokens, json_index_tokens, passages, deleted) VALUES (?1, randomblob(16), 'x', 'x',
             'facts', 'fact', 50, '[]', '[]', '[]', ?2, ?1, 1, ?3, ?4, ?5, ?1, 0, 1, 0, x'', 1, 1, 1, 1, x'', ?6)";
        for (handle, scope, origin, trust, cwd, deleted) in [
            (7, "ledger", "user", "user", Some("/w/given/back"), Some(9)),
            (1, "ledger", "user", "user", Some("/w/ledger"), None),
            (2, "ledger", "auto_learn", "model", Some("/w/ledger"), None),
            (3, "global", "user", "user", Some("/w/everywhere"), None),
            (4, "ledger", "import", "foreign", Some("/w/imported"), None),
            (5, "ledger", "user", "user", None, None),
            (6, "ledger", "user", "user", Some("/w/deleted"), Some(9)),
        ] {
            connection.execute(insert, rusqlite::params![handle, scope, origin, trust, cwd, deleted]).unwrap();
        }
        // What the rule of lifetimes had taken.
        let taken = "UPDATE memories SET expires = 7, content = 'taken' WHERE handle = 7;
             INSERT INTO history (rev, op_id, memory, op, at, origin)
                 SELECT 7, randomblob(16), id, 'expire', 9, 'user' FROM memories WHERE handle = 7;
             UPDATE meta SET value = 9 WHERE key IN ('rev', 'handle')";
        connection.execute_batch(taken).unwrap();
        migrations.to_latest(&mut connection).unwrap();
        let mut read = connection.prepare("SELECT path, project, how, since FROM places ORDER BY path").unwrap();
        let places = read.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        let places: Vec<(String, String, String, i64)> = places.unwrap().collect::<Result<_, _>>().unwrap();
        let made = |path: &str, since| (path.to_owned(), "ledger".to_owned(), "made".to_owned(), since);
        assert_eq!(places, [made("/w/given/back", 7), made("/w/ledger", 1)]);
    }
}
