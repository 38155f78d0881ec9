//! Fills a budget: details first, then an index of the other memories.

use crate::domain::{Packing, TokenCount};
use crate::score::Weights;

/// The token costs of everything in a reply except the rows.
pub trait Frame {
    /// Tokens of the empty reply, with the closing line about further matches.
    fn envelope(&self) -> u32;
    /// The tokens of a line that lists IDs, not counting the IDs; `None` if the format has no such line.
    fn bare_line(&self) -> Option<u32>;
}

/// A ranked row for the packer, with its costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    /// Score, 0 to 1.
    pub score: f64,
    /// Tokens of its full line.
    pub detail: u32,
    /// Tokens of its index line.
    pub index: u32,
    /// Tokens of its ID.
    pub bare: u32,
    /// True if an earlier item has the same text. It is not shown again.
    pub is_duplicate: bool,
    /// True if the reply may contain only a passage of the text.
    pub can_be_cut: bool,
}

/// How an item is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The item is not shown, because it does not fit into the budget.
    Not,
    /// The item is not shown, because an earlier item has the same text.
    Duplicate,
    /// In full.
    Detail,
    /// The item is shown as an excerpt with this number of tokens.
    Excerpt(u32),
    /// As one line.
    Index,
    /// As an ID.
    Bare,
}

impl Shown {
    /// The cost of an item in this form.
    pub fn cost(self, item: &Item) -> u32 {
        match self {
            Self::Detail => item.detail,
            Self::Excerpt(tokens) => tokens,
            Self::Index => item.index,
            Self::Bare => item.bare,
            Self::Not | Self::Duplicate => 0,
        }
    }
}

/// The limits for items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The budget of the reply.
    pub budget: TokenCount,
    /// The maximum number of tokens of one item, in full or as an excerpt.
    pub most: u32,
    /// How the budget is used.
    pub packing: Packing,
}

impl Bounds {
    /// Limits that give no item more than half the budget, unless it is the only one or all items fit.
    pub fn fair(budget: TokenCount, packing: Packing, items: &[Item], frame: &impl Frame) -> Self {
        let open = || items.iter().filter(|item| !item.is_duplicate);
        let all: u64 = open().map(|item| u64::from(item.detail)).sum();
        let is_narrow = all > u64::from(budget.0.saturating_sub(frame.envelope()));
        let most = if open().count() > 1 && is_narrow { budget.0 / 2 } else { u32::MAX };
        Self { budget, most, packing }
    }
}

/// Maximum number of excerpts in one reply. More would be hard to read.
const MAX_EXCERPTS: usize = 2;
/// Minimum tokens of an excerpt. A shorter one says too little.
const LEAST_EXCERPT: u32 = 30;

/// Chooses how to show each of `items` (in rank order) within `budget`. The result has one element per item, in the
/// same order.
///
/// `excerpt` returns the tokens of the best passage that fits into a limit. If all items fit, all are shown in full.
/// Otherwise, items above the limit are cut or shown in a shorter form. Full results may use the whole budget, except
/// for the share that is reserved for summaries. Items are tried in the order of their charged score: the score divided
/// by a number that grows with the length. The remaining budget is used for summaries, in the order of rank. If some of
/// the budget remains, summaries become full results, and the remaining matches are listed by ID.
pub fn select(
    items: &[Item],
    bounds: Bounds,
    frame: &impl Frame,
    weights: &Weights,
    mut excerpt: impl FnMut(usize, u32) -> Option<u32>,
) -> Vec<Shown> {
    let Bounds { budget, most, packing } = bounds;
    let room = budget.0.saturating_sub(frame.envelope());
    let mut filler = Filler::new(items, room, most);
    let everything = || filler.open().into_iter().map(|at| filler.item(at).detail);
    if everything().map(u64::from).sum::<u64>() <= u64::from(room) && everything().all(|detail| detail <= most) {
        filler.open().into_iter().for_each(|at| filler.take(at, Shown::Detail));
        return filler.shown;
    }
    let order = charged_order(items, weights);
    // If the index must list all items, it comes before all details except the best.
    let (first, for_details) = match packing {
        Packing::Details => (&*order, room),
        Packing::Dual => (&*order, share_of(room, 1.0 - weights.index_share)),
        Packing::All => (order.get(..1).unwrap_or_default(), room),
    };
    filler.details(first, for_details);
    filler.excerpts(first, for_details, &mut excerpt);
    if !filler.has_details() {
        filler.details(&order, room);
        filler.excerpts(&order, room, &mut excerpt);
    }
    if packing != Packing::Details {
        filler.index();
    }
    filler.upgrade();
    if packing != Packing::Details {
        filler.bare(frame);
    }
    filler.shown
}

