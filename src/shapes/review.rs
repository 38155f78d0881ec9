//! The review queue.

use schemars::JsonSchema;
use serde::Serialize;
use tessera_desk::use_cases::{Proposal, ReviewId, ReviewItem};
use tessera_engine::Memory;
use tessera_engine::domain::Candidate;

/// The output of `tessera review`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Proposals {
    /// The proposals: lines first, oldest first; then pairs of memories, and memories that were never used.
    pub(crate) proposals: Vec<ProposalRow>,
}

/// A proposal. Its kind decides which of the other fields exist.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct ProposalRow {
    /// The ID for `accept` and `drop`.
    id: String,
    /// `line`, `contradiction`, `duplicate` or `unused`.
    kind: &'static str,
    /// For a line: the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Candidate>,
    /// For a line: the memory that it will replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<Memory>,
    /// For a contradiction: the newer memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    newer: Option<Memory>,
    /// For a contradiction: the older memory, which `accept` marks as outdated.
    #[serde(skip_serializing_if = "Option::is_none")]
    older: Option<Memory>,
    /// For a duplicate and an unused memory: the memory that `accept` deletes.
    #[serde(skip_serializing_if = "Option::is_none")]
    deletes: Option<Memory>,
    /// For a duplicate: the memory that stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    keeps: Option<Memory>,
}

impl From<ReviewItem> for ProposalRow {
    fn from(item: ReviewItem) -> Self {
        let row = |kind| Self { id: item.id.to_string(), kind, ..Self::default() };
        match item.proposal {
            Proposal::Line { line, replaces } => {
                Self { line: Some(*line), replaces: replaces.map(|memory| *memory), ..row("line") }
            }
            Proposal::Contradiction { newer, older } => {
                Self { newer: Some(*newer), older: Some(*older), ..row("contradiction") }
            }
            Proposal::Duplicate { deletes, keeps } => {
                Self { deletes: Some(*deletes), keeps: Some(*keeps), ..row("duplicate") }
            }
            Proposal::Unused { memory } => Self { deletes: Some(*memory), ..row("unused") },
        }
    }
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
