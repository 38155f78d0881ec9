//! From a page of ranked rows to a reply within the budget.

use std::collections::{BTreeMap, HashMap};

use crate::domain::{Cursor, DomainError, Handle, Purpose, RecallRequest, TokenBudget};
use crate::pack::{Detail, Frame, IndexEntry, Item, JsonFrame, Ranked, Recall, Row, Selection, TextFrame, select};
use crate::score::Weights;
use crate::text::TokenCounter;

use super::excerpt::{Excerpt, best_excerpt};
use super::rank::Ranking;
use super::weak::Weak;

/// In which form the reply is wanted.
#[derive(Debug, Clone, Copy)]
pub enum Form<'a, C> {
    /// Compact text: needs no counter.
    Text,
    /// One JSON payload: echoes the query, whose tokens this counter counts.
    Json(&'a C),
}

enum AnyFrame {
    Text(TextFrame),
    Json(JsonFrame),
}

/// Packs `page` (in rank order) and its rows into a reply.
///
/// # Errors
/// When the budget cannot hold even an empty reply; the error names the minimum.
pub fn answer<C: TokenCounter>(
    request: &RecallRequest,
    ranking: &Ranking,
    page: Vec<Ranked>,
    rows: Vec<Row>,
    weights: &Weights,
    form: Form<'_, C>,
) -> Result<Recall, DomainError> {
    let total = ranking.total();
    let frame = AnyFrame::new(request, total, form);
    if request.budget.get() < frame.minimum() {
        return Err(DomainError::BudgetTooSmall { budget: request.budget.get(), minimum: frame.minimum() });
    }
    let mut rows: HashMap<Handle, Row> = rows.into_iter().map(|row| (row.memory.handle, row)).collect();
    let found: Vec<(Ranked, Row)> =
        page.into_iter().filter_map(|ranked| rows.remove(&ranked.handle).map(|row| (ranked, row))).collect();
    if ranking.total() == 0 {
        return Ok(without_match(request, ranking, &frame, found));
    }
    let repeats = repeats(&found);
    let items: Vec<Item> = found
        .iter()
        .enumerate()
        .map(|(at, (ranked, row))| frame.item(ranked, row, repeats.contains_key(&at)))
        .collect();
    let terms = ranking.terms();
    let mut excerpts: BTreeMap<usize, Excerpt> = BTreeMap::new();
    let cut = |at: usize, room: u32| {
        let excerpt = best_excerpt(&found.get(at)?.1, terms, room)?;
        let tokens = excerpt.tokens;
        excerpts.insert(at, excerpt);
        Some(tokens)
    };
    let selection = frame.select(&items, request, weights, cut);
    Ok(assemble(request, ranking, &frame, found, &items, &selection, &excerpts, &repeats))
}

/// The reply where nothing is above the floor: the best of what is below it, or how much there is.
fn without_match(request: &RecallRequest, ranking: &Ranking, frame: &AnyFrame, found: Vec<(Ranked, Row)>) -> Recall {
    let weak = match frame {
        AnyFrame::Text(frame) => Weak::of_text(found, ranking.near(), request, frame),
        AnyFrame::Json(frame) => Weak::of_json(found, ranking.near(), request, frame),
    };
    let (body, tokens_used) = match frame {
        AnyFrame::Text(frame) => frame.render_weak(weak.rows()).unwrap_or_else(|| frame.render(&[], &[], None)),
        AnyFrame::Json(frame) => frame.render_weak(weak.rows()).unwrap_or_else(|| frame.render(&[], &[], None, false)),
    };
    Recall {
        query: request.query.clone(),
        details: Vec::new(),
        index: weak.rows,
        total_count: 0,
        has_more: false,
        next_cursor: None,
        tokens_used,
        profile: request.profile,
        body,
        left_out: weak.left_out,
        near: weak.near,
        below_floor: ranking.below_floor(),
    }
}

/// Positions of rows that say what an earlier row says: repeat → first.
fn repeats(found: &[(Ranked, Row)]) -> BTreeMap<usize, usize> {
    let mut first = HashMap::new();
    let mut repeats = BTreeMap::new();
    for (at, (_, row)) in found.iter().enumerate() {
        let known = *first.entry(row.signature).or_insert(at);
        if known != at {
            repeats.insert(at, known);
        }
    }
    repeats
}

