//! Secrets that were taken out of texts: given back on purpose, listed, let go of, sealed anew.

use tessera_engine::Store;
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{KeyPlace, Revealed, Rotated, SecretRef, SecretRow, SecretUse, StoreError};

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// Gives back the value of a secret, or of all secrets of a memory. Who asked is noted first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reveal {
    /// Which.
    pub which: SecretRef,
}

impl UseCase for Reveal {
    type Outcome = Revealed;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Revealed, StoreError> {
        store.reveal(&self.which, &caller.actor(None))
    }
}

/// The secrets that are kept, without their values: of all memories, or of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListSecrets {
    /// Of this memory alone.
    pub of: Option<MemoryRef>,
}

/// What [`ListSecrets`] finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretsListed {
    /// The secrets, the latest first.
    pub secrets: Vec<SecretRow>,
    /// Where their key lies, where there is one.
    pub key: Option<KeyPlace>,
}

impl UseCase for ListSecrets {
    type Outcome = SecretsListed;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<SecretsListed, StoreError> {
        let of = self.of.map(|of| Ok(store.get(of)?.ok_or(StoreError::NotFound(of))?.id));
        let of = of.transpose().map_err(|error: StoreError| error)?;
        Ok(SecretsListed { secrets: store.secrets(of)?, key: store.secret_key_place()? })
    }
}

/// Lets go of the value of a secret, or of all secrets of a memory, for good. The texts keep their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetSecret {
    /// Which.
    pub which: SecretRef,
}

impl UseCase for ForgetSecret {
    type Outcome = Vec<SecretRow>;
    const EFFECT: Effect = Effect::Destroys;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Vec<SecretRow>, StoreError> {
        store.forget_secrets(&self.which, &caller.actor(None))
    }
}

/// What was done with secrets, when, and by whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretUses {
    /// Only of secrets whose names begin so.
    pub name: Option<String>,
}

impl UseCase for SecretUses {
    type Outcome = Vec<SecretUse>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<SecretUse>, StoreError> {
        store.secret_uses(self.name.as_deref())
    }
}

/// Seals every secret with another key.
pub struct RotateKey<'a> {
    /// Told how many are sealed anew.
    pub progress: &'a mut dyn FnMut(usize),
}

impl UseCase for RotateKey<'_> {
    type Outcome = Rotated;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Rotated, StoreError> {
        store.rotate_secret_key(self.progress)
    }
}
