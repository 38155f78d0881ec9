//! A database that Citus distributes over several machines: all rows of a user are on one machine, and small common
//! tables are on every machine. See docs/SCALING.md.
//!
//! A statement about a single user is sent unchanged to one machine. Statements that join a user's feed with memories
//! are split: one part for the user's own memories, and one for shared memories.

use std::collections::HashSet;

use futures_util::TryStreamExt as _;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgExecutor, Postgres, Row as _, Transaction};

use super::verbs::{Ask as _, args};
use super::{DbError, UserTx};

/// A statement with its parameters.
pub(crate) type Query<'q> = sqlx::query::Query<'q, Postgres, PgArguments>;

/// Small tables that are read often and changed rarely. Every machine has a copy of them.
const EVERYWHERE: [&str; 6] = ["server_meta", "users", "api_keys", "tag_shares", "mutes", "chores"];
/// All other tables of users are distributed like `memories`.
const FIRST: &str = "memories";
/// Only one server at a time distributes tables.
const LOCK: i64 = 0x7465_7373_6572_6131;
/// Policies and functions.
const RULES: &str = include_str!("spread.sql");

/// True if the extension is installed.
pub(super) async fn is_spread(on: impl PgExecutor<'_>) -> Result<bool, DbError> {
    let sql = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')";
    Ok(sqlx::query_scalar(sql).fetch_one(on).await?)
}

/// Connection options for Citus: one forwards the user's name to every machine, and one lets a transaction see its own
/// writes.
pub(super) fn options(options: PgConnectOptions) -> PgConnectOptions {
    options.options([("citus.propagate_set_commands", "local"), ("citus.max_adaptive_executor_pool_size", "1")])
}

/// Sets the transaction's user and, for a request, the restricted role. The statements are separate messages, because
/// Citus forwards a complete message.
pub(super) async fn act(
    tx: &mut Transaction<'static, Postgres>,
    user: &str,
    is_request: bool,
) -> Result<(), sqlx::Error> {
    if is_request {
        sqlx::raw_sql("SET LOCAL ROLE tessera_app").execute(&mut **tx).await?;
    }
    let whose = format!("SET LOCAL app.user_id = '{}'", user.replace('\'', "''"));
    sqlx::raw_sql(AssertSqlSafe(whose)).execute(&mut **tx).await?;
    Ok(())
}

/// Distributes tables that are not distributed yet. A second call changes nothing.
pub(super) async fn spread(connection: &mut PgConnection) -> Result<(), DbError> {
    connection.run("SELECT pg_advisory_lock($1)", args![LOCK]).await?;
    let done = spread_alone(connection).await;
    connection.run("SELECT pg_advisory_unlock($1)", args![LOCK]).await?;
    done
}

async fn spread_alone(connection: &mut PgConnection) -> Result<(), DbError> {
    sqlx::raw_sql(RULES).execute(&mut *connection).await?;
    // The audit's triggers only reject changes and read nothing.
    sqlx::raw_sql("SET citus.enable_unsafe_triggers = on").execute(&mut *connection).await?;
    let sql = "SELECT c.relname::text AS name, (SELECT a.attname::text FROM pg_index i
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
             WHERE i.indrelid = c.oid AND i.indisprimary) AS first_key
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = 'public' AND c.relkind = 'r' AND c.relname <> '_sqlx_migrations'
             AND c.oid NOT IN (SELECT table_name FROM citus_tables WHERE citus_table_type IN ('distributed', 'reference'))
         ORDER BY c.relname <> ALL ($1), c.relname <> $2, c.oid";
    let waiting = connection.all(sql, args![EVERYWHERE.as_slice(), FIRST]).await?;
    for row in &waiting {
        let (name, key): (String, Option<String>) = (row.try_get("name")?, row.try_get("first_key")?);
        spread_table(connection, &name, key.as_deref()).await?;
        tracing::info!(table = name, "spread");
    }
    // The coordinator's old rows are on the machines now.
    let sql = "SELECT c.relname::text FROM pg_class c JOIN citus_tables t ON t.table_name = c.oid
         WHERE t.citus_table_type IN ('distributed', 'reference') AND pg_relation_size(c.oid) > 0 ORDER BY c.oid";
    let left: Vec<String> = connection.values(sql, args![]).await?;
    for name in left {
        let mut tx = connection.begin().await?;
        for sql in [
            format!("ALTER TABLE {name} DISABLE TRIGGER USER"),
            format!("SELECT truncate_local_data_after_distributing_table('{name}')"),
            format!("ALTER TABLE {name} ENABLE TRIGGER USER"),
        ] {
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *tx).await?;
        }
        tx.commit().await?;
    }
    Ok(())
}

