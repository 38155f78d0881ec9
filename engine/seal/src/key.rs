//! The key with which secrets are encrypted.

use std::fmt;

use argon2::{Algorithm, Argon2, Params, Version};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use zeroize::Zeroizing;

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;
/// The cost of testing a passphrase: 19 MiB, two passes, as OWASP's password storage cheat sheet recommends for
/// Argon2id.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
/// Minimum salt length of Argon2.
const LEAST_SALT: usize = 8;

/// Fills bytes with random ones.
///
/// # Errors
/// Returns an error if the system cannot provide random bytes.
pub fn random(bytes: &mut [u8]) -> Result<(), KeyError> {
    SystemRandom::new().fill(bytes).map_err(|_| KeyError::NoRandom)
}

/// The number of a key: four bytes of its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub(crate) [u8; 4]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// 32 bytes, wiped when dropped.
#[derive(Clone)]
pub struct Key(pub(crate) Zeroizing<[u8; KEY_BYTES]>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id())
    }
}

/// The reason why there is no key.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The system cannot provide random numbers.
    #[error("the system returned no random numbers")]
    NoRandom,
    /// The given key is empty.
    #[error("the key is empty; use 64 hexadecimal digits or a passphrase")]
    Empty,
    /// The stored key is invalid.
    #[error("the stored key is not valid: it does not have 64 hexadecimal digits")]
    NotHex,
    /// Argon2 failed.
    #[error("no key can be derived from the passphrase")]
    Passphrase,
}

impl Key {
    /// A new key.
    ///
    /// # Errors
    /// Returns an error if the system cannot provide random numbers.
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        SystemRandom::new().fill(bytes.as_mut()).map_err(|_| KeyError::NoRandom)?;
        Ok(Self(bytes))
    }

    /// Creates the key from the user's text: 64 hexadecimal digits are decoded into the bytes of the key. Any text that
    /// is not a key is a passphrase, from which Argon2id derives a key with the store's salt of at least 8 bytes.
    ///
    /// # Errors
    /// Returns an error if the text is empty.
    pub fn given(text: &str, salt: &[u8]) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if let Ok(key) = Self::from_hex(text) {
            return Ok(key);
        }
        let params = Params::new(MEMORY_KIB, PASSES, 1, Some(KEY_BYTES)).map_err(|_| KeyError::Passphrase)?;
        let mut padded = salt.to_vec();
        padded.resize(padded.len().max(LEAST_SALT), 0);
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(text.as_bytes(), &padded, bytes.as_mut())
            .map_err(|_| KeyError::Passphrase)?;
        Ok(Self(bytes))
    }

    /// A key from 64 hexadecimal digits.
    ///
    /// # Errors
    /// Returns an error if the text is not 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        let digits = Zeroizing::new(text.trim().as_bytes().to_vec());
        if digits.len() != 2 * KEY_BYTES {
            return Err(KeyError::NotHex);
        }
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            let digit =
                |at: usize| pair.get(at).and_then(|digit| char::from(*digit).to_digit(16)).ok_or(KeyError::NotHex);
            *byte = u8::try_from(16 * digit(0)? + digit(1)?).map_err(|_| KeyError::NotHex)?;
        }
        Ok(Self(bytes))
    }

    /// Its 64 hexadecimal digits.
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(self.0.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The ID of the key, which reveals nothing about its bytes.
    pub fn id(&self) -> KeyId {
        let named = Zeroizing::new([b"tessera key id ".as_slice(), self.0.as_slice()].concat());
        let mut id = [0; 4];
        id.iter_mut().zip(digest(&SHA256, &named).as_ref()).for_each(|(byte, of)| *byte = *of);
        KeyId(id)
    }

    /// A keyed hash of a value: equal for equal values, and useless without the key.
    pub fn mark(&self, value: &str) -> Vec<u8> {
        let derived = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, self.0.as_slice());
        let derived = ring::hmac::sign(&derived, b"tessera mark");
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, derived.as_ref());
        ring::hmac::sign(&key, value.as_bytes()).as_ref().iter().take(16).copied().collect()
    }
}

/// The encryption key, and earlier keys that still decrypt.
#[derive(Debug, Clone)]
pub struct Keys {
    /// The encryption key.
    pub current: Key,
    /// Earlier keys, latest first.
    pub before: Vec<Key>,
}

impl Keys {
    /// Only one key.
    pub fn of(current: Key) -> Self {
        Self { current, before: Vec::new() }
    }

    /// Returns the key with this ID, or the encryption key if no other key has it.
    pub fn of_id(&self, id: KeyId) -> &Key {
        self.before.iter().find(|key| key.id() == id).unwrap_or(&self.current)
    }

    /// Returns the keys with a new encryption key; the previous one can still decrypt.
    #[must_use]
    pub fn followed_by(self, current: Key) -> Self {
        let before = std::iter::once(self.current).chain(self.before).collect();
        Self { current, before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_the_key_and_a_passphrase_becomes_one() {
        let key = Key::generate().unwrap();
        assert_eq!(Key::given(&key.to_hex().to_uppercase(), b"store").unwrap().0, key.0);
        let by = |pass: &str, salt: &[u8]| Key::given(pass, salt).unwrap().id();
        assert_eq!(by("correct horse", b"store one"), by(" correct horse\n", b"store one"));
        assert_ne!(by("correct horse", b"store one"), by("correct horse", b"store two"));
        assert_ne!(by("correct horse", b"store one"), by("correct horsf", b"store one"));
        assert_eq!(Key::given(" \n", b"x").unwrap_err(), KeyError::Empty);
        assert_eq!(Key::from_hex("abc").unwrap_err(), KeyError::NotHex);
        assert!(!format!("{key:?}").contains(key.to_hex().as_str()));
    }

    #[test]
    fn a_mark_tells_equal_values_and_goes_by_the_key() {
        let (one, other) = (Key::generate().unwrap(), Key::generate().unwrap());
        assert_eq!(one.mark("a"), one.mark("a"));
        assert_ne!(one.mark("a"), one.mark("b"));
        assert_ne!(one.mark("a"), other.mark("a"));
    }
}
