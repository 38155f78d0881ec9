//! Secrets of memories: which there are, and what they are, for their owner.

use rusqlite::params;
use tessera_seal::Value;

use crate::domain::{Handle, MemoryId, Timestamp};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;

/// A secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRow {
    /// Its name in the text.
    pub name: String,
    /// What it is, in words.
    pub kind: String,
    /// The memory it was taken out of.
    pub memory: MemoryId,
    /// The memory's number here.
    pub handle: Handle,
    /// When it was set aside.
    pub made: Timestamp,
    /// Where it is kept: `here`, `vault`.
    pub place: String,
    /// True once the team server has it too.
    pub is_told: bool,
}

impl Store {
    /// The secrets that are kept, of all memories or of one, the latest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn secrets(&self, of: Option<MemoryId>) -> Result<Vec<SecretRow>, StoreError> {
        let read = || {
            let sql = "SELECT name, kind, memory, handle, made, place, told FROM secrets
                       JOIN memories ON memories.id = secrets.memory
                       WHERE ?1 IS NULL OR memory = ?1 ORDER BY made DESC, name";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([of], |row| {
                Ok(SecretRow {
                    name: row.get(0)?,
                    kind: row.get(1)?,
                    memory: row.get(2)?,
                    handle: row.get(3)?,
                    made: row.get(4)?,
                    place: row.get(5)?,
                    is_told: row.get(6)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|error| self.failed(error))
    }

    /// The value of a secret; `None` where there is no such secret, or its value is kept elsewhere.
    ///
    /// # Errors
    /// When its key cannot be had, or it was damaged.
    pub fn secret_value(&self, memory: MemoryId, name: &str) -> Result<Option<Value>, StoreError> {
        let sql = "SELECT sealed FROM secrets WHERE memory = ?1 AND name = ?2 AND sealed IS NOT NULL";
        let sealed = self.connection.prepare_cached(sql).and_then(|mut statement| {
            let mut rows = statement.query(params![memory, name])?;
            rows.next()?.map(|row| row.get::<_, Vec<u8>>(0)).transpose()
        });
        let sealed = sealed.map_err(|error| self.failed(error))?;
        sealed.map(|sealed| self.secrets.opened(&self.connection, memory, name, &sealed)).transpose()
    }
}
