//! Forgetting: out of recall, or for good.

use rusqlite::params;

use super::outbox::tell;
use super::rights::refuse_foreign;
use super::write::{Written, write_row};
use super::{links, places};
use crate::compose::{self, Known};
use crate::domain::{Handle, Memory, MemoryId, MemoryRef};
use crate::store::base::config::Actor;
use crate::store::base::context;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::logs::traces;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// How far a memory is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erase {
    /// Out of recall; `restore` brings it back.
    Soft,
    /// For good: its text leaves the database, the index, and the provenance.
    Hard,
}

/// A memory that was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forgotten {
    /// Identity.
    pub id: MemoryId,
    /// Handle.
    pub handle: Handle,
}

impl Store {
    /// Forgets memories: all of them, or none when one does not exist.
    ///
    /// # Errors
    /// When one does not exist, or the store cannot be written.
    pub fn forget(
        &mut self,
        references: &[MemoryRef],
        erase: Erase,
        actor: &Actor,
    ) -> Result<Vec<Forgotten>, StoreError> {
        let forgotten =
            self.write(|change| references.iter().map(|reference| forget(change, *reference, erase, actor)).collect())?;
        if erase == Erase::Hard
            && let Err(error) = self.scrub()
        {
            // It is done: what is left of the words is told by `traces`, and goes with a later write.
            tracing::debug!(error = %error, "the log cannot be cut now");
        }
        self.maintain();
        Ok(forgotten)
    }
}

fn forget(change: &Change<'_>, reference: MemoryRef, erase: Erase, actor: &Actor) -> Result<Forgotten, StoreError> {
    let known = change.known(reference)?;
    refuse_foreign(&known.memory, reference)?;
    match erase {
        Erase::Soft => delete(change, &known, actor)?,
        Erase::Hard => purge(change, &known.memory, row::PURGED, actor)?,
    }
    tell(change, known.memory.id)?;
    Ok(Forgotten { id: known.memory.id, handle: known.memory.handle })
}

pub(crate) fn delete(change: &Change<'_>, before: &Known, actor: &Actor) -> Result<(), StoreError> {
    let composed = compose::deleted(before, change.now, &O200k).placed(before.memory.handle, change.next_rev()?);
    write_row(change, &composed, Written::Again)?;
    links::elect_around(change, composed.memory())?;
    history::record(change, composed.memory(), Operation::Delete, actor, None)
}

/// Removes a memory for good; its row stays, with a mark that says why nothing is in it.
pub(crate) fn purge(change: &Change<'_>, before: &Memory, mark: u8, actor: &Actor) -> Result<(), StoreError> {
    let composed = compose::purged(before, change.now).placed(before.handle, change.next_rev()?);
    let memory = composed.memory();
    write_row(change, &composed, Written::Again)?;
    // Its neighbours in a captured session let go of its words; the row itself does not know its session any more.
    context::refresh_around(change, &Memory { deleted: memory.deleted, rev: memory.rev, ..before.clone() })?;
    change.tx.execute("UPDATE memories SET purged = ?2 WHERE handle = ?1", params![memory.handle, mark])?;
    let sql = "UPDATE history SET before = NULL, reason = NULL, session = NULL, client = NULL WHERE memory = ?1";
    change.tx.execute(sql, [memory.id])?;
    traces::note(change)?;
    places::forget_made(change, before)?;
    change.tx.execute("DELETE FROM trails WHERE memory = ?1", [memory.id])?;
    links::remove_all(change, memory)?;
    // The reason of a purge could repeat what is purged.
    history::record(change, memory, Operation::Purge, &Actor { reason: None, ..actor.clone() }, None)
}
