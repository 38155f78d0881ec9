//! Permissions: what the user may change in another user's memory, and in a memory from a file.

use crate::domain::{InFile, Memory, MemoryRef, Patch};
use crate::store::file::error::StoreError;

/// Only its owner may delete or restore a memory.
pub(crate) fn refuse_foreign(memory: &Memory, reference: MemoryRef) -> Result<(), StoreError> {
    if memory.share.is_some() {
        let problem = "belongs to another user, who alone can delete, restore or link it";
        return Err(StoreError::Conflict { memory: reference, problem });
    }
    Ok(())
}

/// A part is changed only through its file, so that recall always agrees with the file.
pub(crate) fn refuse_part(memory: &Memory, problem: &str) -> Result<(), StoreError> {
    match &memory.file {
        Some(InFile { path, is_whole: false, .. }) if memory.share.is_none() => {
            Err(StoreError::InFile { path: path.clone(), problem: problem.to_owned() })
        }
        _ => Ok(()),
    }
}

/// A file determines the fields of its memory. If a memory comes from a file, only its text and its trust can be
/// changed.
pub(crate) fn refuse_fields(memory: &Memory, patch: &Patch) -> Result<(), StoreError> {
    // Another user's file is an ordinary memory here.
    let Some(file) = memory.file.as_ref().filter(|_| memory.share.is_none()) else { return Ok(()) };
    let refused = |problem: &str| Err(StoreError::InFile { path: file.path.clone(), problem: problem.to_owned() });
    if (Patch { content: None, owner_trust: None, ..patch.clone() }) != Patch::default() {
        return refused(
            "defines its category, tags and other fields itself; change the file (`[category]`, #tags, front \
            matter), or pass only content or trust",
        );
    }
    if patch.content.is_some() && !file.is_whole {
        return refused("contains this section; change it there");
    }
    if patch.owner_trust.is_some() && file.is_whole {
        return refused("has its own trust level for each section; set the trust of the sections");
    }
    Ok(())
}
