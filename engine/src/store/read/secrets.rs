//! Lists the secrets of memories for their owner, without the values.

use std::fmt;
use std::str::FromStr;

use rusqlite::{Row as SqlRow, params};
use serde::Serialize;
use tessera_seal::Value;

use crate::domain::{DomainError, MemoryRef, MemoryUuid, ShortId, Timestamp};
use crate::screen::places;
use crate::store::base::secrets::KeyPlace;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, sql};

/// A secret without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SecretRow {
    /// Its name in the text.
    pub name: String,
    /// Its kind, in words.
    pub kind: String,
    /// The memory from whose text the secret was removed.
    pub memory: MemoryUuid,
    /// The memory's ID.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// When it was removed.
    pub made: Timestamp,
    /// Where the value is stored: `here`, `vault`.
    pub place: String,
    /// True if the team server also has the value.
    #[serde(rename = "on_server")]
    pub is_told: bool,
    /// A keyed hash. Equal values have equal hashes under the same key.
    #[serde(skip)]
    pub(crate) mark: Vec<u8>,
}

/// A reference to a secret by its name or the beginning of its name, or to all secrets of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretRef {
    /// A name, or its beginning.
    Name(String),
    /// A memory.
    Memory(MemoryRef),
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Memory(reference) => write!(f, "of memory {reference}"),
        }
    }
}

impl FromStr for SecretRef {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let text = text.trim();
        if let Some((_, place)) = places(text).into_iter().next() {
            return place.name.map(|name| Self::Name(name.to_string())).ok_or_else(|| {
                DomainError::invalid(
                    "id",
                    "names a secret whose value was discarded",
                    "there is nothing to show, because the value was never stored",
                )
            });
        }
        let is_name = text.len() <= 17
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && text.bytes().any(|b| b.is_ascii_lowercase());
        if is_name {
            return Ok(Self::Name(text.to_owned()));
        }
        text.parse().map(Self::Memory).map_err(|_| {
            DomainError::invalid(
                "id",
                "is neither the name of a secret nor the ID of a memory",
                "use a name such as s7k4q2, or an ID such as 42",
            )
        })
    }
}

/// An operation on a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SecretUse {
    /// The time.
    pub at: Timestamp,
    /// The secret.
    pub name: String,
    /// The memory's ID.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// The operation: `shown`, `forgotten`, `sent`, `moved`.
    #[serde(rename = "use")]
    pub what: String,
    /// The caller.
    pub origin: String,
    /// The session.
    pub session: Option<String>,
    /// The client program.
    pub client: Option<String>,
}

/// The columns of a secret.
pub(crate) const SECRET: &str = "name, kind, memory, short_id, made, place, told = 1, mark";

/// Reads the columns [`SECRET`].
pub(crate) fn secret(row: &SqlRow<'_>) -> rusqlite::Result<SecretRow> {
    Ok(SecretRow {
        name: row.get(0)?,
        kind: row.get(1)?,
        memory: row.get(2)?,
        short_id: row.get(3)?,
        made: row.get(4)?,
        place: row.get(5)?,
        is_told: row.get(6)?,
        mark: row.get(7)?,
    })
}

impl Store {
    /// Where the encryption key is stored; `None` if no key has been needed.
    ///
    /// # Errors
    /// Returns an error if the key exists and cannot be read.
    pub fn secret_key_place(&self) -> Result<Option<KeyPlace>, StoreError> {
        Ok(self.secrets.known_keys(&self.connection)?.map(|held| held.place))
    }

    /// The operations on secrets, latest first: on all secrets, or on those whose names begin with this text.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn secret_uses(&self, name: Option<&str>) -> Result<Vec<SecretUse>, StoreError> {
        let sql = "SELECT at, name, short_id, use, secret_uses.origin, secret_uses.session, secret_uses.client
                       FROM secret_uses JOIN memories ON memories.id = secret_uses.memory
                       WHERE ?1 IS NULL OR substr(name, 1, length(?1)) = ?1 ORDER BY n DESC";
        self.all(sql, [name], |row| {
            Ok(SecretUse {
                at: row.get(0)?,
                name: row.get(1)?,
                short_id: row.get(2)?,
                what: row.get(3)?,
                origin: row.get(4)?,
                session: row.get(5)?,
                client: row.get(6)?,
            })
        })
    }

    /// The secrets of all memories or of one, latest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn secrets(&self, of: Option<MemoryUuid>) -> Result<Vec<SecretRow>, StoreError> {
        let sql = sql!(
            "SELECT ",
            SECRET,
            " FROM secrets JOIN memories ON memories.id = secrets.memory
                 WHERE place <> 'leaving' AND (?1 IS NULL OR memory = ?1) ORDER BY made DESC, name"
        );
        self.all(sql, [of], secret)
    }

    /// The value of a secret; `None` if there is no such secret, or its value is stored elsewhere.
    ///
    /// # Errors
    /// Returns an error if the key is not available, or the value was damaged.
    pub fn secret_value(&self, memory: MemoryUuid, name: &str) -> Result<Option<Value>, StoreError> {
        let sql = "SELECT sealed FROM secrets WHERE memory = ?1 AND name = ?2 AND sealed IS NOT NULL";
        let sealed = self.connection.prepare_cached(sql).and_then(|mut statement| {
            let mut rows = statement.query(params![memory, name])?;
            rows.next()?.map(|row| row.get::<_, Vec<u8>>(0)).transpose()
        });
        let sealed = sealed.map_err(|error| self.failed(error))?;
        sealed.map(|sealed| self.secrets.opened(&self.connection, memory, name, &sealed)).transpose()
    }
}
