//! Encrypts values that were removed from texts, and stores the keys.
//!
//! It uses AES-256-GCM from `ring` with a fresh nonce per value, and binds each value to its user, memory and name. A
//! value that was moved to another place cannot be decrypted. No value and no key appears in an error or in debug
//! output.

mod file;
mod key;
#[cfg(feature = "keyring")]
mod keyring;
mod sealed;

pub use file::{FileError, keys_in, write_keys};
pub use key::{Key, KeyError, KeyId, Keys, random};
#[cfg(feature = "keyring")]
pub use keyring::{Keyring, KeyringError};
pub use sealed::{Bound, SealError, Value, key_of, open, open_older, seal};
