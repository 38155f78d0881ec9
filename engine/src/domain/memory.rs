//! The memory, the draft of a new one, and the patch of an existing one.

use serde::{Deserialize, Serialize};
use tessera_tables::names;

use super::error::by_name;
use super::{
    CandidateId, Category, DomainError, Importance, InFile, Link, MAX_TAGS, MemoryUuid, Metadata, Origin, Scope, Share,
    ShortId, Tag, Timestamp, Trust,
};

/// Maximum content in bytes of UTF-8.
pub const MAX_CONTENT_BYTES: usize = 32 * 1024;
/// Maximum length of an entity, keyword, session or client in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// Maximum number of keywords, and of entities, of one memory.
pub(crate) const MAX_WORDS: usize = 128;

/// The text of a memory, exactly as given: not blank, at most 32 KiB, no NUL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
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
            return Err(DomainError::invalid("content", "is empty", "pass the text to remember"));
        }
        if text.len() > MAX_CONTENT_BYTES {
            // The name of a secret may be longer than the credential that it replaces.
            let with = if text.contains("[secret ") { " with the names of its secrets" } else { "" };
            let problem = format!("is {} bytes long{with}, more than {MAX_CONTENT_BYTES}", text.len());
            return Err(DomainError::invalid(
                "content",
                problem,
                "split it, or store it in a file and remember the path",
            ));
        }
        if let Some(at) = text.find('\0') {
            let problem = format!("contains a NUL character at byte {at}");
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
/// The type of a memory: it states a fact, describes a thing, describes how things are related, or describes the user.
#[derive(PartialOrd, Ord, Hash, Default, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryType {
    /// A fact.
    #[default]
    Fact = "fact",
    /// The nature of one named thing.
    Entity = "entity",
    /// The relation of two or more named things.
    Relationship = "relationship",
    /// About the user: taste, habits, circumstances.
    #[serde(rename = "self")]
    Person = "self",
}
}

by_name! { MemoryType, "type", "use fact, entity, relationship or self" }

/// A stored memory.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Memory {
    /// Its UUID on all machines.
    #[serde(rename = "uuid")]
    pub id: MemoryUuid,
    /// Its ID in this store.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// The text, verbatim.
    pub content: String,
    /// At most 20 words that represent the text in an index.
    pub summary: String,
    /// Its category.
    pub category: Category,
    /// Its subject.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// Its importance, 0 to 1.
    pub importance: Importance,
    /// Tags, normalised and without duplicates.
    pub tags: Vec<Tag>,
    /// Additional search words from the caller.
    pub keywords: Vec<String>,
    /// Named things in the text.
    pub entities: Vec<String>,
    /// Its scope.
    pub scope: Scope,
    /// The time at which the statement became true or was made.
    pub created: Timestamp,
    /// When a field was last changed.
    pub updated: Timestamp,
    /// The time at which the memory was last returned in full.
    pub last_accessed: Option<Timestamp>,
    /// The number of times that the memory was returned in full.
    pub access_count: u32,
    /// The time from which the memory is hidden. If absent, the memory never expires. Only a request sets this.
    #[serde(default, rename = "expires_at")]
    pub expires: Option<Timestamp>,
    /// Who created it.
    pub origin: Origin,
    /// Its trust; see [`Memory::earned_trust`].
    pub trust: Trust,
    /// The trust that the owner set, whatever the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_trust: Option<Trust>,
    /// The session in which it was stored.
    pub session: Option<String>,
    /// The working directory in which the memory was stored.
    pub cwd: Option<String>,
    /// The client program that stored the memory.
    pub client: Option<String>,
    /// True if the text contains the placeholder of a redacted secret.
    pub sensitive: bool,
    /// The store's change counter at the last change of the memory.
    pub rev: u64,
    /// The time at which the memory was deleted, or `None`.
    pub deleted: Option<Timestamp>,
    /// The owner and the permissions, if another user shares the memory.
    #[serde(flatten)]
    pub share: Option<Share>,
    /// The author of the current text, by the name on the team server; absent if the owner wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<String>,
    /// The memory of which this one is a conflict copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_of: Option<MemoryUuid>,
    /// The path and the heading, if the memory comes from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<InFile>,
    /// The client's metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Typed links from it to others.
    #[serde(default)]
    pub links: Vec<Link>,
}

