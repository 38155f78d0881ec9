//! Parameters of paths and queries. Also the bodies of requests about shares, and the counts of categories and tags.

use serde::{Deserialize, Serialize};
use tessera_engine::domain::MemoryUuid;
use utoipa::{IntoParams, ToSchema};

/// A memory in a path.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "only the OpenAPI contract reads these fields; handlers parse the parameters themselves")]
pub(crate) struct OfMemory {
    /// The memory's short ID for the caller, or its UUID.
    #[param(pattern = "^([0-9]{1,9}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$")]
    pub(crate) id: String,
}

/// The request of a list.
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
    /// The number of memories to skip. With an offset, a page may be shorter if its texts are long.
    /// The next page begins at `next_offset`. Without an offset, the answer is complete.
    #[param(minimum = 0, maximum = 1_000_000_000)]
    pub(crate) offset: Option<u32>,
    /// The order: importance (default) or recency.
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
    /// The number of memories to skip. With an offset, a page may be shorter if its texts are long.
    /// The next page begins at `next_offset`. Without an offset, the answer is complete.
    #[param(minimum = 0, maximum = 1_000_000_000)]
    pub(crate) offset: Option<u32>,
}

/// Since when.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SinceQuery {
    /// RFC 3339, or the server_time of the previous answer: returns later changes, including deletions. Without
    /// `since`, returns everything that is not deleted. A `+` that arrived as a space is accepted.
    pub(crate) since: Option<String>,
}

/// The position of a machine.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangesQuery {
    /// The generation that the cursor belongs to.
    pub(crate) epoch: u64,
    /// The cursor.
    #[serde(default)]
    pub(crate) after: u64,
    /// Rows of a page.
    pub(crate) limit: Option<u32>,
}

/// The epoch of the database that a machine knows, and the machine's position in the snapshot.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SnapshotQuery {
    /// The generation that the machine knows; 0 for a new machine.
    #[serde(default)]
    #[expect(dead_code, reason = "clients send checkpoints; only older clients send a generation")]
    pub(crate) epoch: u64,
    /// The last UUID of the previous page.
    #[param(value_type = Option<String>, format = Uuid)]
    pub(crate) after: Option<MemoryUuid>,
}

/// How to redact secrets in existing rows.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MigrateQuery {
    /// Where to continue: `next` of the previous answer.
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

/// A tag and the user to share it with.
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

/// A tag and the user to stop sharing it with.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct UnshareTag {
    /// The tag.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) tag: String,
    /// A user.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) shared_with: String,
}

/// The answer to an invitation.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct InvitationAnswer {
    /// The owner.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) owner: String,
    /// The tag.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) tag: String,
    /// True to see all present and future memories with the tag; false to see none.
    pub(crate) accept: bool,
}

/// A tag or category, and the number of its memories.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TagCount {
    /// The tag.
    pub(crate) tag: String,
    /// Memories.
    pub(crate) count: i64,
}

/// A category, and the number of its memories.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct CategoryCount {
    /// The category.
    pub(crate) category: String,
    /// Memories.
    pub(crate) count: i64,
}
