//! Turns a page of ranked rows into a reply within the budget.

use std::collections::{HashMap, HashSet};

use crate::domain::{Cursor, DomainError, Packing, Purpose, RecallRequest, ShortId, TokenBudget, TokenCount};
use crate::pack::{
    Bounds, Detail, Frame, IndexEntry, Item, JsonFrame, JsonRows, Ranked, Recall, Row, Shown, TextFrame,
    UnreviewedLine, select,
};
use crate::score::Weights;

use super::broad::{Broad, heading_of};
use super::excerpt::{About, Lines, best_excerpt, opening};
use super::rank::Ranking;
use super::weak::{Weak, says};

/// The form of the reply.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// Compact text.
    Text,
    /// A JSON document whose rows have these fields.
    Json(JsonRows),
}

/// The items of a page with their ranks and limits.
#[derive(Clone, Copy)]
struct Page<'a> {
    items: &'a [Item],
    ranks: &'a [u32],
    bounds: Bounds,
    is_asked: bool,
}

pub(super) enum AnyFrame {
    Text(TextFrame),
    Json(JsonFrame),
}

/// Packs `page` (in rank order) and its rows into a reply.
///
/// # Errors
/// Returns an error if the budget is too small even for an empty reply. The error contains the minimum.
pub fn answer(
    request: &RecallRequest,
    ranking: &Ranking,
    page: Vec<Ranked>,
    rows: Vec<Row>,
    weights: &Weights,
    form: Form,
) -> Result<Recall, DomainError> {
    let weights = &*ranking.packed_by(weights);
    let total = ranking.total();
    let frame = AnyFrame::new(request, ranking, form);
    let mut rows: HashMap<ShortId, Row> = rows.into_iter().map(|row| (row.memory.short_id, row)).collect();
    let found: Vec<(Ranked, Row)> =
        page.into_iter().filter_map(|ranked| rows.remove(&ranked.short_id).map(|row| (ranked, row))).collect();
    let minimum = frame.minimum(ranking.is_broad());
    if request.budget.get() < minimum {
        // The smallest budget that shows at least one row, if there is one.
        let least = match found.first().filter(|_| request.purpose == Purpose::Asked && total > 0) {
            Some((_, row)) if ranking.is_broad() => {
                Broad::of(request, ranking, &frame).least(row, heading_of(&found, ranking))
            }
            Some((ranked, row)) => frame.least(&frame.item(ranked, row, false, request.packing), request),
            None => 0,
        };
        return Err(DomainError::BudgetTooSmall { budget: request.budget.get(), minimum: minimum.max(least) });
    }
    if ranking.total() == 0 {
        return Ok(without_match(request, ranking, &frame, found));
    }
    let repeats = Repeats::of(&found);
    if ranking.is_broad() {
        let (fresh, repeated) = repeats.parted(found);
        return Broad::of(request, ranking, &frame).answer(fresh, &repeated);
    }
    let items: Vec<Item> = found
        .iter()
        .zip(&repeats.is_repeated)
        .map(|((ranked, row), is_repeated)| frame.item(ranked, row, *is_repeated, request.packing))
        .collect();
    let about = About { terms: ranking.terms(), meant: ranking.meant() };
    // For memories requested by name, no passage is better than another, so the beginning is shown.
    let is_fetch = about.terms.is_empty() && about.meant.is_none() && request.purpose == Purpose::Asked;
    let mut excerpts: Vec<Option<String>> = vec![None; found.len()];
    let mut cut = |at: usize, room: u32| {
        let (ranked, row) = found.get(at)?;
        let (head, form) = frame.excerpt(ranked, row);
        let listed = if request.packing == Packing::All { items.get(at)?.index } else { 0 };
        let head = head + listed;
        let room = room.checked_sub(head)?;
        let cut = if is_fetch { opening(row, form, room)? } else { best_excerpt(row, about, form, room)? };
        *excerpts.get_mut(at)? = Some(cut.lines);
        Some(cut.tokens + head)
    };
    let ranks: Vec<u32> = found.iter().map(|(ranked, _)| ranked.rank).collect();
    let is_kept = |dealt_with: &[u32]| ranking.can_go_on_after(request, dealt_with);
    let mut bounds = frame.bounds(&items, request);
    if is_fetch {
        bounds.most = u32::MAX;
    }
    let page = Page { items: &items, ranks: &ranks, bounds, is_asked: request.purpose == Purpose::Asked };
    let chosen = frame.choose(page, weights, &mut cut, is_kept);
    let mut reply = Reply { lists_all: request.packing == Packing::All, ..Reply::default() };
    // If a row does not fit even as one line at the head of a page, it fits on no page. If nothing else is shown, the
    // error says which budget is needed. Otherwise, the row is skipped and counted as omitted.
    if chosen.first() == Some(&Shown::Not) && request.purpose == Purpose::Asked {
        let minimum = items.first().map_or(0, |first| frame.least(first, request));
        if chosen.iter().all(|shown| *shown == Shown::Not) && minimum > request.budget.get() {
            return Err(DomainError::BudgetTooSmall { budget: request.budget.get(), minimum });
        }
        reply.dealt_with.extend(ranks.first());
    }
    for ((found, shown), (item, excerpt)) in found.into_iter().zip(chosen).zip(items.iter().zip(excerpts)) {
        reply.add(found, shown, shown.cost(item), excerpt);
    }
    Ok(reply.render(request, ranking, &frame))
}

