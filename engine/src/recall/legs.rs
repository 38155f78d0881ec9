//! The leg of meaning beside the leg of words: how near a row is to the question, and whether the two legs together say
//! that the question has an answer here at all.

use crate::index::{DocId, Nearness};
use crate::score::Weights;

use super::information::Information;
use super::query::QueryTerms;

/// How near the rows of a view are to the question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meaning<'a>(&'a Nearness);

impl<'a> Meaning<'a> {
    /// None where no row has a vector yet: then words decide alone.
    pub(super) fn of(nearness: &'a Nearness) -> Option<Self> {
        nearness.is_known().then_some(Self(nearness))
    }

    /// How near a row is, 0 to 1. One that waits for its vector is taken to be as near as rows are that hold as much of
    /// the question.
    pub(super) fn near(self, doc: DocId, share: f64, weights: &Weights) -> f64 {
        self.0.of(doc).unwrap_or(weights.meaning_waiting * share).max(0.0)
    }
}

/// What tells whether the question has an answer here: how near the nearest row is, how much of the question any row
/// holds, how much the question tells, and whether it names what nobody knows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gate {
    nearest: f64,
    most_held: f64,
}

impl Gate {
    /// Takes a row in: how near it is, and the share of the question that it holds.
    pub(super) fn see(&mut self, near: f64, share: f64) {
        self.nearest = self.nearest.max(near);
        self.most_held = self.most_held.max(share);
    }

    /// True when a question with this information is likely to be answered by what was seen.
    pub(super) fn is_open(
        &self,
        query: &QueryTerms,
        information: &Information,
        rarest: f64,
        weights: &Weights,
    ) -> bool {
        let told = (information.subject() / rarest.max(f64::MIN_POSITIVE)).min(weights.gate_told_most);
        let unknown = if information.has_unknown_name(query) { weights.gate_unknown_name } else { 0.0 };
        let found =
            self.nearest + weights.gate_held * information.share_of_subject(self.most_held) + weights.gate_told * told
                - unknown;
        found >= weights.gate + weights.chance(information.rows())
    }
}
