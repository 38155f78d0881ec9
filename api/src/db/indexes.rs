//! Indexes that are created after the migrations and beside running servers: `CREATE INDEX CONCURRENTLY` blocks no writes.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use super::DbError;
use super::verbs::{Ask as _, args};

/// Each index by its name, with what it is on. Row security allows an index only for operators that cannot leak a value, so
/// these are on plain columns.
const INDEXES: [(&str, &str); 3] = [
    // The pages of what changed, which older clients ask for, are read in this order.
    ("memories_changed", "memories (owner, updated, id)"),
    // The links to a memory are found among the owner's memories that have links at all.
    ("memories_linked", "memories (owner) WHERE state = 'live' AND links <> '{}'"),
    // A text that an older client sent before. The condition on the digest is in no other query: while the planner knows nothing
    // of the tables, it would take this index to find a row by its id.
    ("memories_said", "memories (owner, content_md5) WHERE state = 'live' AND content_md5 <> ''"),
];
/// One server at a time creates indexes.
const LOCK: i64 = 0x7465_7373_6572_6132;

/// Between two looks whether another server is done.
const PAUSE: Duration = Duration::from_millis(100);
/// How often a creation is tried again that PostgreSQL ended in favour of another transaction.
const ATTEMPTS: u32 = 5;

/// Creates the indexes that are missing, and those again whose creation was cut short.
pub(super) async fn create(connection: &mut PgConnection) -> Result<(), DbError> {
    // A session that waits inside a statement has a snapshot, and the creation of an index waits for all snapshots: so nobody
    // waits inside one.
    while !connection.value("SELECT pg_try_advisory_lock($1)", args![LOCK]).await? {
        tokio::time::sleep(PAUSE).await;
    }
    let mut done = create_alone(connection).await;
    // Another server migrated meanwhile.
    for _ in 0..ATTEMPTS {
        if !done.as_ref().is_err_and(DbError::is_overtaken) {
            break;
        }
        tokio::time::sleep(PAUSE).await;
        done = create_alone(connection).await;
    }
    connection.run("SELECT pg_advisory_unlock($1)", args![LOCK]).await?;
    done
}

async fn create_alone(connection: &mut PgConnection) -> Result<(), DbError> {
    for (name, on) in INDEXES {
        let sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('public.' || $1)";
        let known = connection.maybe(sql, args![name]).await?;
        match known.map(|row| row.try_get::<bool, _>("indisvalid")).transpose()? {
            Some(true) => continue,
            // What is left of a creation that ended early is used by no query and slows every write.
            Some(false) => run(connection, &format!("DROP INDEX CONCURRENTLY IF EXISTS {name}")).await?,
            None => {}
        }
        run(connection, &format!("CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {on}")).await?;
        tracing::info!(index = name, "created");
    }
    Ok(())
}

/// Runs a statement that PostgreSQL refuses inside a transaction.
async fn run(connection: &mut PgConnection, sql: &str) -> Result<(), DbError> {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut *connection).await?;
    Ok(())
}
