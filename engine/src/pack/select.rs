//! Filling a budget: details first, then an index of what was not given in full.

use crate::domain::{Packing, TokenCount};
use crate::score::Weights;

/// What the reply around the rows costs.
pub trait Frame {
    /// Tokens of the empty reply, with a closing line that says how many more there are.
    fn envelope(&self) -> u32;
    /// Tokens of a line of bare IDs, without the IDs; `None` if the frame has no such line.
    fn bare_line(&self) -> Option<u32>;
}

/// A ranked row as the packer sees it: costs, and how dear it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    /// Score, 0 to 1.
    pub score: f64,
    /// Tokens of its full line.
    pub detail: u32,
    /// Tokens of its index line.
    pub index: u32,
    /// Tokens of its ID alone.
    pub bare: u32,
    /// An item before it says the same: it is not shown again.
    pub is_duplicate: bool,
    /// True when it can be cut to a passage.
    pub can_be_cut: bool,
}

/// How an item is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Not at all: there was no room.
    Not,
    /// Not again: an item before it says the same.
    Duplicate,
    /// In full.
    Detail,
    /// Cut to a passage of so many tokens.
    Excerpt(u32),
    /// As one line.
    Index,
    /// As an ID.
    Bare,
}

impl Shown {
    /// What an item shown so costs.
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

/// What items may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// All of the reply.
    pub budget: TokenCount,
    /// One item, in full or as a passage.
    pub most: u32,
    /// How the budget is spent.
    pub packing: Packing,
}

impl Bounds {
    /// Bounds under which no item gets more than half the budget, unless it is the only one or there is room for all.
    pub fn fair(budget: TokenCount, packing: Packing, items: &[Item], frame: &impl Frame) -> Self {
        let open = || items.iter().filter(|item| !item.is_duplicate);
        let all: u64 = open().map(|item| u64::from(item.detail)).sum();
        let is_narrow = all > u64::from(budget.0.saturating_sub(frame.envelope()));
        let most = if open().count() > 1 && is_narrow { budget.0 / 2 } else { u32::MAX };
        Self { budget, most, packing }
    }
}

/// Passages of one reply, at most: more would be a patchwork.
const MAX_EXCERPTS: usize = 2;
/// Below this a passage says too little to be worth its line.
const LEAST_EXCERPT: u32 = 30;

/// Chooses what to show of `items` (in rank order) within `budget`: one answer for each, in their order.
///
/// `excerpt` gives the tokens of the best passage of an item that fits in some room.
/// Takes everything when everything fits. Otherwise what costs more than one item may is cut, or steps down. Details get the budget less the index share,
/// in the order of score over length charge, and the index gets the rest in rank order; what is
/// then left over turns index lines into details, and names the remaining IDs.
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
    // Where the index is to name everything, it comes before all details but the best one.
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

/// Positions by score per charge: a text of many tokens must be so much better. Ties keep rank order.
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
    /// What one item may cost in full or as a passage.
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

    /// Spends what is left over on giving more rows in full, best first.
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
