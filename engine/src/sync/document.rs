//! The synced part of a memory, and the merging of two changes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::{
    Category, Content, DomainError, FilePath, Importance, Link, Memory, MemoryType, MemoryUuid, Metadata, Origin,
    Scope, Tag, Timestamp, Trust, check_words, readable_links,
};

/// Maximum number of links of a memory.
const MOST_LINKS: usize = 1_000;
/// Maximum number of tags of a synced memory.
const MOST_TAGS: usize = 1_000;

/// The fields of a memory that all machines share. IDs, use counts and history are not synced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The text.
    pub content: Content,
    /// Its tags.
    pub tags: BTreeSet<Tag>,
    /// Its links to others.
    #[serde(default, deserialize_with = "readable_links")]
    pub links: BTreeSet<Link>,
    /// All other fields, which are sent together.
    pub details: Details,
}

/// Fields for which the later change wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// The category.
    pub category: Category,
    /// The type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// The importance.
    pub importance: Importance,
    /// Additional search words.
    pub keywords: Vec<String>,
    /// Named things in the text.
    pub entities: Vec<String>,
    /// The scope.
    pub scope: Scope,
    /// Time of creation.
    pub created: Timestamp,
    /// When it expires. Only a request sets this. The older field `expires` contained a derived value and is ignored.
    #[serde(default, rename = "expires_at", skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// The trust that the owner set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_trust: Option<Trust>,
    /// Who created it.
    pub origin: Origin,
    /// The session it comes from.
    pub session: Option<String>,
    /// The memory of which this is a conflict copy.
    pub conflict_of: Option<MemoryUuid>,
    /// Its file, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FilePath>,
    /// The client's metadata. Older programs omit the field `metadata`. An empty object means that the memory has no
    /// metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Details {
    /// Returns these details with the values of `mine` in each field in which `mine` differs from `base`.
    #[must_use]
    pub(super) fn with_changes(&self, base: &Self, mine: &Self) -> Self {
        fn merged<T: Clone + PartialEq>(theirs: &T, base: &T, mine: &T) -> T {
            if base == mine { theirs.clone() } else { mine.clone() }
        }
        macro_rules! by_field {
            ($($field:ident),*) => {
                // A new field that is missing in this list does not compile.
                Self { $($field: merged(&self.$field, &base.$field, &mine.$field)),* }
            };
        }
        by_field!(
            category,
            kind,
            importance,
            keywords,
            entities,
            scope,
            created,
            expires,
            owner_trust,
            origin,
            session,
            conflict_of,
            file,
            metadata
        )
    }
}

impl Document {
    /// The synced part of a memory.
    ///
    /// # Errors
    /// Returns an error if the memory has no text, because it was permanently deleted.
    pub fn of(memory: &Memory) -> Result<Self, DomainError> {
        Ok(Self {
            content: Content::try_from(memory.content.clone())?,
            tags: memory.tags.iter().cloned().collect(),
            links: memory.links.iter().cloned().collect(),
            details: Details {
                category: memory.category.clone(),
                kind: memory.kind,
                importance: memory.importance,
                keywords: memory.keywords.clone(),
                entities: memory.entities.clone(),
                scope: memory.scope.clone(),
                created: memory.created,
                expires: memory.expires,
                owner_trust: memory.owner_trust,
                origin: memory.origin.clone(),
                session: memory.session.clone(),
                conflict_of: memory.conflict_of,
                file: memory.file.as_ref().map(|file| file.path.clone()),
                metadata: memory.metadata.clone(),
            },
        })
    }

    /// Rejects documents that no store can hold.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Result<(), DomainError> {
        check_sets(&self.tags, &self.links)?;
        self.details.check()
    }

    /// If the sender omits the path or the metadata, this function adds the known ones. An absent field must not remove
    /// them.
    pub(super) fn beside_what_of(mut self, known: Option<&Self>) -> Self {
        if self.details.file.is_none() {
            self.details.file = known.and_then(|known| known.details.file.clone());
        }
        if self.details.metadata.is_none() {
            self.details.metadata = known.and_then(|known| known.details.metadata.clone());
        }
        self
    }
}

impl Details {
    fn check(&self) -> Result<(), DomainError> {
        check_words("keywords", &self.keywords)?;
        check_words("entities", &self.entities)?;
        check_words("session", self.session.as_slice())?;
        check_words("origin", &[self.origin.to_string()])?;
        if self.file.as_ref().is_some_and(FilePath::is_obeyed) {
            return Err(DomainError::invalid(
                "file",
                "is the name of a file that other programs run or take instructions from",
                "rename the file",
            ));
        }
        if self.conflict_of.is_some_and(|id| id.is_reserved()) {
            return Err(DomainError::invalid("conflict_of", "is a reserved UUID", "use the memory's own UUID"));
        }
        Ok(())
    }
}

