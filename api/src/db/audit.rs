//! The audit log. An entry is written in the transaction of its action, and is never changed.

use serde::Serialize;
use sqlx::Row as _;
use tessera_tables::names;

use super::verbs::{Ask as _, args};
use super::{Caller, Db, DbError, UserId, UserTx};

names! {
/// The audited actions.
pub(crate) enum AuditedAction {
    Shared = "shared",
    Unshared = "unshared",
    TagShared = "tag_shared",
    TagUnshared = "tag_unshared",
    InvitationAnswered = "invitation_answered",
    KeyMade = "key_made",
    KeyImported = "key_imported",
    KeyEnds = "key_ends",
    KeyRevoked = "key_revoked",
    Distrusted = "key_distrusted",
    Purged = "purged",
    SecretKept = "secret_kept",
    SecretDropped = "secret_dropped",
    SecretSent = "secret_sent",
    SecretShown = "secret_shown",
    SecretDenied = "secret_denied",
    SecretForgotten = "secret_forgotten",
    SecretMigrated = "secret_migrated",
    SecretResealed = "secret_resealed",
    TakenOver = "taken_over",
    UserRemoved = "user_removed",
}
}

/// The caller's API key and network address. An action on the server's host has neither a key nor an address.
#[derive(Debug, Clone, Default)]
pub(crate) struct By {
    pub(crate) key: Option<String>,
    pub(crate) address: Option<String>,
}

impl By {
    pub(super) fn of(caller: &Caller) -> Self {
        Self { key: Some(caller.key.clone()), address: caller.from.map(|address| address.to_string()) }
    }
}

const INSERT: &str = "INSERT INTO audit (user_id, what, target, key_id, address) VALUES ($1, $2, $3, $4, $5)";

impl UserTx {
    /// Records an action of the user.
    pub(crate) async fn audit(&mut self, deed: AuditedAction, target: &str) -> Result<(), DbError> {
        self.tx
            .run(
                INSERT,
                args![self.user.as_str(), deed.as_str(), target, self.by.key.as_deref(), self.by.address.as_deref()],
            )
            .await?;
        Ok(())
    }
}

/// Records an action of an operator on the server's host, in the operator's transaction.
pub(super) async fn on_host(
    tx: &mut sqlx::PgTransaction<'_>,
    user: &UserId,
    deed: AuditedAction,
    target: &str,
) -> Result<(), DbError> {
    let query = sqlx::query(INSERT).bind(user.as_str()).bind(deed.as_str()).bind(target);
    query.bind(None::<&str>).bind(None::<&str>).execute(&mut **tx).await?;
    Ok(())
}

/// The operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audited {
    /// When, as RFC 3339.
    pub at: String,
    /// The user of the account.
    pub user: String,
    /// The operation.
    pub what: String,
    /// The target: a memory, a key, a user or a tag.
    pub target: String,
    /// The key's ID; `None` for work on the server's host.
    pub key: Option<String>,
    /// The address of the request.
    pub address: Option<String>,
}

impl Db {
    /// Records one action of a caller in its own transaction.
    pub(crate) async fn note(&self, caller: &Caller, deeds: &[(AuditedAction, String)]) -> Result<(), DbError> {
        let mut tx = self.by(caller).await?;
        for (deed, target) in deeds {
            tx.audit(*deed, target).await?;
        }
        tx.commit().await
    }

    /// Returns the actions in a user's account in order. They begin at a time in PostgreSQL's format, or with the first
    /// action.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read, or the time is not valid.
    pub async fn audited(&self, user: &UserId, since: Option<&str>) -> Result<Vec<Audited>, DbError> {
        let mut tx = self.begin(user).await?;
        let sql = "SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') AS at, what, target, key_id, address
             FROM audit WHERE user_id = $1 AND ($2::text IS NULL OR at >= $2::text::timestamptz) ORDER BY audit.at, id";
        let rows = tx.all(sql, args![user.as_str(), since]).await?;
        let audited = |row: &sqlx::postgres::PgRow| -> Result<Audited, DbError> {
            Ok(Audited {
                at: row.try_get("at")?,
                user: user.as_str().to_owned(),
                what: row.try_get("what")?,
                target: row.try_get("target")?,
                key: row.try_get("key_id")?,
                address: row.try_get("address")?,
            })
        };
        rows.iter().map(audited).collect()
    }
}
