//! How the tables of the older system are known, and where they are put: into a schema of their own, as they are.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Row as _};

use super::LOCK;
use crate::db::DbError;
use crate::db::verbs::{Ask as _, args};

/// Its tables, as far as a version of it has them.
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

/// What stands in the place of its version from then on: one that it does not know, so that a program of it that is started
/// again by mistake changes no table of ours.
const GONE: &str = "taken over";

/// What is noted beside its tables: what became of each row, what its users are called here, and how far it is.
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

/// Puts the tables of the older system aside, where this is its database and nobody did so before. In one transaction: a
/// server of it that still runs has written all, or none, of what it writes at that time.
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
        // Indexes, constraints and the sequences of its columns go with it.
        let sql = format!("ALTER TABLE public.{table} SET SCHEMA older");
        tx.run(AssertSqlSafe(sql), args![]).await?;
    }
    sqlx::raw_sql(NOTES).execute(&mut *tx).await?;
    // Numbers that were given count, whether or not their rows are there.
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

/// True for the database of an older system that nobody took over: by its table, and as there is none of ours.
pub(in crate::db) async fn is_older(conn: &mut PgConnection) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar(
        "SELECT to_regclass('public._sqlx_migrations') IS NULL AND 5 = (
             SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass('public.memories') AND NOT attisdropped
             AND attname IN ('content', 'expanded_keywords', 'importance', 'created_at', 'updated_at'))",
    )
    .fetch_one(conn)
    .await?)
}

/// Says what is missing for it before anything is done.
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
        "there is a schema `older` already, which is not of this program: give it another name".to_owned()
    } else if let Some(tables) = row.try_get::<Option<String>, _>("of_others")? {
        format!(
            "this is the database of an older installation, and {role} does not own its tables ({tables}); as its owner or an \
             administrator: REASSIGN OWNED BY <their owner> TO \"{role}\""
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

/// True where an older installation's tables are aside.
pub(in crate::db) async fn is_aside(conn: &mut PgConnection) -> Result<bool, DbError> {
    let sql = "SELECT to_regclass('older.memories') IS NOT NULL AND to_regclass('older.taking') IS NOT NULL";
    Ok(sqlx::query_scalar(sql).fetch_one(conn).await?)
}

/// True where some of it is not taken over.
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

/// True once everything was looked at that was put aside.
pub(super) async fn is_finished(pool: &PgPool) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar("SELECT EXISTS (SELECT FROM older.taking WHERE finished IS NOT NULL)")
        .fetch_one(pool)
        .await?)
}

/// How many rows were not taken over.
pub(super) async fn left(pool: &PgPool) -> Result<u64, DbError> {
    let sql = "SELECT count(*) FROM older.taken WHERE memory IS NULL";
    Ok(sqlx::query_scalar::<_, i64>(sql).fetch_one(pool).await?.unsigned_abs())
}
