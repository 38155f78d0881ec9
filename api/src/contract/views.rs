//! Memories in answers.

use serde::Serialize;
use tessera_engine::domain::{Link, Metadata};
use tessera_engine::screen::places;
use utoipa::ToSchema;

use crate::db::Stored;
use crate::secrets::SetAside;

/// A link from a memory to another one.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct LinkView {
    /// supersedes, updates, resolved_by, part_of, see_also, or any short name such as depends_on.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The UUID of the other memory.
    pub(crate) uuid: String,
}

impl From<Link> for LinkView {
    fn from(link: Link) -> Self {
        Self { kind: link.kind.to_string(), uuid: link.to.to_string() }
    }
}

/// A link between the memory of this answer and another memory. In `links_out`, it leads to the other memory; in
/// `links_in`, it comes from there.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct LinkedView {
    /// As above.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The short ID of the other memory, if the caller has one for it.
    pub(crate) id: Option<u32>,
    /// Its UUID.
    pub(crate) uuid: String,
}

/// A memory.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MemoryView {
    /// Its short ID for the caller, which never changes. Paths and bodies of requests accept the short ID or the UUID.
    #[schema(value_type = u32)]
    pub(crate) id: Option<u32>,
    /// Its identity everywhere.
    #[schema(format = Uuid)]
    pub(crate) uuid: String,
    /// The text.
    content: String,
    /// A summary of at most 20 words.
    summary: String,
    /// Category.
    category: String,
    /// fact, entity, relationship or self.
    #[serde(rename = "type")]
    kind: String,
    /// 0 to 1.
    pub(crate) importance: f64,
    /// Tags, separated by commas.
    tags: String,
    /// The same as a list.
    tag_list: Vec<String>,
    /// Further search words, separated by spaces.
    expanded_keywords: String,
    /// The same as a list.
    keywords: Vec<String>,
    /// Named things in it.
    entities: Vec<String>,
    /// The project it belongs to, or global.
    scope: String,
    /// Who or what created it.
    origin: String,
    /// True if the text contains a secret.
    is_sensitive: bool,
    /// The time at which the statement became true, as RFC 3339.
    created_at: String,
    /// When it was last changed, as RFC 3339.
    updated_at: String,
    /// When it was deleted, as RFC 3339; null if it is not deleted.
    deleted_at: Option<String>,
    /// When it expires, as RFC 3339.
    expires: Option<String>,
    /// Its revision, for If-Match.
    rev: u64,
    /// The original, if this memory is a conflict copy.
    conflict_of: Option<String>,
    /// Its file, if it has one: `/memories/user/preferences.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Its metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    metadata: Option<Metadata>,
    /// The owner.
    owner: String,
    /// The owner, if it is another user.
    shared_by: Option<String>,
    /// The permission of the share: read or write.
    share_permission: Option<String>,
    /// The same.
    permission: Option<String>,
    /// The author of the text, if it is not the owner.
    edited_by: Option<String>,
    /// Links from it.
    links: Vec<LinkView>,
}

impl MemoryView {
    /// `None` for a permanently deleted memory.
    pub(crate) fn of(stored: &Stored) -> Option<Self> {
        let document = stored.row.state.document()?;
        let details = &document.details;
        let share = stored.share();
        let tag_list: Vec<String> = document.tags.iter().map(|tag| tag.as_str().to_owned()).collect();
        let permission = share.as_ref().map(|share| share.permission.to_string());
        let updated = stored.updated.to_string();
        Some(Self {
            id: stored.short_id,
            uuid: stored.row.memory.to_string(),
            content: document.content.as_str().to_owned(),
            summary: stored.summary.clone(),
            category: details.category.as_str().to_owned(),
            kind: details.kind.to_string(),
            importance: details.importance.into(),
            tags: tag_list.join(","),
            tag_list,
            expanded_keywords: details.keywords.join(" "),
            keywords: details.keywords.clone(),
            entities: details.entities.clone(),
            scope: details.scope.as_str().to_owned(),
            origin: details.origin.to_string(),
            is_sensitive: !places(document.content.as_str()).is_empty(),
            created_at: details.created.to_string(),
            // A deleted memory does not change.
            deleted_at: stored.row.state.live().is_none().then(|| updated.clone()),
            updated_at: updated,
            expires: details.expires.map(|time| time.to_string()),
            rev: stored.row.rev,
            conflict_of: details.conflict_of.map(|id| id.to_string()),
            file: details.file.as_ref().map(ToString::to_string),
            metadata: details.metadata.clone(),
            owner: stored.owner.clone(),
            share_permission: permission.clone(),
            permission,
            shared_by: share.map(|share| share.by),
            edited_by: stored.row.edited_by.clone(),
            links: document.links.iter().cloned().map(LinkView::from).collect(),
        })
    }
}

