//! Links.
//!
//! Two texts of one memory.

use tessera_engine::Store;
use tessera_engine::domain::{LinkKind, Memory, MemoryRef};
use tessera_engine::store::{Conflict, Resolution, StoreError};

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};
use crate::folders::refresh;

/// Says what one memory is to another, or that it is so no longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetLink {
    /// The memory that carries the link.
    pub id: MemoryRef,
    /// What it is to the other.
    pub kind: LinkKind,
    /// The other memory.
    pub to: MemoryRef,
    /// False to take the link away.
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

/// Lists the memories that were changed on two machines at once, and that nobody decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflicts;

impl UseCase for Conflicts {
    type Outcome = Vec<Conflict>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Conflict>, StoreError> {
        store.conflicts()
    }
}

/// Decides one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolve {
    /// The memory, or its other text.
    pub id: MemoryRef,
    /// What it shall be.
    pub resolution: Resolution,
}

impl UseCase for Resolve {
    type Outcome = Memory;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Memory, StoreError> {
        let memory = store.resolve(self.id, &self.resolution, &caller.actor(None))?;
        // Of a file, what was decided is written, and what was not taken is removed.
        refresh(store)?;
        Ok(memory)
    }
}
