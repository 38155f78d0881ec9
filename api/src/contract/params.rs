//! Parameters in paths and query strings, bodies of requests about shares, and counts of categories and tags.

use serde::{Deserialize, Serialize};
use tessera_engine::domain::MemoryUuid;
use utoipa::{IntoParams, ToSchema};

/// A memory in a path.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "it describes what handlers take as text")]
pub(crate) struct OfMemory {
    /// The memory's short number for the caller, or its UUID.
    #[param(pattern = "^([0-9]{1,9}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$")]
    pub(crate) id: String,
}

/// What is listed.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only of this category.
    pub(crate) category: Option<String>,
    /// Only with this tag.
    pub(crate) tag: Option<String>,
    /// Memories of a page.
    #[param(minimum = 1, maximum = 10000)]
    pub(crate) limit: Option<u32>,
    /// Memories before it. With it long texts make a page shorter, and `next_offset` says where to go on; without it all
    /// that `limit` asks for comes at once.
    #[param(minimum = 0, maximum = 1_000_000_000)]
    pub(crate) offset: Option<u32>,
    /// importance (default) or recency.
    pub(crate) sort: Option<String>,
    /// List deleted ones.
    #[serde(default)]
    pub(crate) deleted: bool,
}

/// A page.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// Memories of a page.
    #[param(minimum = 1, maximum = 10000)]
    pub(crate) limit: Option<u32>,
    /// Memories before it. With it long texts make a page shorter, and `next_offset` says where to go on; without it all
    /// that `limit` asks for comes at once.
    #[param(minimum = 0, maximum = 1_000_000_000)]
    pub(crate) offset: Option<u32>,
}

/// Since when.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SinceQuery {
    /// RFC 3339, or the server_time of the answer before: what changed after it, with what was deleted. Everything that is
    /// not deleted if left out. A `+` that became a space is taken as it was meant.
    pub(crate) since: Option<String>,
}

/// Where a machine stands.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangesQuery {
    /// The epoch that the cursor belongs to.
    pub(crate) epoch: u64,
    /// The cursor.
    #[serde(default)]
    pub(crate) after: u64,
    /// Rows of a page.
    pub(crate) limit: Option<u32>,
}

/// What a machine knew, and where it stands in the snapshot.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SnapshotQuery {
    /// The epoch that what the machine knows belongs to; 0 for a new one.
    #[serde(default)]
    #[expect(dead_code, reason = "what is common is told by marks; older machines say their epoch")]
    pub(crate) epoch: u64,
    /// The last id of the page before.
    #[param(value_type = Option<String>, format = Uuid)]
    pub(crate) after: Option<MemoryUuid>,
}

/// How secrets are taken out of what is there.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MigrateQuery {
    /// Where to go on: what the answer before said as `next`.
    #[param(value_type = Option<String>, format = Uuid)]
    pub(crate) after: Option<MemoryUuid>,
    /// Count, and change nothing.
    #[serde(default)]
    pub(crate) dry_run: bool,
}

/// With whom to share.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct ShareWith {
    /// A user.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) shared_with: String,
    /// read (default) or write.
    pub(crate) permission: Option<String>,
}

/// A tag and with whom to share it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
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

/// A tag and with whom to share it no longer.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct UnshareTag {
    /// The tag.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) tag: String,
    /// A user.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) shared_with: String,
}

/// The answer to what another user offers by a tag.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct InvitationAnswer {
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
