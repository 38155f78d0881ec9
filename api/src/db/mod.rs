//! The database: a pool, and transactions that belong to one user.

mod active;
mod admin;
mod ask;
mod audit;
mod error;
mod heard;
mod meaning;
mod memories;
mod migrated;
mod secrets;
mod shares;
mod spread;
mod stale;
mod sync;
mod told;

use active::Active;
pub use admin::{KeyInfo, NewKey};
pub(crate) use ask::{Ask, ChangedAfter, Idempotency, Listed, Reply};
pub use audit::Audited;
pub(crate) use audit::{By, Deed};
pub use error::DbError;
pub(crate) use error::{Remedy, unless_overtaken};
pub(crate) use meaning::{Kept, Sent, Unmade, believed};
pub(crate) use memories::{Stored, columns, costs, stored, uuid};
pub use migrated::Migrated;
pub(crate) use migrated::Migrator;
pub(crate) use secrets::Kept as KeptSecret;
pub(crate) use shares::{MyShares, ShareError, Target};
pub(crate) use stale::Remade;
pub(crate) use sync::Position;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::migrate::{self, Migration, MigrationType};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, PgPool, Postgres, Row as _, SqlSafeStr as _, Transaction};
use tokio::sync::Mutex;

use crate::keys::Key;

/// How the schema came to be: number, name and SQL. What was shipped is never edited, only added to.
const MIGRATIONS: [(i64, &str, &str); 6] = [
    (1, "server", include_str!("../../migrations/0001_server.sql")),
    (2, "distributed", include_str!("../../migrations/0002_distributed.sql")),
    (3, "rights", include_str!("../../migrations/0003_rights.sql")),
    (4, "meaning", include_str!("../../migrations/0004_meaning.sql")),
    (5, "secrets", include_str!("../../migrations/0005_secrets.sql")),
    (6, "files", include_str!("../../migrations/0006_files.sql")),
];

fn migrator(is_spread: bool) -> migrate::Migrator {
    let migration = |(number, name, sql): (i64, &'static str, &'static str)| {
        let shipped = Migration::new(number, name.into(), MigrationType::Simple, sql.into_sql_str(), false);
        if is_spread {
            // It counts as the one that was shipped.
            return Migration { sql: AssertSqlSafe(spread::migration(sql)).into_sql_str(), ..shipped };
        }
        shipped
    };
    migrate::Migrator::with_migrations(MIGRATIONS.into_iter().map(migration).collect())
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
    /// The key's id.
    pub(crate) key: String,
    /// Where the request comes from.
    pub(crate) from: Option<IpAddr>,
}

/// How many connections there are, and how long anything may take.
#[derive(Debug, Clone)]
pub struct Patience {
    /// Connections for requests.
    pub connections: u32,
    /// For a connection that is free.
    pub connection: Duration,
    /// For a statement.
    pub statement: Duration,
    /// For a lock.
    pub lock: Duration,
    /// For the next statement of a transaction.
    pub idle: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connections: 16,
            connection: Duration::from_secs(5),
            statement: Duration::from_secs(10),
            lock: Duration::from_secs(3),
            idle: Duration::from_secs(15),
        }
    }
}

/// How long an answer of the database to "are you there" holds.
const READY_FOR: Duration = Duration::from_secs(1);

/// A pool of connections.
#[derive(Debug, Clone)]
pub struct Db {
    pool: PgPool,
    /// One more connection, for whoever watches the server: however busy the others are.
    probe: PgPool,
    /// When the database was last asked whether it is there, and what it said.
    readiness: Arc<Mutex<Option<(Instant, bool)>>>,
    /// Whose memories changed through this server.
    active: Arc<Active>,
    options: PgConnectOptions,
    /// Over several machines, by Citus.
    is_spread: bool,
}

/// A transaction of one user: the only way to rows. Without the user every query finds nothing.
pub(crate) struct UserTx {
    pub(crate) tx: Transaction<'static, Postgres>,
    pub(crate) user: UserId,
    /// With which key, and from where.
    by: By,
    /// Who is to be told of what, before it ends.
    told: sync::Told,
    /// What a machine sent with the op that is carried out: what its text means.
    sent: Option<Sent>,
    /// Whose memories were changed, and whom to tell of them once that is done.
    changed: BTreeSet<String>,
    active: Arc<Active>,
    is_spread: bool,
}

impl Db {
    /// Connects, with limits on how long anything may take.
    ///
    /// # Errors
    /// When the address is none, or nobody answers.
    pub async fn connect(url: &str) -> Result<Self, DbError> {
        Self::connect_with(url, &Patience::default()).await
    }

