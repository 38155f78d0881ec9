//! What the person may change of a memory that another user shares, and of one that stands in a file.

use crate::domain::{InFile, Memory, MemoryRef, Patch};
use crate::store::file::error::StoreError;

/// Only its owner says whether a memory is there.
pub(crate) fn refuse_foreign(memory: &Memory, reference: MemoryRef) -> Result<(), StoreError> {
    if memory.share.is_some() {
        let problem = "is another user's: only they can delete or restore it; mute it to see it no more";
        return Err(StoreError::Conflict { memory: reference, problem });
    }
    Ok(())
}

/// A part is changed in its file and nowhere else: so that what is found is what the file says.
pub(crate) fn refuse_part(memory: &Memory, problem: &str) -> Result<(), StoreError> {
    match &memory.file {
        Some(InFile { path, is_whole: false, .. }) if memory.share.is_none() => {
            Err(StoreError::InFile { path: path.clone(), problem: problem.to_owned() })
        }
        _ => Ok(()),
    }
}

/// What is said of a file, or of a part, is what the file says: only its text is changed, and whether it is believed.
pub(crate) fn refuse_fields(memory: &Memory, patch: &Patch) -> Result<(), StoreError> {
    // Of another's file there is no file here: it is a memory like any other.
    let Some(file) = memory.file.as_ref().filter(|_| memory.share.is_none()) else { return Ok(()) };
    let refused = |problem: &str| Err(StoreError::InFile { path: file.path.clone(), problem: problem.to_owned() });
    if (Patch { content: None, vouched: None, ..patch.clone() }) != Patch::default() {
        return refused(
            "says its category, tags and the rest itself; change the file (`[category]`, #tags, front matter), or give content or trust alone",
        );
    }
    if patch.content.is_some() && !file.is_whole {
        return refused("holds this part; it is changed there");
    }
    if patch.vouched.is_some() && file.is_whole {
        return refused("is believed part by part; give the trust of its parts");
    }
    Ok(())
}
