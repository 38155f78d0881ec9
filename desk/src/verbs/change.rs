//! Changing, forgetting and bringing back.

use tessera_engine::Store;
use tessera_engine::domain::{DomainError, MemoryRef, Patch};
use tessera_engine::store::{Erase, Forgotten, StoreError, Stored, Traces};

use crate::caller::Caller;
use crate::desk::{Effect, Verb};

/// Memories that are changed in one transaction: all of them, or none.
const AT_ONCE: usize = 500;

/// Which memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Those that are named.
    Named(Vec<MemoryRef>),
    /// All that came from elsewhere and that nobody vouches for.
    Imported,
}

/// Changes fields of memories.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// Which.
    pub which: Which,
    /// The fields.
    pub patch: Patch,
    /// Why.
    pub reason: Option<String>,
}

/// What was changed.
#[derive(Debug, Clone)]
pub struct Updated {
    /// How many memories.
    pub count: usize,
    /// The memory as it is now, where it was one.
    pub only: Option<Stored>,
}

impl Verb for Update {
    type Outcome = Updated;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Updated, StoreError> {
        if self.patch.is_empty() {
            let fix = "give content, tags, importance, category or another field to change";
            return Err(DomainError::invalid("content", "and every other field is missing", fix).into());
        }
        let ids = match self.which {
            Which::Named(ids) => ids,
            Which::Imported => store.imported()?,
        };
        let actor = caller.actor(self.reason);
        if let [id] = ids.as_slice() {
            return Ok(Updated { count: 1, only: Some(store.update(*id, &self.patch, &actor)?) });
        }
        let mut count = 0;
        for batch in ids.chunks(AT_ONCE) {
            count += store.update_all(batch, &self.patch, &actor)?.len();
        }
        Ok(Updated { count, only: None })
    }
}

/// Forgets memories: all of them, or none when one does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forget {
    /// Which.
    pub ids: Vec<MemoryRef>,
    /// How far.
    pub erase: Erase,
    /// Why.
    pub reason: Option<String>,
}

/// What is gone.
#[derive(Debug, Clone)]
pub struct Gone {
    /// The memories.
    pub forgotten: Vec<Forgotten>,
    /// Where words of memories that went for good may still stand; nowhere for those that can be restored.
    pub left: Traces,
}

impl Verb for Forget {
    type Outcome = Gone;
    const EFFECT: Effect = Effect::Destroys;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Gone, StoreError> {
        let forgotten = store.forget(&self.ids, self.erase, &caller.actor(self.reason))?;
        let left = match self.erase {
            Erase::Soft => Traces::default(),
            Erase::Hard => store.traces(&forgotten.iter().map(|one| one.id).collect::<Vec<_>>())?,
        };
        Ok(Gone { forgotten, left })
    }
}

/// Brings back a forgotten memory, or an earlier text of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restore {
    /// Which.
    pub id: MemoryRef,
    /// The change to undo, by its number in the history.
    pub before: Option<u64>,
}

impl Verb for Restore {
    type Outcome = Stored;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Stored, StoreError> {
        store.restore(self.id, self.before, &caller.actor(None))
    }
}
