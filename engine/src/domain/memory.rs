//! The memory itself, what it takes to make one, and what can be changed about it.

use serde::{Deserialize, Serialize};
use tessera_tables::names;

use super::error::by_name;
use super::{
    Category, DomainError, Importance, InFile, Link, MAX_TAGS, MemoryUuid, Metadata, Origin, Scope, Share, ShortId,
    Tag, Timestamp, Trust,
};

/// The longest content that is stored, in bytes of UTF-8.
pub const MAX_CONTENT_BYTES: usize = 32 * 1024;
/// The longest named thing, keyword, session or client, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// Keywords or named things of one memory, at most.
pub(crate) const MAX_WORDS: usize = 128;

/// The text of a memory, kept exactly as given: not blank, at most 32 KiB, no NUL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Content(String);

impl Content {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Content {
    type Error = DomainError;

    fn try_from(text: String) -> Result<Self, DomainError> {
        if text.trim().is_empty() {
            return Err(DomainError::invalid("content", "is empty", "say what to remember"));
        }
        if text.len() > MAX_CONTENT_BYTES {
            // The name of a secret may be longer than the credential that it replaces.
            let with = if text.contains("[secret ") { " with the names of its secrets" } else { "" };
            let problem = format!("is {} bytes long{with}, more than {MAX_CONTENT_BYTES}", text.len());
            return Err(DomainError::invalid(
                "content",
                problem,
                "split it, or keep it in a file and store where it is",
            ));
        }
        if let Some(at) = text.find('\0') {
            let problem = format!("holds a NUL character at byte {at}");
            return Err(DomainError::invalid("content", problem, "remove it"));
        }
        Ok(Self(text))
    }
}

impl From<Content> for String {
    fn from(content: Content) -> Self {
        content.0
    }
}

names! {
/// What a memory is about: a fact, a thing, how two things relate, or the person themselves.
#[derive(PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryType {
    /// Something that holds.
    #[default]
    Fact = "fact",
    /// What one named thing is.
    Entity = "entity",
    /// How two or more named things relate.
    Relationship = "relationship",
    /// About the person who remembers: taste, habits, circumstances.
    #[serde(rename = "self")]
    Person = "self",
}
}

by_name! { MemoryType, "type", "give fact, entity, relationship or self" }

/// A memory as the store holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Identity everywhere.
    #[serde(rename = "uuid")]
    pub id: MemoryUuid,
    /// Short number in this store.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// The text, verbatim.
    pub content: String,
    /// At most 20 words that stand for the text in an index.
    pub summary: String,
    /// What kind of knowledge it is.
    pub category: Category,
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// How much it matters, 0 to 1.
    pub importance: Importance,
    /// Tags, folded, without repeats.
    pub tags: Vec<Tag>,
    /// Further words under which the caller wants it found.
    pub keywords: Vec<String>,
    /// Named things in it.
    pub entities: Vec<String>,
    /// Where it belongs.
    pub scope: Scope,
    /// When it became true or was said.
    pub created: Timestamp,
    /// When a field was last changed.
    pub updated: Timestamp,
    /// When it was last delivered in full.
    pub last_accessed: Option<Timestamp>,
    /// How often it was delivered in full.
    pub access_count: u32,
    /// From when on it is hidden here, because somebody asked for that; never, if absent.
    #[serde(default, rename = "expires_at")]
    pub expires: Option<Timestamp>,
    /// Who brought it in.
    pub origin: Origin,
    /// How far it may be believed: see [`Memory::earned_trust`].
    pub trust: Trust,
    /// The owner's own word on how far it may be believed, whatever brought it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vouched: Option<Trust>,
    /// The session it was stored in.
    pub session: Option<String>,
    /// The working directory it was stored from.
    pub cwd: Option<String>,
    /// The client program it was stored by.
    pub client: Option<String>,
    /// True when it stands for a secret whose value is kept elsewhere.
    pub sensitive: bool,
    /// The store's change counter at its last change.
    pub rev: u64,
    /// When it was deleted, if it was.
    pub deleted: Option<Timestamp>,
    /// Whose it is, if another user shares it.
    #[serde(flatten)]
    pub share: Option<Share>,
    /// Who wrote the text as it is, by their name on the team server, if that is not the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<String>,
    /// The memory of which it is the other text: both were changed apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_of: Option<MemoryUuid>,
    /// Where it stands, if a file gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<InFile>,
    /// What a client keeps beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Typed links from it to others.
    #[serde(default)]
    pub links: Vec<Link>,
}

