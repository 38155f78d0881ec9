//! A statement as relations see it: its terms in order, its values, its names, and the words that show a change.

use std::collections::{BTreeMap, BTreeSet};

use tessera_tables::{section, words};

use super::phrases::{CUE_LISTS, Meaning, RELATION_WORDS, Said, phrases};
use crate::text::{Token, TokenKind, fold, is_stop_word, tokenize};

/// Words before a number that is a value.
const VALUE_NOUNS: &[&str] = words!(section(RELATION_WORDS, "value nouns"));
/// Verbs that may stand before the name of something that is no longer used.
const PASSING_VERBS: &[&str] = words!(section(RELATION_WORDS, "passing verbs"));
const DURATIONS: &[&str] = words!(section(RELATION_WORDS, "durations"));
const CLOCKS: &[&str] = words!(section(RELATION_WORDS, "clocks"));
const MONEY: &[&str] = words!(section(RELATION_WORDS, "money"));
const PERCENT: &[&str] = words!(section(RELATION_WORDS, "percent"));

/// The maximum number of characters that are read. Longer texts rarely state one fact.
const MOST_CHARS: usize = 2_000;

/// A group of words in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cue {
    /// Something is different from before: `now`, `instead`, `moved`.
    Change,
    /// Something is added: `also`.
    Addition,
    /// Something stays as before, or is an exception: `still`, `except`.
    Stays,
    /// Not a fact yet: a plan, a proposal, a quotation.
    Unsettled,
    /// Only for a short time: an incident, `today`.
    Passing,
    /// `not`, `never`.
    Negation,
}

impl Cue {
    const COUNT: usize = CUE_LISTS;
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueKind {
    Time,
    Duration,
    Money,
    Percent,
    Version,
    /// A number of four or five digits, such as a port.
    Port,
    Number,
    Day,
    /// A host, a path or a file name.
    Address,
}

/// A statement.
#[derive(Debug, Clone, Default)]
pub(super) struct Statement {
    /// Its terms without values, each with the position of its first occurrence.
    pub(super) terms: BTreeMap<String, u32>,
    /// The number of terms.
    pub(super) length: u32,
    pub(super) values: BTreeSet<(ValueKind, String)>,
    /// The numbers that belong to the name before them: `7` in "crane 7".
    pub(super) numbering: BTreeSet<String>,
    pub(super) names: BTreeSet<String>,
    /// Environments, platforms and audiences. Statements about different ones are about different things.
    pub(super) places: BTreeSet<&'static str>,
    /// The terms of what the statement says is no longer used: `hugo` in "Astro instead of Hugo".
    pub(super) retracted: BTreeSet<String>,
    cues: [bool; Cue::COUNT],
    pub(super) is_question: bool,
    /// The folded words, with one space before and after each.
    pub(super) spaced: String,
}

impl Statement {
    pub(super) fn read(text: &str) -> Self {
        let end = text.char_indices().nth(MOST_CHARS).map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or(text);
        let spaced = spaced(text);
        let mut statement = Self { is_question: text.trim_end().ends_with(['?', '？']), ..Self::default() };
        statement.read_phrases(&spaced);
        statement.read_values(&spaced);
        statement.spaced = spaced;
        let tokens = tokenize(text);
        statement.read_terms(&tokens);
        statement
    }

    pub(super) fn has(&self, cue: Cue) -> bool {
        self.cues.get(cue as usize).copied().unwrap_or(false)
    }

    fn read_terms(&mut self, tokens: &[Token]) {
        let has_pairs = tokens.iter().any(|token| token.kind == TokenKind::Pair);
        for token in tokens {
            let is_counted = match token.kind {
                TokenKind::Word | TokenKind::Pair => true,
                TokenKind::Single => !has_pairs,
                TokenKind::Compound => {
                    self.names.insert(token.term.clone());
                    false
                }
                TokenKind::Stop | TokenKind::Part => false,
            };
            if token.is_name {
                self.names.insert(token.term.clone());
            }
            if is_counted && !token.term.bytes().all(|byte| byte.is_ascii_digit()) {
                self.terms.entry(token.term.clone()).or_insert(self.length);
                self.length += 1;
            }
        }
    }

    fn read_phrases(&mut self, spaced: &str) {
        let mut after = Vec::new();
        for Said { phrase, meaning, rest } in phrases(spaced) {
            match meaning {
                Meaning::Cue(list) => self.cues.get_mut(list).into_iter().for_each(|has| *has = true),
                Meaning::Place => _ = self.places.insert(phrase),
                // `Mondays` and `Monday` are the same day.
                Meaning::Day => {
                    self.values.insert((ValueKind::Day, phrase.strip_suffix('s').unwrap_or(phrase).to_owned()));
                }
                Meaning::Retraction => after.push(rest),
            }
        }
        // In "from Gandi to deSEC", the word after `from` counts if the statement has a word of change.
        if self.has(Cue::Change) && spaced.contains(" to ") {
            after.extend(spaced.match_indices(" from ").filter_map(|(at, from)| spaced.get(at + from.len() - 1..)));
        }
        self.retracted = after.into_iter().filter_map(retracted).collect();
    }

