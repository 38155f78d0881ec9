//! Lines that automatic learning proposes, and that wait for the decision of the user.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tessera_tables::{displays, text_types};
use uuid::Uuid;

use super::{Category, DomainError, Importance, MemoryUuid, Scope, Tag, Timestamp};

/// The namespace of digests.
const NAMESPACE: Uuid = Uuid::from_u128(0x7c1d_3e52_90af_4b68_8d34_1f0a_66c2_e9b7);
/// The letters of an ID. They contain no digit, so an ID never looks like the ID of a memory.
const LETTERS: [char; 16] = ['b', 'c', 'd', 'f', 'g', 'h', 'j', 'k', 'm', 'n', 'p', 'q', 'r', 't', 'v', 'w'];
/// How a line quotes the sentence of the agent that it corrects or answers.
pub const QUOTES: [&str; 2] = [" (corrects: \"", " (answers: \""];
/// The number of letters of an ID.
const LENGTH: usize = 6;

/// A line that waits for review. It is not a memory yet.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Candidate {
    /// The text.
    pub content: String,
    /// The category of the memory; derived, if absent.
    pub category: Option<Category>,
    /// The importance of the memory, 0 to 1; derived, if absent.
    pub importance: Option<Importance>,
    /// The tags of the memory.
    #[serde(default)]
    pub tags: Vec<Tag>,
    /// Additional search words.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// The scope of the memory.
    pub scope: Scope,
    /// When the user said it.
    pub created: Timestamp,
    /// When the memory will expire; never, if absent.
    #[serde(default, rename = "expires_at")]
    pub expires: Option<Timestamp>,
    /// The memory that the line replaces, if it is accepted.
    #[serde(default)]
    pub supersedes: Option<MemoryUuid>,
    /// The probability that the line is worth remembering, in percent. `None` if the extractor does not state one.
    #[serde(default)]
    pub certainty: Option<u8>,
    /// The session in which the user said it.
    #[serde(default)]
    pub session: Option<String>,
    /// The directory of the session, if the line belongs to a project.
    #[serde(default)]
    pub dir: Option<String>,
}

impl Candidate {
    /// Creates a line without optional fields.
    pub fn new(content: impl Into<String>, scope: Scope, created: Timestamp) -> Self {
        Self {
            content: content.into(),
            category: None,
            importance: None,
            tags: Vec::new(),
            keywords: Vec::new(),
            scope,
            created,
            expires: None,
            supersedes: None,
            certainty: None,
            session: None,
            dir: None,
        }
    }
}

/// A fingerprint by which a decision of the review queue is recognised later. The text cannot be read from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(Uuid);

impl Digest {
    /// The digest of a subject of a kind. Other stores have other digests.
    pub fn of(store: &[u8], kind: &str, subject: &str) -> Self {
        let keyed = Uuid::new_v5(&NAMESPACE, store);
        Self(Uuid::new_v5(&keyed, format!("{kind}\n{subject}").as_bytes()))
    }

    /// The digest of a line of a scope. Only the words of the user count: the agent's sentence that a line quotes, upper
    /// and lower case, white space and marks around words do not matter.
    pub fn of_line(store: &[u8], scope: &Scope, text: &str) -> Self {
        let own = QUOTES.iter().filter_map(|quote| text.find(quote)).min().and_then(|at| text.get(..at));
        let is_mark = |c: char| !c.is_alphanumeric() && !matches!(c, '-' | '+' | '$' | '#' | '/' | '@');
        let words = own.unwrap_or(text).split_whitespace().map(|word| word.trim_matches(is_mark).to_lowercase());
        let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        Self::of(store, "line", &format!("{scope}\n{}", words.join(" ")))
    }

    /// A digest from its bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// A short ID for people.
    pub fn id(&self) -> CandidateId {
        let nibbles = self.as_bytes().iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        CandidateId(nibbles.filter_map(|nibble| LETTERS.get(usize::from(nibble))).take(LENGTH).collect())
    }
}

/// The ID of a candidate: six letters, derived from its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CandidateId(String);

impl CandidateId {
    /// The letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CandidateId {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let id = text.trim().to_lowercase();
        if id.chars().count() == LENGTH && id.chars().all(|letter| LETTERS.contains(&letter)) {
            return Ok(Self(id));
        }
        let fix = "use an ID that `tessera review` shows, for example kdbfwm";
        Err(DomainError::invalid("id", "is not the ID of a line that waits for review", fix))
    }
}

text_types! { CandidateId: DomainError }
displays! { CandidateId }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_id_and_other_texts_and_stores_have_others() {
        let id = |text: &str, store: &[u8]| Digest::of_line(store, &Scope::Global, text).id();
        for same in
            ["We deploy  on Fridays.", "we deploy on FRIDAYS!!", "We, deploy on Fridays…", "“We deploy on Fridays”"]
        {
            assert_eq!(id(same, b"a"), id("we deploy on fridays", b"a"), "{same}");
        }
        let quoting = "We deploy on Fridays! (corrects: \"I will deploy on Monday\")";
        assert_eq!(id(quoting, b"a"), id("we deploy on fridays", b"a"));
        assert_ne!(id("-85 dBm", b"a"), id("85 dBm", b"a"));
        assert_ne!(id("We deploy on Mondays", b"a"), id("We deploy on Fridays", b"a"));
        assert_ne!(id("We deploy on Fridays", b"b"), id("We deploy on Fridays", b"a"));
        let here = Scope::Project("a/one".into());
        assert_ne!(Digest::of_line(b"a", &here, "We deploy on Fridays").id(), id("We deploy on Fridays", b"a"));
        assert_eq!(id("", b"").as_str().len(), LENGTH);
    }

    #[test]
    fn an_id_is_read_as_people_type_it_and_never_looks_like_the_id_of_a_memory() {
        assert_eq!(" KDBFWM ".parse::<CandidateId>().map(String::from).as_deref(), Ok("kdbfwm"));
        for wrong in ["", "42", "kdbfw", "kdbfwmm", "kdbfw1", "ｋdbfwm", "\0\0\0\0\0\0"] {
            assert!(wrong.parse::<CandidateId>().is_err(), "{wrong}");
        }
    }
}
