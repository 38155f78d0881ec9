//! What recall hands back, before it is text or JSON.

use super::line::LineCosts;
use crate::domain::{Handle, Memory, TokenProfile};
use crate::score::ScoreParts;

/// A row as the store gives it to the packer.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The memory.
    pub memory: Memory,
    /// What its lines cost.
    pub costs: LineCosts,
    /// Equal for two texts that say the same in the same words.
    pub signature: u64,
    /// What its passages mean, as it is kept; empty where that is not known, or it has no passages to choose from.
    pub meaning: Vec<u8>,
}

/// A match and its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Handle of the memory.
    pub handle: Handle,
    /// Rank among all matches, from 0.
    pub rank: u32,
    /// Score, 0 to 1.
    pub score: f64,
    /// The parts of the score; they sum to it.
    pub parts: ScoreParts,
    /// The share of what the query tells that it holds, 0 to 1.
    pub share: f64,
    /// The superseded memory that matched in its stead.
    pub redirected_from: Option<Handle>,
    /// Below the relevance floor, and shown because nothing is above it.
    pub is_weak: bool,
}

impl Ranked {
    /// A memory that was chosen by name: it is what was asked for.
    pub fn chosen(handle: Handle, rank: u32) -> Self {
        let parts = ScoreParts::default();
        Self { handle, rank, score: 1.0, parts, share: 1.0, redirected_from: None, is_weak: false }
    }
}

/// A memory given in full, or as its best passage.
#[derive(Debug, Clone, PartialEq)]
pub struct Detail {
    /// Score and rank.
    pub ranked: Ranked,
    /// The memory.
    pub memory: Memory,
    /// The lines shown, when the text was cut to a passage.
    pub excerpt: Option<String>,
    /// What it costs in the reply.
    pub tokens: u32,
}

/// A memory named in the index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexEntry {
    /// Score and rank.
    pub ranked: Ranked,
    /// The memory.
    pub memory: Memory,
    /// The lines shown in place of its summary, in a broad reply.
    pub excerpt: Option<String>,
    /// True when only the handle fitted.
    pub is_bare: bool,
    /// What it costs in the reply.
    pub tokens: u32,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// The query as asked.
    pub query: String,
    /// Memories in full, best first.
    pub details: Vec<Detail>,
    /// Memories as one line, best first: those not in `details`.
    pub index: Vec<IndexEntry>,
    /// True for a question over many memories: details and index are in order of time.
    pub is_broad: bool,
    /// Matches above the relevance floor, on all pages.
    pub total_count: u32,
    /// True when matches are left that no page so far has shown.
    pub has_more: bool,
    /// Pass it back to see them.
    pub next_cursor: Option<String>,
    /// Tokens of `body`, in the unit of `profile`.
    pub tokens_used: u32,
    /// Whose tokens.
    pub profile: TokenProfile,
    /// The reply: exactly the bytes that were counted.
    pub body: String,
    /// Matches of this page that the budget could not hold in any form.
    pub left_out: Vec<Ranked>,
    /// Where nothing matches: memories below the relevance floor that are not shown.
    pub near: u32,
    /// The best matches below the relevance floor, for a request that wants an explanation.
    pub below_floor: Vec<Ranked>,
}
