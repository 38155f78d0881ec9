//! Links.

use tessera_engine::Store;
use tessera_engine::domain::{LinkKind, Memory, MemoryRef};
use tessera_engine::store::StoreError;

use crate::caller::Caller;
use crate::desk::{Effect, Verb};

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

impl Verb for SetLink {
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
