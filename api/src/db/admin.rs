//! Operator tasks on the server's host: managing users and keys.

use serde::Serialize;
use sqlx::Row as _;
use tessera_engine::screen::is_clean;

use super::audit::on_host;
use super::verbs::{Ask as _, args};
use super::{AuditedAction, Db, DbError, UserId};
use crate::keys::{Key, SCOPES};

/// The purpose of a new key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// In words.
    pub label: String,
    /// What the key allows: a subset of [`SCOPES`].
    pub scopes: Vec<String>,
    /// Days until the key expires; without this field, it never expires.
    pub days: Option<u32>,
}

impl Default for NewKey {
    fn default() -> Self {
        Self { label: String::new(), scopes: SCOPES.map(str::to_owned).to_vec(), days: None }
    }
}

/// A key as its user may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyInfo {
    /// The part of the key between the first two underscores.
    pub id: String,
    /// Its purpose.
    pub label: String,
    /// Its scopes.
    pub scopes: Vec<String>,
    /// Since when.
    pub created: String,
    /// Until when.
    pub expires: Option<String>,
    /// Since when no longer.
    pub revoked: Option<String>,
}

impl Db {
    /// Adds a user; an existing user is not changed.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub async fn add_user(&self, user: &UserId) -> Result<(), DbError> {
        let mut tx = self.begin(user).await?;
        let sql = "INSERT INTO users (user_id) VALUES ($1) ON CONFLICT DO NOTHING";
        tx.run(sql, args![user.as_str()]).await?;
        Ok(tx.commit().await?)
    }

    /// All users, by name.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub async fn users(&self) -> Result<Vec<String>, DbError> {
        Ok(sqlx::query_scalar("SELECT every_user()").fetch_all(&self.pool).await?)
    }

    /// Creates a key for a user. The key is returned once and stored as a hash.
    ///
    /// # Errors
    /// Returns an error if the user does not exist, or the database cannot be written.
    pub async fn add_key(&self, user: &UserId, new: &NewKey) -> Result<Key, DbError> {
        let key = Key::generate().map_err(|error| DbError::Invalid(error.to_string()))?;
        self.keep_key(user, &key, new, AuditedAction::KeyMade).await?;
        Ok(key)
    }

    /// Imports a key of the older API, and adds its user if necessary. A second import changes nothing.
    ///
    /// # Errors
    /// Returns an error if the text is not a key, or the database cannot be written.
    pub async fn import_key(&self, user: &UserId, key: &str) -> Result<(), DbError> {
        let problem = || {
            let why = "must be 1 to 1000 characters that an HTTP header can carry";
            DbError::Invalid(format!("the key of {} {why}", user.as_str()))
        };
        let key = Key::older(key).ok_or_else(problem)?;
        self.add_user(user).await?;
        self.keep_key(user, &key, &NewKey { label: "imported".into(), ..NewKey::default() }, AuditedAction::KeyImported)
            .await
    }

    /// True for a user who was removed and not added again.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub async fn is_removed(&self, user: &UserId) -> Result<bool, DbError> {
        let mut tx = self.begin(user).await?;
        let removed = "SELECT EXISTS (SELECT FROM audit WHERE user_id = $1 AND what = $2)
                           AND NOT EXISTS (SELECT FROM users WHERE user_id = $1)";
        Ok(tx.value(removed, args![user.as_str(), AuditedAction::UserRemoved.as_str()]).await?)
    }

    /// True for an imported key of the older API that is still valid.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub async fn knows_key(&self, key: &str) -> Result<bool, DbError> {
        let Some(key) = Key::older(key) else { return Ok(false) };
        Ok(self.caller(&key).await?.is_some())
    }

    async fn keep_key(&self, user: &UserId, key: &Key, new: &NewKey, deed: AuditedAction) -> Result<(), DbError> {
        if !is_clean(&new.label) {
            return Err(DbError::Invalid(
                "the label contains a credential; use a label that says what the key is for".into(),
            ));
        }
        if let Some(unknown) = new.scopes.iter().find(|scope| !SCOPES.contains(&scope.as_str())) {
            let problem = format!("unknown scope {unknown:?}; use one or more of {}", SCOPES.join(", "));
            return Err(DbError::Invalid(problem));
        }
        let mut tx = self.begin(user).await?;
        let sql = "INSERT INTO api_keys (user_id, key_id, hash, label, scopes, expires)
             VALUES ($1, $2, $3, $4, $5, now() + make_interval(days => $6)) ON CONFLICT DO NOTHING";
        let made = tx
            .run(
                sql,
                args![
                    user.as_str(),
                    key.id(),
                    key.hash().to_vec(),
                    &new.label,
                    &new.scopes,
                    new.days.map(|days| i32::try_from(days).unwrap_or(i32::MAX))
                ],
            )
            .await;
        match made {
            Err(sqlx::Error::Database(error)) if error.is_foreign_key_violation() => {
                Err(DbError::Invalid(format!("unknown user {}; add the user first", user.as_str())))
            }
            other => {
                // A key that was imported before stays unchanged.
                if other?.rows_affected() > 0 {
                    on_host(&mut tx, user, deed, &format!("{} {}", key.id(), new.scopes.join(","))).await?;
                }
                Ok(tx.commit().await?)
            }
        }
    }

    /// The keys of a user, oldest first, without the keys themselves.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub async fn keys(&self, user: &UserId) -> Result<Vec<KeyInfo>, DbError> {
        let mut tx = self.begin(user).await?;
        let sql =
            "SELECT key_id, label, scopes, created::text AS created, expires::text AS expires, revoked::text AS revoked
             FROM api_keys WHERE user_id = $1 ORDER BY api_keys.created, key_id";
        let rows = tx.all(sql, args![user.as_str()]).await?;
        let info = |row: &sqlx::postgres::PgRow| {
            Ok(KeyInfo {
                id: row.try_get("key_id")?,
                label: row.try_get("label")?,
                scopes: row.try_get("scopes")?,
                created: row.try_get("created")?,
                expires: row.try_get("expires")?,
                revoked: row.try_get("revoked")?,
            })
        };
        rows.iter().map(info).collect()
    }

    /// Replaces a key in one transaction: the new key is valid at once and expires like the old one; the old key ends
    /// after some hours. `None` if the user has no such valid key.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written; the old key then stays valid.
    pub async fn rotate_key(&self, user: &UserId, key_id: &str, hours: u32) -> Result<Option<Key>, DbError> {
        let key = Key::generate().map_err(|error| DbError::Invalid(error.to_string()))?;
        let mut tx = self.begin(user).await?;
        let sql = "INSERT INTO api_keys (user_id, key_id, hash, label, scopes, expires)
             SELECT user_id, $3, $4, label, scopes, expires FROM api_keys
             WHERE user_id = $1 AND key_id = $2 AND revoked IS NULL AND (expires IS NULL OR expires > now())
             RETURNING scopes";
        let scopes: Option<Vec<String>> =
            tx.maybe_value(sql, args![user.as_str(), key_id, key.id(), key.hash().to_vec()]).await?;
        let Some(scopes) = scopes else { return Ok(None) };
        on_host(&mut tx, user, AuditedAction::KeyMade, &format!("{} {}", key.id(), scopes.join(","))).await?;
        let sql = "UPDATE api_keys SET expires = least(expires, now() + make_interval(hours => $3))
             WHERE user_id = $1 AND key_id = $2";
        tx.run(sql, args![user.as_str(), key_id, i32::try_from(hours).unwrap_or(i32::MAX)]).await?;
        on_host(&mut tx, user, AuditedAction::KeyEnds, &format!("{key_id} {hours} h")).await?;
        tx.commit().await?;
        Ok(Some(key))
    }

    /// Begins a new generation after a restore from a backup: every machine compares all memories and sends what is
    /// missing. Returns the generation.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub async fn begin_epoch(&self) -> Result<u64, DbError> {
        let mut tx = self.pool.begin().await?;
        let epoch: i64 = tx.value("UPDATE server_meta SET epoch = epoch + 1 RETURNING epoch", args![]).await?;
        tx.commit().await?;
        Ok(u64::try_from(epoch).unwrap_or(0))
    }

    /// Revokes a key by its ID, at once. False if the user has no such key.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub async fn revoke_key(&self, user: &UserId, key_id: &str) -> Result<bool, DbError> {
        let mut tx = self.begin(user).await?;
        let sql = "UPDATE api_keys SET revoked = now() WHERE user_id = $1 AND key_id = $2 AND revoked IS NULL";
        let revoked = tx.run(sql, args![user.as_str(), key_id]).await?;
        if revoked.rows_affected() > 0 {
            on_host(&mut tx, user, AuditedAction::KeyRevoked, key_id).await?;
        }
        tx.commit().await?;
        Ok(revoked.rows_affected() > 0)
    }
}
