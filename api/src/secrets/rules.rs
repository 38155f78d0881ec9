//! The secrets configuration of a server: mode, keys, vault.

use std::fmt;
use std::str::FromStr;

use tessera_engine::domain::MemoryUuid;
use tessera_engine::screen::{Name, Secret};
use tessera_seal::{Bound, Key, KeyError, Keys, SealError, Value, open, open_older, seal};
use tessera_tables::names;
use tessera_vault::{Config, Vault, VaultError};
use zeroize::Zeroizing;

use crate::db::{Db, DbError};

names! {
/// How a server handles a credential in a text.
pub enum SecretMode {
    /// Encrypts the secret and stores it with its memory.
    Encrypt = "encrypt",
    /// Redacts and discards it.
    Drop = "drop",
    /// Stores nothing of the text.
    Refuse = "refuse",
    /// Keeps it in a vault.
    Vault = "vault",
}
}

impl FromStr for SecretMode {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        Self::named(text.trim()).ok_or_else(|| SecretError::Mode { given: text.to_owned() })
    }
}

/// The configured values. A key is 64 hexadecimal digits or a passphrase.
#[derive(Clone, Default)]
pub struct SecretRules {
    /// The mode. The default is a vault if one is configured, encryption if there is a key, and otherwise the rejection
    /// of texts with secrets.
    pub mode: Option<SecretMode>,
    /// The key that seals.
    pub key: Option<Zeroizing<String>>,
    /// Previous keys, which are only used to decrypt.
    pub before: Vec<Zeroizing<String>>,
    /// The vault.
    pub vault: Option<Config>,
}

impl fmt::Debug for SecretRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("SecretRules");
        shown.field("mode", &self.mode).field("has_key", &self.key.is_some()).field("before", &self.before.len());
        shown.field("vault", &self.vault).finish()
    }
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// A mode that is none.
    #[error("{given:?} is not a valid mode; use encrypt, drop, refuse or vault")]
    Mode {
        /// The given value.
        given: String,
    },
    /// To encrypt takes a key.
    #[error("the mode is encrypt, but there is no key; set TESSERA_SECRET_KEY")]
    NoKey,
    /// The mode vault needs a vault.
    #[error("the mode is vault, but there is no vault; set VAULT_ADDR")]
    NoVault,
    /// A key that is none.
    #[error("a secret key cannot be used: {0}")]
    Key(#[from] KeyError),
    /// The database is encrypted with another key.
    #[error(
        "the configured key is {at_hand}, but this database is encrypted with {needed}; set that key, or keep the new \
        key and add the old one in TESSERA_SECRET_KEY_BEFORE"
    )]
    OtherKey {
        /// The ID of the key that this database uses.
        needed: String,
        /// The ID of the configured key.
        at_hand: String,
    },
    /// The vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The database.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Everything that a server needs for secrets.
#[derive(Debug)]
pub struct Secrets {
    pub(super) mode: SecretMode,
    pub(super) keys: Option<Keys>,
    pub(super) vault: Option<Vault>,
    /// The keys as configured, for values of the older system.
    given: Vec<Zeroizing<String>>,
}

/// The result of decrypting a value.
pub(crate) enum Opened {
    /// The value.
    Value(Value),
    /// The key that encrypted it is missing.
    NoKey,
}

/// A value that was found.
pub(crate) struct Taken {
    pub(crate) name: Option<Name>,
    pub(crate) kind: String,
    pub(crate) value: Zeroizing<String>,
}

impl Secrets {
    /// A server that does not store secrets, and rejects texts with credentials.
    pub fn refusing() -> Self {
        Self { mode: SecretMode::Refuse, keys: None, vault: None, given: Vec::new() }
    }

