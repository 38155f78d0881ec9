//! Encrypts what was taken out of texts, and knows where its key is kept.
//!
//! AES-256-GCM through `ring`, a fresh nonce for each value, and whose value it is bound to it: what is moved to another
//! memory, user or name does not open. No value and no key shows in an error or a debug print.

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
