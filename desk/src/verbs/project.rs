//! Which directories are believed to be of the project that they say.

use tessera_engine::Store;
use tessera_engine::store::{Place, StoreError};

use crate::caller::Caller;
use crate::desk::{Effect, Verb};
use crate::project::Claim;

/// Whether what a directory says of itself is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsBelieved(pub Claim);

impl Verb for IsBelieved {
    type Outcome = bool;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<bool, StoreError> {
        self.0.is_believed(store)
    }
}

/// The person's word that a directory is what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BelieveProject(pub Claim);

impl Verb for BelieveProject {
    type Outcome = ();
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, _: &Caller) -> Result<(), StoreError> {
        store.trust_place(&self.0.real_place(), &self.0.scope)
    }
}

/// Takes back what is known of a directory and of those below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubtProject(pub Claim);

impl Verb for DoubtProject {
    type Outcome = ();
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, _: &Caller) -> Result<(), StoreError> {
        for place in [&self.0.place, &self.0.root, &self.0.real_place()] {
            store.forget_place(place)?;
        }
        Ok(())
    }
}

/// Every directory that is known to be of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places;

impl Verb for Places {
    type Outcome = Vec<Place>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Place>, StoreError> {
        store.places()
    }
}
