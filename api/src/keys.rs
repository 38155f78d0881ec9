//! API keys: `tsr_<id>_<secret>_<checksum>`. The ID is looked up, only a hash of the secret is stored, and the checksum
//! detects typos without the database.
//!
//! Also remembers the recorded position of each machine, so that a repeated request is not recorded again.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lru::LruCache;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const PREFIX: &str = "tsr";
const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;
/// Keys of the older API with fewer characters are accepted, but can be guessed.
const SHORT: usize = 16;

/// The scopes of keys.
pub const SCOPES: [&str; 3] = ["read", "write", "share"];

/// A key as its user has it. Only [`Key::reveal`] returns the complete key.
pub struct Key {
    id: String,
    secret: String,
}

/// No source of random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the system returned no random bytes: {0}")]
pub struct NoRandomness(getrandom::Error);

impl Key {
    /// Generates a key.
    ///
    /// # Errors
    /// Returns an error if the system returns no random bytes.
    pub fn generate() -> Result<Self, NoRandomness> {
        let (mut id, mut secret) = ([0; ID_BYTES], [0; SECRET_BYTES]);
        getrandom::fill(&mut id).and_then(|()| getrandom::fill(&mut secret)).map_err(NoRandomness)?;
        // IDs are typed on command lines, so they have only letters and digits, and never the separator.
        let id = id.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { id, secret: URL_SAFE_NO_PAD.encode(secret).replace('_', ".") })
    }

    /// Parses a key, with its checksum. Any other text is a key of the older API, which the server finds by its hash.
    pub fn parse(text: &str) -> Option<Self> {
        if !is_ours(text) {
            return Self::older(text);
        }
        let mut parts = text.split('_');
        let (prefix, id, secret, checksum) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let key = Self { id: id.to_owned(), secret: secret.to_owned() };
        let is_whole =
            parts.next().is_none() && prefix == PREFIX && key.checksum() == checksum && id.len() == 2 * ID_BYTES;
        is_whole.then_some(key)
    }

    /// A key of the older API: a secret of any length, without an ID. Returns `None` if the text is empty, cannot be in
    /// an HTTP header, or looks like a key of Tessera.
    pub fn older(text: &str) -> Option<Self> {
        let is_key = !text.is_empty()
            && text.len() <= 1_000
            && !is_ours(text)
            && text.trim() == text
            && !text.chars().any(char::is_control);
        let id = || Sha256::digest(text.as_bytes()).iter().take(ID_BYTES).map(|byte| format!("{byte:02x}")).collect();
        is_key.then(|| Self { id: id(), secret: text.to_owned() })
    }

    /// True for a key that can be guessed.
    pub fn is_short(&self) -> bool {
        self.secret.len() < SHORT
    }

    /// The complete key, which is shown once to its user.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}_{}_{}_{}", self.id, self.secret, self.checksum())
    }

    /// The column for the lookup.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its stored hash.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.secret.as_bytes()).into()
    }

    /// True if this key has the hash. The comparison takes constant time.
    pub fn is(&self, hash: &[u8]) -> bool {
        self.hash().as_slice().ct_eq(hash).into()
    }

    fn checksum(&self) -> String {
        format!("{:08x}", crc32fast::hash(format!("{}_{}", self.id, self.secret).as_bytes()))
    }
}

fn is_ours(text: &str) -> bool {
    text.split_once('_').is_some_and(|(prefix, _)| prefix == PREFIX)
}

/// How long a record in the database is valid; SQL uses the same time.
const NOTED_FOR: Duration = Duration::from_hours(1);
/// The maximum number of remembered machines.
const MOST: NonZeroUsize = NonZeroUsize::new(20_000).expect("20,000 is not zero");

/// The feed position of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) epoch: u64,
    pub(crate) after: u64,
}

/// For each machine (key ID and name), the recorded position and the time of the record.
#[derive(Debug)]
pub(crate) struct Heard(Mutex<LruCache<(String, String), (Place, Instant)>>);

impl Default for Heard {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }
}

impl Heard {
    /// True if the database already has this position of the machine.
    pub(crate) fn is_noted(&self, key: &str, machine: &str, place: Place) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_machine = known.get(&(key.to_owned(), machine.to_owned()));
        of_machine.is_some_and(|(at, since)| *at == place && since.elapsed() < NOTED_FOR)
    }

    /// Keeps what was noted.
    pub(crate) fn note(&self, key: &str, machine: &str, place: Place) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.put((key.to_owned(), machine.to_owned()), (place, Instant::now()));
    }
}

/// The single key of a request. The older API also accepted a key without the word `Bearer`.
pub(crate) fn presented(headers: &HeaderMap) -> Option<Key> {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (sent.next(), sent.next()) else { return None };
    match value.to_str().ok()?.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Key::parse(token.trim()),
        Some(_) => None,
        None => Key::parse(value.to_str().ok()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_and_a_typo_is_not() {
        for _ in 0..200 {
            let key = Key::generate().unwrap();
            let text = key.reveal();
            let again = Key::parse(&text).unwrap();
            assert!(again.is(&key.hash()) && again.id() == key.id());
            let other = Key::generate().unwrap();
            assert!(!again.is(&other.hash()));
            let mut typo = text.clone().into_bytes();
            typo[20] = if typo[20] == b'a' { b'b' } else { b'a' };
            assert!(Key::parse(std::str::from_utf8(&typo).unwrap()).is_none());
        }
        for text in ["", " ", "a\nb", "tsr_", "tsr_a_b_c", "tsr____", "tsr_abcdefabcdef_x_00000000"] {
            assert!(Key::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_key_of_the_older_api_may_be_short_and_never_empty() {
        for (text, is_short) in [("key-alice-xxx", true), ("dev-api-key", true), ("k", true), ("tsrandom", true)] {
            let key = Key::parse(text).unwrap();
            assert!(key.is_short() == is_short && key.is(&Key::older(text).unwrap().hash()), "{text}");
        }
        assert!(!Key::older("0123456789abcdef").unwrap().is_short());
        assert!(Key::older("").is_none() && Key::older(&"x".repeat(1_001)).is_none());
    }
}
