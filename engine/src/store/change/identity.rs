//! A memory under another id: one that was made here, and that a server knows by a name of its own.

use rusqlite::params;

use crate::domain::MemoryId;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::ask::Run as _;

/// Gives a memory another id, which nobody has. All that is noted of it here by its id goes along; what is known of it as a
/// file is for `files` to carry over.
pub(crate) fn rename(change: &Change<'_>, before: MemoryId, now: MemoryId) -> Result<(), StoreError> {
    for sql in [
        "UPDATE memories SET id = ?2 WHERE id = ?1",
        "UPDATE memories SET conflict_of = ?2 WHERE conflict_of = ?1",
        "UPDATE history SET memory = ?2 WHERE memory = ?1",
        "UPDATE OR REPLACE links SET source = ?2 WHERE source = ?1",
        "UPDATE OR REPLACE links SET target = ?2 WHERE target = ?1",
        "UPDATE OR REPLACE outbox SET memory = ?2 WHERE memory = ?1",
    ] {
        change.tx.run(sql, params![before, now])?;
    }
    Ok(())
}
