//! The service layer: the only access from a front end to the store.

use tessera_engine::Store;
use tessera_engine::domain::{MemoryRef, Timestamp};
use tessera_engine::store::{Ahead, KeyPlace, StoreError, Tried};

use crate::caller::Caller;
use crate::chain::{Asked, Chain};
use crate::embedding;
use crate::folders::{ChangeWait, FolderSnapshot};

/// The effect of a use case on memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing except access counts.
    Reads,
    /// It adds some.
    Adds,
    /// A change that the history can undo.
    Changes,
    /// It may take some away.
    Destroys,
}

/// A use case: a typed request with a typed result. The front ends write the messages for users.
pub trait UseCase {
    /// The result.
    type Outcome;
    /// Its effect on memories.
    const EFFECT: Effect;

    /// What plugins may inspect and change before the action; `None` if no plugins are called.
    fn asked(&mut self) -> Option<Asked<'_>> {
        None
    }

    /// The affected memories, for the chain after the action.
    fn touched(outcome: &Self::Outcome) -> Vec<MemoryRef> {
        let _ = outcome;
        Vec::new()
    }

    /// Runs it. Only [`Desk::perform`] calls this.
    ///
    /// # Errors
    /// Returns an error if the request cannot be carried out, or the store fails.
    fn run(self, store: &mut Store, caller: &Caller) -> Result<Self::Outcome, StoreError>;

    /// Scans the watched folders and then runs the use case; an implementation may scan while it runs.
    ///
    /// # Errors
    /// As [`UseCase::run`]. Folders that cannot be scanned keep their state.
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

/// A store with a caller.
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

    /// Sets how long the first use case may wait for a scan of the watched folders. `None` if a thread already watches
    /// them.
    #[must_use]
    pub fn looking(self, looks: Option<ChangeWait>) -> Self {
        Self { looks, ..self }
    }

    /// Uses a text that is being encoded, for the next question or memory with this text.
    pub fn expect(&mut self, ahead: Option<Ahead>) {
        self.store.expect(ahead);
    }

    /// Runs a use case. Every front end runs every use case here. A use case that needs another use case runs it on its
    /// own `Desk`. The engine stores the lines of an import directly, in batches.
    ///
    /// # Errors
    /// As the use case.
    pub fn perform<V: UseCase>(&mut self, mut verb: V) -> Result<V::Outcome, StoreError> {
        // A failed use case may have changed something, because batches have their own transactions.
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

    /// After the caller got the answer: computes missing embeddings, and continues interrupted work. Errors are ignored, because another process
    /// computes the embeddings later.
    pub fn embed(&mut self) {
        if self.has_changed {
            embedding::after_write(self.store);
            // An interrupted run may have left hidden texts in backups. An error is reported by `doctor`.
            if let Err(error) = self.store.go_on_hiding(Tried::NotYet) {
                tracing::debug!(%error, "hidden texts cannot be removed from files now");
            }
        }
    }

    /// The caller.
    pub fn caller(&self) -> &Caller {
        self.caller
    }

    /// Returns where the key for secrets is stored; `None` if there is no accessible key.
    pub fn secret_key(&self) -> Option<KeyPlace> {
        self.store.secret_key_place().ok().flatten()
    }

    /// The present time of the store.
    pub fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// True if events wait for plugins.
    pub fn has_spooled(&self) -> bool {
        self.has_spooled
    }

    /// True if a use case may have changed something.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}
