//! The rows that hold the terms of a query, near spellings of unknown words included.

use crate::index::{IndexView, TermPostings};
use crate::score::{Weights, idf};

use super::query::{QueryTerm, QueryTerms};

/// Words of a query whose near spellings are looked for, at most.
const MAX_REPAIRED: usize = 6;
/// Terms of a query that are scored, at most: those that tell the most.
const MAX_TERMS: usize = 64;
/// The terms of a query with the rows that hold them.
pub(super) struct Terms {
    pub(super) terms: Vec<QueryTerm>,
    pub(super) lists: Vec<TermPostings>,
}

impl Terms {
    pub(super) fn look_up<B: AsRef<[u8]>>(view: &IndexView<'_, B>, query: QueryTerms, weights: &Weights) -> Self {
        let mut terms = query.terms;
        let mut lists = view.postings(&bytes_of(&terms));
        let near = near_words(view, &terms, &lists, weights);
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

/// Words of the index for the words of the query that no row holds: within one edit (two from eight
/// letters on; a swap of neighbours is one), or longer words that begin with them.
fn near_words<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    terms: &[QueryTerm],
    lists: &[TermPostings],
    weights: &Weights,
) -> Vec<QueryTerm> {
    let unknown = terms.iter().zip(lists).filter(|(term, list)| term.is_word && list.own == 0);
    let words = unknown.map(|(term, _)| term).filter(|term| term.term.chars().count() >= 4);
    words.take(MAX_REPAIRED).flat_map(|word| repair(view, word, weights)).collect()
}

fn repair<B: AsRef<[u8]>>(view: &IndexView<'_, B>, word: &QueryTerm, weights: &Weights) -> Vec<QueryTerm> {
    let letters = word.term.chars().count();
    if word.term.bytes().any(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let (allowed, searched) = match letters {
        ..5 => (0, 0),
        5..8 => (1, 2),
        _ => (2, 2),
    };
    let mut near: Vec<(usize, String)> = Vec::new();
    for candidate in view.near_words(&word.term, searched) {
        let edits = strsim::osa_distance(&word.term, &candidate);
        if edits <= allowed && candidate.chars().next() == word.term.chars().next() {
            near.push((edits, candidate));
        } else if candidate.starts_with(&word.term) {
            near.push((allowed.max(1), candidate));
        }
    }
    near.sort();
    let closest = near.first().map_or(0, |(edits, _)| *edits);
    let kept = near.into_iter().filter(|(edits, _)| *edits == closest).take(3);
    let weight = word.weight * weights.near_words;
    kept.map(|(_, term)| QueryTerm { term, weight, is_name: false, ..word.clone() }).collect()
}