fn check_sets(tags: &BTreeSet<Tag>, links: &BTreeSet<Link>) -> Result<(), DomainError> {
    if tags.len() > MOST_TAGS {
        return Err(DomainError::invalid("tags", "has too many entries", "use at most 1000"));
    }
    if links.iter().any(|link| link.to.is_reserved()) {
        return Err(DomainError::invalid("links", "contains a reserved UUID", "use the memory's own UUID"));
    }
    if links.len() > MOST_LINKS {
        return Err(DomainError::invalid("links", "has too many entries", "use at most 1000"));
    }
    Ok(())
}

/// A memory, or its remains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A live memory.
    Live(Document),
    /// A deleted memory that can be restored.
    Deleted(Document),
    /// A permanently deleted memory; its UUID stays reserved.
    Purged,
}

impl State {
    /// The content, unless the memory was permanently deleted.
    pub fn document(&self) -> Option<&Document> {
        match self {
            Self::Live(document) | Self::Deleted(document) => Some(document),
            Self::Purged => None,
        }
    }

    /// The fields of a live memory.
    pub fn live(&self) -> Option<&Document> {
        match self {
            Self::Live(document) => Some(document),
            Self::Deleted(_) | Self::Purged => None,
        }
    }
}

/// The difference between two states of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The new text.
    pub content: Option<Content>,
    /// Added tags.
    pub tags_added: BTreeSet<Tag>,
    /// Removed tags.
    pub tags_removed: BTreeSet<Tag>,
    /// Added links.
    #[serde(default, deserialize_with = "readable_links")]
    pub links_added: BTreeSet<Link>,
    /// Removed links.
    #[serde(default, deserialize_with = "readable_links")]
    pub links_removed: BTreeSet<Link>,
    /// The new details.
    pub details: Option<Details>,
    /// For a file, the text before the change. With it, the server can merge the change with another one. It is never
    /// shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Content>,
}

impl Edit {
    /// The edit from `base` to `now`.
    pub fn between(base: &Document, now: &Document) -> Self {
        let is_new_text = base.content != now.content;
        let is_file = base.details.file.is_some() || now.details.file.is_some();
        Self {
            base: (is_new_text && is_file).then(|| base.content.clone()),
            content: is_new_text.then(|| now.content.clone()),
            tags_added: now.tags.difference(&base.tags).cloned().collect(),
            tags_removed: base.tags.difference(&now.tags).cloned().collect(),
            links_added: now.links.difference(&base.links).cloned().collect(),
            links_removed: base.links.difference(&now.links).cloned().collect(),
            details: (base.details != now.details).then(|| now.details.clone()),
        }
    }

    /// An edit that contains a complete document and can be applied to any state.
    pub fn to(now: &Document) -> Self {
        Self {
            content: Some(now.content.clone()),
            tags_added: now.tags.clone(),
            tags_removed: BTreeSet::new(),
            links_added: now.links.clone(),
            links_removed: BTreeSet::new(),
            details: Some(now.details.clone()),
            base: None,
        }
    }

    /// Returns the edit from `base` to `now`. Without a base, the edit contains all of `now`.
    pub(super) fn since(base: Option<&Document>, now: &Document) -> Self {
        base.map_or_else(|| Self::to(now), |base| Self::between(base, now))
    }

    /// Rejects edits that no store can hold.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Result<(), DomainError> {
        check_sets(&self.tags_added, &self.links_added)?;
        check_sets(&self.tags_removed, &self.links_removed)?;
        self.details.as_ref().map_or(Ok(()), Details::check)
    }

    /// True if nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `tags` after this edit. Edits of sets commute.
    pub(super) fn tagged(&self, tags: &BTreeSet<Tag>) -> BTreeSet<Tag> {
        tags.union(&self.tags_added).filter(|tag| !self.tags_removed.contains(tag)).cloned().collect()
    }

    /// `links` after this edit.
    pub(super) fn linked(&self, links: &BTreeSet<Link>) -> BTreeSet<Link> {
        links.union(&self.links_added).filter(|link| !self.links_removed.contains(link)).cloned().collect()
    }
}

/// True if two texts differ at most by surrounding white space, which is not a conflict.
pub(super) fn says_the_same(one: &Content, other: &Content) -> bool {
    one.as_str().trim() == other.as_str().trim()
}