/// Distributes one table. The same transaction suspends forced row security, which would hide the rows from the role
/// that copies them.
async fn spread_table(connection: &mut PgConnection, name: &str, key: Option<&str>) -> Result<(), DbError> {
    let spread = match key {
        _ if EVERYWHERE.contains(&name) => format!("SELECT create_reference_table('{name}')"),
        Some(key @ ("owner" | "user_id")) => {
            let beside = if name == FIRST { "none" } else { FIRST };
            format!("SELECT create_distributed_table('{name}', '{key}', colocate_with => '{beside}')")
        }
        _ => return Err(DbError::Unsafe(format!("the primary key of {name} does not begin with the user column"))),
    };
    let sql = "SELECT relforcerowsecurity FROM pg_class WHERE oid = $1::regclass";
    let is_guarded: bool = connection.value(sql, args![name]).await?;
    let mut tx = connection.begin().await?;
    let guard = |how: &str| format!("ALTER TABLE {name} {how} ROW LEVEL SECURITY");
    if is_guarded {
        sqlx::raw_sql(AssertSqlSafe(guard("NO FORCE"))).execute(&mut *tx).await?;
    }
    sqlx::raw_sql(AssertSqlSafe(spread)).execute(&mut *tx).await?;
    if is_guarded {
        sqlx::raw_sql(AssertSqlSafe(guard("FORCE"))).execute(&mut *tx).await?;
    }
    Ok(tx.commit().await?)
}

/// Returns an error if a table is not distributed, or if a machine rejects requests.
pub(super) async fn check(tx: &mut Transaction<'static, Postgres>) -> Result<(), DbError> {
    let sql = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = 'public' AND c.relkind = 'r' AND c.relname <> '_sqlx_migrations'
             AND c.oid NOT IN (SELECT table_name FROM citus_tables WHERE citus_table_type IN ('distributed', 'reference'))";
    let left: Vec<String> = tx.values(sql, args![]).await?;
    if !left.is_empty() {
        let problem =
            format!("Citus does not distribute {}; run `tessera-server migrate`, then start again", left.join(", "));
        return Err(DbError::Unsafe(problem));
    }
    let refused = |error: sqlx::Error| {
        DbError::Unsafe(format!(
            "a Citus machine rejects the role tessera_app; check that the role may log in there: {error}"
        ))
    };
    tx.run("SELECT count(*) FROM checkpoints", args![]).await.map_err(refused)?;
    Ok(())
}

impl UserTx {
    /// Runs a statement that joins the feed of the user (`$1`) with memories. `bind` binds the other parameters.
    pub(crate) async fn fed<'q>(
        &mut self,
        sql: &'static str,
        bind: impl Fn(Query<'q>) -> Query<'q>,
    ) -> Result<Vec<PgRow>, DbError> {
        let user = self.user.as_str().to_owned();
        if !self.is_spread {
            return Ok(bind(sqlx::query(sql).bind(user)).fetch_all(&mut *self.tx).await?);
        }
        let own = bind(sqlx::query(AssertSqlSafe(own(sql))).bind(user.clone()));
        let mut found = own.fetch_all(&mut *self.tx).await?;
        // Read after the user's own rows, so earlier notifications are visible.
        let others = self.sharers().await?;
        if others.is_empty() {
            return Ok(found);
        }
        // The names of other users are part of the text, so machines without them are not asked. Such a statement is
        // not cached.
        let shared = sqlx::query(AssertSqlSafe(shared(sql, &others))).persistent(false).bind(user.clone());
        found.extend(bind(shared).fetch_all(&mut *self.tx).await?);
        if let Some(gone) = gone(sql) {
            let known: HashSet<i64> =
                found.iter().map(|row| row.try_get("short_id")).collect::<Result<_, sqlx::Error>>()?;
            for row in bind(sqlx::query(AssertSqlSafe(gone)).bind(user)).fetch_all(&mut *self.tx).await? {
                if !known.contains(&row.try_get("short_id")?) {
                    found.push(row);
                }
            }
            let mut numbered: Vec<(i64, PgRow)> =
                found.into_iter().map(|row| Ok((row.try_get("short_id")?, row))).collect::<Result<_, sqlx::Error>>()?;
            numbered.sort_by_key(|(short_id, _)| *short_id);
            found = numbered.into_iter().map(|(_, row)| row).collect();
        }
        Ok(found)
    }

