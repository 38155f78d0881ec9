//! The database: a connection pool, and transactions of one user.
//!
//! Three groups of files import each other: this file and `active`, which queues the user names defined here; `error`
//! and `quota`, because a used-up quota is an error; `ops`, `ask` and `foreseen`, because the outcome of a change is
//! computed before it is applied, and a REST request is a change with its own answer.

mod active;
mod admin;
mod ask;
mod asked;
mod audit;
mod chores;
mod clean;

mod embedding;
mod error;
mod foreseen;
mod heard;
mod indexes;
mod kept;
mod memories;
mod migrated;
mod numbers;
mod older;
mod ops;
mod own_role;
mod quota;
mod ready;
mod related;
mod remove;
mod secrets;
mod shares;
mod spread;
mod stale;
mod sync;
mod told;
mod verbs;

use active::Active;
pub use admin::{KeyInfo, NewKey};
pub(crate) use ask::{Ask, ChangedAfter, Idempotency, Listed, Reply};
pub use audit::Audited;
pub(crate) use audit::{AuditedAction, By};
pub(crate) use chores::Chore;
pub use clean::Cleaned;
pub(crate) use embedding::{Kept, PendingEmbedding, Sent, believed};
pub use error::DbError;
pub(crate) use error::{Remedy, unless_overtaken};
pub(crate) use kept::KeptIndex;
pub(crate) use memories::{Stored, columns, costs, stored, uuid};
pub use migrated::Migrated;
pub(crate) use migrated::Migrator;
pub(crate) use numbers::{Browsed, Use};
pub use older::TakenOver;
pub use quota::{Quota, Used};
pub(crate) use related::Related;
pub use remove::{Counts, ExportTo};
pub(crate) use secrets::Kept as KeptSecret;
pub(crate) use shares::{MyShares, ShareError, Target};
pub(crate) use stale::{Remade, derived_form};
pub(crate) use sync::Position;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::{Deref, DerefMut};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::migrate::{self, Migration, MigrationType};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Postgres, Row as _, SqlSafeStr as _, Transaction};
use tokio::sync::Mutex;

use crate::keys::Key;
use verbs::{Ask as _, args};

/// The single migration. Never edit a released migration.
fn migrator() -> migrate::Migrator {
    let sql = include_str!("../../migrations/0001_server.sql").into_sql_str();
    migrate::Migrator::with_migrations(vec![Migration::new(1, "server".into(), MigrationType::Simple, sql, false)])
}

/// A user name: letters, digits, `.`, `_`, `@`, `-`; at most 100.
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
        let problem =
            || DbError::Invalid(format!("{text:?} is not a valid user name; use letters, digits and . _ @ -"));
        is_sound.then(|| Self(text.to_owned())).ok_or_else(problem)
    }
}

/// The caller, and what the key allows.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The user.
    pub(crate) user: UserId,
    /// The scopes of the key.
    pub(crate) scopes: Vec<String>,
    /// The key's id.
    pub(crate) key: String,
    /// The address of the request.
    pub(crate) from: Option<IpAddr>,
    /// The user's feed position, read after the request arrived.
    pub(crate) at: Position,
}

/// The number of connections, and time limits.
#[derive(Debug, Clone)]
pub struct Patience {
    /// Connections for requests.
    pub connections: u32,
    /// Waiting for a free connection.
    pub connection: Duration,
    /// For a statement.
    pub statement: Duration,
    /// For a lock.
    pub lock: Duration,
    /// The maximum time that a transaction waits for its next statement.
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

/// A connection that was idle for longer is tested before use.
const IDLE: Duration = Duration::from_secs(1);
impl Patience {
    /// No time limits, for work on the server's host.
    fn without_end() -> Self {
        let never = Duration::ZERO;
        Self { connections: 4, statement: never, lock: never, idle: never, ..Self::default() }
    }
}

/// How long the result of a readiness check is valid.
const READY_FOR: Duration = Duration::from_secs(1);

/// A pool of connections.
#[derive(Debug, Clone)]
pub struct Db {
    pool: PgPool,
    /// A separate connection for health checks, so that they work however busy the other connections are.
    probe: PgPool,
    /// The time and result of the last readiness check.
    readiness: Arc<Mutex<Option<(Instant, bool)>>>,
    /// Users whose memories changed through this server.
    active: Arc<Active>,
    lookup: asked::Lookup,
    options: Arc<PgConnectOptions>,
    quota: Arc<quota::Quotas>,
    /// True if Citus distributes the tables.
    is_spread: bool,
}

/// A transaction of one user: the only access to rows. Row security filters by the transaction's user.
/// Without a user, every query finds nothing.
pub(crate) struct UserTx {
    pub(crate) tx: Transaction<'static, Postgres>,
    pub(crate) user: UserId,
    /// The key and the address of the caller.
    by: By,
    /// Users to notify before the transaction ends.
    told: sync::Told,
    /// Users whose stored indexes must be deleted, because they contain permanently deleted text.
    dropped: BTreeSet<String>,
    /// Users whose memories changed, and whose background work starts after the commit.
    changed: BTreeSet<String>,
    active: Arc<Active>,
    is_spread: bool,
}

impl Db {
    /// Connects with time limits.
    ///
    /// # Errors
    /// Returns an error if the address is not valid, or the database does not answer.
    pub async fn connect(url: &str) -> Result<Self, DbError> {
        Self::connect_with(url, &Patience::default()).await
    }

