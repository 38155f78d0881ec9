//! The terms of a query.

use std::collections::{BTreeMap, BTreeSet};

use crate::score::Weights;
use crate::text::{Lexicon, Token, TokenKind, WordRelation, tokenize};

/// The relation of a term to a word of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// The word itself.
    Word,
    /// Another form of the same word.
    Same,
    /// A word with similar meaning or spelling.
    Near,
}

/// A term to search for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The term as in the index. A term of two words with a space matches a row that contains both.
    pub term: String,
    /// The weight of the term, compared with a word of the query.
    pub weight: f64,
    /// The words of the query that the term represents, one bit each. Terms that stand for the same word count once.
    pub concepts: u64,
    /// Its relation to them.
    pub relation: Relation,
    /// True for a capitalised word inside a sentence.
    pub is_name: bool,
    /// True for a whole identifier, path, version or hash.
    pub is_identifier: bool,
    /// True for a plain word, which may be misspelt.
    pub is_word: bool,
}

/// All terms of a query, sorted and unique.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueryTerms {
    /// The terms.
    pub terms: Vec<QueryTerm>,
    /// The words of the query itself, without its expansion.
    pub asked: u64,
    /// Words with little information.
    pub light: u64,
    /// Everyday words.
    pub everyday: u64,
    /// Words that no row contains, each with its correction.
    pub read_as: Vec<(String, String)>,
}

/// Maximum number of words of a query. A pasted log has thousands of words, but they repeat.
const MAX_TOKENS: usize = 2_000;
/// Of a longer query, only this number of different words at each end is used, because the question is usually before
/// or after pasted text.
const MAX_AT_EACH_END: usize = 128;
/// A query with more words than this is not expanded with other forms of its words.
const MAX_EXPANDED: usize = 48;
/// The position of the last bit of the mask that represents a word.
const LAST_CONCEPT: u32 = 62;
/// The bit of the mask for dates in the query.
pub(super) const DATE: u64 = 1 << 63;
/// Particles of phrasal verbs. The noun for such a verb is written as one word: `log in` and `login`.
const PARTICLES: [&str; 9] = ["in", "up", "out", "off", "on", "over", "down", "back", "through"];

impl QueryTerms {
    /// The terms of a query, and of the caller's expansion with a lower weight.
    ///
    /// Function words are dropped unless nothing else remains. An identifier matches the words in it. With a lower
    /// weight, it also matches the identifier as a whole. In scripts without spaces, single characters are searched
    /// only if the query contains no pair of characters. `dates` are the terms of a date. They count as one word of the
    /// query, and a memory that was created on that date contains this word too. `relative` contains the terms of
    /// phrases such as `last month`. Only a memory's date can match them: in its text, `last month` meant another
    /// month.
    pub fn analyze(
        query: &str,
        expanded: Option<&str>,
        [dates, relative]: [&BTreeSet<String>; 2],
        weights: &Weights,
    ) -> Self {
        let mut reader =
            Reader { dates, relative, weights, terms: BTreeMap::new(), concepts: 0, light: 0, everyday: 0 };
        reader.add(query, 1.0);
        let asked = if reader.concepts > LAST_CONCEPT { !0 } else { (1 << reader.concepts) - 1 };
        if let Some(expanded) = expanded {
            reader.add(expanded, weights.expanded);
        }
        Self {
            terms: reader.terms.into_values().collect(),
            asked: asked | DATE,
            light: reader.light,
            everyday: reader.everyday,
            read_as: Vec::new(),
        }
    }
}

struct Reader<'a> {
    dates: &'a BTreeSet<String>,
    relative: &'a BTreeSet<String>,
    weights: &'a Weights,
    terms: BTreeMap<String, QueryTerm>,
    concepts: u32,
    light: u64,
    everyday: u64,
}

