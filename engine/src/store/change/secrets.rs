//! Secrets of memories.

use crate::compose::Composed;
use crate::domain::MemoryUuid;
use crate::screen::Secret;
use crate::store::base::kept;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;

/// Writes the secrets of a memory in the same transaction as its row.
pub(crate) fn write(change: &Change<'_>, composed: &Composed) -> Result<(), StoreError> {
    write_all(change, composed.memory().id, composed.secrets())
}

/// Writes the secrets of a text before the text itself is written.
pub(crate) fn write_all(change: &Change<'_>, memory: MemoryUuid, secrets: &[Secret]) -> Result<(), StoreError> {
    kept::write_all(change, memory, secrets)
}

/// Deletes all secrets of a memory.
pub(crate) fn remove(change: &Change<'_>, memory: MemoryUuid) -> Result<(), StoreError> {
    kept::let_go(change, memory, None)
}
