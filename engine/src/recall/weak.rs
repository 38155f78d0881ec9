//! The reply if no match is above the relevance threshold.

use std::collections::HashSet;

use crate::domain::RecallRequest;
use crate::pack::{IndexEntry, JsonFrame, LowConfidenceRows, Ranked, Row, TextFrame};
use crate::text::without_case_and_space;

/// The low-confidence matches that fit, as index lines, and the number of the others.
pub(super) struct Weak {
    pub(super) rows: Vec<IndexEntry>,
    pub(super) near: u32,
    pub(super) left_out: Vec<Ranked>,
}

impl Weak {
    /// Takes low-confidence matches in rank order while they fit.
    ///
    /// `cost` is the cost of one row. `envelope` returns the cost of the reply without its rows, given the numbers of
    /// shown rows and of low-confidence matches.
    pub(super) fn fit(
        found: Vec<(Ranked, Row)>,
        near: u32,
        room: u32,
        cost: impl Fn(&Ranked, &Row) -> u32,
        envelope: impl Fn(u32, u32) -> u32,
    ) -> Self {
        let mut weak = Self { rows: Vec::new(), near, left_out: Vec::new() };
        let (mut used, mut shown) = (0, 0);
        let mut said = HashSet::new();
        for (ranked, row) in found {
            let tokens = cost(&ranked, &row);
            let text = says(&row);
            if said.contains(&text) {
                weak.near = weak.near.saturating_sub(1);
            } else if used + tokens + envelope(shown + 1, near) <= room {
                used += tokens;
                shown += 1;
                weak.near = weak.near.saturating_sub(1);
                said.insert(text);
                weak.rows.push(IndexEntry { ranked, memory: row.memory, excerpt: None, is_bare: false, tokens });
            } else {
                weak.left_out.push(ranked);
            }
        }
        weak
    }

    /// Selects the low-confidence rows for a text reply that contains no other rows.
    pub(super) fn of_text(found: Vec<(Ranked, Row)>, near: u32, request: &RecallRequest, frame: &TextFrame) -> Self {
        let room = request.profile.to_o200k(request.budget).0;
        let cost = |ranked: &Ranked, row: &Row| {
            TextFrame::weak_row(row.memory.short_id, row.costs.index) + TextFrame::older(ranked, &row.memory)
        };
        Self::fit(found, near, room, cost, |shown, near| frame.weak_envelope(shown, near))
    }

    /// The low-confidence rows as JSON, for a reply that contains no other rows.
    pub(super) fn of_json(found: Vec<(Ranked, Row)>, near: u32, request: &RecallRequest, frame: &JsonFrame) -> Self {
        let room = request.profile.to_o200k(request.budget).0;
        let cost = |ranked: &Ranked, row: &Row| frame.short(ranked, row.costs.json_index);
        Self::fit(found, near, room, cost, |_, near| frame.weak_envelope(near))
    }

    /// In the form for rendering.
    pub(super) fn rows(&self) -> LowConfidenceRows<'_> {
        LowConfidenceRows { rows: &self.rows, near: self.near }
    }
}

/// The key by which equal texts are recognised. Texts that differ only in case and white space are shown once. But
/// `fooBar` and `foobar` are different words and have different signatures, so both are shown.
pub(super) fn says(row: &Row) -> (u64, String) {
    (row.signature, without_case_and_space(&row.memory.content))
}
