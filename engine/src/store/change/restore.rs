//! Bringing back what was deleted or is over, and earlier texts.

use super::links;
use super::outbox::tell;
use super::rights::refuse_foreign;
use super::write::{Stored, write_over};
use crate::domain::MemoryRef;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};

impl Store {
    /// Brings back a memory that was deleted or is over, for good; or a live one to how it was before the change
    /// `before_rev`.
    ///
    /// # Errors
    /// When there is nothing to restore.
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

fn restore(
    change: &Change<'_>,
    reference: MemoryRef,
    before_rev: Option<u64>,
    actor: &Actor,
) -> Result<Stored, StoreError> {
    let before = change.existing(reference)?;
    refuse_foreign(&before, reference)?;
    let mut memory = match before_rev {
        Some(rev) => history::before(change.tx, before.id, rev)?
            .ok_or(StoreError::Conflict { memory: reference, problem: "has no earlier text at that change" })?,
        None if before.deleted.is_none() && !before.is_over(change.now) => {
            return Err(StoreError::Conflict { memory: reference, problem: "is not deleted, nor is it over" });
        }
        None => before.clone(),
    };
    memory.deleted = None;
    memory.handle = before.handle;
    memory.access_count = before.access_count;
    // Whoever brings it back wants it: it does not go by itself again.
    memory.expires = None;
    memory.updated = change.now;
    memory.rev = change.next_rev()?;
    let tokens = write_over(change, &before, &memory)?;
    links::elect_around(change, &memory)?;
    history::record(change, &memory, Operation::Restore, actor, Some(&before))?;
    tell(change, memory.id)?;
    Ok(Stored { memory, tokens, existed: true })
}
