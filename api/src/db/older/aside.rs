//! Detects the tables of the older system, and moves them to their own schema unchanged.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Row as _};

use super::LOCK;
use crate::db::DbError;
use crate::db::verbs::{Ask as _, args};

/// The tables of the older system; some versions lack some of them.
const TABLES: [&str; 8] = [
    "memories",
    "memory_shares",
    "tag_shares",
    "memory_links",
    "memory_concepts",
    "concept_edges",
    "concepts",
    "alembic_version",
];

/// Replaces the older system's schema version with an unknown one. If somebody starts the old program by mistake, it
/// then changes none of our tables.
const GONE: &str = "taken over";

/// The migration's own tables: the result for each row, the new names of users, and the progress.
const NOTES: &str = "CREATE TABLE older.taken (
        id      bigint PRIMARY KEY,
        owner   text,
        memory  uuid,
        problem text,
        at      timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE older.names (older text PRIMARY KEY, name text NOT NULL UNIQUE);
    CREATE TABLE older.taking (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
        top      bigint NOT NULL,
        finished timestamptz
    )";

/// Moves the tables of the older system, if this is its database and nobody moved them before. All tables move in one
/// transaction, so a running old server has written a change completely or not at all.
pub(in crate::db) async fn put_aside(conn: &mut PgConnection) -> Result<bool, DbError> {
    let mut tx = conn.begin().await?;
    tx.run("SELECT pg_advisory_xact_lock($1)", args![LOCK]).await?;
    if !is_older(&mut tx).await? {
        return Ok(false);
    }
    may_move(&mut tx).await?;
    let sql = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND c.relname = ANY ($1)";
    let found: Vec<String> = tx.values(sql, args![TABLES.as_slice()]).await?;
    tx.run("CREATE SCHEMA older", args![]).await?;
    for table in TABLES.iter().filter(|table| found.iter().any(|found| found == *table)) {
        // Indexes, constraints and column sequences move with the table.
        let sql = format!("ALTER TABLE public.{table} SET SCHEMA older");
        tx.run(AssertSqlSafe(sql), args![]).await?;
    }
    sqlx::raw_sql(NOTES).execute(&mut *tx).await?;
    // IDs that were assigned count, even if their rows are gone.
    sqlx::raw_sql(
        "INSERT INTO older.taking (top) SELECT greatest(
             (SELECT coalesce(max(id), 0) FROM older.memories),
             coalesce((SELECT s.last_value FROM pg_sequences s WHERE s.schemaname = 'older' AND s.sequencename = 'memories_id_seq'), 0))",
    )
    .execute(&mut *tx)
    .await?;
    sqlx::raw_sql("CREATE TABLE public.alembic_version (version_num varchar(32) PRIMARY KEY)")
        .execute(&mut *tx)
        .await?;
    tx.run("INSERT INTO public.alembic_version VALUES ($1)", args![GONE]).await?;
    tx.commit().await?;
    Ok(true)
}

/// True for a database of the older system that was not migrated: it has that system's table and none of ours.
pub(in crate::db) async fn is_older(conn: &mut PgConnection) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar(
        "SELECT to_regclass('public._sqlx_migrations') IS NULL AND 5 = (
             SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass('public.memories') AND NOT attisdropped
             AND attname IN ('content', 'expanded_keywords', 'importance', 'created_at', 'updated_at'))",
    )
    .fetch_one(conn)
    .await?)
}

/// Reports missing permissions before anything is done.
async fn may_move(conn: &mut PgConnection) -> Result<(), DbError> {
    let row = sqlx::query(
        "SELECT current_user::text AS role, current_database()::text AS name,
             has_database_privilege(current_database(), 'CREATE') AS may_create,
             has_schema_privilege('public', 'CREATE') AS may_create_tables,
             to_regnamespace('older') IS NOT NULL AS is_taken,
             (SELECT string_agg(c.relname, ', ') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
              WHERE n.nspname = 'public' AND c.relname = ANY ($1) AND NOT pg_has_role(c.relowner, 'USAGE')) AS of_others",
    )
    .bind(TABLES.as_slice())
    .fetch_one(conn)
    .await?;
    let (role, name): (String, String) = (row.try_get("role")?, row.try_get("name")?);
    let problem = if row.try_get("is_taken")? {
        "a schema `older` that Tessera did not create already exists; rename it".to_owned()
    } else if let Some(tables) = row.try_get::<Option<String>, _>("of_others")? {
        format!(
            "this database belongs to an older installation, and {role} does not own its tables ({tables}); run \
            this as their owner or an administrator: REASSIGN OWNED BY <owner of the tables> TO \"{role}\""
        )
    } else if !row.try_get::<bool, _>("may_create")? || !row.try_get::<bool, _>("may_create_tables")? {
        format!(
            "this is the database of an older installation, and {role} may create no schema or no table in it; as an \
             administrator: GRANT CREATE ON DATABASE \"{name}\" TO \"{role}\"; GRANT CREATE ON SCHEMA public TO \"{role}\""
        )
    } else {
        return Ok(());
    };
    Err(DbError::Unsafe(problem))
}

/// True if the tables of an older system were moved aside.
pub(in crate::db) async fn is_aside(conn: &mut PgConnection) -> Result<bool, DbError> {
    let sql = "SELECT to_regclass('older.memories') IS NOT NULL AND to_regclass('older.taking') IS NOT NULL";
    Ok(sqlx::query_scalar(sql).fetch_one(conn).await?)
}

/// True if rows are not migrated yet.
pub(super) async fn is_open(conn: &mut PgConnection) -> Result<bool, DbError> {
    if !is_aside(conn).await? {
        return Ok(false);
    }
    Ok(sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM older.taking WHERE finished IS NULL) OR EXISTS (SELECT FROM older.memories m
             WHERE NOT EXISTS (SELECT FROM older.taken t WHERE t.id = m.id AND t.memory IS NOT NULL))",
    )
    .fetch_one(conn)
    .await?)
}

/// True once every row was processed.
pub(super) async fn is_finished(pool: &PgPool) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar("SELECT EXISTS (SELECT FROM older.taking WHERE finished IS NOT NULL)")
        .fetch_one(pool)
        .await?)
}

/// The number of rows that were not migrated.
pub(super) async fn left(pool: &PgPool) -> Result<u64, DbError> {
    let sql = "SELECT count(*) FROM older.taken WHERE memory IS NULL";
    Ok(sqlx::query_scalar::<_, i64>(sql).fetch_one(pool).await?.unsigned_abs())
}
