//! What the person may change of a memory that another user shares.

use crate::domain::{Memory, MemoryRef};
use crate::store::file::error::StoreError;

/// Only its owner says whether a memory is there.
pub(crate) fn refuse_foreign(memory: &Memory, reference: MemoryRef) -> Result<(), StoreError> {
    if memory.share.is_some() {
        let problem = "is another user's: only they can delete or restore it; mute it to see it no more";
        return Err(StoreError::Conflict { memory: reference, problem });
    }
    Ok(())
}
