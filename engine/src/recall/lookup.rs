//! Finds the rows for the terms of a query, with spelling correction of unknown words.
//!
//! Also returns those words of a question that occur in memories. These words can be recorded without the question.
//!
//! Also combines semantic search with word search, and decides whether the memories contain an answer.

use std::collections::BTreeSet;

use super::information::Information;
use super::query::{QueryTerm, QueryTerms, Relation};
use crate::domain::Purpose;
use crate::index::{DocId, IndexView, Similarities, TermPostings};
use crate::score::{Weights, idf};
use crate::text::{Lexicon, Token, TokenKind, fold, tokenize};

/// The maximum number of words of a query that are corrected.
const MAX_REPAIRED: usize = 6;
/// For a query of at most `SHORT` words, the reply shows all corrections. For a longer query, it shows only corrections
/// of names. At most `MOST_TOLD` are shown.
const SHORT: usize = 8;
const MOST_TOLD: usize = 4;
/// The minimum number of letters for a match as a prefix, for one edit, and for two edits.
const SHORTEST: usize = 4;
const ONE_EDIT: usize = 5;
const TWO_EDITS: usize = 8;
/// Maximum number of scored terms of a query: the most informative ones.
const MAX_TERMS: usize = 64;

/// The terms of a query with the rows that contain them.
pub(super) struct Terms {
    pub(super) query: QueryTerms,
    pub(super) lists: Vec<TermPostings>,
}

impl Terms {
    pub(super) fn look_up<B: AsRef<[u8]>>(
        view: &IndexView<'_, B>,
        mut query: QueryTerms,
        purpose: Purpose,
        weights: &Weights,
    ) -> Self {
        let (mut near, words): (Vec<_>, Vec<_>) = query.terms.into_iter().partition(|t| t.relation == Relation::Near);
        query.terms = words;
        let mut lists = lists_of(view, &query.terms);
        let common = common_words(&query.terms, &lists);
        near.retain(|term| term.concepts & !common != 0);
        // In automatic recall, unknown words are not corrected, because nobody would see the correction.
        let is_asked = purpose == Purpose::Asked;
        let repaired = if is_asked { near_words(view, &query, &lists, weights) } else { Vec::new() };
        // In a long prompt, a correction is shown only for a name.
        let is_short = query.terms.iter().filter(|term| term.relation == Relation::Word).count() <= SHORT;
        let told = repaired.iter().filter(|(word, near)| (is_short || word.is_name) && word.term != near.term);
        query.read_as = told.take(MOST_TOLD).map(|(word, near)| (word.term.clone(), near.term.clone())).collect();
        near.extend(repaired.into_iter().map(|(_, near)| near));
        query.terms.extend(near);
        lists.extend(lists_of(view, query.terms.get(lists.len()..).unwrap_or_default()));
        let mut pairs: Vec<(QueryTerm, TermPostings)> = query.terms.into_iter().zip(lists).collect();
        pairs.sort_by(|(a, _), (b, _)| a.term.cmp(&b.term).then(a.relation.cmp(&b.relation)));
        pairs.dedup_by(|(a, _), (b, _)| a.term == b.term);
        let lists;
        (query.terms, lists) = pairs.into_iter().unzip();
        let mut found = Self { query, lists };
        found.keep_most_telling(view.rows());
        found
    }

    /// Keeps the most informative terms of a long query, and all terms of a short one.
    fn keep_most_telling(&mut self, rows: u32) {
        let terms = &mut self.query.terms;
        if terms.len() <= MAX_TERMS {
            return;
        }
        let gain = |at: &usize| match (terms.get(*at), self.lists.get(*at)) {
            (Some(term), Some(list)) if list.own > 0 => term.weight * idf(rows, list.own),
            _ => 0.0,
        };
        let mut best: Vec<usize> = (0..terms.len()).collect();
        best.sort_by(|a, b| gain(b).total_cmp(&gain(a)).then(a.cmp(b)));
        best.truncate(MAX_TERMS);
        let mut at = 0..;
        terms.retain(|_| at.next().is_some_and(|at| best.contains(&at)));
        let mut at = 0..;
        self.lists.retain(|_| at.next().is_some_and(|at| best.contains(&at)));
    }
}

/// If a word occurs in this number of rows, no similar words are needed to find it.
const COMMON: u32 = 10;

/// The words of a query that many rows contain, in one of their forms.
fn common_words(terms: &[QueryTerm], lists: &[TermPostings]) -> u64 {
    let common = terms.iter().zip(lists).filter(|(_, list)| list.own >= COMMON);
    common.fold(0, |all, (term, _)| all | term.concepts)
}