/// A reply without a relevant match: the best low-confidence matches, or only their number.
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
        is_broad: ranking.is_broad(),
        total_count: 0,
        has_more: false,
        next_cursor: None,
        tokens_used,
        profile: request.profile,
        body,
        left_out: weak.left_out,
        near: weak.near,
        below_floor: ranking.below_floor(),
        unreviewed: frame.unreviewed().to_vec(),
    }
}

/// Finds rows that repeat the text of an earlier row.
struct Repeats {
    is_repeated: Vec<bool>,
}

impl Repeats {
    fn of(found: &[(Ranked, Row)]) -> Self {
        let mut known = HashSet::new();
        Self { is_repeated: found.iter().map(|(_, row)| !known.insert(says(row))).collect() }
    }

    /// Returns the rows that repeat no earlier row, and the ranks of the rows that do.
    fn parted(self, found: Vec<(Ranked, Row)>) -> (Vec<(Ranked, Row)>, Vec<u32>) {
        let all = found.into_iter().zip(self.is_repeated);
        let (fresh, again): (Vec<_>, Vec<_>) = all.partition(|(_, is_repeated)| !is_repeated);
        let ranks = again.iter().map(|((ranked, _), _)| ranked.rank).collect();
        (fresh.into_iter().map(|(found, _)| found).collect(), ranks)
    }
}

/// The shown and the omitted rows of a reply.
#[derive(Default)]
struct Reply {
    details: Vec<Detail>,
    index: Vec<IndexEntry>,
    left_out: Vec<Ranked>,
    /// The ranks that this page has processed.
    dealt_with: Vec<u32>,
    /// True if the list of summaries also contains the full results.
    lists_all: bool,
}

impl Reply {
    fn add(&mut self, found: (Ranked, Row), shown: Shown, tokens: u32, excerpt: Option<String>) {
        let (ranked, Row { memory, .. }) = found;
        if shown == Shown::Not {
            return self.left_out.push(ranked);
        }
        self.dealt_with.push(ranked.rank);
        if self.lists_all && matches!(shown, Shown::Detail | Shown::Excerpt(_)) {
            // The cost of this line is part of the cost of the detail row.
            let (ranked, memory) = (ranked.clone(), memory.clone());
            self.index.push(IndexEntry { ranked, memory, excerpt: None, is_bare: false, tokens: 0 });
        }
        match shown {
            Shown::Detail => self.details.push(Detail { ranked, memory, excerpt: None, tokens }),
            Shown::Excerpt(_) => self.details.push(Detail { ranked, memory, excerpt, tokens }),
            Shown::Index | Shown::Bare => {
                let is_bare = shown == Shown::Bare;
                self.index.push(IndexEntry { ranked, memory, excerpt: None, is_bare, tokens });
            }
            Shown::Not | Shown::Duplicate => {}
        }
    }

