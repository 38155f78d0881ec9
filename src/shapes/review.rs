//! The review queue.

use schemars::JsonSchema;
use serde::Serialize;
use tessera_desk::use_cases::{ReviewId, ReviewItem};

/// The output of `tessera review`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Proposals {
    /// The proposals: lines first, oldest first; then pairs of memories, and memories that were never used.
    pub(crate) proposals: Vec<ReviewItem>,
}

/// The output of `tessera review accept`, `drop` and `edit`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReviewResults {
    /// The result of each decision, in the given order.
    pub(crate) results: Vec<Decision>,
}

/// The result of one decision.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Decision {
    /// The proposal.
    pub(crate) id: ReviewId,
    /// `stored`, `outdated`, `deleted` or `dropped`; absent if the decision failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) done: Option<&'static str>,
    /// The stored, outdated or deleted memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<u32>,
    /// The result as text; it is not part of the JSON.
    #[serde(skip)]
    pub(crate) text: String,
    /// Why the decision failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}
