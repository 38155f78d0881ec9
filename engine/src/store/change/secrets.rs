//! Secrets beside the memories they were taken out of.

use crate::compose::Composed;
use crate::domain::MemoryUuid;
use crate::screen::Secret;
use crate::store::base::kept;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;

/// Writes what was taken out of the texts of a memory, in the transaction of its row.
pub(crate) fn write(change: &Change<'_>, composed: &Composed) -> Result<(), StoreError> {
    write_all(change, composed.memory().id, composed.secrets())
}

/// The same for what was taken out of a text before it is written.
pub(crate) fn write_all(change: &Change<'_>, memory: MemoryUuid, secrets: &[Secret]) -> Result<(), StoreError> {
    kept::write_all(change, memory, secrets)
}

/// Removes all secrets of a memory.
pub(crate) fn remove(change: &Change<'_>, memory: MemoryUuid) -> Result<(), StoreError> {
    kept::let_go(change, memory, None)
}
