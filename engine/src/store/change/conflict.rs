//! Conflicts: two texts of one memory are kept until somebody chooses.

use serde::Serialize;

use super::erase::delete;
use super::rights::refuse_foreign;
use super::update::{put, rewrite};
use super::write::tell;
use crate::compose::{self, Known};
use crate::domain::{Memory, MemoryRef, Patch, Permission, ShortId};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::sql;
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// A memory with a conflict, and its conflict copy.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Conflict {
    /// The memory, if it still exists.
    pub memory: Option<Memory>,
    /// The conflict copy, a memory of its own until the conflict is resolved.
    pub copy: Memory,
}

/// The resolution of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Keep the memory's text; the copy is deleted.
    Memory,
    /// Keep the copy's text: the memory gets it, and the copy is deleted.
    Copy,
    /// A merged text.
    Text(String),
    /// Keep two memories.
    Both,
}

impl Store {
    /// The unresolved conflicts, oldest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn conflicts(&self) -> Result<Vec<Conflict>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Conflict>> {
            let sql = sql!(
                "SELECT ",
                MEMORY,
                " FROM memories WHERE conflict_of IS NOT NULL AND deleted IS NULL ORDER BY short_id LIMIT 200"
            );
            let mut statement = self.connection.prepare(sql)?;
            let copies: Vec<Memory> = statement.query_map([], row::memory)?.collect::<rusqlite::Result<_>>()?;
            let of = |copy| Ok(Conflict { memory: original(&self.connection, &copy)?.map(|known| known.memory), copy });
            copies.into_iter().map(of).collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// Resolves a conflict. The caller names the conflict copy, or the memory if it has only one copy. Returns the
    /// resulting memory. The history keeps both texts of the conflict.
    ///
    /// # Errors
    /// Returns an error if there is no such conflict, or the memory belongs to another user and may not be changed.
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
        let problem = "belongs to another user and is read-only; keep both memories, or only the other user's text";
        return Err(StoreError::Conflict { memory: MemoryRef::ShortId(known.memory.short_id), problem });
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
    let sql = "SELECT short_id FROM memories WHERE conflict_of = ?1 AND deleted IS NULL LIMIT 2";
    let mut statement = change.tx.prepare(sql)?;
    let mut copies: Vec<ShortId> =
        statement.query_map([named.memory.id], |row| row.get(0))?.collect::<Result<_, _>>()?;
    match (copies.pop(), copies.is_empty()) {
        (Some(copy), true) => change.known(MemoryRef::ShortId(copy)),
        (Some(_), false) => {
            Err(StoreError::Conflict { memory: reference, problem: "has several conflict copies; name one of them" })
        }
        (None, _) => Err(StoreError::Conflict { memory: reference, problem: "has no conflict" }),
    }
}

/// The copy becomes an ordinary memory.
fn settle_apart(change: &Change<'_>, copy: &Known, actor: &Actor) -> Result<Memory, StoreError> {
    refuse_foreign(&copy.memory, MemoryRef::ShortId(copy.memory.short_id))?;
    let composed = compose::settled_apart(copy, change.now, &O200k);
    // An undo restores its tags, but does not make it a conflict copy again.
    let before = Memory { conflict_of: None, ..copy.memory.clone() };
    Ok(put(change, &before, &composed, actor)?.memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::open::in_memory::{InMemory, named};

    /// A memory and its conflict copy.
    fn apart(store: &mut InMemory) -> (Memory, Memory) {
        let (memory, copy) = (store.said("Deploy on Monday"), store.said("Deploy on Tuesday"));
        store.run(
            "UPDATE memories SET tags = '[\"conflict\"]', conflict_of = (SELECT id FROM memories ORDER BY short_id LIMIT 1)
             WHERE content = 'Deploy on Tuesday'",
        );
        assert_eq!(store.conflicts().unwrap().len(), 1);
        (memory, copy)
    }

    fn resolve(store: &mut InMemory, named_by: &Memory, resolution: &Resolution) -> String {
        let resolved = store.resolve(named(named_by), resolution, &Actor::default()).unwrap();
        assert!(store.conflicts().unwrap().is_empty());
        resolved.content
    }

    #[test]
    fn a_conflict_becomes_what_the_person_says() {
        for (resolution, text, copy_stays) in [
            (Resolution::Memory, "Deploy on Monday", false),
            (Resolution::Copy, "Deploy on Tuesday", false),
            (Resolution::Text("Deploy on both".into()), "Deploy on both", false),
            (Resolution::Both, "Deploy on Tuesday", true),
        ] {
            for by_copy in [true, false] {
                let mut store = InMemory::new();
                let (memory, copy) = apart(&mut store);
                let named_by = if by_copy { &copy } else { &memory };
                assert_eq!(resolve(&mut store, named_by, &resolution), text, "{resolution:?}");
                let copy = store.now_of(&copy);
                assert_eq!((copy.deleted.is_none(), copy_stays), (copy_stays, copy.tags.is_empty()), "{resolution:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_decided_is_refused() {
        let mut store = InMemory::new();
        let (memory, copy) = apart(&mut store);
        let other = store.said("no conflict");
        let mut refused = |reference: &Memory, resolution| {
            let refused = store.resolve(named(reference), &resolution, &Actor::default());
            assert!(matches!(refused, Err(StoreError::Conflict { .. } | StoreError::Domain(_))), "{refused:?}");
        };
        refused(&other, Resolution::Memory);
        refused(&memory, Resolution::Text("  ".into()));
        store
            .run("UPDATE memories SET shared_by = 'bob', share_permission = 'read' WHERE content = 'Deploy on Monday'");
        let mut refused = |reference: &Memory, resolution| {
            let refused = store.resolve(named(reference), &resolution, &Actor::default());
            assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
        };
        refused(&copy, Resolution::Copy);
        assert_eq!(store.conflicts().unwrap().len(), 1);
    }
}