    /// Connects, with these limits.
    ///
    /// # Errors
    /// As [`Db::connect`].
    pub async fn connect_with(url: &str, patience: &Patience) -> Result<Self, DbError> {
        let options = PgConnectOptions::from_str(url)?;
        let limited = options.clone().options([
            ("statement_timeout", patience.statement.as_millis()),
            ("lock_timeout", patience.lock.as_millis()),
            ("idle_in_transaction_session_timeout", patience.idle.as_millis()),
        ]);
        let pooled = || PgPoolOptions::new().max_connections(patience.connections).acquire_timeout(patience.connection);
        let probe = PgPoolOptions::new().max_connections(1).acquire_timeout(patience.connection);
        let mut pool = pooled().connect_with(limited.clone()).await?;
        let is_spread = spread::is_spread(&pool).await?;
        if is_spread {
            pool.close().await;
            pool = pooled().connect_with(spread::options(limited.clone())).await?;
        }
        Ok(Self {
            probe: probe.connect_lazy_with(limited),
            pool,
            is_spread,
            readiness: Arc::default(),
            active: Arc::default(),
            options,
        })
    }

    /// Brings the schema up to date, one server at a time. What a request may take at most does not hold here: a
    /// migration takes as long as it takes, and waits for that of another server.
    ///
    /// # Errors
    /// When a migration fails, or the schema is newer than this program.
    pub async fn migrate(&self) -> Result<(), DbError> {
        let unlimited = [("statement_timeout", 0), ("lock_timeout", 0), ("idle_in_transaction_session_timeout", 0)];
        let pool =
            PgPoolOptions::new().max_connections(1).connect_with(self.options.clone().options(unlimited)).await?;
        // The extension may have come after this server connected.
        let is_spread = spread::is_spread(&pool).await?;
        let mut migrated = migrator(is_spread).run(&pool).await.map_err(DbError::from);
        if is_spread && migrated.is_ok() {
            migrated = spread::spread(&mut *pool.acquire().await?).await;
        }
        pool.close().await;
        migrated
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
        if self.is_spread { spread::check(&mut tx).await } else { Ok(()) }
    }

    /// True when the database answers. Many who ask are answered by one question to it.
    pub async fn is_ready(&self) -> bool {
        let mut known = self.readiness.lock().await;
        if let Some((at, is_ready)) = *known
            && at.elapsed() < READY_FOR
        {
            return is_ready;
        }
        let is_ready = sqlx::query("SELECT 1").execute(&self.probe).await.is_ok();
        *known = Some((Instant::now(), is_ready));
        is_ready
    }

    /// A transaction of the owner of the tables, about one user.
    async fn begin(&self, user: &UserId) -> Result<Transaction<'static, Postgres>, DbError> {
        let mut tx = self.pool.begin().await?;
        if self.is_spread {
            spread::act(&mut tx, user.as_str(), false).await?;
        } else {
            let query = sqlx::query("SELECT set_config('app.user_id', $1, true)").bind(user.as_str());
            query.execute(&mut *tx).await?;
        }
        Ok(tx)
    }

    /// Whose memories changed through this server.
    pub(crate) fn active(&self) -> &Active {
        &self.active
    }

    /// A transaction of a user.
    pub(crate) async fn of(&self, user: &UserId) -> Result<UserTx, DbError> {
        let mut tx = self.pool.begin().await?;
        if self.is_spread {
            spread::act(&mut tx, user.as_str(), true).await?;
        } else {
            sqlx::query("SELECT set_config('role', 'tessera_app', true), set_config('app.user_id', $1, true)")
                .bind(user.as_str())
                .execute(&mut *tx)
                .await?;
        }
        Ok(UserTx {
            tx,
            user: user.clone(),
            by: By::default(),
            told: sync::Told::default(),
            sent: None,
            changed: BTreeSet::new(),
            active: Arc::clone(&self.active),
            is_spread: self.is_spread,
        })
    }

    /// A transaction of whoever asks, with what is known of them for the audit.
    pub(crate) async fn by(&self, caller: &Caller) -> Result<UserTx, DbError> {
        Ok(UserTx { by: By::of(caller), ..self.of(&caller.user).await? })
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
        Ok(Some(Caller {
            user: user.parse()?,
            scopes: row.try_get("key_scopes")?,
            key: key.id().to_owned(),
            from: None,
        }))
    }
}

impl UserTx {
    /// True where the rows of several users are not on one machine, and so not seen at one moment.
    pub(crate) fn is_spread(&self) -> bool {
        self.is_spread
    }

    /// Tells whoever is to be told, and commits: what others read by is locked last and for a moment.
    pub(crate) async fn commit(mut self) -> Result<(), DbError> {
        self.tell().await?;
        self.tx.commit().await?;
        self.changed.iter().filter_map(|owner| owner.parse().ok()).for_each(|owner| self.active.note(owner));
        Ok(())
    }
}
