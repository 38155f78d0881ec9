//! The outbox: which memories a team server has to be told of.

use crate::domain::MemoryId;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::ask::Run as _;

/// Leaves word for a team server, unless the memory is to stay on this machine.
pub(crate) fn tell(change: &Change<'_>, memory: MemoryId) -> Result<(), StoreError> {
    let sql =
        "INSERT OR REPLACE INTO outbox (memory) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM private WHERE memory = ?1)
               AND NOT EXISTS (SELECT 1 FROM memories WHERE id = ?1 AND file IS NOT NULL AND whole = 0
                               AND shared_by IS NULL)";
    change.tx.run(sql, [memory])?;
    Ok(())
}
