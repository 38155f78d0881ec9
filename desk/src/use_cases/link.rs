//! Links between memories.
//!
//! Also resolves conflicts.

use tessera_engine::Store;
use tessera_engine::domain::{LinkKind, Memory, MemoryRef};
use tessera_engine::store::{Conflict, Resolution, StoreError};

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};
use crate::folders::refresh;

/// Adds or removes a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetLink {
    /// The memory with the link.
    pub id: MemoryRef,
    /// The type.
    pub kind: LinkKind,
    /// The other memory.
    pub to: MemoryRef,
    /// False to remove the link.
    pub holds: bool,
}

impl UseCase for SetLink {
    type Outcome = Memory;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Memory, StoreError> {
        let actor = caller.actor(None);
        if self.holds {
            store.link(self.id, &self.kind, self.to, &actor)
        } else {
            store.unlink(self.id, &self.kind, self.to, &actor)
        }
    }
}

/// Lists unresolved conflicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflicts;

impl UseCase for Conflicts {
    type Outcome = Vec<Conflict>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Conflict>, StoreError> {
        store.conflicts()
    }
}

/// Resolves a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolve {
    /// The memory, or its conflict copy.
    pub id: MemoryRef,
    /// The resolution.
    pub resolution: Resolution,
}

impl UseCase for Resolve {
    type Outcome = Memory;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Memory, StoreError> {
        let memory = store.resolve(self.id, &self.resolution, &caller.actor(None))?;
        // For a file, the chosen text is written, and the other file is deleted.
        refresh(store)?;
        Ok(memory)
    }
}