    /// Opens the configuration, and compares the key with the one that the database uses.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be used, or another server of this database uses another key.
    pub async fn open(db: &Db, rules: SecretRules) -> Result<Self, SecretError> {
        let SecretRules { mode, key, before, vault } = rules;
        let mode = mode.unwrap_or(match (&vault, &key) {
            (Some(_), _) => SecretMode::Vault,
            (None, Some(_)) => SecretMode::Encrypt,
            (None, None) => SecretMode::Refuse,
        });
        let salt = db.secret_salt().await?;
        let given: Vec<Zeroizing<String>> = key.into_iter().chain(before).collect();
        let made = {
            let given = given.clone();
            // Deriving a key from a passphrase takes tens of milliseconds and megabytes.
            let keys = move || given.iter().map(|text| Key::given(text, &salt)).collect::<Result<Vec<_>, _>>();
            tokio::task::spawn_blocking(keys).await.unwrap_or(Err(KeyError::Passphrase))?
        };
        let mut made = made.into_iter();
        let keys = made.next().map(|current| Keys { current, before: made.collect() });
        if let Some(keys) = &keys {
            let known: Vec<String> = keys.before.iter().map(|key| key.id().to_string()).collect();
            let at_hand = keys.current.id().to_string();
            if let Err(needed) = db.agree_on_key(&at_hand, &known).await? {
                return Err(SecretError::OtherKey { needed, at_hand });
            }
        }
        let vault = vault.map(Vault::new).transpose()?;
        match mode {
            SecretMode::Encrypt if keys.is_none() => Err(SecretError::NoKey),
            SecretMode::Vault if vault.is_none() => Err(SecretError::NoVault),
            _ => Ok(Self { mode, keys, vault, given }),
        }
    }

    /// How credentials are handled.
    pub fn mode(&self) -> SecretMode {
        self.mode
    }

    /// True if the server stores secrets.
    pub(crate) fn has_place(&self) -> bool {
        matches!(self.mode, SecretMode::Encrypt | SecretMode::Vault)
    }

    /// The id of the key that seals.
    pub fn key_id(&self) -> Option<String> {
        self.keys.as_ref().map(|keys| keys.current.id().to_string())
    }

    /// The vault, if there is one.
    pub fn vault(&self) -> Option<&Vault> {
        self.vault.as_ref()
    }

    /// Returns a keyed fingerprint that is equal for equal values of an owner; empty without a key.
    pub(crate) fn mark(&self, owner: &str, value: &str) -> Vec<u8> {
        let said = Zeroizing::new(format!("{owner}\0{value}"));
        self.keys.as_ref().map(|keys| keys.current.mark(&said)).unwrap_or_default()
    }

    /// The stored form of a value for its owner and memory: encrypted, or empty if it is in the vault.
    pub(crate) fn secret(&self, owner: &str, memory: MemoryUuid, taken: &Taken) -> Result<Secret, SealError> {
        let name = taken.name.clone().ok_or(SealError::NotSealed)?;
        let sealed = match self.mode {
            SecretMode::Vault => Vec::new(),
            _ => self.sealed(owner, memory, name.as_str(), &taken.value)?,
        };
        Ok(Secret { name, kind: taken.kind.clone(), mark: self.mark(owner, &taken.value), sealed })
    }

    /// Encrypts a value for its owner and memory.
    pub(crate) fn sealed(
        &self,
        owner: &str,
        memory: MemoryUuid,
        name: &str,
        value: &str,
    ) -> Result<Vec<u8>, SealError> {
        let keys = self.keys.as_ref().ok_or(SealError::NotSealed)?;
        seal(&keys.current, Bound { user: owner, memory: &memory.to_string(), name }, value)
    }

    /// Decrypts a value of an owner and memory.
    pub(crate) fn opened(
        &self,
        owner: &str,
        memory: MemoryUuid,
        name: &str,
        sealed: &[u8],
    ) -> Result<Opened, SealError> {
        let Some(keys) = &self.keys else { return Ok(Opened::NoKey) };
        match open(keys, Bound { user: owner, memory: &memory.to_string(), name }, sealed) {
            Ok(value) => Ok(Opened::Value(value)),
            Err(SealError::OtherKey { .. }) => Ok(Opened::NoKey),
            Err(error) => Err(error),
        }
    }

    /// Decrypts a value of the older system with any configured key.
    pub(crate) fn opened_older(&self, ciphertext: &[u8]) -> Option<Value> {
        self.given.iter().find_map(|given| open_older(given, ciphertext).ok())
    }
}
