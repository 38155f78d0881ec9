//! What REST requests and answers look like. The names are those of the older API where it had them.

mod params;
mod question;

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tessera_engine::domain::{Category, DomainError, Draft, Importance, Link, LinkKind, MemoryId, Origin, Patch, Tag};
use tessera_engine::screen::places;
use utoipa::ToSchema;

pub(crate) use params::{ChangesQuery, ListQuery, MigrateQuery, PageQuery, SinceQuery, SnapshotQuery};
pub(crate) use question::{Answer, Question};

use crate::db::Stored;
use crate::secrets::SetAside;

/// Words as a list, or as text with commas.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Words {
    /// A list.
    List(Vec<String>),
    /// Text with commas.
    Text(String),
}

impl Words {
    fn list(&self) -> Vec<String> {
        let items: Vec<&str> = match self {
            Self::List(items) => items.iter().map(String::as_str).collect(),
            Self::Text(text) => text.split(',').collect(),
        };
        items.into_iter().map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }
}

/// A value that its type parses from text; the error names the field.
fn parsed<T: FromStr<Err = DomainError>>(field: &'static str, text: &str) -> Result<T, DomainError> {
    text.parse().map_err(|error| match error {
        DomainError::Invalid { problem, fix, .. } => DomainError::Invalid { field, problem, fix },
        other => other,
    })
}

fn each<T: FromStr<Err = DomainError>>(field: &'static str, words: Option<&Words>) -> Result<Vec<T>, DomainError> {
    words.map(Words::list).unwrap_or_default().iter().map(|word| parsed(field, word)).collect()
}

fn tags(words: Option<&Words>) -> Result<Vec<Tag>, DomainError> {
    let tags = words.map(Words::list).unwrap_or_default().into_iter().map(Tag::try_from);
    Tag::unique(tags.collect::<Result<_, _>>()?)
}

/// A memory to store.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMemory {
    /// The text, verbatim.
    #[schema(min_length = 1, max_length = 32768)]
    content: String,
    /// Its id; made if left out.
    #[schema(value_type = Option<String>, format = Uuid)]
    id: Option<String>,
    /// Category; inferred if left out.
    category: Option<String>,
    /// fact, entity, relationship or self; inferred if left out.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Tags.
    tags: Option<Words>,
    /// Further words to find it by.
    #[serde(alias = "expanded_keywords")]
    keywords: Option<Words>,
    /// Named things in it; extracted if left out.
    entities: Option<Words>,
    /// 0 to 1; scored if left out.
    #[schema(minimum = 0, maximum = 1)]
    importance: Option<f64>,
    /// The project it belongs to; everywhere if left out.
    scope: Option<String>,
    /// The session it comes from.
    session: Option<String>,
    /// When it became true, as RFC 3339; now if left out.
    created: Option<String>,
    /// When it leaves recall, as RFC 3339; never if left out.
    expires: Option<String>,
    /// The whole text is a secret: it is kept as such, and what is said of it stands in its place.
    #[serde(default)]
    force_sensitive: bool,
    /// What is said of a text that is a secret as a whole: with `force_sensitive` alone.
    summary: Option<String>,
    /// What the older system encrypted, as base64: it is opened with the server's key and kept as a secret.
    encrypted_content: Option<String>,
    /// The older system's number of it, where that put the text into the vault: it is read there and kept as a secret.
    vault_id: Option<u64>,
}

/// What is said of a text that is a secret as a whole.
fn said_of(
    is_secret: bool,
    summary: Option<&String>,
    category: Option<&String>,
) -> Result<Option<String>, DomainError> {
    let summary = summary.map(|text| text.trim()).filter(|text| !text.is_empty());
    match (is_secret, summary) {
        (false, Some(_)) => {
            Err(DomainError::invalid("summary", "is made by the server", "give it with force_sensitive alone"))
        }
        (false, None) => Ok(None),
        (true, Some(said)) => Ok(Some(said.to_owned())),
        (true, None) => {
            let category = category.filter(|name| !name.is_empty());
            Ok(Some(category.map_or_else(|| "Sensitive note".into(), |name| format!("Sensitive note ({name})"))))
        }
    }
}

impl NewMemory {
    /// What the older system encrypted.
    pub(crate) fn encrypted(&self) -> Option<&str> {
        self.encrypted_content.as_deref().filter(|text| !text.is_empty())
    }

    /// Where the older system put the text into the vault.
    pub(crate) fn vault_id(&self) -> Option<u64> {
        self.vault_id
    }

    /// The same, where what it encrypted was opened: that is what it says, and all of it is a secret.
    pub(crate) fn decrypted(mut self, value: &str) -> Self {
        self.summary = Some(std::mem::replace(&mut self.content, value.to_owned()));
        self.force_sensitive = true;
        self
    }

    /// The id that the caller chose.
    pub(crate) fn id(&self) -> Result<Option<MemoryId>, DomainError> {
        self.id.as_deref().map(|id| parsed("id", id)).transpose()
    }