impl Memory {
    /// True for the memory of a whole file. Recall returns the memories of its sections instead.
    pub fn is_whole_file(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.is_whole)
    }

    /// True for a part of a local file; such a part is not synced itself. A file that another user shares counts as an
    /// ordinary memory.
    pub fn is_part_of_file(&self) -> bool {
        self.share.is_none() && self.file.as_ref().is_some_and(|file| !file.is_whole)
    }

    /// Creates a memory with only a text; all other fields have their defaults. After a permanent deletion, the memory
    /// is replaced by one with an empty text.
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
            owner_trust: None,
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

    /// True if it has expired. An expired memory is hidden, but not deleted.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }

    /// Explains why the memory is returned only on request, and what the owner can do. Returns `None` for the user's
    /// own memories.
    pub fn why_never_injected(&self) -> Option<String> {
        let short_id = self.short_id.get();
        if self.trust != Trust::Foreign {
            return None;
        }
        Some(match (&self.share, &self.edited_by, self.owner_trust, &self.origin) {
            (Some(share), ..) => {
                format!("the memory belongs to {}; store the fact in your own words to make it yours", share.by)
            }
            (None, _, Some(Trust::Foreign), _) => {
                format!(
                    "the owner marked the memory as unverified; to trust it, run `tessera update {short_id} --trust \
                    user`"
                )
            }
            (None, Some(name), ..) => {
                format!("{name} wrote the text; to trust it, run `tessera update {short_id} --trust user`")
            }
            (None, None, _, origin) => {
                format!("the memory was imported ({origin}); to trust it, run `tessera update {short_id} --trust user`")
            }
        })
    }

    /// The trust of a memory: `foreign` for another user's memory; otherwise the trust that the owner set; otherwise
    /// `foreign` for another author's text; otherwise the trust of its origin.
    pub fn earned_trust(&self) -> Trust {
        Trust::earned(self.share.is_some(), self.owner_trust, self.edited_by.is_some(), &self.origin)
    }
}

/// The data for storing a memory. Missing fields are derived.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// A UUID chosen by the caller (imports); new, if absent.
    pub id: Option<MemoryUuid>,
    /// The text. Required.
    pub content: String,
    /// Category; derived from phrases and the embedding, if absent.
    pub category: Option<Category>,
    /// Type; derived, if absent.
    pub kind: Option<MemoryType>,
    /// Importance; calculated by rules, if absent.
    pub importance: Option<Importance>,
    /// Tags.
    pub tags: Vec<Tag>,
    /// Additional search words.
    pub keywords: Vec<String>,
    /// Named things; extracted, if empty.
    pub entities: Vec<String>,
    /// Its scope.
    pub scope: Scope,
    /// The time at which the statement became true; the current time if absent.
    pub created: Option<Timestamp>,
    /// When it expires; never, if absent.
    pub expires: Option<Timestamp>,
    /// Who created it.
    pub origin: Origin,
    /// The trust that the owner sets. If absent, the origin determines the trust.
    pub owner_trust: Option<Trust>,
    /// The session.
    pub session: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The client program.
    pub client: Option<String>,
    /// The path and the heading, if the memory comes from a file.
    pub file: Option<InFile>,
    /// The client's metadata.
    pub metadata: Option<Metadata>,
    /// Links from it.
    pub links: Vec<Link>,
    /// The source of the memory, as a text for its history.
    pub reason: Option<String>,
    /// The description of a text that is entirely secret.
    pub sensitive: Option<String>,
    /// What plugins changed in the request, for the memory's history.
    pub altered: Vec<Alteration>,
    /// The line of the review queue that becomes this memory. It must still wait.
    pub accepts: Option<CandidateId>,
}

/// A plugin's change to a request, before it was performed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alteration {
    /// The plugin.
    pub by: String,
    /// The names of the fields.
    pub fields: Vec<&'static str>,
}

impl Draft {
    /// Creates a draft with this text; everything else is derived.
    pub fn new(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// Checks the text fields that have no type of their own.
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

/// Changes to a memory; `None` keeps a field.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Patch {
    /// New text. Summary, entities and token counts are derived again.
    pub content: Option<String>,
    /// New category.
    pub category: Option<Category>,
    /// New type.
    pub kind: Option<MemoryType>,
    /// New importance.
    pub importance: Option<Importance>,
    /// New tags, which replace the old ones.
    pub tags: Option<Vec<Tag>>,
    /// New keywords, which replace the old ones.
    pub keywords: Option<Vec<String>>,
    /// New entities, which replace the old ones.
    pub entities: Option<Vec<String>>,
    /// New scope.
    pub scope: Option<Scope>,
    /// New expiry; `Some(None)` means never.
    pub expires: Option<Option<Timestamp>>,
    /// New metadata, which replaces the old one; an empty object removes it.
    pub metadata: Option<Metadata>,
    /// The trust that the owner sets.
    pub owner_trust: Option<Trust>,
    /// The description that replaces the new text, if the whole text is a secret.
    pub sensitive: Option<String>,
}

impl Patch {
    /// True if nothing would change.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks the text fields that have no type of their own.
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
        return Err(DomainError::invalid("tags", format!("too many: {}", tags.len()), "use at most 32"));
    }
    Ok(())
}

/// True if one of these texts exceeds the maximum length of a name. A team server would reject it.
pub(crate) fn has_long_name(words: &[String]) -> bool {
    words.iter().any(|word| word.chars().count() > MAX_NAME_CHARS)
}

pub(crate) fn check_words(field: &'static str, words: &[String]) -> Result<(), DomainError> {
    if words.len() > MAX_WORDS {
        return Err(DomainError::invalid(field, "contains too many items", "use at most 128"));
    }
    if has_long_name(words) || words.iter().any(|word| word.contains('\0')) {
        let fix = "use items of at most 200 characters, without NUL";
        return Err(DomainError::invalid(field, "contains an item that cannot be stored", fix));
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
