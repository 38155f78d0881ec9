//! Memories that say nearly what another says.

use tessera_engine::Store;
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{Likeness, Near, StoreError};

use crate::caller::Caller;
use crate::chain;
use crate::desk::{Effect, Verb};

/// Which memories of its scope say nearly what a memory says, or something else of the same thing. Asked once a new one
/// is on disk: it is kept in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    /// Which.
    pub id: MemoryRef,
}

impl Verb for Alike {
    type Outcome = Vec<Near>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Near>, StoreError> {
        let memory = store.get(self.id)?.ok_or(StoreError::NotFound(self.id))?;
        chain::hints(store, &memory)
    }
}

/// What to say of a memory that is near another one, in words.
pub fn told_near(near: &Near) -> String {
    match near.likeness {
        Likeness::Same => format!("{} says nearly the same: {}", near.handle, near.summary),
        Likeness::Other => format!("{} is close, and may say otherwise: {}", near.handle, near.summary),
    }
}