    /// Connects with the given limits.
    ///
    /// # Errors
    /// As [`Db::connect`].
    pub async fn connect_with(url: &str, patience: &Patience) -> Result<Self, DbError> {
        Self::connect_as(PgConnectOptions::from_str(url)?, patience).await
    }

    /// A database object without a connection, for the OpenAPI contract.
    pub fn unconnected() -> Self {
        let options = PgConnectOptions::new_without_pgpass();
        let pool = PgPoolOptions::new().connect_lazy_with(options.clone());
        Self {
            probe: pool.clone(),
            pool,
            is_spread: false,
            readiness: Arc::default(),
            active: Arc::default(),
            quota: Arc::default(),
            lookup: asked::Lookup::new(options.clone(), Patience::default().connection),
            options: Arc::new(options),
        }
    }

    async fn connect_as(options: PgConnectOptions, patience: &Patience) -> Result<Self, DbError> {
        let limited = options.clone().options([
            ("statement_timeout", patience.statement.as_millis()),
            ("lock_timeout", patience.lock.as_millis()),
            ("idle_in_transaction_session_timeout", patience.idle.as_millis()),
        ]);
        // Statements find rows by complete keys, so a generic plan is as good as a custom one and saves planning.
        let planned = limited.clone().options([("plan_cache_mode", "force_generic_plan")]);
        let pooled = || {
            let pool = PgPoolOptions::new().max_connections(patience.connections).acquire_timeout(patience.connection);
            pool.test_before_acquire(false).before_acquire(|connection, state| {
                Box::pin(async move {
                    if state.idle_for > IDLE {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
        };
        let probe = PgPoolOptions::new().max_connections(1).acquire_timeout(patience.connection);
        let mut pool = pooled().connect_with(planned.clone()).await?;
        let is_spread = spread::is_spread(&pool).await?;
        if is_spread {
            pool.close().await;
            // Citus needs the values to choose a machine.
            pool = pooled().connect_with(spread::options(limited.clone())).await?;
        }
        Ok(Self {
            probe: probe.connect_lazy_with(limited),
            pool,
            is_spread,
            readiness: Arc::default(),
            active: Arc::default(),
            quota: Arc::default(),
            lookup: asked::Lookup::new(planned, patience.connection),
            options: Arc::new(options),
        })
    }

    /// Updates the schema, one server at a time. Request time limits do not apply. Moves the tables of an older system
    /// aside first, for [`Db::take_over`].
    ///
    /// # Errors
    /// Returns an error if a migration fails, or the schema is newer than this program.
    pub async fn migrate(&self) -> Result<(), DbError> {
        let mut conn = PgConnection::connect_with(&self.unlimited()).await?;
        own_role::may_migrate(&mut conn).await?;
        if older::put_aside(&mut conn).await? {
            tracing::info!("moved the tables of the older system to the schema `older`");
        }
        // Citus may have been installed after this server connected.
        let is_spread = spread::is_spread(&mut conn).await?;
        migrator().run(&mut conn).await?;
        if is_spread {
            spread::spread(&mut conn).await?;
        }
        indexes::create(&mut conn).await?;
        Ok(conn.close().await?)
    }

    /// Connection options without time limits.
    fn unlimited(&self) -> PgConnectOptions {
        let unlimited = [("statement_timeout", 0), ("lock_timeout", 0), ("idle_in_transaction_session_timeout", 0)];
        PgConnectOptions::clone(&self.options).options(unlimited)
    }

    /// Rejects a database in which a request could see rows of other users.
    ///
    /// # Errors
    /// Names the problem.
    pub async fn check(&self) -> Result<(), DbError> {
        let mut tx = self.pool.begin().await?;
        let sql = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user";
        let login: bool = tx.value(sql, args![]).await?;
        if login {
            let problem = "the role that connects is a superuser or bypasses row security; connect as one that is not: \
                           CREATE ROLE tessera LOGIN PASSWORD '…' CREATEROLE, and make it the owner of the database";
            return Err(DbError::Unsafe(problem.into()));
        }
        tx.run("SET LOCAL ROLE tessera_app", args![]).await?;
        let sql =
            "SELECT count(*) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE r.rolname = 'tessera_app'";
        let owned: i64 = tx.value(sql, args![]).await?;
        if owned > 0 {
            return Err(DbError::Unsafe("the role tessera_app owns a table, but it must own none".into()));
        }
        let sql = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')
               AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid
                           AND a.attname IN ('user_id', 'owner', 'grantee') AND NOT a.attisdropped)
               AND NOT (c.relrowsecurity AND c.relforcerowsecurity
                        AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid))";
        let open: Vec<String> = tx.values(sql, args![]).await?;
        if !open.is_empty() {
            return Err(DbError::Unsafe(format!("tables without FORCE ROW LEVEL SECURITY: {}", open.join(", "))));
        }
        own_role::may_do_no_more(&mut tx).await?;
        if self.is_spread { spread::check(&mut tx).await } else { Ok(()) }
    }

    /// True if the database answers. Callers that ask at the same time share one query.
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

    /// Begins a transaction of the table owner for the data of one user.
    async fn begin(&self, user: &UserId) -> Result<Transaction<'static, Postgres>, DbError> {
        let mut tx = self.pool.begin().await?;
        if self.is_spread {
            spread::act(&mut tx, user.as_str(), false).await?;
        } else {
            tx.run("SELECT set_config('app.user_id', $1, true)", args![user.as_str()]).await?;
        }
        Ok(tx)
    }

    /// Users whose memories changed through this server.
    pub(crate) fn active(&self) -> &Active {
        &self.active
    }

    /// A transaction of a user.
    pub(crate) async fn of(&self, user: &UserId) -> Result<UserTx, DbError> {
        if self.is_spread {
            let mut tx = self.pool.begin().await?;
            spread::act(&mut tx, user.as_str(), true).await?;
            return Ok(self.user_tx(tx, user));
        }
        self.beginning(user, "").await
    }

    /// Begins a transaction of a user, with further SQL settings.
    async fn beginning(&self, user: &UserId, settings: &str) -> Result<UserTx, DbError> {
        // One message. A user name has no character that ends the text.
        let user_id = user.as_str();
        let begin = format!("BEGIN{settings}; SET LOCAL ROLE tessera_app; SET LOCAL app.user_id = '{user_id}'");
        Ok(self.user_tx(self.pool.begin_with(AssertSqlSafe(begin)).await?, user))
    }

    /// Begins an operator's transaction on the data of one user. The transaction runs as the table owner, to whom row
    /// security also applies.
    pub(crate) async fn on_host(&self, user: &UserId) -> Result<UserTx, DbError> {
        let tx = self.begin(user).await?;
        Ok(self.user_tx(tx, user))
    }

    fn user_tx(&self, tx: Transaction<'static, Postgres>, user: &UserId) -> UserTx {
        UserTx {
            tx,
            user: user.clone(),
            by: By::default(),
            told: sync::Told::default(),
            dropped: BTreeSet::new(),
            changed: BTreeSet::new(),
            active: Arc::clone(&self.active),
            is_spread: self.is_spread,
        }
    }

    /// A writing transaction of the caller, with the data for the audit. The name of the application in this
    /// transaction tells other transactions that it writes (`unfinished_since` in the schema).
    pub(crate) async fn by(&self, caller: &Caller) -> Result<UserTx, DbError> {
        Ok(UserTx { by: By::of(caller), ..self.writing(&caller.user).await? })
    }

    /// Like [`Db::by`], for the server's own changes.
    pub(crate) async fn writing(&self, user: &UserId) -> Result<UserTx, DbError> {
        if self.is_spread {
            return self.of(user).await;
        }
        self.beginning(user, "; SET LOCAL application_name = 'tessera writes'").await
    }

    /// The user of a key; `None` if the key is unknown, wrong, revoked or expired. All cases take the same time.
    pub(crate) async fn caller(&self, key: &Key) -> Result<Option<Caller>, DbError> {
        let known = if self.is_spread { self.presented(key.id()).await? } else { self.lookup.of(key.id()).await? };
        let nobody = [0_u8; 32];
        let is_right = key.is(if known.user.is_some() { &known.hash } else { &nobody });
        let Some(user) = known.user.filter(|_| is_right) else { return Ok(None) };
        Ok(Some(Caller { user, scopes: known.scopes, key: key.id().to_owned(), from: None, at: known.at }))
    }

    /// Looks up a key with Citus. A query about several users would ask several machines.
    async fn presented(&self, key_id: &str) -> Result<asked::Known, DbError> {
        let row = sqlx::query("SELECT * FROM presented_key($1)").bind(key_id).fetch_optional(&self.pool).await?;
        let Some(row) = row else { return Ok(asked::Known::default()) };
        let user: UserId = row.try_get::<String, _>("key_user")?.parse()?;
        let at = self.of(&user).await?.history(&[]).await?;
        Ok(asked::Known { hash: row.try_get("key_hash")?, scopes: row.try_get("key_scopes")?, at, user: Some(user) })
    }
}

impl Deref for UserTx {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.tx
    }
}

impl DerefMut for UserTx {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.tx
    }
}

impl UserTx {
    /// True if different machines store the rows of several users. Then no query sees all of them at one moment.
    pub(crate) fn is_spread(&self) -> bool {
        self.is_spread
    }

    /// Notifies users and commits. The counters that other transactions need are locked last and only briefly.
    pub(crate) async fn commit(mut self) -> Result<(), DbError> {
        self.tell().await?;
        self.tx.commit().await?;
        self.changed.iter().filter_map(|owner| owner.parse().ok()).for_each(|owner| self.active.note(owner));
        Ok(())
    }
}