#[expect(clippy::too_many_arguments, reason = "the last step gathers what the others made")]
fn assemble(
    request: &RecallRequest,
    ranking: &Ranking,
    frame: &AnyFrame,
    found: Vec<(Ranked, Row)>,
    items: &[Item],
    selection: &Selection,
    excerpts: &BTreeMap<usize, Excerpt>,
    repeats: &BTreeMap<usize, usize>,
) -> Recall {
    let cuts: BTreeMap<usize, u32> = selection.excerpts.iter().copied().collect();
    let (mut details, mut index, mut left_out, mut shown) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let handles: Vec<Handle> = found.iter().map(|(ranked, _)| ranked.handle).collect();
    for (at, (ranked, row)) in found.into_iter().enumerate() {
        let item = items.get(at);
        let rank = ranked.rank;
        let (memory, is_bare) = (row.memory, selection.bare.contains(&at));
        let excerpt = cuts.get(&at).and_then(|tokens| excerpts.get(&at).map(|excerpt| (tokens, excerpt.lines.clone())));
        if let Some((tokens, lines)) = excerpt {
            details.push(Detail { ranked, memory, excerpt: Some(lines), tokens: *tokens, duplicates: Vec::new() });
        } else if selection.details.contains(&at) {
            let tokens = item.map_or(0, |item| item.detail);
            let same = repeats.iter().filter(|(_, first)| **first == at).filter_map(|(repeat, _)| handles.get(*repeat));
            details.push(Detail { ranked, memory, excerpt: None, tokens, duplicates: same.copied().collect() });
        } else if is_bare || selection.index.contains(&at) {
            let tokens = item.map_or(0, |item| if is_bare { item.bare } else { item.index });
            index.push(IndexEntry { ranked, memory, is_bare, tokens });
        } else if !repeats.contains_key(&at) {
            left_out.push(ranked);
            continue;
        }
        shown.push(rank);
    }
    let left = ranking.left_after(request, shown.len());
    let offers_more = !shown.is_empty() && request.purpose == Purpose::Asked;
    let cursor = if offers_more { ranking.cursor_after(request, &shown) } else { None };
    let (body, tokens_used) = frame.render(&details, &index, left, cursor.as_ref());
    Recall {
        query: request.query.clone(),
        details,
        index,
        total_count: ranking.total(),
        has_more: left > 0,
        next_cursor: cursor.map(|cursor| cursor.to_string()),
        tokens_used,
        profile: request.profile,
        body,
        left_out,
        near: 0,
        below_floor: ranking.below_floor(),
    }
}

impl AnyFrame {
    fn new<C: TokenCounter>(request: &RecallRequest, total: u32, form: Form<'_, C>) -> Self {
        let (budget, profile): (TokenBudget, _) = (request.budget, request.profile);
        match form {
            Form::Text => Self::Text(TextFrame { total, budget, profile }),
            Form::Json(counter) => Self::Json(JsonFrame::new(total, budget, profile, &request.query, counter)),
        }
    }

    fn minimum(&self) -> u32 {
        match self {
            Self::Text(frame) => frame.minimum(),
            Self::Json(frame) => frame.minimum(),
        }
    }

    fn item(&self, ranked: &Ranked, row: &Row, is_duplicate: bool) -> Item {
        let (handle, costs, score) = (ranked.handle, &row.costs, ranked.score);
        match self {
            Self::Text(_) => Item {
                score,
                detail: TextFrame::detail(handle, costs.detail),
                index: TextFrame::index(handle, costs.index),
                bare: TextFrame::bare(handle),
                is_duplicate,
                can_be_cut: !costs.passages.is_empty(),
            },
            Self::Json(_) => Item {
                score,
                detail: JsonFrame::row(costs.json_detail),
                index: JsonFrame::row(costs.json_index),
                bare: 0,
                is_duplicate,
                can_be_cut: false,
            },
        }
    }

    fn select(
        &self,
        items: &[Item],
        request: &RecallRequest,
        weights: &Weights,
        cut: impl FnMut(usize, u32) -> Option<u32>,
    ) -> Selection {
        fn run(
            frame: &impl Frame,
            items: &[Item],
            request: &RecallRequest,
            weights: &Weights,
            cut: impl FnMut(usize, u32) -> Option<u32>,
        ) -> Selection {
            select(items, request.profile.to_o200k(request.budget), request.packing, frame, weights, cut)
        }
        match self {
            Self::Text(frame) => run(frame, items, request, weights, cut),
            Self::Json(frame) => run(frame, items, request, weights, cut),
        }
    }

    fn render(&self, details: &[Detail], index: &[IndexEntry], left: u32, cursor: Option<&Cursor>) -> (String, u32) {
        match self {
            Self::Text(frame) => frame.render(details, index, cursor.map(|cursor| (left, cursor))),
            Self::Json(frame) => frame.render(details, index, cursor, left > 0),
        }
    }
}
