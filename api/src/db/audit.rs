//! Who did what: written in the transaction of what was done, and never changed.

use serde::Serialize;
use sqlx::Row as _;

use super::verbs::{Ask as _, args};
use super::{Caller, Db, DbError, UserId, UserTx};

/// What is audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Shared,
    Unshared,
    TagShared,
    TagUnshared,
    OfferAnswered,
    KeyMade,
    KeyImported,
    KeyEnds,
    KeyRevoked,
    Distrusted,
    Purged,
    SecretKept,
    SecretDropped,
    SecretSent,
    SecretShown,
    SecretDenied,
    SecretForgotten,
    SecretMigrated,
    SecretResealed,
    TakenOver,
    UserRemoved,
}

impl Deed {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Unshared => "unshared",
            Self::TagShared => "tag_shared",
            Self::TagUnshared => "tag_unshared",
            Self::OfferAnswered => "offer_answered",
            Self::KeyMade => "key_made",
            Self::KeyImported => "key_imported",
            Self::KeyEnds => "key_ends",
            Self::KeyRevoked => "key_revoked",
            Self::Distrusted => "key_distrusted",
            Self::Purged => "purged",
            Self::SecretKept => "secret_kept",
            Self::SecretDropped => "secret_dropped",
            Self::SecretSent => "secret_sent",
            Self::SecretShown => "secret_shown",
            Self::SecretDenied => "secret_denied",
            Self::SecretForgotten => "secret_forgotten",
            Self::SecretMigrated => "secret_migrated",
            Self::SecretResealed => "secret_resealed",
            Self::TakenOver => "taken_over",
            Self::UserRemoved => "user_removed",
        }
    }
}

/// With which key, and from where; neither for work on the server's host.
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
    /// Notes what the user does, to what.
    pub(crate) async fn audit(&mut self, deed: Deed, target: &str) -> Result<(), DbError> {
        self.tx
            .run(
                INSERT,
                args![self.user.as_str(), deed.as_str(), target, self.by.key.as_deref(), self.by.address.as_deref()],
            )
            .await?;
        Ok(())
    }
}

/// Notes what somebody on the server's host does, in a transaction of theirs.
pub(super) async fn on_host(
    tx: &mut sqlx::PgTransaction<'_>,
    user: &UserId,
    deed: Deed,
    target: &str,
) -> Result<(), DbError> {
    let query = sqlx::query(INSERT).bind(user.as_str()).bind(deed.as_str()).bind(target);
    query.bind(None::<&str>).bind(None::<&str>).execute(&mut **tx).await?;
    Ok(())
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audited {
    /// When, as RFC 3339.
    pub at: String,
    /// Whose account it was.
    pub user: String,
    /// What.
    pub what: String,
    /// To what: a memory, a key, a user or a tag.
    pub target: String,
    /// The key's id; none for work on the server's host.
    pub key: Option<String>,
    /// Where the request came from.
    pub address: Option<String>,
}

impl Db {
    /// Notes one thing that a caller does, by itself.
    pub(crate) async fn note(&self, caller: &Caller, deeds: &[(Deed, String)]) -> Result<(), DbError> {
        let mut tx = self.by(caller).await?;
        for (deed, target) in deeds {
            tx.audit(*deed, target).await?;
        }
        tx.commit().await
    }

    /// What was done in a user's account since a time (as PostgreSQL reads one; from the beginning without), in order.
    ///
    /// # Errors
    /// When the database cannot be read, or the time is none.
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