/// A permanently deleted memory.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct GoneView {
    /// Its short ID for the caller.
    #[schema(value_type = u32)]
    id: Option<u32>,
    /// Its identity everywhere.
    #[schema(format = Uuid)]
    uuid: String,
    /// The time at which the memory was deleted permanently, as RFC 3339.
    deleted_at: String,
}

impl GoneView {
    pub(crate) fn of(stored: &Stored) -> Self {
        let (uuid, deleted_at) = (stored.row.memory.to_string(), stored.updated.to_string());
        Self { id: stored.short_id, uuid, deleted_at }
    }
}

/// A memory that was stored.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct StoredView {
    /// Its short ID for the caller, which never changes.
    #[schema(value_type = u32)]
    pub(crate) id: Option<u32>,
    /// Its identity everywhere.
    #[schema(format = Uuid)]
    pub(crate) uuid: String,
    /// The sender's own ID, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) local_id: Option<serde_json::Value>,
    /// Its category.
    pub(crate) category: String,
    /// Its importance.
    pub(crate) importance: f64,
    /// What If-Match takes.
    pub(crate) rev: u64,
    /// The redacted secrets, and where they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<SetAside>,
}

/// The result for a row of an import.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ImportedRow {
    /// The position of the row in the request, from 0.
    pub(crate) row: usize,
    /// The memory's short ID for the caller, if the row was stored or existed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u32>,
    /// Its UUID, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uuid: Option<String>,
    /// Its category, if the row was stored as a memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) category: Option<String>,
    /// Its importance, if the row was stored as a memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) importance: Option<f64>,
    /// The redacted secrets, and where they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<SetAside>,
    /// Why it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// A memory that changed.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "rows are streamed; this type only describes them")]
pub(crate) enum ChangedView {
    /// An existing or deleted memory.
    Memory(Box<MemoryView>),
    /// A permanently deleted memory.
    Gone(GoneView),
}

/// Changes for clients of the older API.
#[derive(ToSchema)]
#[expect(dead_code, reason = "as above")]
pub(crate) struct SinceView {
    /// The caller's own memories, and with `since` also deleted ones. The list begins with the memory that was not
    /// changed for the longest time.
    memories: Vec<ChangedView>,
    /// The value for `since` in the next request: RFC 3339.
    server_time: String,
}

/// A page of memories.
#[derive(ToSchema)]
#[expect(dead_code, reason = "as above")]
pub(crate) struct MemoriesView {
    /// The memories.
    memories: Vec<MemoryView>,
    /// The number of memories on all pages.
    total: u64,
    /// The offset of the next page, if there are more memories.
    next_offset: Option<u64>,
}

/// A match in the form of the older API.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MatchView {
    /// The memory.
    #[serde(flatten)]
    pub(crate) memory: MemoryView,
    /// Its score.
    pub(crate) rank: f64,
    /// The short ID of the superseded memory that matched.
    pub(crate) redirected_from: Option<u32>,
}

/// Matches in the form of the older API.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MatchesView {
    /// Best first.
    pub(crate) memories: Vec<MatchView>,
}
