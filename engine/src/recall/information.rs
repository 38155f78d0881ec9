//! Computes the information of each word of a query, and the share of it that a row contains.

use crate::domain::Purpose;
use crate::index::TermPostings;
use crate::score::{DateHints, Weights, idf};

use super::query::{DATE, QueryTerm, QueryTerms, Relation};

/// The information of each word of a query. A rare word has more information than a common one. The more information a
/// word has, the more likely a row with this word is relevant.
#[derive(Debug)]
pub(super) struct Information {
    rows: u32,
    concepts: [f64; 64],
    /// The number of rows that contain a word, in any of its forms.
    holders: [u32; 64],
    /// The information of the whole query. If a user or a model requested the recall, the words of the expanded query
    /// do not count.
    total: f64,
    /// The information of the query, without the unknown words that have little information. Such words belong to the
    /// request, not to the subject.
    subject: f64,
    /// Words that at least one row contains.
    known: u64,
    /// Informative words that at least one row contains.
    content: u64,
    /// Words with little information.
    light: u64,
    near_share: f64,
}

/// The words of a query that a row contains, one bit each.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    /// The word itself or another form of it.
    pub(super) whole: u64,
    /// A word with similar meaning or spelling.
    pub(super) near: u64,
}

impl Information {
    pub(super) fn of(
        query: &QueryTerms,
        lists: &[TermPostings],
        rows: u32,
        dates: &DateHints,
        purpose: Purpose,
        weights: &Weights,
    ) -> Self {
        let mut information = Self {
            rows,
            concepts: [0.0; 64],
            holders: [0; 64],
            total: 0.0,
            subject: 0.0,
            known: 0,
            content: 0,
            light: query.light,
            near_share: weights.near_share,
        };
        information.count_holders(query, lists);
        for (term, list) in query.terms.iter().zip(lists) {
            information.learn(term, list.own, query, weights);
        }
        if !dates.is_empty() && weights.when > 0.0 {
            information.set(DATE, weights.when * idf(rows, 1));
        }
        information.content &= !(query.light | query.everyday);
        // In requested recall, the expansion may find memories that the query does not. In automatic recall, a memory
        // must match the whole prompt.
        let counted = if purpose == Purpose::Asked { query.asked } else { u64::MAX };
        information.total = information.sum(counted);
        information.subject = information.sum(counted & !(query.light & !information.known));
        information
    }

    fn count_holders(&mut self, query: &QueryTerms, lists: &[TermPostings]) {
        let names = query.terms.iter().zip(lists).filter(|(term, _)| term.is_word && term.relation != Relation::Near);
        for (term, list) in names {
            for at in bits(term.concepts) {
                if let Some(holders) = self.holders.get_mut(at) {
                    *holders = holders.saturating_add(list.own).min(self.rows);
                }
            }
        }
    }

    fn learn(&mut self, term: &QueryTerm, own: u32, query: &QueryTerms, weights: &Weights) {
        let is_known = own > 0 || (term.relation == Relation::Word && self.holders_of(term) > 0);
        let tells = match (is_known, term.relation) {
            (true, _) => term.weight * self.idf(term, own),
            (false, Relation::Word) => self.unknown(term, query, weights),
            (false, _) => return,
        };
        if is_known {
            self.content |= term.concepts;
            self.known |= term.concepts;
        }
        self.set(term.concepts, tells);
    }

    /// The information of a word that no row contains. An ordinary unknown word has the normal information, and a word
    /// with little information has less.
    fn unknown(&self, term: &QueryTerm, query: &QueryTerms, weights: &Weights) -> f64 {
        let word = if term.is_name { weights.unknown_names } else { weights.unknown };
        let kind = match term.concepts {
            word if word & query.light != 0 => weights.unknown_light,
            word if word & query.everyday != 0 => 1.0 / weights.everyday,
            _ => 1.0,
        };
        term.weight * word * kind * idf(self.rows, 1)
    }

    fn set(&mut self, concepts: u64, tells: f64) {
        for at in bits(concepts) {
            if let Some(known) = self.concepts.get_mut(at) {
                *known = known.max(tells);
            }
        }
    }

    fn holders_of(&self, term: &QueryTerm) -> u32 {
        let all = bits(term.concepts).filter_map(|at| self.holders.get(at));
        if term.is_word { all.copied().max().unwrap_or(0) } else { 0 }
    }

    /// The inverse document frequency of a term. All forms of a word count together. So a rare form has the same
    /// information as a common one.
    pub(super) fn idf(&self, term: &QueryTerm, own: u32) -> f64 {
        match term.relation {
            Relation::Near => idf(self.rows, own),
            Relation::Word | Relation::Same => idf(self.rows, own.max(self.holders_of(term))),
        }
    }

    /// The total information of the words in a mask.
    pub(super) fn sum(&self, concepts: u64) -> f64 {
        bits(concepts).filter_map(|at| self.concepts.get(at)).sum()
    }

    /// The highest information of a word in a mask.
    pub(super) fn most(&self, concepts: u64) -> f64 {
        bits(concepts).filter_map(|at| self.concepts.get(at)).copied().fold(0.0, f64::max)
    }

    /// The number of words in a mask that at least one row contains.
    pub(super) fn known(&self, concepts: u64) -> u32 {
        (self.known & concepts).count_ones()
    }

    /// The information of the query without words that only belong to the request.
    pub(super) fn subject(&self) -> f64 {
        self.subject
    }

    /// Converts a share of the information of all words to a share of the subject's information. Unknown words with
    /// little information do not belong to the subject.
    pub(super) fn share_of_subject(&self, share: f64) -> f64 {
        if self.subject <= 0.0 { share } else { (share * self.total / self.subject).min(1.0) }
    }

    /// The number of live rows in the index.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// The information of the whole query.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// The share of the query that a row contains; 0 for a query without information.
    pub(super) fn share(&self, held: Held) -> f64 {
        if self.total <= 0.0 {
            return 0.0;
        }
        // An empty sum is negative zero.
        ((self.sum(held.whole) + self.near_share * self.sum(held.near & !held.whole)) / self.total).max(0.0)
    }

    /// True if the question contains a name that no row contains in any form.
    pub(super) fn has_unknown_name(&self, query: &QueryTerms) -> bool {
        query.terms.iter().any(|term| {
            let is_named = term.is_name && term.relation == Relation::Word && term.concepts & query.asked != 0;
            is_named && bits(term.concepts).all(|at| self.holders.get(at) == Some(&0))
        })
    }

    /// True if the row contains several words, at least one of them informative.
    pub(super) fn has_several(&self, held: Held) -> bool {
        let all = held.whole | held.near;
        all.count_ones() > 1 && all & !self.light != 0
    }

    /// True if the row contains an informative word, or a similar one.
    pub(super) fn has_content(&self, held: Held) -> bool {
        (held.whole | held.near) & self.content != 0
    }

    /// True if the date is a large part of the query's information. A row of this date is then relevant, even if it
    /// contains no word of the query. In this case, every row of that date is a candidate.
    pub(super) fn is_about_a_date(&self, weights: &Weights) -> bool {
        self.sum(DATE) > 0.0 && self.sum(DATE) >= weights.floor * self.total
    }
}

/// The positions of the bits of a mask, ascending.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (at < 64).then_some(at)
    })
}
