//! Two texts of one memory, both kept: somebody says which it shall be.

use serde::Serialize;

use super::erase::delete;
use super::outbox::tell;
use super::rights::refuse_foreign;
use super::update::{put, rewrite};
use crate::compose::{self, Known};
use crate::domain::{Handle, Memory, MemoryRef, Patch, Permission};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// A memory that was changed apart, and its other text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conflict {
    /// The memory, if it is still there.
    pub memory: Option<Memory>,
    /// The other text: a memory of its own until somebody decides.
    pub copy: Memory,
}

/// What a conflict shall become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// The text that the memory has; the copy goes.
    Memory,
    /// The text of the copy: the memory takes it, the copy goes.
    Copy,
    /// A text made of both.
    Text(String),
    /// Two memories.
    Both,
}

impl Store {
    /// The conflicts that nobody has decided, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn conflicts(&self) -> Result<Vec<Conflict>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Conflict>> {
            let sql = format!(
                "SELECT {} FROM memories WHERE conflict_of IS NOT NULL AND deleted IS NULL ORDER BY handle LIMIT 200",
                row::MEMORY
            );
            let mut statement = self.connection.prepare(&sql)?;
            let copies: Vec<Memory> = statement.query_map([], row::memory)?.collect::<rusqlite::Result<_>>()?;
            let of = |copy| Ok(Conflict { memory: original(&self.connection, &copy)?.map(|known| known.memory), copy });
            copies.into_iter().map(of).collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// Decides a conflict, named by its copy or by its memory where that has one copy. Gives the memory as it is
    /// then; both texts stay in the history.
    ///
    /// # Errors
    /// When there is no conflict there, or the memory is another user's and may not be changed.
    pub fn resolve(
        &mut self,
        reference: MemoryRef,
        resolution: &Resolution,
        actor: &Actor,
    ) -> Result<Memory, StoreError> {
        let memory = self.write(|change| resolve(change, reference, resolution, actor))?;
        self.maintain();
        Ok(memory)
    }
}

fn original(connection: &rusqlite::Connection, copy: &Memory) -> rusqlite::Result<Option<Known>> {
    let Some(id) = copy.conflict_of else { return Ok(None) };
    Ok(row::find_known(connection, MemoryRef::Id(id))?.filter(|known| known.memory.deleted.is_none()))
}

fn resolve(
    change: &Change<'_>,
    reference: MemoryRef,
    resolution: &Resolution,
    actor: &Actor,
) -> Result<Memory, StoreError> {
    let copy = copy_of(change, change.known(reference)?, reference)?;
    let known = original(change.tx, &copy.memory)?;
    let (Some(known), false) = (known, *resolution == Resolution::Both) else {
        return settle_apart(change, &copy, actor);
    };
    let content = match resolution {
        Resolution::Memory | Resolution::Both => None,
        Resolution::Copy => Some(copy.memory.content.clone()),
        Resolution::Text(text) => Some(text.clone()),
    };
    if content.is_some() && known.memory.share.as_ref().is_some_and(|share| share.permission == Permission::Read) {
        let problem = "is another user's, shared for reading; keep both, or its own text";
        return Err(StoreError::Conflict { memory: MemoryRef::Handle(known.memory.handle), problem });
    }
    let patch = Patch { content, ..Patch::default() };
    let memory = if patch.is_empty() { known.memory } else { rewrite(change, &known, &patch, actor)?.memory };
    delete(change, &copy, actor)?;
    tell(change, copy.memory.id)?;
    Ok(memory)
}

fn copy_of(change: &Change<'_>, named: Known, reference: MemoryRef) -> Result<Known, StoreError> {
    if named.memory.conflict_of.is_some() && named.memory.deleted.is_none() {
        return Ok(named);
    }
    let sql = "SELECT handle FROM memories WHERE conflict_of = ?1 AND deleted IS NULL LIMIT 2";
    let mut statement = change.tx.prepare(sql)?;
    let mut copies: Vec<Handle> =
        statement.query_map([named.memory.id], |row| row.get(0))?.collect::<Result<_, _>>()?;
    match (copies.pop(), copies.is_empty()) {
        (Some(copy), true) => change.known(MemoryRef::Handle(copy)),
        (Some(_), false) => {
            Err(StoreError::Conflict { memory: reference, problem: "has several other texts; name one of them" })
        }
        (None, _) => Err(StoreError::Conflict { memory: reference, problem: "is in no conflict" }),
    }
}

/// The copy becomes a memory like any other.
fn settle_apart(change: &Change<'_>, copy: &Known, actor: &Actor) -> Result<Memory, StoreError> {
    refuse_foreign(&copy.memory, MemoryRef::Handle(copy.memory.handle))?;
    let composed = compose::settled_apart(copy, change.now, &O200k);
    // An undo gives it its tags, and makes it no conflict again.
    let before = Memory { conflict_of: None, ..copy.memory.clone() };
    Ok(put(change, &before, &composed, actor)?.memory)
}
