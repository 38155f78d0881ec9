//! Checks the rights of the server's database role. If the older system had only a superuser, creates a separate role.

use std::str::FromStr as _;

use sha2::{Digest as _, Sha256};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, Row as _};

use super::verbs::{Ask as _, args};
use super::{DbError, older};

/// The role that the server creates.
const ROLE: &str = "tessera_server";
/// Servers that start at the same time create the role only once.
const LOCK: i64 = 0x7e55_e7a0_726f_6c65;

/// Reports missing rights before the first migration.
pub(super) async fn may_migrate(conn: &mut PgConnection) -> Result<(), DbError> {
    let row = sqlx::query(
        "SELECT current_user::text AS role, to_regclass('public._sqlx_migrations') IS NOT NULL AS is_begun,
             rolsuper AS is_superuser, rolcreaterole AS may_make, current_setting('server_version_num')::int < 160000 AS is_before_16,
             EXISTS (SELECT FROM pg_roles WHERE rolname = 'tessera_app') AS is_there,
             has_schema_privilege(current_user, 'public', 'CREATE') AS may_create, current_database()::text AS database,
             coalesce((SELECT pg_has_role(current_user, oid, 'MEMBER WITH ADMIN OPTION') FROM pg_roles WHERE rolname = 'tessera_app'), false)
                 AS may_grant
         FROM pg_roles WHERE rolname = current_user",
    )
    .fetch_one(conn)
    .await?;
    let is = |name: &str| row.try_get::<bool, _>(name);
    let may_grant = is("may_grant")? || is("may_make")? && (!is("is_there")? || is("is_before_16")?);
    if is("is_begun")? || is("is_superuser")? || may_grant && is("may_create")? {
        return Ok(());
    }
    let role: String = row.try_get("role")?;
    if may_grant {
        let database: String = row.try_get("database")?;
        return Err(DbError::Unsafe(format!(
            "{role} may not create tables; as an administrator: ALTER DATABASE \"{database}\" OWNER TO \"{role}\""
        )));
    }
    Err(DbError::Unsafe(format!(
        "requests run as a role of their own, and {role} may not make it; as an administrator: CREATE ROLE tessera_app NOLOGIN; \
         GRANT tessera_app TO \"{role}\" WITH ADMIN OPTION"
    )))
}

/// Returns connection options for a new role that owns the database and is not a superuser. The address must name a
/// superuser and a database of the older system. The older system's container image has only this superuser. The new
/// role's password is derived from the superuser's password, so every replica knows it. `None` for any other database.
///
/// # Errors
/// Returns an error if the role cannot be created or used.
pub(super) async fn own(url: &str) -> Result<Option<PgConnectOptions>, DbError> {
    let given = PgConnectOptions::from_str(url)?;
    let mut conn = PgConnection::connect_with(&given).await?;
    let is_superuser: bool =
        sqlx::query_scalar("SELECT rolsuper FROM pg_roles WHERE rolname = session_user").fetch_one(&mut conn).await?;
    if !is_superuser || !is_for_own(&mut conn).await? {
        conn.close().await?;
        return Ok(None);
    }
    let password = given.to_url_lossy().password().map(derived);
    let own = given.clone().username(ROLE);
    let own = match &password {
        Some(password) => own.password(password),
        None => own,
    };
    make(&mut conn, password.as_deref()).await?;
    let mut connected = PgConnection::connect_with(&own).await;
    if let (Err(_), Some(password)) = (&connected, &password) {
        // The superuser's password changed after the role was created.
        set_password(&mut conn, password).await?;
        connected = PgConnection::connect_with(&own).await;
    }
    conn.close().await?;
    match connected {
        Ok(conn) => conn.close().await?,
        Err(error) => {
            return Err(DbError::Unsafe(format!(
                "the role that connects is a superuser; a role {ROLE} was made for the server, and cannot connect as the other does \
                 ({error}): give it a password (ALTER ROLE {ROLE} PASSWORD '…') and DATABASE_URL that role"
            )));
        }
    }
    Ok(Some(own))
}