    fn read_values(&mut self, spaced: &str) {
        let chunks: Vec<&str> = spaced.split(' ').filter(|chunk| !chunk.is_empty()).collect();
        for (at, chunk) in chunks.iter().enumerate() {
            let next = chunks.get(at + 1).copied().unwrap_or_default();
            let before = at.checked_sub(1).and_then(|at| chunks.get(at)).copied().unwrap_or_default();
            if let Some(kind) = kind_of(chunk, before, next) {
                let is_plain = matches!(kind, ValueKind::Number | ValueKind::Port);
                if is_plain && names_a_thing(before) {
                    self.numbering.insert((*chunk).to_owned());
                }
                self.values.insert((kind, (*chunk).to_owned()));
            }
        }
    }
}

/// The folded text with one space before and after each word and each number. Punctuation at the ends of words is
/// removed. A number next to letters of a script without spaces becomes a word of its own.
fn spaced(text: &str) -> String {
    let folded = fold(text).replace('’', "'");
    let mut spaced = String::with_capacity(folded.len() + 16);
    let mut is_spaceless = false;
    for character in folded.chars() {
        let is_kept = character.is_alphanumeric() || "._:/-+#@'%€$£\\".contains(character);
        let is_wide = character >= '\u{2e80}' && character.is_alphanumeric();
        if !is_kept || is_wide != is_spaceless {
            spaced.push(' ');
        }
        is_spaceless = is_wide;
        if is_kept {
            spaced.push(character);
        }
    }
    let mut words = String::with_capacity(spaced.len() + 2);
    for word in spaced.split(' ') {
        let word = word.trim_matches(['.', ':', '\'', '-', '/']);
        if !word.is_empty() {
            words.push(' ');
            words.push_str(word);
        }
    }
    words.push(' ');
    words
}

/// The term of what a text after a retraction names.
fn retracted(rest: &str) -> Option<String> {
    let mut words = rest.split(' ').filter(|word| !word.is_empty()).take(3);
    let word = words.find(|word| !PASSING_VERBS.contains(word) && !is_stop_word(word))?;
    tokenize(word).into_iter().find(|token| token.kind == TokenKind::Word).map(|token| token.term)
}

/// True for a word that forms a name with the number after it, such as "crane". "On" and "port" do not.
fn names_a_thing(before: &str) -> bool {
    let is_latin = before.chars().all(|letter| letter.is_alphabetic() && letter < '\u{2e80}');
    is_latin && !before.is_empty() && !is_stop_word(before) && !VALUE_NOUNS.contains(&before)
}

/// The kind of a chunk that is a value.
fn kind_of(chunk: &str, before: &str, next: &str) -> Option<ValueKind> {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    if !chunk.bytes().any(is_digit) {
        let joins = |mark: char| {
            let mut parts = chunk.split(mark);
            parts.clone().count() > 1 && parts.all(|part| part.chars().any(char::is_alphanumeric))
        };
        return (joins('.') || joins('/') || joins('\\')).then_some(ValueKind::Address);
    }
    let digits = chunk.bytes().filter(|byte| is_digit(*byte)).count();
    let bare = chunk.trim_matches(|character: char| !character.is_ascii_digit());
    let unit = chunk.trim_start_matches(|character: char| character.is_ascii_digit() || ".,:".contains(character));
    let starts_with_digit = chunk.bytes().next().is_some_and(is_digit);
    if !starts_with_digit && !chunk.starts_with(['v', '$', '€', '£']) {
        return (chunk.contains(['.', '/'])).then_some(ValueKind::Address);
    }
    let follows = |words: &[&str]| {
        words.contains(&unit)
            || (unit.is_empty() && words.iter().any(|word| next == *word || is_wide_start(next, word)))
    };
    Some(if chunk.contains('%') || (unit.is_empty() && PERCENT.iter().any(|word| next.starts_with(word))) {
        ValueKind::Percent
    } else if chunk.contains(['€', '$', '£'])
        || MONEY.contains(&next)
        || MONEY.contains(&before)
        || MONEY.contains(&unit)
    {
        ValueKind::Money
    } else if bare.contains(':') || follows(CLOCKS) {
        ValueKind::Time
    } else if follows(DURATIONS) {
        ValueKind::Duration
    } else if chunk.starts_with('v') || bare.contains('.') {
        ValueKind::Version
    } else if (4..=5).contains(&digits) && unit.is_empty() {
        ValueKind::Port
    } else {
        ValueKind::Number
    })
}

/// True if a chunk of a script without spaces begins with a word of that script.
fn is_wide_start(chunk: &str, word: &str) -> bool {
    word.chars().next().is_some_and(|first| first >= '\u{2e80}') && chunk.starts_with(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_kinds_in_every_script() {
        let values = |text: &str| -> Vec<(ValueKind, String)> { Statement::read(text).values.into_iter().collect() };
        let one = |kind, text: &str| vec![(kind, text.to_owned())];
        for (text, expected) in [
            ("the gateway listens on port 7171.", one(ValueKind::Port, "7171")),
            ("端口改成7171了", one(ValueKind::Port, "7171")),
            ("standup is at 9:30", one(ValueKind::Time, "9:30")),
            ("um 18 Uhr", one(ValueKind::Time, "18")),
            ("keep logs for 14 days", one(ValueKind::Duration, "14")),
            ("日志保存30天", one(ValueKind::Duration, "30")),
            ("free from 59 EUR", one(ValueKind::Money, "59")),
            ("we run Python 3.12", one(ValueKind::Version, "3.12")),
            ("alert at 5 %", one(ValueKind::Percent, "5")),
            ("we deploy on Thursdays", one(ValueKind::Day, "thursday")),
            ("see docs/deploy.md", one(ValueKind::Address, "docs/deploy.md")),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
    }

    #[test]
    fn cues_are_whole_words() {
        let has = |text: &str, cue| Statement::read(text).has(cue);
        assert!(has("We no longer use Helix", Cue::Change) && has("现在改成了 8080", Cue::Change));
        assert!(!has("we know the renewal date", Cue::Change));
        assert!(has("Maybe we could use Kafka", Cue::Unsettled) && has("Never push", Cue::Negation));
    }
}
