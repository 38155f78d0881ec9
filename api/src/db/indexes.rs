//! Indexes that are created after the migrations, while servers run: `CREATE INDEX CONCURRENTLY` does not block writes.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use super::DbError;
use super::verbs::{Ask as _, args};

/// Each index with its name and definition. With row security, PostgreSQL uses an index only with leakproof operators,
/// so these indexes have plain columns.
const INDEXES: [(&str, &str); 3] = [
    // Older clients read changes in this order.
    ("memories_changed", "memories (owner, updated, id)"),
    // Finds the links to a memory among the owner's memories with links.
    ("memories_linked", "memories (owner) WHERE state = 'live' AND links <> '{}'"),
    // Finds a text that an older client sent before. No other query has this condition on the digest; otherwise a
    // planner without statistics would use this index to find rows by ID.
    ("memories_said", "memories (owner, content_md5) WHERE state = 'live' AND content_md5 <> ''"),
];
/// Only one server at a time creates indexes.
const LOCK: i64 = 0x7465_7373_6572_6132;

/// The server waits this long before it checks again whether another server has finished.
const PAUSE: Duration = Duration::from_millis(100);
/// How often the creation of an index is repeated after PostgreSQL aborted it.
const ATTEMPTS: u32 = 5;

/// Creates missing indexes, and repeats interrupted creations.
pub(super) async fn create(connection: &mut PgConnection) -> Result<(), DbError> {
    // A session that waits inside a statement has a snapshot, and CREATE INDEX CONCURRENTLY waits for all snapshots. So
    // this loop waits outside of a statement.
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
            // An invalid index is not used by queries, but slows down every write.
            Some(false) => run(connection, &format!("DROP INDEX CONCURRENTLY IF EXISTS {name}")).await?,
            None => {}
        }
        run(connection, &format!("CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {on}")).await?;
        tracing::info!(index = name, "created");
    }
    Ok(())
}

/// Runs a statement that PostgreSQL rejects inside a transaction.
async fn run(connection: &mut PgConnection, sql: &str) -> Result<(), DbError> {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut *connection).await?;
    Ok(())
}