/// The rows that contain each term. For a phrase, the rows that contain all its words.
fn lists_of<B: AsRef<[u8]>>(view: &IndexView<'_, B>, terms: &[QueryTerm]) -> Vec<TermPostings> {
    let words = terms.iter().flat_map(|term| term.term.split(' '));
    let words: Vec<&[u8]> = words.map(str::as_bytes).collect::<BTreeSet<_>>().into_iter().collect();
    let lists = view.postings(&words);
    let list_of = |word: &str| {
        let at = words.binary_search(&word.as_bytes()).ok();
        at.and_then(|at| lists.get(at)).cloned().unwrap_or_default()
    };
    let rows = |term: &QueryTerm| term.term.split(' ').map(list_of).reduce(|a, b| a.and(&b)).unwrap_or_default();
    terms.iter().map(rows).collect()
}

/// Corrections for words of the query that no row contains: words of the index within one edit (a swap of neighbours
/// counts as one), or longer words that begin with them. Two edits are allowed for words of at least eight letters if
/// most of the query is unknown. In other cases, this slow search is rarely useful. Each correction is listed beside
/// its word.
fn near_words<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    query: &QueryTerms,
    lists: &[TermPostings],
    weights: &Weights,
) -> Vec<(QueryTerm, QueryTerm)> {
    let found = || query.terms.iter().zip(lists).filter(|(_, list)| list.own > 0);
    let known =
        found().filter(|(term, _)| term.relation != Relation::Near).fold(0, |all, (term, _)| all | term.concepts);
    let words = || query.terms.iter().filter(|term| term.is_word && term.relation == Relation::Word);
    // A word with little information is not corrected.
    let unknown: Vec<&QueryTerm> = words().filter(|term| term.concepts & !(known | query.light) != 0).collect();
    let is_mostly_unknown = unknown.len() * 2 > words().count();
    let may_be_repaired = |term: &&QueryTerm| term.term.chars().count() >= SHORTEST;
    let repaired = unknown.into_iter().filter(may_be_repaired).take(MAX_REPAIRED);
    let near = |word: &QueryTerm| {
        let near = repair(view, word, is_mostly_unknown, weights);
        near.into_iter().map(|near| (word.clone(), near)).collect::<Vec<_>>()
    };
    repaired.flat_map(near).collect()
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
    near.dedup_by(|a, b| a.1 == b.1);
    let closest = near.first().map_or(0, |(edits, _)| *edits);
    let kept = near.into_iter().filter(|(edits, _)| *edits == closest).take(3);
    let weight = word.weight * weights.near_words;
    let relation = if closest <= 1 { Relation::Same } else { Relation::Near };
    let near = |term| QueryTerm { term, weight, relation, is_name: false, ..word.clone() };
    kept.map(|(_, term)| near(term)).collect()
}

/// Words of the index with the same first letter and at most `edits` edits, and longer words that begin with `word`.
fn within<B: AsRef<[u8]>>(view: &IndexView<'_, B>, word: &str, edits: u32) -> Vec<(usize, String)> {
    let mut near = Vec::new();
    let candidates = view.near_words(word, edits);
    if edits == 1 {
        let swaps = swaps(word);
        let lists = view.postings(&swaps.iter().map(String::as_bytes).collect::<Vec<_>>());
        let swapped = swaps.into_iter().zip(lists).filter(|(_, list)| list.own > 0).map(|(swap, _)| (1, swap));
        near.extend(swapped);
    }
    let stumps = stumps(word);
    let lists = view.postings(&stumps.iter().map(String::as_bytes).collect::<Vec<_>>());
    near.extend(stumps.into_iter().zip(lists).filter(|(_, list)| list.own > 0).map(|(stump, _)| (2, stump)));
    let measured = candidates.into_iter().filter_map(|candidate| {
        let distance = strsim::osa_distance(word, &candidate);
        let begins_alike = candidate.chars().next() == word.chars().next();
        if distance <= edits as usize && begins_alike {
            return Some((distance, candidate));
        }
        candidate.starts_with(word).then_some((2, candidate))
    });
    near.extend(measured);
    near
}

/// Removes the last two or three letters of a long word, because stemmers do not remove some endings. Sorted.
fn stumps(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let stump = |less: usize| letters.get(..letters.len().checked_sub(less)?).filter(|kept| kept.len() >= ONE_EDIT);
    [3, 2].into_iter().filter_map(stump).map(|kept| kept.iter().collect()).collect()
}