impl Reader<'_> {
    fn add(&mut self, text: &str, weight: f64) {
        let tokens = tokens_of(text);
        let has_content = tokens.iter().any(|token| token.kind != TokenKind::Stop);
        let paired: Vec<u32> = tokens.iter().filter(|t| t.kind == TokenKind::Pair).map(|t| t.word).collect();
        let looked_for = tokens.iter().filter_map(|token| {
            let kind = match token.kind {
                _ if self.relative.contains(&token.term) => return None,
                TokenKind::Stop if has_content => return None,
                TokenKind::Single if paired.binary_search(&token.word).is_ok() => return None,
                TokenKind::Compound => self.weights.compounds,
                _ => 1.0,
            };
            Some((token, weight * kind))
        });
        let looked_for: Vec<(&Token, f64)> = looked_for.collect();
        let numbers = self.numbered(looked_for.iter().map(|(token, _)| *token));
        for (token, weight) in looked_for {
            let concept =
                if self.dates.contains(&token.term) { DATE } else { numbers.get(&token.word).copied().unwrap_or(0) };
            self.insert(token, weight, concept);
        }
        if numbers.len() <= MAX_EXPANDED && self.weights.aliases > 0.0 {
            self.expand(&tokens, &self.own_concepts(&tokens, &numbers), weight);
        }
    }

    /// Assigns a bit to each word that is not part of a date. A repeated word has the same bit. If there are more words
    /// than bits, the first and the last words get their own bits. These words usually contain the question.
    fn numbered<'t>(&mut self, tokens: impl Iterator<Item = &'t Token>) -> BTreeMap<u32, u64> {
        let (mut numbers, mut places) = (BTreeMap::new(), BTreeMap::new());
        let (mut said, mut count) = (BTreeMap::new(), 0_u32);
        for token in tokens.filter(|token| !self.dates.contains(&token.term)) {
            let known = self.terms.get(&token.term).filter(|known| known.relation == Relation::Word);
            if let Some(known) = known.filter(|known| known.concepts != DATE && !places.contains_key(&token.word)) {
                numbers.entry(token.word).or_insert(known.concepts);
            } else if !numbers.contains_key(&token.word) {
                let place = *places.entry(token.word).or_insert_with(|| {
                    said.get(&token.term).copied().unwrap_or_else(|| {
                        count += 1;
                        count - 1
                    })
                });
                said.entry(&token.term).or_insert(place);
            }
        }
        let (first, room) = (self.concepts, LAST_CONCEPT + 1 - self.concepts.min(LAST_CONCEPT));
        let bit = |place: u32| match (room / 2, count.saturating_sub(room / 2)) {
            _ if count <= room => first + place,
            (half, _) if place < half => first + place,
            (half, tail) if place >= tail => first + room - half + place - tail,
            (half, _) => first + half,
        };
        numbers.extend(places.into_iter().map(|(word, place)| (word, 1 << bit(place).min(LAST_CONCEPT))));
        self.concepts += count;
        numbers
    }

    fn insert(&mut self, token: &Token, weight: f64, concepts: u64) {
        let lexicon = Lexicon::of_questions();
        let is_light = lexicon.is_light(&token.term);
        let is_everyday = token.kind == TokenKind::Word && !token.is_name && lexicon.is_everyday(&token.term);
        let weight = match (is_light, is_everyday) {
            (true, _) => weight * self.weights.light,
            (_, true) => weight * self.weights.everyday,
            _ => weight,
        };
        if is_everyday && self.weights.everyday < 1.0 && concepts != DATE {
            self.everyday |= concepts;
        }
        if is_light && self.weights.light < 1.0 && concepts != DATE {
            self.light |= concepts;
        }
        let new = QueryTerm {
            term: token.term.clone(),
            weight,
            concepts,
            relation: Relation::Word,
            is_name: false,
            is_identifier: token.kind == TokenKind::Compound,
            is_word: token.kind == TokenKind::Word,
        };
        let known = self.terms.entry(token.term.clone()).or_insert(new);
        known.weight = known.weight.max(weight);
        known.is_name |= token.is_name;
    }

    /// For each word that is not part of a date, its bit in the mask. A repeated word, and all forms of a word, count
    /// once.
    fn own_concepts(&self, tokens: &[Token], numbers: &BTreeMap<u32, u64>) -> BTreeMap<String, u64> {
        let words = tokens.iter().filter(|t| t.kind == TokenKind::Word && numbers.contains_key(&t.word));
        words.filter_map(|t| self.terms.get(&t.term).map(|known| (t.term.clone(), known.concepts))).collect()
    }

    /// Adds other forms of the words: `k8s` for `kubernetes`, `frontend` for `front end`.
    fn expand(&mut self, tokens: &[Token], concepts: &BTreeMap<String, u64>, weight: f64) {
        let words: Vec<&Token> =
            tokens.iter().filter(|t| matches!(t.kind, TokenKind::Word | TokenKind::Stop)).collect();
        let bit = |token: &Token| concepts.get(&token.term).copied().filter(|_| token.kind == TokenKind::Word);
        for (at, token) in words.iter().enumerate() {
            let Some(concept) = bit(token) else { continue };
            self.relate(&token.term, concept, weight);
            let Some(next) = words.get(at + 1).filter(|next| next.word == token.word + 1) else { continue };
            let both = bit(next).map(|other| concept | other);
            if let Some(both) = both {
                self.relate(&format!("{} {}", token.term, next.term), both, weight);
            }
            let joins = both.or_else(|| PARTICLES.contains(&next.term.as_str()).then_some(concept));
            if let Some((concepts, whole)) = joins.zip(joined(token, next)) {
                self.alternative(whole, concepts, WordRelation::Same, weight);
            }
        }
    }

    fn relate(&mut self, term: &str, concepts: u64, weight: f64) {
        let is_light = concepts & !self.light == 0;
        let weight = if is_light { weight * self.weights.light } else { weight };
        for (kinship, other) in Lexicon::of_questions().related(term) {
            self.alternative(other.to_owned(), concepts, kinship, weight);
        }
    }

    fn alternative(&mut self, term: String, concepts: u64, kinship: WordRelation, weight: f64) {
        let (relation, weight) = match kinship {
            WordRelation::Same => (Relation::Same, weight * self.weights.aliases),
            WordRelation::Near => (Relation::Near, weight * self.weights.related),
        };
        if weight <= 0.0 {
            return;
        }
        let new = QueryTerm {
            term: term.clone(),
            weight,
            concepts,
            relation,
            is_name: false,
            is_identifier: false,
            is_word: true,
        };
        let known = self.terms.entry(term).or_insert_with(|| new.clone());
        if relation < known.relation {
            *known = new;
        } else if relation == Relation::Same {
            known.concepts |= concepts;
            // `camelCase` is the identifier itself, not another form of `camel case`.
            if !known.is_identifier {
                known.weight = known.weight.max(weight);
            }
        }
    }
}

