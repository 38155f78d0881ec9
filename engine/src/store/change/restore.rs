//! Restores deleted or expired memories, and earlier texts.

use super::links;
use super::rights::{refuse_foreign, refuse_part};
use super::write::{Stored, Written, places_of, tell, write_row};
use crate::compose;
use crate::domain::MemoryRef;
use crate::screen::screened;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::text::O200k;

impl Store {
    /// Restores a deleted or expired memory, or the state that a memory had before the change `before_rev`.
    ///
    /// # Errors
    /// Returns an error if there is nothing to restore.
    pub fn restore(
        &mut self,
        reference: MemoryRef,
        before_rev: Option<u64>,
        actor: &Actor,
    ) -> Result<Stored, StoreError> {
        let stored = self.write(|change| restore(change, reference, before_rev, actor))?;
        self.maintain();
        Ok(stored)
    }
}

/// Restores a memory in a transaction.
pub(crate) fn restore(
    change: &Change<'_>,
    reference: MemoryRef,
    before_rev: Option<u64>,
    actor: &Actor,
) -> Result<Stored, StoreError> {
    let known = change.known(reference)?;
    let before = &known.memory;
    refuse_foreign(before, reference)?;
    refuse_part(before, "contained this section; restore the file, or write the section's lines into it again")?;
    let earlier = match before_rev {
        Some(rev) => Some(history::before(change.tx, before.id, rev)?.ok_or(StoreError::Conflict {
            memory: reference,
            problem: "has no earlier text from before this revision; `tessera history ID` lists the revisions",
        })?),
        None if before.deleted.is_none() && !before.is_over(change.now) => {
            return Err(StoreError::Conflict {
                memory: reference,
                problem: "is neither deleted nor expired; `tessera undo ID` undoes its last change, and `tessera restore ID --before REV` restores an earlier text",
            });
        }
        None => None,
    };
    let keeper = &mut change.secrets.keeper(change.tx);
    let earlier = earlier.map(|earlier| screened(earlier, before.id, keeper)).transpose()?;
    let composed = compose::restored(&known, earlier, change.now, &O200k).placed(before.short_id, change.next_rev()?);
    write_row(change, &composed, Written::Again)?;
    links::elect_around(change, composed.memory())?;
    history::record(change, composed.memory(), Operation::Restore, actor, Some(before))?;
    tell(change, before.id)?;
    // The names of secrets in an earlier text stay valid.
    let (had, mut aside) = (places_of(before), places_of(composed.memory()));
    aside.retain(|place| !had.contains(place));
    Ok(Stored {
        memory: composed.memory().clone(),
        tokens: composed.costs().detail,
        existed: true,
        kept: Vec::new(),
        aside,
    })
}
