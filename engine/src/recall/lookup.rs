//! The rows that hold the terms of a query, near spellings of unknown words included.

use crate::domain::Purpose;
use crate::index::{IndexView, TermPostings};
use crate::score::{Weights, idf};

use super::query::{QueryTerm, QueryTerms};

/// Words of a query whose near spellings are looked for, at most.
const MAX_REPAIRED: usize = 6;
/// And where nobody asked: each look may take a millisecond, and a prompt waits for it.
const MAX_REPAIRED_UNASKED: usize = 2;
/// Letters from which on a word may be a beginning, have one edit, have two.
const SHORTEST: usize = 4;
const ONE_EDIT: usize = 5;
const TWO_EDITS: usize = 8;
/// Terms of a query that are scored, at most: those that tell the most.
const MAX_TERMS: usize = 64;

/// The terms of a query with the rows that hold them.
pub(super) struct Terms {
    pub(super) terms: Vec<QueryTerm>,
    pub(super) lists: Vec<TermPostings>,
}

impl Terms {
    pub(super) fn look_up<B: AsRef<[u8]>>(
        view: &IndexView<'_, B>,
        query: QueryTerms,
        purpose: Purpose,
        weights: &Weights,
    ) -> Self {
        let mut terms = query.terms;
        let mut lists = view.postings(&bytes_of(&terms));
        let near = near_words(view, &terms, &lists, purpose, weights);
        if !near.is_empty() {
            terms.extend(near);
            terms.sort_by(|a, b| a.term.cmp(&b.term));
            terms.dedup_by(|a, b| a.term == b.term);
            lists = view.postings(&bytes_of(&terms));
        }
        let mut found = Self { terms, lists };
        found.keep_most_telling(view.rows());
        found
    }

    /// Keeps the terms of a long query that tell the most, and every term of a short one.
    fn keep_most_telling(&mut self, rows: u32) {
        if self.terms.len() <= MAX_TERMS {
            return;
        }
        let gain = |at: &usize| match (self.terms.get(*at), self.lists.get(*at)) {
            (Some(term), Some(list)) if list.own > 0 => term.weight * idf(rows, list.own),
            _ => 0.0,
        };
        let mut best: Vec<usize> = (0..self.terms.len()).collect();
        best.sort_by(|a, b| gain(b).total_cmp(&gain(a)).then(a.cmp(b)));
        best.truncate(MAX_TERMS);
        let mut at = 0..;
        self.terms.retain(|_| at.next().is_some_and(|at| best.contains(&at)));
        let mut at = 0..;
        self.lists.retain(|_| at.next().is_some_and(|at| best.contains(&at)));
    }
}

fn bytes_of(terms: &[QueryTerm]) -> Vec<&[u8]> {
    terms.iter().map(|term| term.term.as_bytes()).collect()
}

/// Words of the index for the words of the query that no row holds: within one edit (a swap of
/// neighbours is one), or longer words that begin with them. Two edits are allowed from eight letters
/// on, where most of the query is unknown: they are dear to look for, and of use only then.
fn near_words<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    terms: &[QueryTerm],
    lists: &[TermPostings],
    purpose: Purpose,
    weights: &Weights,
) -> Vec<QueryTerm> {
    let words = || terms.iter().zip(lists).filter(|(term, _)| term.is_word);
    let unknown: Vec<&QueryTerm> = words().filter(|(_, list)| list.own == 0).map(|(term, _)| term).collect();
    let (most, is_mostly_unknown) = match purpose {
        Purpose::Asked => (MAX_REPAIRED, unknown.len() * 2 > words().count()),
        Purpose::Unasked => (MAX_REPAIRED_UNASKED, false),
    };
    let repaired = unknown.into_iter().filter(|term| term.term.chars().count() >= SHORTEST).take(most);
    repaired.flat_map(|word| repair(view, word, is_mostly_unknown, weights)).collect()
}

fn repair<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    word: &QueryTerm,
    is_mostly_unknown: bool,
    weights: &Weights,
) -> Vec<QueryTerm> {
    if word.term.bytes().any(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let letters = word.term.chars().count();
    let mut near = within(view, &word.term, u32::from(letters >= ONE_EDIT));
    if near.is_empty() && letters >= TWO_EDITS && is_mostly_unknown {
        near = within(view, &word.term, 2);
    }
    near.sort();
    let closest = near.first().map_or(0, |(edits, _)| *edits);
    let kept = near.into_iter().filter(|(edits, _)| *edits == closest).take(3);
    let weight = word.weight * weights.near_words;
    kept.map(|(_, term)| QueryTerm { term, weight, is_name: false, ..word.clone() }).collect()
}

/// Words of the index within so many edits that begin alike, and longer words that begin with `word`.
fn within<B: AsRef<[u8]>>(view: &IndexView<'_, B>, word: &str, edits: u32) -> Vec<(usize, String)> {
    let mut candidates = view.near_words(word, edits);
    if edits == 1 {
        let swaps = swaps(word);
        let lists = view.postings(&swaps.iter().map(String::as_bytes).collect::<Vec<_>>());
        candidates.extend(swaps.into_iter().zip(lists).filter(|(_, list)| list.own > 0).map(|(swap, _)| swap));
    }
    let measured = candidates.into_iter().filter_map(|candidate| {
        let distance = strsim::osa_distance(word, &candidate);
        let begins_alike = candidate.chars().next() == word.chars().next();
        if distance <= edits as usize && begins_alike {
            return Some((distance, candidate));
        }
        candidate.starts_with(word).then_some((2, candidate))
    });
    measured.collect()
}

/// The spellings with two neighbouring letters swapped, sorted.
fn swaps(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let swapped = (1..letters.len()).map(|at| {
        let mut letters = letters.clone();
        letters.swap(at - 1, at);
        letters.into_iter().collect()
    });
    let mut swapped: Vec<String> = swapped.collect();
    swapped.sort();
    swapped.dedup();
    swapped
}