    /// What is to be stored, by whom a request is: a program, for the person whose key it has.
    pub(crate) fn draft(&self) -> Result<Draft, DomainError> {
        let time = |field, text: &Option<String>| text.as_deref().map(|text| parsed(field, text)).transpose();
        Ok(Draft {
            content: self.content.clone(),
            category: self.category.clone().filter(|name| !name.is_empty()).map(Category::try_from).transpose()?,
            kind: self.kind.as_deref().map(|kind| parsed("type", kind)).transpose()?,
            importance: self.importance.map(Importance::try_from).transpose()?,
            tags: tags(self.tags.as_ref())?,
            keywords: self.keywords.as_ref().map(Words::list).unwrap_or_default(),
            entities: self.entities.as_ref().map(Words::list).unwrap_or_default(),
            scope: self.scope.as_deref().map(|scope| parsed("scope", scope)).transpose()?.unwrap_or_default(),
            created: time("created", &self.created)?,
            expires: time("expires", &self.expires)?,
            origin: Origin::Agent,
            session: self.session.clone(),
            sensitive: said_of(self.force_sensitive, self.summary.as_ref(), self.category.as_ref())?,
            ..Draft::default()
        })
    }
}

/// Fields to change; those left out stay.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryPatch {
    /// The new text.
    #[schema(min_length = 1, max_length = 32768)]
    content: Option<String>,
    /// The new category.
    category: Option<String>,
    /// The new type.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// The new tags, replacing the old ones.
    tags: Option<Words>,
    /// The new keywords, replacing the old ones.
    #[serde(alias = "expanded_keywords")]
    keywords: Option<Words>,
    /// The new named things, replacing the old ones.
    entities: Option<Words>,
    /// The new importance.
    #[schema(minimum = 0, maximum = 1)]
    importance: Option<f64>,
    /// The new scope.
    scope: Option<String>,
    /// The whole text, new or as it is, is a secret: it is kept as such, and what is said of it stands in its place.
    #[serde(default)]
    force_sensitive: bool,
    /// What is said of a text that is a secret as a whole: with `force_sensitive` alone.
    summary: Option<String>,
}

impl MemoryPatch {
    /// The first field that is given beside the text.
    pub(crate) fn field_beside_text(&self) -> Option<&'static str> {
        let given = [
            ("tags", self.tags.is_some()),
            ("scope", self.scope.is_some()),
            ("category", self.category.is_some()),
            ("type", self.kind.is_some()),
            ("keywords", self.keywords.is_some()),
            ("entities", self.entities.is_some()),
            ("importance", self.importance.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    /// What is to be changed of a text; nothing, where no field is given.
    pub(crate) fn patch(&self, now: &str) -> Result<Patch, DomainError> {
        let kept = || self.force_sensitive.then(|| now.to_owned());
        Ok(Patch {
            content: self.content.clone().or_else(kept),
            category: self.category.clone().map(Category::try_from).transpose()?,
            kind: self.kind.as_deref().map(|kind| parsed("type", kind)).transpose()?,
            importance: self.importance.map(Importance::try_from).transpose()?,
            tags: self.tags.as_ref().map(|words| tags(Some(words))).transpose()?,
            keywords: self.keywords.as_ref().map(Words::list),
            entities: self.entities.as_ref().map(Words::list),
            scope: self.scope.as_deref().map(|scope| parsed("scope", scope)).transpose()?,
            expires: None,
            vouched: None,
            sensitive: said_of(self.force_sensitive, self.summary.as_ref(), self.category.as_ref())?,
        })
    }
}

/// A link from a memory to another.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct LinkView {
    /// supersedes, resolved_by, part_of, see_also, or any other short name such as depends_on.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The other memory.
    pub(crate) id: String,
}

impl From<Link> for LinkView {
    fn from(link: Link) -> Self {
        Self { kind: link.kind.to_string(), id: link.to.to_string() }
    }
}

/// A link to make.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewLink {
    /// The other memory.
    #[schema(format = Uuid)]
    target_id: String,
    /// supersedes, resolved_by, part_of, see_also, or any other short name such as depends_on.
    #[serde(alias = "type")]
    link_type: String,
}

impl NewLink {
    pub(crate) fn link(&self) -> Result<Link, DomainError> {
        let kind: LinkKind = parsed("link_type", &self.link_type)?;
        Ok(Link { kind, to: parsed("target_id", &self.target_id)? })
    }
}

/// A memory.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MemoryView {
    /// Identity everywhere.
    pub(crate) id: String,
    /// The text.
    content: String,
    /// At most 20 words that stand for it.
    summary: String,
    /// Category.
    category: String,
    /// fact, entity, relationship or self.
    #[serde(rename = "type")]
    kind: String,
    /// 0 to 1.
    pub(crate) importance: f64,
    /// Tags.
    tags: Vec<String>,
    /// Further words to find it by.
    keywords: Vec<String>,
    /// Named things in it.
    entities: Vec<String>,
    /// The project it belongs to, or global.
    scope: String,
    /// Who or what brought it in.
    origin: String,
    /// True when it stands for a secret.
    is_sensitive: bool,
    /// When it became true, as RFC 3339.
    created_at: String,
    /// When it was last changed, as RFC 3339.
    updated_at: String,
    /// When it was deleted; only of deleted ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted: Option<bool>,
    /// When it leaves recall, as RFC 3339.
    expires: Option<String>,
    /// Counts its changes: what If-Match takes.
    rev: u64,
    /// The memory of which it is the other text.
    conflict_of: Option<String>,
    /// The file that it is, if it is one: `/memories/user/preferences.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Whose it is.
    owner: String,
    /// Whose it is, if it is another user's.
    shared_by: Option<String>,
    /// What they allow.
    share_permission: Option<String>,
    /// Who wrote the text, if not its owner.
    edited_by: Option<String>,
    /// Links from it.
    links: Vec<LinkView>,
}

