//! Which directories are believed to be of the project that they say.
//!
//! What should not be there any more: credentials in clear from before they were taken out, and what was removed for good.

use tessera_engine::Store;
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{Place, Purged as Removal, Scan, ScanProgress, Scanning, StoreError};

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};
use crate::project::Claim;

/// Whether what a directory says of itself is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsBelieved(pub Claim);

impl UseCase for IsBelieved {
    type Outcome = bool;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<bool, StoreError> {
        self.0.is_believed(store)
    }
}

/// The person's word that a directory is what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustProject(pub Claim);

impl UseCase for TrustProject {
    type Outcome = ();
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, _: &Caller) -> Result<(), StoreError> {
        store.trust_place(&self.0.real_place(), &self.0.scope)
    }
}

/// Takes back what is known of a directory and of those below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustProject(pub Claim);

impl UseCase for UntrustProject {
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

impl UseCase for Places {
    type Outcome = Vec<Place>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Place>, StoreError> {
        store.places()
    }
}

/// Looks for credentials in clear in everything that the home holds, and takes them out where that is wanted.
pub struct ScanSecrets<'a> {
    /// Whether they are only counted.
    pub scanning: Scanning,
    /// Told how far it is.
    pub progress: ScanProgress<'a>,
}

impl UseCase for ScanSecrets<'_> {
    type Outcome = Scan;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Scan, StoreError> {
        store.scan(self.scanning, self.progress)
    }
}

/// What was done about a memory that was removed for good, after what is left of it was tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purged {
    /// Which.
    pub id: MemoryRef,
}

impl UseCase for Purged {
    /// `None` for a memory that was not removed.
    type Outcome = Option<Removal>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Option<Removal>, StoreError> {
        store.go_on_removing()?;
        store.purged(self.id)
    }
}