    fn render(self, request: &RecallRequest, ranking: &Ranking, frame: &AnyFrame) -> Recall {
        let Self { details, index, left_out, dealt_with, .. } = self;
        let left = ranking.left_after(request, &dealt_with);
        let offers_more = !dealt_with.is_empty() && request.purpose == Purpose::Asked;
        let cursor = if offers_more { ranking.cursor_after(request, &dealt_with) } else { None };
        let (body, tokens_used) = frame.render(&details, &index, left, cursor.as_ref());
        Recall {
            query: request.query.clone(),
            details,
            index,
            is_broad: false,
            total_count: ranking.total(),
            has_more: left > 0,
            next_cursor: cursor.map(|cursor| cursor.to_string()),
            tokens_used,
            profile: request.profile,
            body,
            left_out,
            near: 0,
            below_floor: ranking.below_floor(),
            unreviewed: frame.unreviewed().to_vec(),
        }
    }
}

impl AnyFrame {
    fn new(request: &RecallRequest, ranking: &Ranking, form: Form) -> Self {
        let (budget, profile): (TokenBudget, _) = (request.budget, request.profile);
        let (total, highest, read_as) = (ranking.total(), ranking.highest(), ranking.read_as());
        let remarks = ranking.remarks();
        match form {
            Form::Text => {
                let mut frame = TextFrame::new(total, budget, profile);
                frame.is_limited = request.is_limited;
                frame.is_unsure = ranking.is_unsure();
                let frame = frame.up_to(highest).reading(read_as).remarking(remarks);
                Self::Text(frame.with_unreviewed(ranking.unreviewed()))
            }
            Form::Json(rows) => {
                let frame = JsonFrame::new(total, budget, profile, &request.query, rows).up_to(highest);
                let frame = frame.reading(read_as).remarking(remarks).with_unreviewed(ranking.unreviewed());
                let frame = if request.is_limited { frame.limited() } else { frame };
                Self::Json(if ranking.is_broad() { frame.broad() } else { frame })
            }
        }
    }

    /// The shown lines of the review queue.
    pub(super) fn unreviewed(&self) -> &[UnreviewedLine] {
        match self {
            Self::Text(frame) => &frame.unreviewed,
            Self::Json(frame) => &frame.unreviewed,
        }
    }

    fn minimum(&self, is_broad: bool) -> u32 {
        match self {
            Self::Text(frame) if is_broad => frame.broad_minimum(),
            Self::Text(frame) => frame.minimum(),
            Self::Json(frame) => frame.minimum(),
        }
    }

    fn item(&self, ranked: &Ranked, row: &Row, is_duplicate: bool, packing: Packing) -> Item {
        let mut item = self.plain_item(ranked, row, is_duplicate);
        if packing == Packing::All {
            item.detail += item.index;
        }
        item
    }

    fn plain_item(&self, ranked: &Ranked, row: &Row, is_duplicate: bool) -> Item {
        let (short_id, costs, score) = (ranked.short_id, &row.costs, ranked.score);
        match self {
            Self::Text(_) => Item {
                score,
                detail: TextFrame::detail(short_id, costs.detail) + TextFrame::marks(ranked, &row.memory),
                index: TextFrame::index(short_id, costs.index) + TextFrame::marks(ranked, &row.memory),
                bare: TextFrame::bare(short_id),
                is_duplicate,
                can_be_cut: costs.can_be_cut(),
            },
            Self::Json(frame) => Item {
                score,
                detail: frame.detail(ranked, row),
                index: frame.row(ranked, costs.json_index),
                bare: frame.bare(short_id),
                is_duplicate,
                can_be_cut: costs.can_be_cut(),
            },
        }
    }

    /// Returns the tokens of an excerpt without its passages, and whether the passages are text or JSON.
    fn excerpt(&self, ranked: &Ranked, row: &Row) -> (u32, Lines) {
        match self {
            Self::Text(_) => {
                let head = TextFrame::excerpt(row.memory.short_id, row.costs.attribution);
                (head + TextFrame::marks(ranked, &row.memory), Lines::Text)
            }
            Self::Json(frame) => (frame.excerpt(ranked, &row.memory), Lines::Json),
        }
    }