/// The spellings with two neighbouring letters swapped, and their stems, because the stem of a misspelling such as
/// `stagign` is wrong. Sorted.
fn swaps(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let swapped = (1..letters.len()).map(|at| {
        let mut letters = letters.clone();
        letters.swap(at - 1, at);
        letters.into_iter().collect::<String>()
    });
    let with_stem = |spelling: String| {
        let stem = tokenize(&spelling).into_iter().next().map(|token| token.term);
        stem.into_iter().chain([spelling])
    };
    let mut swapped: Vec<String> = swapped.flat_map(with_stem).collect();
    swapped.sort();
    swapped.dedup();
    swapped
}

/// Maximum number of words of a question.
const MOST: usize = 12;
/// Maximum number of chunks. The subject of a longer text is usually at its beginning.
const MOST_CHUNKS: usize = 200;

/// Those words of a question that occur in at least one memory of a view, in order, at most twelve. Words with little
/// information are skipped. A plain word is returned as the user typed it, but in lowercase and without accents.
/// Otherwise, returns the term in the form of the index, so that nothing is revealed that the memories do not contain.
pub fn known_words<B: AsRef<[u8]>>(view: &IndexView<'_, B>, question: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let chunks = question.split_whitespace().take(MOST_CHUNKS).flat_map(words_of);
    let words: Vec<(String, String)> = chunks.filter(|(_, term)| seen.insert(term.clone())).collect();
    let terms: Vec<&[u8]> = seen.iter().map(String::as_bytes).collect();
    let postings = view.postings(&terms);
    let held: BTreeSet<&[u8]> =
        terms.into_iter().zip(postings).filter(|(_, rows)| rows.own > 0).map(|(term, _)| term).collect();
    let known = words.iter().filter(|(_, term)| held.contains(term.as_bytes()));
    known.take(MOST).map(|(word, _)| word.clone()).collect()
}

/// The words of a piece of the question, as they are displayed, each with its term.
fn words_of(chunk: &str) -> Vec<(String, String)> {
    let lexicon = Lexicon::of_questions();
    let tells = |token: &Token| {
        matches!(token.kind, TokenKind::Word | TokenKind::Compound | TokenKind::Pair)
            && !lexicon.is_light(&token.term)
            && !lexicon.is_everyday(&token.term)
    };
    let tokens = tokenize(chunk);
    let is_plain = tokens.len() == 1;
    let telling = tokens.into_iter().filter(tells);
    telling.map(|token| (if is_plain { shown(chunk) } else { token.term.clone() }, token.term)).collect()
}

fn shown(chunk: &str) -> String {
    let folded = fold(chunk);
    let word = folded.trim_matches(|letter: char| !letter.is_alphanumeric());
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word).to_owned()
}

/// The similarity of the rows of a view to the question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Embedding<'a>(&'a Similarities);

impl<'a> Embedding<'a> {
    /// `None` if no row has an embedding yet. Then words decide alone.
    pub(super) fn of(similarities: &'a Similarities) -> Option<Self> {
        similarities.is_known().then_some(Self(similarities))
    }

    /// The similarity of a row, 0 to 1. A row without an embedding gets an assumed similarity.
    pub(super) fn near(self, doc: DocId, share: f64, weights: &Weights) -> f64 {
        self.0.of(doc).unwrap_or(weights.embedding_waiting * share).clamp(0.0, 1.0)
    }

    /// True if the question is probably not in English.
    pub(super) fn is_foreign(self) -> bool {
        self.0.is_foreign()
    }
}

/// The data that decides whether the question has an answer here: the similarity of the nearest row, the highest share
/// of the question in a row, the information of the question, and whether it contains an unknown name.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gate {
    pub(super) nearest: f64,
    pub(super) most_held: f64,
    /// True if the question is probably not in English. Then an unknown word with a capital is rarely a name.
    is_foreign: bool,
}

impl Gate {
    pub(super) fn new(is_foreign: bool) -> Self {
        Self { is_foreign, ..Self::default() }
    }

    /// Adds a row: its similarity, and the share of the question that it contains.
    pub(super) fn see(&mut self, near: f64, share: f64) {
        self.nearest = self.nearest.max(near);
        self.most_held = self.most_held.max(share);
    }

    /// How likely the rows seen so far answer a question with this amount of information; not a probability.
    pub(super) fn answerability(
        &self,
        query: &QueryTerms,
        information: &Information,
        rarest: f64,
        weights: &Weights,
    ) -> f64 {
        let told = (information.subject() / rarest.max(f64::MIN_POSITIVE)).min(weights.gate_told_most);
        let is_unknown = !self.is_foreign && information.has_unknown_name(query);
        let unknown = if is_unknown { weights.gate_unknown_name } else { 0.0 };
        let found =
            self.nearest + weights.gate_held * information.share_of_subject(self.most_held) + weights.gate_told * told
                - unknown;
        found - weights.chance(information.rows())
    }
}
