//! Secrets as rows: written in the transaction of the text that they were taken out of.

use rusqlite::params;

use super::transaction::Change;
use crate::domain::MemoryId;
use crate::screen::Secret;
use crate::store::file::error::StoreError;

/// Writes what was taken out of a text of a memory. One that is kept already stays.
pub(crate) fn write_all(change: &Change<'_>, memory: MemoryId, secrets: &[Secret]) -> Result<(), StoreError> {
    let sql = "INSERT INTO secrets (memory, name, kind, mark, sealed, made) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (memory, name) DO NOTHING";
    for secret in secrets {
        let values = params![memory, secret.name.as_str(), secret.kind, secret.mark, secret.sealed, change.now];
        change.tx.prepare_cached(sql)?.execute(values)?;
    }
    Ok(())
}
