//! An encrypted value: one version byte, four bytes for the key number, twelve for the nonce, the value, and sixteen
//! for the tag.
//!
//! Also decrypts ciphertexts of claude-memory-mcp: nonce, value and tag, not bound to a memory. Their key is written in
//! hexadecimal digits, or is the SHA-256 of a passphrase. Ciphertexts in the older format are only read, never written.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use zeroize::Zeroizing;

use crate::key::{KEY_BYTES, Key, KeyId, Keys};

const VERSION: u8 = 1;
const HEADER: usize = 5;

/// A value in clear text, wiped when dropped.
pub type Value = Zeroizing<String>;

/// The place to which a value is bound. The value can only be decrypted for the user, the memory and the name for which
/// it was encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound<'a> {
    /// The user to whom the value is bound, or the store if there are no users.
    pub user: &'a str,
    /// The memory.
    pub memory: &'a str,
    /// The name of the secret.
    pub name: &'a str,
}

impl Bound<'_> {
    /// All parts, each after its length, so that different places never have the same bytes.
    fn bytes(self) -> Vec<u8> {
        let mut bytes = Vec::from(b"tessera secret 1".as_slice());
        for part in [self.user, self.memory, self.name] {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part.as_bytes());
        }
        bytes
    }
}

/// An error of encryption or decryption.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealError {
    /// The value could not be encrypted, or the system cannot provide random numbers.
    #[error("cannot be encrypted, because the system returned no random numbers")]
    NotSealed,
    /// A newer program encrypted it.
    #[error("a newer version of Tessera encrypted it; update this program")]
    Newer,
    /// Another key encrypted it.
    #[error("it is encrypted with key #{needed}, but the current key is #{at_hand}; provide key #{needed}")]
    OtherKey {
        /// The necessary key.
        needed: KeyId,
        /// The available key.
        at_hand: KeyId,
    },
    /// The value was changed or truncated, or it belongs to another memory.
    #[error("the stored value is damaged, or belongs to another memory")]
    Damaged,
}

fn cipher(key: &Key) -> Result<LessSafeKey, SealError> {
    Ok(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.0.as_slice()).map_err(|_| SealError::NotSealed)?))
}

/// Encrypts a value for a place.
///
/// # Errors
/// Returns an error if the system does not provide random numbers.
pub fn seal(key: &Key, bound: Bound<'_>, value: &str) -> Result<Vec<u8>, SealError> {
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).map_err(|_| SealError::NotSealed)?;
    let mut sealed = vec![VERSION];
    sealed.extend(key.id().0);
    sealed.extend(nonce);
    let mut text = Zeroizing::new(value.as_bytes().to_vec());
    let aad = Aad::from([bound.bytes(), sealed.clone()].concat());
    let nonce = Nonce::assume_unique_for_key(nonce);
    let tag = cipher(key)?.seal_in_place_separate_tag(nonce, aad, &mut text).map_err(|_| SealError::NotSealed)?;
    sealed.extend(text.iter());
    sealed.extend(tag.as_ref());
    Ok(sealed)
}

/// Decrypts a value from [`seal`] with its key.
///
/// # Errors
/// Returns an error if the key is missing, a newer program encrypted the value, or the value is damaged.
pub fn open(keys: &Keys, bound: Bound<'_>, sealed: &[u8]) -> Result<Value, SealError> {
    let needed = key_of(sealed)?;
    let key = keys.of_id(needed);
    if needed != key.id() {
        return Err(SealError::OtherKey { needed, at_hand: key.id() });
    }
    let (head, rest) = sealed.split_at_checked(HEADER + NONCE_LEN).ok_or(SealError::Damaged)?;
    let nonce = head.get(HEADER..).unwrap_or_default();
    let aad = Aad::from([bound.bytes().as_slice(), head].concat());
    opened(key, nonce, aad, rest)
}

/// The key of an encrypted value.
///
/// # Errors
/// Returns an error if a newer version of Tessera encrypted the value, or if the bytes are not an encrypted value.
pub fn key_of(sealed: &[u8]) -> Result<KeyId, SealError> {
    match sealed {
        [VERSION, a, b, c, d, ..] => Ok(KeyId([*a, *b, *c, *d])),
        [version, _, _, _, _, ..] if *version > VERSION => Err(SealError::Newer),
        _ => Err(SealError::Damaged),
    }
}