impl MemoryView {
    /// `None` for one that was removed for good.
    pub(crate) fn of(stored: &Stored) -> Option<Self> {
        let document = stored.row.state.document()?;
        let details = &document.details;
        let share = stored.share();
        Some(Self {
            id: stored.row.memory.to_string(),
            content: document.content.as_str().to_owned(),
            summary: stored.summary.clone(),
            category: details.category.as_str().to_owned(),
            kind: details.kind.to_string(),
            importance: details.importance.into(),
            tags: document.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
            keywords: details.keywords.clone(),
            entities: details.entities.clone(),
            scope: details.scope.as_str().to_owned(),
            origin: details.origin.to_string(),
            is_sensitive: !places(document.content.as_str()).is_empty(),
            created_at: details.created.to_string(),
            updated_at: stored.updated.to_string(),
            deleted: stored.row.state.live().is_none().then_some(true),
            expires: details.expires.map(|time| time.to_string()),
            rev: stored.row.rev,
            conflict_of: details.conflict_of.map(|id| id.to_string()),
            file: details.file.as_ref().map(ToString::to_string),
            owner: stored.owner.clone(),
            share_permission: share.as_ref().map(|share| share.permission.to_string()),
            shared_by: share.map(|share| share.by),
            edited_by: stored.row.edited_by.clone(),
            links: document.links.iter().cloned().map(LinkView::from).collect(),
        })
    }
}

/// A memory that was stored.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct StoredView {
    /// Its id.
    pub(crate) id: String,
    /// Its category.
    pub(crate) category: String,
    /// Its importance.
    pub(crate) importance: f64,
    /// What If-Match takes.
    pub(crate) rev: u64,
    /// What was set aside, and where it stood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<SetAside>,
}

/// What became of a row of an import.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ImportedRow {
    /// Its place in the request, from 0.
    pub(crate) row: usize,
    /// Its id, if it was stored or is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// Its category, if it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) category: Option<String>,
    /// Its importance, if it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) importance: Option<f64>,
    /// What was set aside, and where it stood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<SetAside>,
    /// Why it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// What changed, for clients of the older API.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SinceView {
    /// The caller's own memories, deleted ones marked as such; at most 1000, and fewer if they are long; the longest
    /// unchanged first.
    pub(crate) memories: Vec<MemoryView>,
    /// What to ask with the next time, as it is: a time of RFC 3339, with a tag of RFC 9557 where more is to be fetched
    /// at once.
    pub(crate) server_time: String,
}

/// A page of memories.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MemoriesView {
    /// The memories.
    pub(crate) memories: Vec<MemoryView>,
    /// How many there are on all pages.
    pub(crate) total: u64,
    /// Where to go on, if there are more: a page of long texts holds fewer than asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_offset: Option<u64>,
}

impl MemoriesView {
    /// A page that begins at an offset.
    pub(crate) fn of(memories: &[Stored], offset: i64, total: u64) -> Self {
        let next = offset.unsigned_abs() + memories.len() as u64;
        let next_offset = (!memories.is_empty() && next < total).then_some(next);
        Self { memories: memories.iter().filter_map(MemoryView::of).collect(), total, next_offset }
    }
}

/// A match in the older API's form.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MatchView {
    /// The memory.
    #[serde(flatten)]
    pub(crate) memory: MemoryView,
    /// Its score.
    pub(crate) rank: f64,
    /// The memory that was found, if this one replaces it.
    pub(crate) redirected_from: Option<String>,
}

/// Matches in the older API's form.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MatchesView {
    /// Best first.
    pub(crate) memories: Vec<MatchView>,
}

/// With whom to share.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShareWith {
    /// A user.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) shared_with: String,
    /// read (default) or write.
    pub(crate) permission: Option<String>,
}

/// A tag and with whom to share it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShareTagWith {
    /// The tag.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) tag: String,
    /// A user.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) shared_with: String,
    /// read (default) or write.
    pub(crate) permission: Option<String>,
}

/// The answer to what another user offers by a tag.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfferAnswer {
    /// Who offers it.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) owner: String,
    /// The tag.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) tag: String,
    /// True to see what has the tag, now and later; false to see none of it.
    pub(crate) accept: bool,
}

/// A tag or category and how many memories have it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TagCount {
    /// The tag.
    pub(crate) tag: String,
    /// Memories.
    pub(crate) count: i64,
}

/// A category and how many memories have it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct CategoryCount {
    /// The category.
    pub(crate) category: String,
    /// Memories.
    pub(crate) count: i64,
}
