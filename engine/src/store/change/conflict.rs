//! Two texts of one memory, both kept: somebody says which it shall be.

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
            Err(StoreError::Conflict { memory: reference, problem: "has several other texts; name one of them" })
        }
        (None, _) => Err(StoreError::Conflict { memory: reference, problem: "is in no conflict" }),
    }
}

/// The copy becomes a memory like any other.
fn settle_apart(change: &Change<'_>, copy: &Known, actor: &Actor) -> Result<Memory, StoreError> {
    refuse_foreign(&copy.memory, MemoryRef::ShortId(copy.memory.short_id))?;
    let composed = compose::settled_apart(copy, change.now, &O200k);
    // An undo gives it its tags, and makes it no conflict again.
    let before = Memory { conflict_of: None, ..copy.memory.clone() };
    Ok(put(change, &before, &composed, actor)?.memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::open::in_memory::{InMemory, named};

    /// A memory and its other text.
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