impl Memory {
    /// True for what stands for a file as a whole: its parts are found, and not it.
    pub fn is_whole_file(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.is_whole)
    }

    /// True for what stands in a file: it is the file that says it, and no server is told of it. Another user's file is here
    /// a memory like any other.
    pub fn is_part_of_file(&self) -> bool {
        self.share.is_none() && self.file.as_ref().is_some_and(|file| !file.is_whole)
    }

    /// A memory of which nothing is said but its text: each other field is as it is where nobody gave it, and as a
    /// removal for good leaves it.
    pub fn blank(id: MemoryUuid, content: String, created: Timestamp) -> Self {
        Self {
            id,
            short_id: ShortId::FIRST,
            content,
            summary: String::new(),
            category: Category::default(),
            kind: MemoryType::default(),
            importance: Importance::from_percent(0),
            tags: Vec::new(),
            keywords: Vec::new(),
            entities: Vec::new(),
            scope: Scope::default(),
            created,
            updated: created,
            last_accessed: None,
            access_count: 0,
            expires: None,
            origin: Origin::default(),
            trust: Trust::default(),
            vouched: None,
            session: None,
            cwd: None,
            client: None,
            sensitive: false,
            rev: 0,
            deleted: None,
            share: None,
            edited_by: None,
            conflict_of: None,
            file: None,
            metadata: None,
            links: Vec::new(),
        }
    }

    /// True when the lifetime that somebody asked for has ended: it is hidden then, and stays.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }

    /// Why it is given when it is asked for and never unasked, and what the owner can do about it. `None` for one
    /// that is the person's own.
    pub fn why_never_injected(&self) -> Option<String> {
        let short_id = self.short_id.get();
        if self.trust != Trust::Foreign {
            return None;
        }
        Some(match (&self.share, &self.edited_by, self.vouched, &self.origin) {
            (Some(share), ..) => format!("it is {}'s; store it in your own words to make it yours", share.by),
            (None, _, Some(Trust::Foreign), _) => {
                format!("its owner does not vouch for it; `tessera update {short_id} --trust user` does")
            }
            (None, Some(name), ..) => {
                format!("{name} wrote its text; `tessera update {short_id} --trust user` vouches for it")
            }
            (None, None, _, origin) => {
                format!("it came from elsewhere ({origin}); `tessera update {short_id} --trust user` makes it yours")
            }
        })
    }

    /// The trust that a memory earns: none of what another user shares, else the owner's word, else none of a text
    /// that somebody else wrote, else what its origin earns.
    pub fn earned_trust(&self) -> Trust {
        Trust::earned(self.share.is_some(), self.vouched, self.edited_by.is_some(), &self.origin)
    }
}

/// What is given to store a memory; what is left out is derived.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// Identity chosen by the caller (imports); made anew if absent.
    pub id: Option<MemoryUuid>,
    /// The text. Required.
    pub content: String,
    /// Category; inferred from cues if absent.
    pub category: Option<Category>,
    /// Type; inferred if absent.
    pub kind: Option<MemoryType>,
    /// Importance; scored by rule if absent.
    pub importance: Option<Importance>,
    /// Tags.
    pub tags: Vec<Tag>,
    /// Further words under which to find it.
    pub keywords: Vec<String>,
    /// Named things; extracted if empty.
    pub entities: Vec<String>,
    /// Where it belongs.
    pub scope: Scope,
    /// When it became true; now, if absent.
    pub created: Option<Timestamp>,
    /// From when on it is hidden; never, if absent.
    pub expires: Option<Timestamp>,
    /// Who brought it in.
    pub origin: Origin,
    /// The owner's word on how far it may be believed; by its origin, if absent.
    pub vouched: Option<Trust>,
    /// The session.
    pub session: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The client program.
    pub client: Option<String>,
    /// Where it stands, if a file gives it.
    pub file: Option<InFile>,
    /// What a client keeps beside it.
    pub metadata: Option<Metadata>,
    /// Links from it.
    pub links: Vec<Link>,
    /// Where it was heard, in words for its history.
    pub reason: Option<String>,
    /// Where the whole text is to be set aside as one secret: what is said of it in its place.
    pub sensitive: Option<String>,
    /// What plugins changed of it, for its history.
    pub altered: Vec<Alteration>,
}