    /// The limits for the items of a request.
    fn bounds(&self, items: &[Item], request: &RecallRequest) -> Bounds {
        let budget = request.profile.to_o200k(request.budget);
        match self {
            Self::Text(frame) => Bounds::fair(budget, request.packing, items, frame),
            Self::Json(frame) => Bounds::fair(budget, request.packing, items, frame),
        }
    }

    /// Selects items so that paging can continue: the first item of a page is shown in some form. The cursor records
    /// items that come before the last shown item but were omitted.
    fn choose(
        &self,
        page: Page<'_>,
        weights: &Weights,
        cut: &mut impl FnMut(usize, u32) -> Option<u32>,
        is_kept: impl Fn(&[u32]) -> bool,
    ) -> Vec<Shown> {
        let mut items = page.items;
        loop {
            let mut chosen = self.select_with_first(items, page.bounds, weights, cut);
            chosen.resize(page.items.len(), Shown::Not);
            let dealt_with =
                |(at, (shown, rank)): (usize, (&Shown, &u32))| (at == 0 || *shown != Shown::Not).then_some((at, *rank));
            let (at, dealt): (Vec<usize>, Vec<u32>) =
                chosen.iter().zip(page.ranks).enumerate().filter_map(dealt_with).unzip();
            let last = at.last().copied().unwrap_or_default();
            let Some(shorter) = items.get(..last).filter(|_| last > 0) else { return chosen };
            if !page.is_asked || is_kept(&dealt) {
                return chosen;
            }
            items = shorter;
        }
    }

    /// Selects items, and reserves a line for the first one if it would otherwise be omitted.
    fn select_with_first(
        &self,
        items: &[Item],
        bounds: Bounds,
        weights: &Weights,
        cut: &mut impl FnMut(usize, u32) -> Option<u32>,
    ) -> Vec<Shown> {
        let chosen = self.select(items, bounds, weights, &mut *cut);
        let Some((first, rest)) = items.split_first().filter(|_| chosen.first() == Some(&Shown::Not)) else {
            return chosen;
        };
        let TokenCount(budget) = bounds.budget;
        let room = budget.saturating_sub(self.envelope());
        // If not even its summary fits, it is shown as an ID, because it fits on no other page.
        let bare = self.around_bare() + first.bare;
        let (how, cost) = if first.index <= room {
            (Shown::Index, first.index)
        } else if bare <= room {
            (Shown::Bare, bare)
        } else {
            return chosen;
        };
        let bounds = Bounds { budget: TokenCount(budget - cost), ..bounds };
        let others = self.select(rest, bounds, weights, |at, room| cut(at + 1, room));
        std::iter::once(how).chain(others).collect()
    }

    /// The additional tokens of an ID that replaces a row. In text, such IDs need a line; in JSON, they need no further
    /// tokens.
    pub(super) fn around_bare(&self) -> u32 {
        match self {
            Self::Text(frame) => frame.bare_line().unwrap_or_default(),
            Self::Json(_) => 0,
        }
    }

    /// The smallest budget that shows an item in some form, in the unit of the request.
    fn least(&self, first: &Item, request: &RecallRequest) -> u32 {
        let item = first.index.min(self.around_bare() + first.bare);
        request.profile.of_o200k(TokenCount(self.envelope() + item))
    }

    fn select(
        &self,
        items: &[Item],
        bounds: Bounds,
        weights: &Weights,
        cut: impl FnMut(usize, u32) -> Option<u32>,
    ) -> Vec<Shown> {
        match self {
            Self::Text(frame) => select(items, bounds, frame, weights, cut),
            Self::Json(frame) => select(items, bounds, frame, weights, cut),
        }
    }

    fn envelope(&self) -> u32 {
        match self {
            Self::Text(frame) => frame.envelope(),
            Self::Json(frame) => frame.envelope(),
        }
    }

    fn render(&self, details: &[Detail], index: &[IndexEntry], left: u32, cursor: Option<&Cursor>) -> (String, u32) {
        match self {
            Self::Text(frame) => frame.render(details, index, cursor.map(|cursor| (left, cursor))),
            Self::Json(frame) => frame.render(details, index, cursor, left > 0),
        }
    }
}
