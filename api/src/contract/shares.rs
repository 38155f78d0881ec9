//! What is sent to share, and what is counted.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
