//! What of a memory travels between machines, and how two changes of it are merged.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::{
    Category, Content, DomainError, FilePath, Importance, Link, Memory, MemoryType, MemoryUuid, Metadata, Origin,
    Scope, Tag, Timestamp, Trust, check_words, readable_links,
};

/// Links of a memory, at most.
const MOST_LINKS: usize = 1_000;
/// Tags of a memory that travels, at most.
const MOST_TAGS: usize = 1_000;

/// The fields of a memory that every machine shares. IDs, use counts and history stay where they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The text.
    pub content: Content,
    /// Its tags.
    pub tags: BTreeSet<Tag>,
    /// Its links to others.
    #[serde(default, deserialize_with = "readable_links")]
    pub links: BTreeSet<Link>,
    /// Everything else, changed as one.
    pub details: Details,
}

/// Fields of which the later change wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// What kind of knowledge.
    pub category: Category,
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// How much it matters.
    pub importance: Importance,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Named things in it.
    pub entities: Vec<String>,
    /// Where it holds.
    pub scope: Scope,
    /// When it was made.
    pub created: Timestamp,
    /// From when on it is hidden, because somebody asked for that. Under its older name, `expires`, it was
    /// given by a rule: that is not read any more.
    #[serde(default, rename = "expires_at", skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// The owner's word on how far it may be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vouched: Option<Trust>,
    /// Who brought it in.
    pub origin: Origin,
    /// The session it comes from.
    pub session: Option<String>,
    /// The memory of which this is the other text of a conflict.
    pub conflict_of: Option<MemoryUuid>,
    /// The file that it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FilePath>,
    /// What a client keeps beside it. Programs that know of none leave it out: an empty object says that there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Details {
    /// These, with each field that is another one in `mine` than it was in `base`.
    #[must_use]
    pub(super) fn with_changes(&self, base: &Self, mine: &Self) -> Self {
        fn merged<T: Clone + PartialEq>(theirs: &T, base: &T, mine: &T) -> T {
            if base == mine { theirs.clone() } else { mine.clone() }
        }
        macro_rules! by_field {
            ($($field:ident),*) => {
                // A field that is added without a place in this list does not compile.
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
            vouched,
            origin,
            session,
            conflict_of,
            file,
            metadata
        )
    }
}

impl Document {
    /// What of a memory travels.
    ///
    /// # Errors
    /// When it has no text: it was removed for good.
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
                vouched: memory.vouched,
                origin: memory.origin.clone(),
                session: memory.session.clone(),
                conflict_of: memory.conflict_of,
                file: memory.file.as_ref().map(|file| file.path.clone()),
                metadata: memory.metadata.clone(),
            },
        })
    }

    /// Refuses what no store can hold, whoever sends it.
    ///
    /// # Errors
    /// Naming the field.
    pub fn check(&self) -> Result<(), DomainError> {
        check_sets(&self.tags, &self.links)?;
        self.details.check()
    }

    /// The same with the path of its file and what is kept beside it, where whoever told of it knew of neither: nobody
    /// says by silence that a file is none.
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
            return Err(DomainError::invalid("file", "is a name that other programs run or obey", "rename the file"));
        }
        if self.conflict_of.is_some_and(|id| id.is_reserved()) {
            return Err(DomainError::invalid("conflict_of", "is a reserved UUID", "give the memory's own id"));
        }
        Ok(())
    }
}

fn check_sets(tags: &BTreeSet<Tag>, links: &BTreeSet<Link>) -> Result<(), DomainError> {
    if tags.len() > MOST_TAGS {
        return Err(DomainError::invalid("tags", "are too many", "give at most 1000"));
    }
    if links.iter().any(|link| link.to.is_reserved()) {
        return Err(DomainError::invalid("links", "point at a reserved UUID", "give the memory's own id"));
    }
    if links.len() > MOST_LINKS {
        return Err(DomainError::invalid("links", "are too many", "give at most 1000"));
    }
    Ok(())
}

/// A memory, or what is left of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// There.
    Live(Document),
    /// Deleted, and restorable.
    Deleted(Document),
    /// Removed for good; the id stays taken.
    Purged,
}

impl State {
    /// The fields, unless they were removed for good.
    pub fn document(&self) -> Option<&Document> {
        match self {
            Self::Live(document) | Self::Deleted(document) => Some(document),
            Self::Purged => None,
        }
    }

    /// The fields of a memory that is there.
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
    /// Tags that were added.
    pub tags_added: BTreeSet<Tag>,
    /// Tags that were removed.
    pub tags_removed: BTreeSet<Tag>,
    /// Links that were added.
    #[serde(default, deserialize_with = "readable_links")]
    pub links_added: BTreeSet<Link>,
    /// Links that were removed.
    #[serde(default, deserialize_with = "readable_links")]
    pub links_removed: BTreeSet<Link>,
    /// The new details.
    pub details: Option<Details>,
    /// Of a file, the text that was changed: from it both changes can be put together. It is never shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Content>,
}

impl Edit {
    /// What leads from `base` to `now`.
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

    /// Everything of a document, as a change of whatever is there.
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

    /// What leads from `base` to `now`; all of `now` where there is no base.
    pub(super) fn since(base: Option<&Document>, now: &Document) -> Self {
        base.map_or_else(|| Self::to(now), |base| Self::between(base, now))
    }

    /// Refuses what no store can hold.
    ///
    /// # Errors
    /// Naming the field.
    pub fn check(&self) -> Result<(), DomainError> {
        check_sets(&self.tags_added, &self.links_added)?;
        check_sets(&self.tags_removed, &self.links_removed)?;
        self.details.as_ref().map_or(Ok(()), Details::check)
    }

    /// True when nothing is changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The tags of `tags` after this change. Changes of sets commute.
    pub(super) fn tagged(&self, tags: &BTreeSet<Tag>) -> BTreeSet<Tag> {
        tags.union(&self.tags_added).filter(|tag| !self.tags_removed.contains(tag)).cloned().collect()
    }

    /// The links of `links` after this change.
    pub(super) fn linked(&self, links: &BTreeSet<Link>) -> BTreeSet<Link> {
        links.union(&self.links_added).filter(|link| !self.links_removed.contains(link)).cloned().collect()
    }
}

/// True when two texts differ by white space around them at most: that is no conflict.
pub(super) fn says_the_same(one: &Content, other: &Content) -> bool {
    one.as_str().trim() == other.as_str().trim()
}