/// True for a database that belongs or belonged to an older system.
async fn is_for_own(conn: &mut PgConnection) -> Result<bool, DbError> {
    let owner = "SELECT datdba::regrole::text = $1 FROM pg_database WHERE datname = current_database()";
    let is_own: bool = conn.value(owner, args![ROLE]).await?;
    Ok(is_own || older::is_older(conn).await? || older::is_aside(conn).await?)
}

/// A password that is derived from another one and does not reveal it.
fn derived(password: &str) -> String {
    let digest = Sha256::digest(format!("{ROLE} beside {password}").as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Creates the role, and makes it the owner of the older system's tables.
async fn make(conn: &mut PgConnection, password: Option<&str>) -> Result<(), DbError> {
    let mut tx = conn.begin().await?;
    tx.run("SELECT pg_advisory_xact_lock($1)", args![LOCK]).await?;
    let sql = "SELECT quote_ident(current_database()) AS name, to_regrole($1) IS NOT NULL AS is_there,
             (SELECT datdba::regrole::text FROM pg_database WHERE datname = current_database()) AS owner,
             to_regrole('tessera_app') IS NOT NULL AS has_app";
    let row = tx.one(sql, args![ROLE]).await?;
    let (name, owner): (String, String) = (row.try_get("name")?, row.try_get("owner")?);
    let mut statements = Vec::new();
    if !row.try_get::<bool, _>("is_there")? {
        statements.push(format!("CREATE ROLE {ROLE} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE"));
    }
    if owner != ROLE {
        if !row.try_get::<bool, _>("has_app")? {
            statements.push(
                "CREATE ROLE tessera_app NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT".into(),
            );
        }
        statements.push(format!("GRANT tessera_app TO {ROLE} WITH ADMIN OPTION"));
        statements.push(format!("ALTER DATABASE {name} OWNER TO {ROLE}"));
        statements.push(format!("GRANT ALL ON SCHEMA public TO {ROLE} WITH GRANT OPTION"));
        statements.extend(tables(&mut tx).await?);
    }
    for statement in statements {
        tx.run(AssertSqlSafe(statement), args![]).await?;
    }
    if let Some(password) = password.filter(|_| owner != ROLE) {
        set_password(&mut tx, password).await?;
    }
    Ok(tx.commit().await?)
}

async fn set_password(conn: &mut PgConnection, password: &str) -> Result<(), DbError> {
    // Hexadecimal digits only, so nothing ends the text.
    sqlx::query(AssertSqlSafe(format!("ALTER ROLE {ROLE} PASSWORD '{password}'"))).execute(conn).await?;
    Ok(())
}

/// The statements that give the tables to the role. PostgreSQL also transfers the sequences of their columns.
async fn tables(conn: &mut PgConnection) -> Result<Vec<String>, DbError> {
    let found: Vec<String> = sqlx::query_scalar(
        "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname IN ('public', 'older') AND c.relkind IN ('r', 'p')
             AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')",
    )
    .fetch_all(conn)
    .await?;
    Ok(found.into_iter().map(|table| format!("ALTER TABLE {table} OWNER TO {ROLE}")).collect())
}

/// Returns an error if the role for requests has additional rights, or if a row policy shows all rows.
pub(super) async fn may_do_no_more(conn: &mut PgConnection) -> Result<(), DbError> {
    let more: Vec<String> = sqlx::query_scalar(
        "SELECT 'tessera_app is an administrator' FROM pg_roles WHERE rolname = 'tessera_app'
             AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb)
         UNION ALL SELECT format('tessera_app may empty %I', c.relname) FROM pg_class c
             WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
                 AND has_table_privilege('tessera_app', c.oid, 'TRUNCATE')
         UNION ALL SELECT format('the policy %I of %I lets everybody in', p.polname, c.relname)
             FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
             WHERE c.relnamespace = 'public'::regnamespace AND p.polpermissive
                 AND p.polroles && ARRAY[0::oid, 'tessera_app'::regrole::oid]
                 AND 'true' IN (pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))",
    )
    .fetch_all(conn)
    .await?;
    if more.is_empty() { Ok(()) } else { Err(DbError::Unsafe(more.join(", "))) }
}
