//! The terms of a query.

use std::collections::BTreeMap;

use crate::score::Weights;
use crate::text::{Token, TokenKind, tokenize};

/// A term to look for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The term, as an index has it.
    pub term: String,
    /// Its weight against a word of the query.
    pub weight: f64,
    /// The word of the query it stands for: 0 to 63. Terms of one word are one piece of information.
    pub concept: u8,
    /// A capitalised word inside a sentence.
    pub is_name: bool,
    /// An identifier, path, version or hash, whole.
    pub is_identifier: bool,
    /// A plain word, which may be misspelt.
    pub is_word: bool,
}

/// All terms of a query, sorted and unique.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueryTerms {
    /// The terms.
    pub terms: Vec<QueryTerm>,
}

/// Words of a query that are looked at: a pasted log has thousands, and they repeat.
const MAX_TOKENS: usize = 2_000;
/// The number of a word beyond the last that has a bit of its own.
const LAST_CONCEPT: u32 = 63;

impl QueryTerms {
    /// The terms of a query, and of the caller's expansion of it at a lower weight.
    ///
    /// Function words are dropped unless nothing else is left. Identifiers look for their words and,
    /// at a lower weight, for themselves whole. Single characters of scripts without spaces are
    /// looked for only where the query has no pair.
    pub fn analyze(query: &str, expanded: Option<&str>, weights: &Weights) -> Self {
        let mut terms = BTreeMap::new();
        let mut concepts = 0;
        add(&mut terms, query, 1.0, &mut concepts, weights);
        if let Some(expanded) = expanded {
            add(&mut terms, expanded, weights.expanded, &mut concepts, weights);
        }
        Self { terms: terms.into_values().collect() }
    }
}

fn add(terms: &mut BTreeMap<String, QueryTerm>, text: &str, weight: f64, concepts: &mut u32, weights: &Weights) {
    let mut tokens = tokenize(text);
    tokens.truncate(MAX_TOKENS);
    let has_content = tokens.iter().any(|token| token.kind != TokenKind::Stop);
    let paired: Vec<u32> = tokens.iter().filter(|t| t.kind == TokenKind::Pair).map(|t| t.word).collect();
    let mut numbers = BTreeMap::new();
    for token in tokens {
        let weight = weight
            * match token.kind {
                TokenKind::Stop if has_content => continue,
                TokenKind::Single if paired.binary_search(&token.word).is_ok() => continue,
                TokenKind::Compound => weights.compounds,
                _ => 1.0,
            };
        let concept = *numbers.entry(token.word).or_insert_with(|| {
            *concepts += 1;
            *concepts - 1
        });
        insert(terms, token, weight, concept);
    }
}

fn insert(terms: &mut BTreeMap<String, QueryTerm>, token: Token, weight: f64, concept: u32) {
    let Token { term, kind, is_name, .. } = token;
    let concept = u8::try_from(concept.min(LAST_CONCEPT)).unwrap_or(u8::MAX);
    let (is_word, is_identifier) = (kind == TokenKind::Word, kind == TokenKind::Compound);
    let new = QueryTerm { term: term.clone(), weight, concept, is_name: false, is_identifier, is_word };
    let known = terms.entry(term).or_insert(new);
    known.weight = known.weight.max(weight);
    known.is_name |= is_name;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(query: &str) -> Vec<String> {
        QueryTerms::analyze(query, None, &Weights::default()).terms.into_iter().map(|term| term.term).collect()
    }

    #[test]
    fn function_words_count_only_when_nothing_else_is_left() {
        assert_eq!(words("What are the user's preferences?"), ["prefer", "user"]);
        assert_eq!(words("who are you"), ["are", "who", "you"]);
        assert_eq!(words("?!"), Vec::<String>::new());
    }

    #[test]
    fn pairs_are_preferred_to_single_characters() {
        assert_eq!(words("茶"), ["茶"]);
        assert_eq!(words("上海机房"), ["上海", "机房", "海机"]);
    }

    #[test]
    fn an_expansion_adds_terms_at_a_lower_weight() {
        let weights = Weights::default();
        let terms = QueryTerms::analyze("database", Some("database postgres"), &weights).terms;
        let weight = |name: &str| terms.iter().find(|t| t.term.starts_with(name)).map(|t| t.weight);
        assert_eq!((weight("databas"), weight("postgr")), (Some(1.0), Some(weights.expanded)));
    }
}
