//! The database: a pool, and transactions that belong to one user.

mod admin;
mod ask;
mod memories;
mod shares;
mod sync;

pub use admin::{KeyInfo, NewKey};
pub(crate) use ask::{Ask, Idempotency, Listed, Reply};
pub(crate) use memories::{COUNTER, Stored, columns, stored};
pub(crate) use shares::{MyShares, ShareError, Target};

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{PgPool, Postgres, Row as _, Transaction};

use crate::keys::Key;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("./migrations");

/// Why the database did not do it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DbError {
    /// PostgreSQL, or the way to it.
    #[error("PostgreSQL: {0}")]
    Sql(#[from] sqlx::Error),
    /// The schema cannot be brought up to date, or is newer than this program.
    #[error("the schema cannot be used: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A row that this program did not write.
    #[error("a row cannot be read: {0}")]
    Row(String),
    /// The role could see more than it should.
    #[error("the database is not safe to serve: {0}")]
    Unsafe(String),
    /// A name or id that is not allowed.
    #[error("{0}")]
    Invalid(String),
}

impl DbError {
    /// True when another transaction was in the way, and the same may be done anew.
    pub(crate) fn is_conflict(&self) -> bool {
        let code = |error: &sqlx::Error| {
            error.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned())
        };
        matches!(self, Self::Sql(error) if matches!(code(error).as_deref(), Some("40P01" | "40001")))
    }
}

/// The name of a user: letters, digits, `.`, `_`, `@`, `-`; at most 100.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserId(String);

impl UserId {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for UserId {
    type Err = DbError;

    fn from_str(text: &str) -> Result<Self, DbError> {
        let is_sound = text.len() <= 100
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "._@-".contains(c));
        let problem = || DbError::Invalid(format!("{text:?} is no user name; use letters, digits and . _ @ -"));
        is_sound.then(|| Self(text.to_owned())).ok_or_else(problem)
    }
}

/// Who asks, and what their key allows.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The user.
    pub(crate) user: UserId,
    /// What the key may be used for.
    pub(crate) scopes: Vec<String>,
}

/// A pool of connections.
#[derive(Debug, Clone)]
pub struct Db {
    pool: PgPool,
}

/// A transaction of one user: the only way to rows. Without the user every query finds nothing.
pub(crate) struct UserTx {
    pub(crate) tx: Transaction<'static, Postgres>,
    pub(crate) user: UserId,
    /// Who is to be told of what, before it ends.
    told: sync::Told,
}

impl Db {
    /// Connects, with limits on how long anything may take.
    ///
    /// # Errors
    /// When the address is none, or nobody answers.
    pub async fn connect(url: &str) -> Result<Self, DbError> {
        let options = PgConnectOptions::from_str(url)?.options([
            ("statement_timeout", "10000"),
            ("lock_timeout", "3000"),
            ("idle_in_transaction_session_timeout", "15000"),
        ]);
        let pool = PgPoolOptions::new().max_connections(16).acquire_timeout(Duration::from_secs(5));
        Ok(Self { pool: pool.connect_with(options).await? })
    }

    /// Brings the schema up to date, one server at a time.
    ///
    /// # Errors
    /// When a migration fails, or the schema is newer than this program.
    pub async fn migrate(&self) -> Result<(), DbError> {
        Ok(MIGRATIONS.run(&self.pool).await?)
    }

    /// Refuses a database in which a request could see more than its user's rows.
    ///
    /// # Errors
    /// Naming what is unsafe.
    pub async fn check(&self) -> Result<(), DbError> {
        let mut tx = self.pool.begin().await?;
        let login: bool =
            sqlx::query_scalar("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
                .fetch_one(&mut *tx)
                .await?;
        if login {
            let problem = "the role that connects is a superuser or bypasses row security; connect as one that is not";
            return Err(DbError::Unsafe(problem.into()));
        }
        sqlx::query("SET LOCAL ROLE tessera_app").execute(&mut *tx).await?;
        let owned: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE r.rolname = 'tessera_app'",
        )
        .fetch_one(&mut *tx)
        .await?;
        if owned > 0 {
            return Err(DbError::Unsafe("tessera_app owns a table".into()));
        }
        let open: Vec<String> = sqlx::query_scalar(
            "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')
               AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid
                           AND a.attname IN ('user_id', 'owner', 'grantee') AND NOT a.attisdropped)
               AND NOT (c.relrowsecurity AND c.relforcerowsecurity
                        AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid))",
        )
        .fetch_all(&mut *tx)
        .await?;
        if !open.is_empty() {
            return Err(DbError::Unsafe(format!("without forced row security: {}", open.join(", "))));
        }
        Ok(())
    }

    /// True when the database answers.
    pub async fn is_ready(&self) -> bool {
        sqlx::query("SELECT 1").execute(&self.pool).await.is_ok()
    }

    /// A transaction in which a setting that policies look at holds, and only in it.
    async fn begin(&self, setting: &str, value: &str) -> Result<Transaction<'static, Postgres>, DbError> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("SELECT set_config($1, $2, true)").bind(setting).bind(value).execute(&mut *tx).await?;
        Ok(tx)
    }

    /// A transaction of a user.
    pub(crate) async fn of(&self, user: &UserId) -> Result<UserTx, DbError> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("SELECT set_config('role', 'tessera_app', true), set_config('app.user_id', $1, true)")
            .bind(user.as_str())
            .execute(&mut *tx)
            .await?;
        Ok(UserTx { tx, user: user.clone(), told: sync::Told::default() })
    }

    /// Whose key it is; `None` for one that is unknown, wrong, revoked or over. All of them take as long.
    pub(crate) async fn caller(&self, key: &Key) -> Result<Option<Caller>, DbError> {
        let row = sqlx::query("SELECT * FROM presented_key($1)").bind(key.id()).fetch_optional(&self.pool).await?;
        let nobody = [0_u8; 32];
        let hash: Vec<u8> = row.as_ref().map_or(Ok(nobody.to_vec()), |row| row.try_get("key_hash"))?;
        if !key.is(&hash) {
            return Ok(None);
        }
        let Some(row) = row else { return Ok(None) };
        let user: String = row.try_get("key_user")?;
        Ok(Some(Caller { user: user.parse()?, scopes: row.try_get("key_scopes")? }))
    }
}

impl UserTx {
    /// Tells whoever is to be told, and commits: what others read by is locked last and for a moment.
    pub(crate) async fn commit(mut self) -> Result<(), DbError> {
        self.tell().await?;
        Ok(self.tx.commit().await?)
    }
}
