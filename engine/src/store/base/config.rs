//! How a store is opened, and who changes it.

use std::sync::Arc;

use tessera_seal::Keys;
use zeroize::Zeroizing;

use crate::domain::{Alteration, Clock, Origin};
use crate::score::Weights;
use crate::store::file::home::Home;

/// How a store is opened.
#[derive(Clone)]
pub struct StoreConfig {
    /// The directory that holds everything. Made if missing, for the owner alone.
    pub home: Home,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Numbers of the ranking.
    pub weights: Weights,
    /// What the process will do with it.
    pub usage: Usage,
    /// True where the leg of meaning is on. Where it is off no vectors are made and none are used: memories are found by
    /// their words, as if there were no vectors. Those that are there stay, and the others wait until it is on again.
    pub meaning: bool,
    /// What becomes of credentials in texts.
    pub secrets: SecretRules,
}

/// What becomes of a credential in a text that is to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecretMode {
    /// It is encrypted and kept beside its memory.
    #[default]
    Encrypt,
    /// It is not kept at all: the text says that one was there.
    Drop,
    /// A text with one is not stored.
    Refuse,
    /// As [`SecretMode::Encrypt`], until a vault has it: then it is kept there alone.
    Vault,
}

impl SecretMode {
    /// All modes by name.
    pub const ALL: [(&str, Self); 4] =
        [("encrypt", Self::Encrypt), ("drop", Self::Drop), ("refuse", Self::Refuse), ("vault", Self::Vault)];
}

/// A place beside the home where keys may be kept: the system's keyring.
pub trait Keyring: Send + Sync {
    /// The keys of an account; `None` where there are none, or no keyring answers.
    ///
    /// # Errors
    /// When there are some and they cannot be had now.
    fn keys(&self, account: &str) -> Result<Option<Keys>, KeyringError>;

    /// Keeps keys; `false` where no keyring answers.
    ///
    /// # Errors
    /// When one answers and does not take them.
    fn put(&self, account: &str, keys: &Keys) -> Result<bool, KeyringError>;

    /// Lets go of them.
    ///
    /// # Errors
    /// When they are there and stay.
    fn remove(&self, account: &str) -> Result<(), KeyringError>;
}

/// Why a keyring gives no keys.
#[derive(Debug, thiserror::Error)]
#[error("{problem}; unlock it, or set TESSERA_SECRET_KEY")]
pub struct KeyringError {
    /// What it said, without any key.
    pub problem: String,
}

/// What becomes of credentials, and where the keys are that they are sealed with.
#[derive(Clone, Default)]
pub struct SecretRules {
    /// What becomes of them.
    pub mode: SecretMode,
    /// The key that a person gave: 64 hexadecimal digits, or a passphrase. The first seals, the others open what was
    /// sealed before. Empty: the keyring, or the file in the home.
    pub given: Vec<Zeroizing<String>>,
    /// The system's keyring, where the program may use it.
    pub keyring: Option<Arc<dyn Keyring>>,
}

impl std::fmt::Debug for SecretRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretRules").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// What a process will do with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// Read once and exit. Works in a read-only directory.
    ReadOnce,
    /// Write, and read now and then.
    Write,
    /// Live long: the index is kept in memory between reads.
    Serve,
}

/// Who makes a change: kept in its provenance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actor {
    /// Who or what.
    pub origin: Origin,
    /// In which session.
    pub session: Option<String>,
    /// Through which client program.
    pub client: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What plugins changed of it before it was made.
    pub altered: Vec<Alteration>,
}
