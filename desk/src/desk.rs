//! The desk: the one door between a face and the store.

use tessera_engine::Store;
use tessera_engine::domain::{MemoryRef, Timestamp};
use tessera_engine::store::{KeyPlace, StoreError};

use crate::caller::Caller;
use crate::chain::{Asked, Chain};
use crate::folders::{ChangeWait, FolderSnapshot};
use crate::meaning;

/// What a verb does to the memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing, though it may count a use.
    Reads,
    /// It adds some.
    Adds,
    /// It changes some, and the history can undo it.
    Changes,
    /// It may take some away.
    Destroys,
}

/// Something that a caller can ask for: a typed request that becomes a typed outcome. Words for either are the
/// faces' own.
pub trait UseCase {
    /// What comes of it.
    type Outcome;
    /// What it does to the memories.
    const EFFECT: Effect;

    /// What the links of the chain may look at and change before it is done; `None` for what passes none.
    fn asked(&mut self) -> Option<Asked<'_>> {
        None
    }

    /// The memories that it was done to, for the links that look on afterwards.
    fn touched(outcome: &Self::Outcome) -> Vec<MemoryRef> {
        let _ = outcome;
        Vec::new()
    }

    /// Does it. Called by [`Desk::perform`] alone.
    ///
    /// # Errors
    /// When the request cannot be carried out, or the store fails.
    fn run(self, store: &mut Store, caller: &Caller) -> Result<Self::Outcome, StoreError>;

    /// The same after a look at the folders of files, or beside it.
    ///
    /// # Errors
    /// As [`UseCase::run`]. What cannot be looked at is as it was.
    fn run_looking(
        self,
        store: &mut Store,
        caller: &Caller,
        glance: FolderSnapshot,
    ) -> Result<Self::Outcome, StoreError>
    where
        Self: Sized,
    {
        glance.catch_up(store);
        self.run(store, caller)
    }
}

/// A store with somebody who asks something of it.
#[derive(Debug)]
pub struct Desk<'a> {
    store: &'a mut Store,
    caller: &'a Caller,
    has_changed: bool,
    has_spooled: bool,
    looks: Option<ChangeWait>,
}

impl<'a> Desk<'a> {
    /// A desk for one caller.
    pub fn new(store: &'a mut Store, caller: &'a Caller) -> Self {
        Self { store, caller, has_changed: false, has_spooled: false, looks: None }
    }

    /// Has the folders of files looked at with the first verb; `None` where somebody watches them.
    #[must_use]
    pub fn looking(self, looks: Option<ChangeWait>) -> Self {
        Self { looks, ..self }
    }

    /// Does what is asked for. Every verb of every face passes here, and nowhere else: a verb that needs another
    /// performs it at a desk of its own. Only the lines of an import are stored by the engine, in batches.
    ///
    /// # Errors
    /// As the verb.
    pub fn perform<V: UseCase>(&mut self, mut verb: V) -> Result<V::Outcome, StoreError> {
        // Even one that fails may have changed something: batches are transactions of their own.
        self.has_changed |= V::EFFECT != Effect::Reads;
        let Some(asked) = verb.asked() else { return self.run(verb, self.caller) };
        let Some(chain) = Chain::of(self.store, self.caller) else { return self.run(verb, self.caller) };
        let mut begun = chain.before(self.store, self.caller, asked)?;
        let outcome = if begun.altered.is_empty() {
            self.run(verb, self.caller)?
        } else {
            let altered = Caller { altered: std::mem::take(&mut begun.altered), ..self.caller.clone() };
            self.run(verb, &altered)?
        };
        self.has_spooled |= chain.after(self.store, begun, V::touched(&outcome));
        Ok(outcome)
    }

    fn run<V: UseCase>(&mut self, verb: V, caller: &Caller) -> Result<V::Outcome, StoreError> {
        let glance = self.looks.take().and_then(|looks| FolderSnapshot::of(self.store, looks).ok());
        match glance.filter(|glance| !glance.is_idle()) {
            Some(glance) => verb.run_looking(self.store, caller, glance),
            None => verb.run(self.store, caller),
        }
    }

    /// Makes the vectors of what was written, once the caller has their answer. Nobody is told of a fault: whoever has
    /// time later makes them.
    pub fn embed(&mut self) {
        if self.has_changed {
            meaning::after_write(self.store);
        }
    }

    /// Who asks.
    pub fn caller(&self) -> &Caller {
        self.caller
    }

    /// Where the key lies that secrets are sealed with, where there is one and it can be had.
    pub fn secret_key(&self) -> Option<KeyPlace> {
        self.store.secret_key_place().ok().flatten()
    }

    /// The time now, as the store sees it.
    pub fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// True when something was done that plugins are to be told of.
    pub fn has_spooled(&self) -> bool {
        self.has_spooled
    }

    /// True when a verb was performed that may have changed something.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}
