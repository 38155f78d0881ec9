//! Secrets beside the memories they were taken out of.

use rusqlite::params;

use crate::compose::Composed;
use crate::domain::MemoryId;
use crate::screen::Secret;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;

/// Writes what was taken out of the texts of a memory, in the transaction of its row.
pub(crate) fn write(change: &Change<'_>, composed: &Composed) -> Result<(), StoreError> {
    write_all(change, composed.memory().id, composed.secrets())
}

/// The same for what was taken out of a text before it is written.
pub(crate) fn write_all(change: &Change<'_>, memory: MemoryId, secrets: &[Secret]) -> Result<(), StoreError> {
    let sql = "INSERT INTO secrets (memory, name, kind, mark, sealed, made) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (memory, name) DO NOTHING";
    for secret in secrets {
        let values = params![memory, secret.name.as_str(), secret.kind, secret.mark, secret.sealed, change.now];
        change.tx.prepare_cached(sql)?.execute(values)?;
    }
    Ok(())
}

/// Removes all secrets of a memory.
pub(crate) fn remove(change: &Change<'_>, memory: MemoryId) -> Result<(), StoreError> {
    for sql in ["DELETE FROM secrets WHERE memory = ?1", "DELETE FROM secret_uses WHERE memory = ?1"] {
        change.tx.prepare_cached(sql)?.execute([memory])?;
    }
    Ok(())
}