/// The tokens of a text; for a long text, those of its beginning and its end.
fn tokens_of(text: &str) -> Vec<Token> {
    let mut tokens = tokenize(text);
    if let Some(surplus) = tokens.len().checked_sub(MAX_TOKENS) {
        tokens.drain(MAX_TOKENS / 2..MAX_TOKENS / 2 + surplus);
    }
    let mut seen = BTreeSet::new();
    let firsts: Vec<usize> =
        (0..).zip(&tokens).filter(|(_, t)| seen.insert(t.term.as_str())).map(|(at, _)| at).collect();
    let end = firsts.len().saturating_sub(MAX_AT_EACH_END);
    if let (Some(&head), Some(&tail)) = (firsts.get(MAX_AT_EACH_END), firsts.get(end))
        && head < tail
    {
        tokens.drain(head..tail);
    }
    tokens
}

/// Two words joined into one, if the result is a word.
fn joined(a: &Token, b: &Token) -> Option<String> {
    let is_plain = |token: &Token| token.term.bytes().all(|b| b.is_ascii_lowercase());
    if !is_plain(a) || !is_plain(b) {
        return None;
    }
    let whole = tokenize(&format!("{}{}", a.term, b.term));
    whole.into_iter().next().filter(|token| token.kind == TokenKind::Word).map(|token| token.term)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analyze(query: &str, expanded: Option<&str>) -> QueryTerms {
        QueryTerms::analyze(query, expanded, [&BTreeSet::new(); 2], &Weights::default())
    }

    fn words(query: &str) -> Vec<String> {
        let terms = analyze(query, None).terms.into_iter();
        terms.filter(|term| term.relation == Relation::Word).map(|term| term.term).collect()
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
        let terms = analyze("database", Some("database invoices")).terms;
        let weight = |name: &str| terms.iter().find(|t| t.term.starts_with(name)).map(|t| t.weight);
        assert_eq!((weight("databas"), weight("invoic")), (Some(1.0), Some(weights.expanded)));
    }

    #[test]
    fn words_are_looked_for_by_their_other_names_too() {
        let same = |query: &str, term: &str, concepts: u64| {
            let terms = analyze(query, None).terms;
            terms.iter().any(|t| t.term == term && t.relation == Relation::Same && t.concepts == concepts)
        };
        assert!(same("k8s upgrades", "kubernet", 1));
        assert!(same("the front end", "frontend", 3) && same("frontend", "front end", 1));
        assert!(same("how to roll back", "rollback", 3) && same("can I log in", "login", 1));
        assert!(same("open pull request", "pr", 6));
    }

    #[test]
    fn a_long_query_is_looked_for_by_its_ends() {
        let middle: String = (0..1500).map(|n| format!("m{n} ")).collect();
        let terms = words(&format!("first {middle} last"));
        assert!(terms.len() <= 2 * MAX_AT_EACH_END, "{}", terms.len());
        assert!(terms.contains(&"first".to_owned()) && terms.contains(&"last".to_owned()));
    }
}
