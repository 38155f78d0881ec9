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
    /// The home directory. It is created if missing, accessible only to the owner.
    pub home: Home,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The ranking weights.
    pub weights: Weights,
    /// How the process uses the store.
    pub usage: Usage,
    /// True if semantic search is on. If semantic search is off, embeddings are neither computed nor used. Existing
    /// embeddings are kept, and missing ones are computed when semantic search is on again.
    pub embedding: bool,
    /// The rules for credentials in texts.
    pub secrets: SecretRules,
}

/// The handling of a credential in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecretMode {
    /// Credentials are encrypted and stored with their memory.
    #[default]
    Encrypt,
    /// Credentials are discarded, and the text contains a placeholder.
    Drop,
    /// A text with one is rejected.
    Refuse,
    /// Like [`SecretMode::Encrypt`] until the vault has stored the value. Then the local copy is deleted.
    Vault,
}

impl SecretMode {
    /// All modes by name.
    pub const ALL: [(&str, Self); 4] =
        [("encrypt", Self::Encrypt), ("drop", Self::Drop), ("refuse", Self::Refuse), ("vault", Self::Vault)];
}

/// A place for keys that is not a file: the system's keyring.
pub trait Keyring: Send + Sync {
    /// The keys of an account; `None` if there are none, or no keyring responds.
    ///
    /// # Errors
    /// Returns an error if there are keys, but they are not available now.
    fn keys(&self, account: &str) -> Result<Option<Keys>, KeyringError>;

    /// Stores keys; `false` if no keyring responds.
    ///
    /// # Errors
    /// Returns an error if a keyring responds but rejects the keys.
    fn put(&self, account: &str, keys: &Keys) -> Result<bool, KeyringError>;

    /// Deletes the keys.
    ///
    /// # Errors
    /// Returns an error if the keys exist and cannot be deleted.
    fn remove(&self, account: &str) -> Result<(), KeyringError>;
}

/// The reason why a keyring returns no keys.
#[derive(Debug, thiserror::Error)]
#[error("{problem}; unlock it, or set TESSERA_SECRET_KEY")]
pub struct KeyringError {
    /// Its message, without any key.
    pub problem: String,
}

/// The handling of credentials, and the places of the keys.
#[derive(Clone, Default)]
pub struct SecretRules {
    /// The handling of credentials.
    pub mode: SecretMode,
    /// The keys from the user: 64 hexadecimal digits each, or a passphrase. The first key encrypts; the others are only
    /// used for decryption. If empty, keys are in the keyring or in a file of the home directory.
    pub given: Vec<Zeroizing<String>>,
    /// The system's keyring, if the program may use it.
    pub keyring: Option<Arc<dyn Keyring>>,
}

impl std::fmt::Debug for SecretRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretRules").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// How a process uses a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// Reads once and exits. This also works in a read-only directory.
    ReadOnce,
    /// Writes, and sometimes reads.
    Write,
    /// A long-running process, which keeps the index in memory between reads.
    Serve,
}

/// The author of a change, for the history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actor {
    /// The origin.
    pub origin: Origin,
    /// The session.
    pub session: Option<String>,
    /// The client program.
    pub client: Option<String>,
    /// The reason.
    pub reason: Option<String>,
    /// The changes that plugins made to a request before Tessera processed it.
    pub altered: Vec<Alteration>,
}

/// The client's name that the history shows for changes from the server.
const SYNC: &str = "sync";

impl Actor {
    /// A change from the server.
    pub(crate) fn by_sync() -> Self {
        Self { client: Some(SYNC.to_owned()), ..Self::default() }
    }
}
