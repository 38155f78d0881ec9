//! Secrets: showing, listing, deleting, and rotating the key.

use tessera_engine::Store;
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{
    Allowed, Hidden, KeyPlace, Revealed, Rotated, SecretRef, SecretRow, SecretUse, StoreError,
};

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// Shows the value of a secret, or of all secrets of a memory. The request is recorded before the value is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reveal {
    /// The secret.
    pub which: SecretRef,
}

impl UseCase for Reveal {
    type Outcome = Revealed;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Revealed, StoreError> {
        store.reveal(&self.which, &caller.actor(None))
    }
}

/// The secrets of all memories or of one, without values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListSecrets {
    /// Only of this memory.
    pub of: Option<MemoryRef>,
}

/// The result of [`ListSecrets`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretsListed {
    /// The secrets, latest first.
    pub secrets: Vec<SecretRow>,
    /// Where the key of the secrets is stored, if there is one.
    pub key: Option<KeyPlace>,
    /// The texts that a person declared not to be secrets.
    pub allowed: Vec<String>,
}

impl UseCase for ListSecrets {
    type Outcome = SecretsListed;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<SecretsListed, StoreError> {
        let of = self.of.map(|of| Ok(store.get(of)?.ok_or(StoreError::NotFound(of))?.id));
        let of = of.transpose().map_err(|error: StoreError| error)?;
        Ok(SecretsListed {
            secrets: store.secrets(of)?,
            key: store.secret_key_place()?,
            allowed: store.allowed_texts()?,
        })
    }
}

/// Hides a text of a memory: encrypts it, and replaces it everywhere with the name of a secret.
#[derive(Debug, Clone)]
pub struct HideText {
    /// The memory.
    pub memory: MemoryRef,
    /// The text.
    pub text: String,
}

impl UseCase for HideText {
    type Outcome = Hidden;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Hidden, StoreError> {
        store.hide(self.memory, &self.text, &caller.actor(None))
    }
}

/// Declares a secret that a classifier found, or that a person marked, not to be a secret. Restores its text.
#[derive(Debug, Clone)]
pub struct AllowSecret {
    /// The name of the secret, or its beginning.
    pub name: String,
}

impl UseCase for AllowSecret {
    type Outcome = Allowed;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Allowed, StoreError> {
        store.allow_secret(&self.name, &caller.actor(None))
    }
}

/// Deletes the value of a secret, or of all secrets of a memory, permanently. The texts keep the names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetSecret {
    /// The secret.
    pub which: SecretRef,
}

impl UseCase for ForgetSecret {
    type Outcome = Vec<SecretRow>;
    const EFFECT: Effect = Effect::Destroys;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Vec<SecretRow>, StoreError> {
        store.forget_secrets(&self.which, &caller.actor(None))
    }
}

/// The operations on secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretUses {
    /// The first characters of the names of the secrets; all secrets if absent.
    pub name: Option<String>,
}

impl UseCase for SecretUses {
    type Outcome = Vec<SecretUse>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<SecretUse>, StoreError> {
        store.secret_uses(self.name.as_deref())
    }
}

/// Encrypts all secrets with another key.
pub struct RotateKey<'a> {
    /// Receives the number of processed secrets.
    pub progress: &'a mut dyn FnMut(usize),
}

impl UseCase for RotateKey<'_> {
    type Outcome = Rotated;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Rotated, StoreError> {
        store.rotate_secret_key(self.progress)
    }
}
