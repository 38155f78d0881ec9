//! The lexicon: abbreviations, compounds and similar words, which recall adds to a question. It also lists words with
//! little information.
//!
//! The rows and their format are in `lexicon.txt`. Recall adds words only to questions; stored texts stay unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::tokenize::{TokenKind, tokenize};

const ROWS: &str = include_str!("lexicon.txt");

/// The relation of a lexicon word to a word of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordRelation {
    /// Another form of the same word.
    Same,
    /// A word with similar meaning.
    Near,
}

/// The rows of the lexicon by term. A *phrase* is two or more terms separated by spaces.
#[derive(Debug, Default)]
pub struct Lexicon {
    rows: Vec<(WordRelation, Vec<String>)>,
    /// The row numbers of each term.
    by_term: BTreeMap<String, Vec<usize>>,
    light: BTreeSet<String>,
    everyday: BTreeSet<String>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(ROWS));

impl Lexicon {
    /// The built-in lexicon.
    pub fn of_questions() -> &'static Self {
        &LEXICON
    }

    fn read(text: &str) -> Self {
        let mut lexicon = Self::default();
        for line in text.lines() {
            match line.split_at_checked(2) {
                Some(("= ", words)) => lexicon.add(WordRelation::Same, words, None),
                Some(("~ ", words)) => lexicon.add(WordRelation::Near, words, None),
                Some(("> ", row)) => {
                    let (word, kinds) = row.split_once(':').unwrap_or((row, ""));
                    lexicon.add(WordRelation::Near, kinds, Some(word));
                }
                Some(("- ", words)) => lexicon.light.extend(terms_of(words)),
                Some((". ", words)) => lexicon.everyday.extend(terms_of(words)),
                _ => {}
            }
        }
        lexicon
    }

    /// Adds a row that can be looked up by each of its words, or only by the word in `only`.
    fn add(&mut self, kinship: WordRelation, words: &str, only: Option<&str>) {
        let row: Vec<String> = words.split(',').map(term_of).filter(|term| !term.is_empty()).collect();
        let keys = only.map_or_else(|| row.clone(), |word| vec![term_of(word)]);
        for key in keys {
            self.by_term.entry(key).or_default().push(self.rows.len());
        }
        self.rows.push((kinship, row));
    }

    /// The terms and phrases that `term` may mean, closest first, without duplicates. `term` may be a phrase.
    pub fn related(&self, term: &str) -> Vec<(WordRelation, &str)> {
        let mut related: Vec<(WordRelation, &str)> = Vec::new();
        for (kinship, row) in self.by_term.get(term).into_iter().flatten().filter_map(|at| self.rows.get(*at)) {
            related.extend(row.iter().filter(|other| *other != term).map(|other| (*kinship, other.as_str())));
        }
        related.sort_by_key(|(kinship, _)| *kinship);
        let mut seen = BTreeSet::new();
        related.retain(|(_, other)| seen.insert(*other));
        related
    }

    /// True for a term with little information.
    pub fn is_light(&self, term: &str) -> bool {
        self.light.contains(term)
    }

    /// True for an everyday word. Such a word says little, even if it is rare in a small store.
    pub fn is_everyday(&self, term: &str) -> bool {
        self.everyday.contains(term)
    }
}

fn terms_of(words: &str) -> impl Iterator<Item = String> {
    tokenize(words).into_iter().filter(|token| token.kind != TokenKind::Single).map(|token| token.term)
}

/// The term of a word, or the phrase of several words. An identifier with separators is one term.
fn term_of(words: &str) -> String {
    let tokens = tokenize(words.trim());
    if let Some(whole) = tokens.first().filter(|token| token.kind == TokenKind::Compound) {
        return whole.term.clone();
    }
    let is_word = |kind| matches!(kind, TokenKind::Word | TokenKind::Pair | TokenKind::Stop);
    let mut terms: Vec<&str> = tokens.iter().filter(|t| is_word(t.kind)).map(|t| t.term.as_str()).collect();
    if terms.len() > 1 {
        terms = tokens.iter().filter(|t| t.kind == TokenKind::Word).map(|t| t.term.as_str()).collect();
    }
    terms.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn related(word: &str) -> Vec<(WordRelation, &'static str)> {
        Lexicon::of_questions().related(&term_of(word))
    }

    #[test]
    fn words_find_their_other_spellings_both_ways() {
        for (a, b) in [("k8s", "kubernetes"), ("db", "database"), ("repo", "repository"), ("e2e", "end-to-end")] {
            for (a, b) in [(a, b), (b, a)] {
                assert!(related(a).contains(&(WordRelation::Same, &term_of(b))), "{a} {b}");
            }
        }
        assert!(related("rollback").contains(&(WordRelation::Same, "roll back")));
        assert!(related("pull request").contains(&(WordRelation::Same, "pr")));
    }

    #[test]
    fn a_kind_finds_its_things_and_not_the_other_way_round() {
        assert!(related("broker").contains(&(WordRelation::Near, "kafka")));
        assert!(!related("valkey").iter().any(|(_, term)| *term == "cach"));
    }

    #[test]
    fn every_row_can_be_read() {
        for (number, line) in ROWS.lines().enumerate() {
            let is_row = ["= ", "~ ", "> ", "- ", ". ", "#"].iter().any(|mark| line.starts_with(mark));
            assert!(line.is_empty() || is_row, "line {}: {line}", number + 1);
        }
        let lexicon = Lexicon::of_questions();
        assert!(lexicon.rows.iter().all(|(_, row)| !row.is_empty()));
        assert!(lexicon.is_light("decid") && !lexicon.is_light("databas"));
    }
}
