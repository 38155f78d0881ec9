//! API keys: `tsr_<id>_<secret>_<checksum>`. The id is looked up, of the secret only a hash is kept, and the
//! checksum tells a typo before the database is asked.
//!
//! Which machines asked for changes lately: one that asks for the same again is not noted again.

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
/// Shorter keys of the older API are taken as they are, and can be guessed.
const SHORT: usize = 16;

/// What a key may be used for.
pub const SCOPES: [&str; 3] = ["read", "write", "share"];

/// A key as its user has it. It cannot be printed but by [`Key::reveal`].
pub struct Key {
    id: String,
    secret: String,
}

/// No source of random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the system gives no random bytes: {0}")]
pub struct NoRandomness(getrandom::Error);

impl Key {
    /// Makes a new one.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn generate() -> Result<Self, NoRandomness> {
        let (mut id, mut secret) = ([0; ID_BYTES], [0; SECRET_BYTES]);
        getrandom::fill(&mut id).and_then(|()| getrandom::fill(&mut secret)).map_err(NoRandomness)?;
        // Ids are typed on command lines: digits and letters alone. The separator must not stand inside.
        let id = id.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { id, secret: URL_SAFE_NO_PAD.encode(secret).replace('_', ".") })
    }

    /// Reads a key. `None` when it is none: the checksum included. Any other text is a key of the older API, and known by
    /// its hash, if it was imported.
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

    /// A key of the older API: a secret without an id of its own, of whatever length. `None` for an empty one, and for one
    /// that no request can carry, or that would be read as one of ours.
    pub fn older(text: &str) -> Option<Self> {
        let is_key = !text.is_empty()
            && text.len() <= 1_000
            && !is_ours(text)
            && text.trim() == text
            && !text.chars().any(char::is_control);
        let id = || Sha256::digest(text.as_bytes()).iter().take(ID_BYTES).map(|byte| format!("{byte:02x}")).collect();
        is_key.then(|| Self { id: id(), secret: text.to_owned() })
    }

    /// True for one that can be guessed.
    pub fn is_short(&self) -> bool {
        self.secret.len() < SHORT
    }

    /// The key in full: shown once, to its user.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}_{}_{}_{}", self.id, self.secret, self.checksum())
    }

    /// What it is looked up by.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What is kept of it.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.secret.as_bytes()).into()
    }

    /// True when this is the key of a hash; takes the same time whatever differs.
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

/// How long a note of the database holds; its own rule is the same.
const NOTED_FOR: Duration = Duration::from_hours(1);
/// Machines that are known at a time.
const MOST: NonZeroUsize = NonZeroUsize::new(20_000).expect("20,000 is not zero");

/// The place up to which a machine has the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) epoch: u64,
    pub(crate) after: u64,
}

/// Machines by the ID of their key and their name, with what was noted of them last.
#[derive(Debug)]
pub(crate) struct Heard(Mutex<LruCache<(String, String), (Place, Instant)>>);

impl Default for Heard {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }
}

impl Heard {
    /// True if the database knows already that the machine is at this place.
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

/// The one key of a request. Keys of the older API are keys as well, if they were imported, and it took them without a
/// scheme, too.
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
