//! What should not be there any more: credentials in clear from before they were taken out, and what was removed for good.

use tessera_engine::Store;
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{Purged as Removal, Scan, ScanProgress, Scanning, StoreError};

use crate::caller::Caller;
use crate::desk::{Effect, Verb};

/// Looks for credentials in clear in everything that the home holds, and takes them out where that is wanted.
pub struct ScanSecrets<'a> {
    /// Whether they are only counted.
    pub scanning: Scanning,
    /// Told how far it is.
    pub progress: ScanProgress<'a>,
}

impl Verb for ScanSecrets<'_> {
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

impl Verb for Purged {
    /// `None` for a memory that was not removed.
    type Outcome = Option<Removal>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Option<Removal>, StoreError> {
        store.go_on_removing()?;
        store.purged(self.id)
    }
}