    /// Passes the rows one by one to a function, so a large result is not collected in memory.
    pub(crate) async fn fed_each(
        &mut self,
        sql: &'static str,
        mut take: impl FnMut(&PgRow) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        if self.is_spread {
            return self.fed(sql, |query| query).await?.iter().try_for_each(take);
        }
        let user = self.user.as_str().to_owned();
        let mut rows = sqlx::query(sql).bind(user).fetch(&mut *self.tx);
        while let Some(row) = rows.try_next().await? {
            take(&row)?;
        }
        Ok(())
    }

    /// The other owners in the feed. The query jumps from one name to the next.
    async fn sharers(&mut self) -> Result<Vec<String>, DbError> {
        let sql = "WITH RECURSIVE names AS (
                 (SELECT owner FROM feed WHERE user_id = $1 ORDER BY owner LIMIT 1)
                 UNION ALL
                 SELECT (SELECT owner FROM feed WHERE user_id = $1 AND feed.owner > names.owner ORDER BY owner LIMIT 1)
                 FROM names WHERE names.owner IS NOT NULL)
             SELECT owner FROM names WHERE owner <> $1";
        Ok(self.tx.values(sql, args![self.user.as_str()]).await?)
    }
}

/// The join conditions that statements for [`UserTx::fed`] may contain, each with its alias of the table `memories`.
const JOINS: [(&str, &str); 3] = [
    ("m.owner = feed.owner", "m"),
    ("memories.owner = feed.owner", "memories"),
    ("memories.owner = cut.owner", "memories"),
];

/// The part of a feed statement for the user's own memories; one machine stores all of them.
fn own(sql: &str) -> String {
    let own = JOINS.iter().fold(sql.to_owned(), |sql, (join, name)| joined(&sql, join, &format!("{name}.owner = $1")));
    own.replace("feed.user_id = $1", "feed.user_id = $1 AND feed.owner = $1")
}

/// The part of a feed statement for memories that others share with the user.
fn shared(sql: &str, others: &[String]) -> String {
    // A name has no character that ends a text or an element.
    let names: Vec<String> = others.iter().map(|name| format!("\"{name}\"")).collect();
    let names = names.join(",");
    let sql = JOINS
        .iter()
        .fold(sql.to_owned(), |sql, (join, name)| joined(&sql, join, &format!("{name}.owner = ANY ('{{{names}}}')")));
    of_others(&sql, "JOIN")
}

/// The feed rows of shared memories, without the columns of the memories. Only statements that return feed rows without
/// a visible memory need this part.
fn gone(sql: &str) -> Option<String> {
    sql.contains("FROM feed LEFT JOIN").then(|| {
        let nothing = "m.owner = $1 AND m.id = '00000000-0000-0000-0000-000000000000'";
        of_others(&joined(sql, "m.owner = feed.owner", nothing), "LEFT JOIN")
    })
}

/// Adds a condition to a join, if the statement contains that join. The match requires a space before the condition, so
/// a longer alias does not match.
fn joined(sql: &str, join: &str, and: &str) -> String {
    sql.replace(&format!(" {join}"), &format!(" {join} AND {and}"))
}

fn of_others(sql: &str, join: &str) -> String {
    let rows = format!("FROM (SELECT * FROM feed WHERE user_id = $1 AND owner <> $1) feed {join} memories");
    sql.replace("FROM feed LEFT JOIN memories", &rows).replace("FROM feed JOIN memories", &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQL: &str = "SELECT feed.short_id FROM feed LEFT JOIN memories m ON m.owner = feed.owner AND m.id = feed.memory \
                       WHERE feed.user_id = $1 AND feed.seq > $2";

    #[test]
    fn a_statement_about_a_feed_comes_apart() {
        assert_eq!(
            own(SQL),
            "SELECT feed.short_id FROM feed LEFT JOIN memories m ON m.owner = feed.owner AND m.owner = $1 AND m.id = \
             feed.memory WHERE feed.user_id = $1 AND feed.owner = $1 AND feed.seq > $2"
        );
        assert_eq!(
            shared(SQL, &["bob".into(), "eve@x".into()]),
            "SELECT feed.short_id FROM (SELECT * FROM feed WHERE user_id = $1 AND owner <> $1) feed JOIN memories m ON \
             m.owner = feed.owner AND m.owner = ANY ('{\"bob\",\"eve@x\"}') AND m.id = feed.memory WHERE feed.user_id \
             = $1 AND feed.seq > $2"
        );
        assert!(gone(SQL).is_some_and(|gone| {
            gone.contains("feed LEFT JOIN memories m ON m.owner = feed.owner AND m.owner = $1 AND m.id = '0")
        }));
        assert_eq!(gone(&SQL.replace("LEFT JOIN", "JOIN")), None);
    }
}