fn share_of(room: u32, share: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a u32")]
    let tokens = (f64::from(room) * share) as u32;
    tokens
}

/// Orders the items by score divided by the charge for length, so a longer text needs a higher score. Ties keep rank
/// order.
fn charged_order(items: &[Item], weights: &Weights) -> Vec<usize> {
    let worth = |item: &Item| {
        let charge = (f64::from(item.detail) / weights.charge_from_tokens).max(1.0).powf(weights.charge_power);
        item.score / charge
    };
    let mut order: Vec<(usize, f64)> = items.iter().map(worth).enumerate().collect();
    order.sort_by(|(a, worth_a), (b, worth_b)| worth_b.total_cmp(worth_a).then(a.cmp(b)));
    order.into_iter().map(|(at, _)| at).collect()
}

struct Filler<'a> {
    items: &'a [Item],
    shown: Vec<Shown>,
    room: u32,
    used: u32,
    /// The maximum number of tokens of one item, in full or as an excerpt.
    most: u32,
}

impl<'a> Filler<'a> {
    fn new(items: &'a [Item], room: u32, most: u32) -> Self {
        let shown = items.iter().map(|item| if item.is_duplicate { Shown::Duplicate } else { Shown::Not });
        Self { items, shown: shown.collect(), room, used: 0, most }
    }

    fn item(&self, at: usize) -> Item {
        self.items.get(at).copied().expect("positions come from the items")
    }

    fn is(&self, at: usize, shown: Shown) -> bool {
        self.shown.get(at) == Some(&shown)
    }

    /// Positions of the items that are not shown yet.
    fn open(&self) -> Vec<usize> {
        (0..self.items.len()).filter(|at| self.is(*at, Shown::Not)).collect()
    }

    fn take(&mut self, at: usize, shown: Shown) {
        self.used += shown.cost(&self.item(at));
        if let Some(slot) = self.shown.get_mut(at) {
            *slot = shown;
        }
    }

    fn left(&self, limit: u32) -> u32 {
        limit.min(self.room).saturating_sub(self.used)
    }

    fn has_details(&self) -> bool {
        self.shown.iter().any(|shown| matches!(shown, Shown::Detail | Shown::Excerpt(_)))
    }

    fn details(&mut self, order: &[usize], limit: u32) {
        for &at in order {
            if self.is(at, Shown::Not) && self.item(at).detail <= self.left(limit).min(self.most) {
                self.take(at, Shown::Detail);
            }
        }
    }

    fn excerpts(&mut self, order: &[usize], limit: u32, excerpt: &mut impl FnMut(usize, u32) -> Option<u32>) {
        let mut cuts = 0;
        for &at in order {
            let room = self.left(limit).min(self.most);
            if cuts == MAX_EXCERPTS || room < LEAST_EXCERPT {
                return;
            }
            if self.is(at, Shown::Not)
                && self.item(at).can_be_cut
                && let Some(tokens) = excerpt(at, room).filter(|tokens| *tokens <= room)
            {
                self.take(at, Shown::Excerpt(tokens));
                cuts += 1;
            }
        }
    }

    fn index(&mut self) {
        for at in self.open() {
            if self.item(at).index <= self.left(u32::MAX) {
                self.take(at, Shown::Index);
            }
        }
    }

    /// Uses the remaining budget to show more rows in full, best first.
    fn upgrade(&mut self) {
        for at in 0..self.items.len() {
            let held = match self.shown.get(at) {
                Some(Shown::Not) => 0,
                Some(Shown::Index) => self.item(at).index,
                _ => continue,
            };
            let Item { detail, .. } = self.item(at);
            if detail <= self.most && detail.saturating_sub(held) <= self.left(u32::MAX) {
                self.used -= held;
                self.take(at, Shown::Detail);
            }
        }
    }

    fn bare(&mut self, frame: &impl Frame) {
        let Some(line) = frame.bare_line() else { return };
        let mut is_line_open = false;
        for at in self.open() {
            let opening = if is_line_open { 0 } else { line };
            if self.item(at).bare + opening > self.left(u32::MAX) {
                return;
            }
            self.used += opening;
            is_line_open = true;
            self.take(at, Shown::Bare);
        }
    }
}

#[cfg(test)]
mod tests;