pub(crate) fn opened<A: AsRef<[u8]>>(key: &Key, nonce: &[u8], aad: Aad<A>, rest: &[u8]) -> Result<Value, SealError> {
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SealError::Damaged)?;
    let mut bytes = Zeroizing::new(rest.to_vec());
    let text = cipher(key)?.open_in_place(nonce, aad, &mut bytes).map_err(|_| SealError::Damaged)?;
    std::str::from_utf8(text).map(|text| Zeroizing::new(text.to_owned())).map_err(|_| SealError::Damaged)
}

/// Decrypts a ciphertext of the older system with that system's `MEMORY_ENCRYPTION_KEY`.
///
/// # Errors
/// Returns an error if another key encrypted the ciphertext, or the ciphertext was changed.
pub fn open_older(given: &str, ciphertext: &[u8]) -> Result<Value, SealError> {
    let key = Key::from_hex(given).unwrap_or_else(|_| {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        bytes.iter_mut().zip(digest(&SHA256, given.as_bytes()).as_ref()).for_each(|(byte, of)| *byte = *of);
        Key(bytes)
    });
    let (nonce, rest) = ciphertext.split_at_checked(NONCE_LEN).ok_or(SealError::Damaged)?;
    opened(&key, nonce, Aad::empty(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const BOUND: Bound<'static> = Bound { user: "ada", memory: "m1", name: "s1" };

    #[test]
    fn a_value_opens_for_whom_it_was_sealed_and_for_nobody_else() {
        let key = Key::generate().unwrap();
        let keys = Keys::of(key.clone());
        for value in ["", "hunter2", "Grüße 密码 \u{1f511}\n\0"] {
            let sealed = seal(&key, BOUND, value).unwrap();
            assert_eq!(open(&keys, BOUND, &sealed).unwrap().as_str(), value);
            for other in [
                Bound { user: "bob", ..BOUND },
                Bound { memory: "m2", ..BOUND },
                Bound { name: "s2", ..BOUND },
                Bound { user: "adam", memory: "1", ..BOUND },
            ] {
                assert_eq!(open(&keys, other, &sealed), Err(SealError::Damaged));
            }
        }
        let (sealed, other) = (seal(&key, BOUND, "x").unwrap(), Key::generate().unwrap());
        let others = Keys::of(other.clone());
        assert!(matches!(open(&others, BOUND, &sealed), Err(SealError::OtherKey { needed, .. }) if needed == key.id()));
        assert_eq!(open(&keys.followed_by(other), BOUND, &sealed).unwrap().as_str(), "x");
    }

    #[test]
    fn a_bit_turned_or_a_byte_missing_is_noticed() {
        let key = Key::generate().unwrap();
        let keys = Keys::of(key.clone());
        let sealed = seal(&key, BOUND, "hunter2").unwrap();
        for at in 0..8 * sealed.len() {
            let mut turned = sealed.clone();
            turned[at / 8] ^= 1 << (at % 8);
            assert!(open(&keys, BOUND, &turned).is_err(), "bit {at}");
        }
        for length in 0..sealed.len() {
            assert!(open(&keys, BOUND, &sealed[..length]).is_err(), "{length} bytes");
        }
        assert_eq!(key_of(&[9; 40]), Err(SealError::Newer));
    }

    #[test]
    fn no_nonce_is_used_twice() {
        let key = Key::generate().unwrap();
        let nonces: HashSet<_> = (0..20_000).map(|_| seal(&key, BOUND, "x").unwrap()[5..17].to_vec()).collect();
        assert_eq!(nonces.len(), 20_000);
    }
}

#[cfg(test)]
mod older_tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        hex.as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    #[test]
    fn what_the_older_system_encrypted_is_read() {
        let plain = "token=abcd1234efgh5678ijkl Grüße";
        let by_passphrase = "9fd6a5f577140105f00b48d7ee371703c478047f6dd20f682851e2d155ab2b8701edb9393af195ee845f9c8a\
                             3c0c7b12067f85920427eda4ff4dd5df23df";
        let by_digits = "79674be90d5a27a77ce785164523920376bd55896e181c874323c2794fa14d1be261ef374f155625d357c4d7098f3\
                         a702e38b156b46051b2011b2ecbc2b6";
        assert_eq!(open_older("correct horse battery staple", &bytes(by_passphrase)).unwrap().as_str(), plain);
        let digits = "00112233445566778899aabbccddeeff".repeat(2);
        assert_eq!(open_older(&digits, &bytes(by_digits)).unwrap().as_str(), plain);
        assert_eq!(open_older("another", &bytes(by_digits)), Err(SealError::Damaged));
        assert_eq!(open_older("another", b"short"), Err(SealError::Damaged));
    }
}