/// What a plugin changed of what was asked for, before it was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alteration {
    /// The plugin.
    pub by: String,
    /// The names of the fields.
    pub fields: Vec<&'static str>,
}

impl Draft {
    /// A draft of `content` with everything else derived.
    pub fn new(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// Checks the free-text fields that have no type of their own.
    pub fn check(&self) -> Result<Content, DomainError> {
        check_words("keywords", &self.keywords)?;
        check_words("entities", &self.entities)?;
        check_words("session", self.session.as_slice())?;
        check_words("client", self.client.as_slice())?;
        check_words("origin", &[self.origin.to_string()])?;
        check_tags(&self.tags)?;
        Content::try_from(self.content.clone())
    }
}

/// Fields of a memory to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Patch {
    /// New text: summary, entities and counts are derived again.
    pub content: Option<String>,
    /// New category.
    pub category: Option<Category>,
    /// New type.
    pub kind: Option<MemoryType>,
    /// New importance.
    pub importance: Option<Importance>,
    /// New tags, replacing the old ones.
    pub tags: Option<Vec<Tag>>,
    /// New keywords, replacing the old ones.
    pub keywords: Option<Vec<String>>,
    /// New entities, replacing the old ones.
    pub entities: Option<Vec<String>>,
    /// New scope.
    pub scope: Option<Scope>,
    /// New expiry; `Some(None)` means never.
    pub expires: Option<Option<Timestamp>>,
    /// What a client keeps beside it, replacing what was; an empty object for none.
    pub metadata: Option<Metadata>,
    /// The owner's word on how far it may be believed.
    pub vouched: Option<Trust>,
    /// Where the whole new text is to be set aside as one secret: what is said of it in its place.
    pub sensitive: Option<String>,
}

impl Patch {
    /// True when nothing would change.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks the free-text fields that have no type of their own.
    pub fn check(&self) -> Result<(), DomainError> {
        check_words("keywords", self.keywords.as_deref().unwrap_or_default())?;
        check_words("entities", self.entities.as_deref().unwrap_or_default())?;
        check_tags(self.tags.as_deref().unwrap_or_default())?;
        if let Some(content) = &self.content {
            Content::try_from(content.clone())?;
        }
        Ok(())
    }
}

fn check_tags(tags: &[Tag]) -> Result<(), DomainError> {
    if tags.len() > MAX_TAGS {
        return Err(DomainError::invalid("tags", format!("{} are too many", tags.len()), "give at most 32"));
    }
    Ok(())
}

/// True when one of these is longer than any name: no store of a team takes it.
pub(crate) fn has_long_name(words: &[String]) -> bool {
    words.iter().any(|word| word.chars().count() > MAX_NAME_CHARS)
}

pub(crate) fn check_words(field: &'static str, words: &[String]) -> Result<(), DomainError> {
    if words.len() > MAX_WORDS {
        return Err(DomainError::invalid(field, "holds too many items", "give at most 128"));
    }
    if has_long_name(words) || words.iter().any(|word| word.contains('\0')) {
        let fix = "give items of at most 200 characters, without NUL";
        return Err(DomainError::invalid(field, "holds an item that cannot be stored", fix));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_kept_exactly_or_refused_with_the_field_and_the_fix() {
        let text = "a\r\n\tb  c \u{202e}";
        assert_eq!(Content::try_from(text.to_owned()).unwrap().as_str(), text);
        for bad in ["", " \n\t", "a\0b", &"x".repeat(MAX_CONTENT_BYTES + 1)] {
            let error = Content::try_from(bad.to_owned()).unwrap_err().to_string();
            assert!(error.starts_with("content: "), "{error}");
        }
    }
}
