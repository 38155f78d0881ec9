//! The lexicon: abbreviations, compounds and similar words, which recall adds to a question. It also lists words with
//! little information.
//!
//! The rows and their format are in `lexicon.txt`. Recall adds words only to questions; stored texts stay unchanged.
//! `lexicon.terms` contains the rows by term, sorted, so that nothing is read when the program starts. A test makes it
//! from the rows; `UPDATE_EXPECT=1` writes it.

/// One line per term: the term, its marks (`l` for light, `e` for everyday), and its related terms, separated by tabs.
/// Each of them begins with its relation: `=` or `~`. The lines are sorted by their bytes.
const TERMS: &str = include_str!("lexicon.terms");

/// The relation of a lexicon word to a word of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordRelation {
    /// Another form of the same word.
    Same,
    /// A word with similar meaning.
    Near,
}

/// The rows of the lexicon by term. A *phrase* is two or more terms separated by spaces.
#[derive(Debug, Clone, Copy)]
pub struct Lexicon(&'static str);

impl Lexicon {
    /// The built-in lexicon.
    pub const fn of_questions() -> Self {
        Self(TERMS)
    }

    /// The terms and phrases that `term` may mean, closest first, without duplicates. `term` may be a phrase.
    pub fn related(self, term: &str) -> impl Iterator<Item = (WordRelation, &'static str)> {
        let related = self.line(term).map(|line| line.split('\t').skip(1)).into_iter().flatten();
        related.filter_map(|other| match other.split_at_checked(1)? {
            ("=", other) => Some((WordRelation::Same, other)),
            (_, other) => Some((WordRelation::Near, other)),
        })
    }

    /// True for a term with little information.
    pub fn is_light(self, term: &str) -> bool {
        self.marks(term).contains('l')
    }

    /// True for an everyday word. Such a word says little, even if it is rare in a small store.
    pub fn is_everyday(self, term: &str) -> bool {
        self.marks(term).contains('e')
    }

    fn marks(self, term: &str) -> &'static str {
        self.line(term).and_then(|line| line.split('\t').next()).unwrap_or_default()
    }

    /// The line of a term without the term.
    fn line(self, term: &str) -> Option<&'static str> {
        let Self(mut lines) = self;
        while !lines.is_empty() {
            let half = lines.floor_char_boundary(lines.len() / 2);
            let start = lines.get(..half)?.rfind('\n').map_or(0, |end| end + 1);
            let (line, after) = lines.get(start..)?.split_once('\n')?;
            let (found, rest) = line.split_once('\t')?;
            lines = match term.cmp(found) {
                std::cmp::Ordering::Equal => return Some(rest),
                std::cmp::Ordering::Less => lines.get(..start)?,
                std::cmp::Ordering::Greater => after,
            };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fmt::Write as _;

    use expect_test::expect_file;

    use super::*;
    use crate::text::tokenize::{TokenKind, tokenize};

    const ROWS: &str = include_str!("lexicon.txt");

    /// The rows of the lexicon as they are written.
    #[derive(Default)]
    struct Rows {
        all: Vec<(WordRelation, Vec<String>)>,
        /// The row numbers of each term.
        by_term: BTreeMap<String, Vec<usize>>,
        light: BTreeSet<String>,
        everyday: BTreeSet<String>,
    }

    impl Rows {
        fn read(text: &str) -> Self {
            let mut rows = Self::default();
            for line in text.lines() {
                match line.split_at_checked(2) {
                    Some(("= ", words)) => rows.add(WordRelation::Same, words, None),
                    Some(("~ ", words)) => rows.add(WordRelation::Near, words, None),
                    Some(("> ", row)) => {
                        let (word, kinds) = row.split_once(':').unwrap_or((row, ""));
                        rows.add(WordRelation::Near, kinds, Some(word));
                    }
                    Some(("- ", words)) => rows.light.extend(terms_of(words)),
                    Some((". ", words)) => rows.everyday.extend(terms_of(words)),
                    _ => assert!(line.is_empty() || line.starts_with('#'), "{line}"),
                }
            }
            rows
        }

        /// Adds a row that can be looked up by each of its words, or only by the word in `only`.
        fn add(&mut self, relation: WordRelation, words: &str, only: Option<&str>) {
            let row: Vec<String> = words.split(',').map(term_of).filter(|term| !term.is_empty()).collect();
            assert!(!row.is_empty(), "{words}");
            for key in only.map_or_else(|| row.clone(), |word| vec![term_of(word)]) {
                self.by_term.entry(key).or_default().push(self.all.len());
            }
            self.all.push((relation, row));
        }

        /// The related terms of a term, closest first, without duplicates.
        fn related(&self, term: &str) -> Vec<(WordRelation, &str)> {
            let mut related: Vec<(WordRelation, &str)> = Vec::new();
            for (relation, row) in self.by_term.get(term).into_iter().flatten().map(|at| &self.all[*at]) {
                related.extend(row.iter().filter(|other| *other != term).map(|other| (*relation, other.as_str())));
            }
            related.sort_by_key(|(relation, _)| *relation);
            let mut seen = BTreeSet::new();
            related.retain(|(_, other)| seen.insert(*other));
            related
        }

        fn lines(&self) -> String {
            let terms: BTreeSet<&String> = self.by_term.keys().chain(&self.light).chain(&self.everyday).collect();
            let mut lines = String::new();
            for term in terms {
                assert!(!term.is_empty() && !term.contains(['\t', '\n']), "{term:?}");
                let is_in = |words: &BTreeSet<String>, mark| if words.contains(term) { mark } else { "" };
                write!(lines, "{term}\t{}{}", is_in(&self.light, "l"), is_in(&self.everyday, "e")).unwrap();
                for (relation, other) in self.related(term) {
                    let mark = if relation == WordRelation::Same { '=' } else { '~' };
                    write!(lines, "\t{mark}{other}").unwrap();
                }
                lines.push('\n');
            }
            lines
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

    fn related(word: &str) -> Vec<(WordRelation, &'static str)> {
        Lexicon::of_questions().related(&term_of(word)).collect()
    }

    #[test]
    fn the_terms_are_those_of_the_rows_and_each_is_found() {
        let rows = Rows::read(ROWS);
        let lines = rows.lines();
        expect_file!["lexicon.terms"].assert_eq(&lines);
        let lexicon = Lexicon::of_questions();
        for line in lines.lines() {
            let (term, _) = line.split_once('\t').unwrap();
            assert_eq!(lexicon.related(term).collect::<Vec<_>>(), rows.related(term), "{term}");
            assert_eq!(lexicon.is_light(term), rows.light.contains(term), "{term}");
            assert_eq!(lexicon.is_everyday(term), rows.everyday.contains(term), "{term}");
        }
        for absent in ["", "zzzz", "\u{10ffff}", "a", "kubernete", "0"] {
            assert!(rows.by_term.contains_key(absent) || lexicon.related(absent).next().is_none(), "{absent}");
        }
    }

    #[test]
    fn words_find_their_other_spellings_both_ways() {
        for (a, b) in [("k8s", "kubernetes"), ("db", "database"), ("repo", "repository"), ("e2e", "end-to-end")] {
            for (a, b) in [(a, b), (b, a)] {
                assert!(related(a).iter().any(|found| *found == (WordRelation::Same, &term_of(b))), "{a} {b}");
            }
        }
        assert!(related("rollback").contains(&(WordRelation::Same, "roll back")));
        assert!(related("pull request").contains(&(WordRelation::Same, "pr")));
    }

    #[test]
    fn a_kind_finds_its_things_and_not_the_other_way_round() {
        assert!(related("broker").contains(&(WordRelation::Near, "kafka")));
        assert!(!related("valkey").iter().any(|(_, term)| *term == "cach"));
        assert!(Lexicon::of_questions().is_light("decid") && !Lexicon::of_questions().is_light("databas"));
    }
}
