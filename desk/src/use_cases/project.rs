//! The confirmation of directories as projects.
//!
//! This module also finds data that must not exist: credentials in clear text, and permanently deleted memories.

use tessera_engine::Store;
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{Place, Purged as Removal, Scan, ScanProgress, Scanning, StoreError};

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};
use crate::project::Claim;

/// Whether the project that a directory names is confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsBelieved(pub Claim);

impl UseCase for IsBelieved {
    type Outcome = bool;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<bool, StoreError> {
        self.0.is_believed(store)
    }
}

/// Confirms a directory's claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustProject(pub Claim);

impl UseCase for TrustProject {
    type Outcome = ();
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, _: &Caller) -> Result<(), StoreError> {
        store.trust_place(&self.0.real_place(), &self.0.scope)
    }
}

/// Withdraws the confirmation of a directory and of all directories below it.
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

/// All directories of known projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places;

impl UseCase for Places {
    type Outcome = Vec<Place>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Place>, StoreError> {
        store.places()
    }
}

/// Finds credentials in clear text in the home directory, and removes them on request.
pub struct ScanSecrets<'a> {
    /// Whether they are only counted.
    pub scanning: Scanning,
    /// Receives the progress.
    pub progress: ScanProgress<'a>,
}

impl UseCase for ScanSecrets<'_> {
    type Outcome = Scan;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Scan, StoreError> {
        store.scan(self.scanning, self.progress)
    }
}

/// The state of a permanent deletion, after pending steps were tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purged {
    /// The memory.
    pub id: MemoryRef,
}

impl UseCase for Purged {
    /// `None` for a memory that was not permanently deleted.
    type Outcome = Option<Removal>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Option<Removal>, StoreError> {
        store.go_on_removing()?;
        store.purged(self.id)
    }
}
