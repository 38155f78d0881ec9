//! Changes fields of an existing memory.

use super::erase::Erase;
use super::links;
use super::rights::refuse_fields;
use super::write::{Stored, Written, set_aside, tell, write_row};
use crate::compose::{self, Composed, Known};
use crate::domain::{Memory, MemoryRef, Patch, Permission};
use crate::screen::{ProbableSecrets, screened, screened_closely, stands_in};
use crate::store::base::allowed_texts;
use crate::store::base::config::Actor;
use crate::store::base::kept;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::Operation;
use crate::store::logs::{history, traces};
use crate::store::rows::codec::Run as _;
use crate::text::O200k;

impl Store {
    /// Changes fields of a memory.
    ///
    /// # Errors
    /// Returns an error if there is no such memory, a field is rejected, or the store cannot be written.
    pub fn update(&mut self, reference: MemoryRef, patch: &Patch, actor: &Actor) -> Result<Stored, StoreError> {
        patch.check()?;
        let probable = ProbableSecrets::of(patch);
        let stored = self.write(|change| update(change, reference, patch, &probable, actor))?;
        self.scrubbed(if patch.sensitive.is_some() { Erase::Hard } else { Erase::Soft });
        Ok(stored)
    }

    /// Makes the same changes in many memories: in all of them, or none.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::update`].
    pub fn update_all(
        &mut self,
        references: &[MemoryRef],
        patch: &Patch,
        actor: &Actor,
    ) -> Result<Vec<Stored>, StoreError> {
        patch.check()?;
        let probable = ProbableSecrets::of(patch);
        let each = |change: &Change<'_>, reference| update(change, reference, patch, &probable, actor);
        let stored = self.write(|change| references.iter().map(|reference| each(change, *reference)).collect())?;
        self.maintain();
        Ok(stored)
    }
}

fn update(
    change: &Change<'_>,
    reference: MemoryRef,
    patch: &Patch,
    probable: &ProbableSecrets,
    actor: &Actor,
) -> Result<Stored, StoreError> {
    let known = change.known(reference)?;
    let before = &known.memory;
    if before.deleted.is_some() {
        return Err(StoreError::Conflict {
            memory: reference,
            problem: "is deleted; `tessera restore ID` restores it",
        });
    }
    if let Some(share) = &before.share {
        if share.permission == Permission::Read {
            return Err(StoreError::Conflict {
                memory: reference,
                problem: "belongs to another user and is read-only",
            });
        }
        if (Patch { content: None, ..patch.clone() }) != Patch::default() {
            let problem = "belongs to another user; you can change only its text";
            return Err(StoreError::Conflict { memory: reference, problem });
        }
    }
    refuse_fields(before, patch)?;
    rewrite_screened(change, &known, patch, probable.clone(), actor)
}

/// Writes a live memory with changed fields.
pub(crate) fn rewrite(change: &Change<'_>, before: &Known, patch: &Patch, actor: &Actor) -> Result<Stored, StoreError> {
    rewrite_screened(change, before, patch, ProbableSecrets::of(patch), actor)
}

/// Does the same with the probable secrets of the patch, which were found before the transaction.
fn rewrite_screened(
    change: &Change<'_>,
    before: &Known,
    patch: &Patch,
    probable: ProbableSecrets,
    actor: &Actor,
) -> Result<Stored, StoreError> {
    let id = before.memory.id;
    let known = kept::values_of(change, &before.memory)?;
    // What the stored text already contains is no new secret; another machine may have allowed it.
    let probable =
        allowed_texts::excepted(change.tx, probable)?.without(|value| stands_in(&before.memory.content, value));
    let patch = screened_closely(patch.clone(), id, &mut change.secrets.keeper(change.tx), &known, probable)?;
    let composed = compose::edited(before, &patch, change.now, &O200k)?;
    let stored = put(change, &before.memory, &composed, actor)?;
    if patch.sensitive.is_some() {
        // The earlier text contains the value that must be removed.
        change.tx.run("UPDATE history SET before = NULL WHERE memory = ?1", [id])?;
        traces::note(change)?;
    }
    Ok(stored)
}

/// Writes a changed live memory with its history entry, and queues it for the server.
pub(crate) fn put(
    change: &Change<'_>,
    before: &Memory,
    composed: &Composed,
    actor: &Actor,
) -> Result<Stored, StoreError> {
    let composed = composed.placed(before.short_id, history::next_rev(change, actor)?);
    let memory = composed.memory();
    write_row(change, &composed, Written::Again)?;
    if memory.trust != before.trust {
        links::elect_around(change, memory)?;
    }
    kept::adopt(change, memory)?;
    // A text from before detection existed goes into the history without credentials.
    let old = &mut change.secrets.keeper_of_old(change.tx, before.share.is_none());
    let (clean, found) = screened(before.clone(), before.id, old)?.into_parts();
    kept::write_all(change, before.id, &found)?;
    history::record(change, memory, Operation::Update, actor, Some(&clean))?;
    tell(change, memory.id)?;
    let aside = set_aside(&composed, Some(before));
    Ok(Stored { memory: memory.clone(), tokens: composed.costs().detail, existed: true, kept: Vec::new(), aside })
}
