//! The JSON shapes of the command line.

use serde::Serialize;
use tessera_engine::domain::Memory;
use tessera_engine::pack::{Detail, IndexEntry, Ranked, Recall};
use tessera_engine::score::ScoreParts;
use tessera_engine::store::Stored;

/// A stored memory: `remember`, `update`, `restore`.
#[derive(Debug, Serialize)]
pub(super) struct StoredView<'a> {
    handle: u32,
    id: String,
    summary: &'a str,
    category: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    importance: f64,
    tokens: u32,
    existed: bool,
}

impl<'a> From<&'a Stored> for StoredView<'a> {
    fn from(stored: &'a Stored) -> Self {
        let memory = &stored.memory;
        Self {
            handle: memory.handle.get(),
            id: memory.id.to_string(),
            summary: &memory.summary,
            category: memory.category.as_str(),
            kind: memory.kind.as_str(),
            importance: memory.importance.into(),
            tokens: stored.tokens,
            existed: stored.existed,
        }
    }
}

/// The answer of `recall`. `tokens_used` counts the text that is printed without `--json`.
#[derive(Debug, Serialize)]
pub(super) struct RecallView<'a> {
    query: &'a str,
    total_count: u32,
    has_more: bool,
    next_cursor: Option<&'a str>,
    tokens_used: u32,
    unit: String,
    details: Vec<DetailView<'a>>,
    index: Vec<IndexView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOutView>,
    /// Where nothing matches: memories below the relevance floor that are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    near: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    below_floor: Vec<BelowFloorView>,
}

#[derive(Debug, Serialize)]
struct DetailView<'a> {
    handle: u32,
    id: String,
    score: f64,
    tokens: u32,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<&'a str>,
    summary: &'a str,
    category: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    importance: f64,
    tags: Vec<&'a str>,
    entities: &'a [String],
    scope: &'a str,
    created: String,
    access_count: u32,
    origin: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    duplicates: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redirected_from: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<ScoreParts>,
}

#[derive(Debug, Serialize)]
struct IndexView<'a> {
    handle: u32,
    id: String,
    score: f64,
    tokens: u32,
    summary: &'a str,
    /// Only the handle stands in the text.
    handle_only: bool,
    /// Below the relevance floor, and shown because nothing is above it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    weak: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<ScoreParts>,
}

#[derive(Debug, Serialize)]
struct LeftOutView {
    handle: u32,
    score: f64,
}

#[derive(Debug, Serialize)]
struct BelowFloorView {
    handle: u32,
    score: f64,
    /// The share of what the question tells that it holds.
    holds: f64,
    parts: ScoreParts,
}

/// The view of a recall; `explain` adds score parts and what was left out.
pub(super) fn recall(recall: &Recall, explain: bool) -> RecallView<'_> {
    let parts = |ranked: &Ranked| explain.then_some(ranked.parts);
    RecallView {
        query: &recall.query,
        total_count: recall.total_count,
        has_more: recall.has_more,
        next_cursor: recall.next_cursor.as_deref(),
        tokens_used: recall.tokens_used,
        unit: recall.profile.to_string(),
        details: recall.details.iter().map(|detail| detail_view(detail, parts(&detail.ranked))).collect(),
        index: recall.index.iter().map(|entry| index_view(entry, parts(&entry.ranked))).collect(),
        left_out: if explain { recall.left_out.iter().map(left_out).collect() } else { Vec::new() },
        near: (recall.near > 0).then_some(recall.near),
        below_floor: recall.below_floor.iter().map(below_floor).collect(),
    }
}

fn left_out(ranked: &Ranked) -> LeftOutView {
    LeftOutView { handle: ranked.handle.get(), score: ranked.score }
}

fn below_floor(ranked: &Ranked) -> BelowFloorView {
    let Ranked { handle, score, share, parts, .. } = ranked;
    BelowFloorView { handle: handle.get(), score: *score, holds: *share, parts: *parts }
}

fn detail_view(detail: &Detail, parts: Option<ScoreParts>) -> DetailView<'_> {
    let memory: &Memory = &detail.memory;
    DetailView {
        handle: memory.handle.get(),
        id: memory.id.to_string(),
        score: detail.ranked.score,
        tokens: detail.tokens,
        content: &memory.content,
        excerpt: detail.excerpt.as_deref(),
        summary: &memory.summary,
        category: memory.category.as_str(),
        kind: memory.kind.as_str(),
        importance: memory.importance.into(),
        tags: memory.tags.iter().map(tessera_engine::domain::Tag::as_str).collect(),
        entities: &memory.entities,
        scope: memory.scope.as_str(),
        created: memory.created.to_string(),
        access_count: memory.access_count,
        origin: memory.origin.to_string(),
        duplicates: detail.duplicates.iter().map(|handle| handle.get()).collect(),
        redirected_from: detail.ranked.redirected_from.map(tessera_engine::Handle::get),
        parts,
    }
}

fn index_view(entry: &IndexEntry, parts: Option<ScoreParts>) -> IndexView<'_> {
    IndexView {
        handle: entry.memory.handle.get(),
        id: entry.memory.id.to_string(),
        score: entry.ranked.score,
        tokens: entry.tokens,
        summary: &entry.memory.summary,
        handle_only: entry.is_bare,
        weak: entry.ranked.is_weak,
        parts,
    }
}
