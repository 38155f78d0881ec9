//! Whether a note advises against something or recommends it: cues such as "never" and "use", in clauses.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use tessera_tables::{section, words as list};

use crate::words::{self, Word};

const CUES: &str = include_str!("cues.txt");

/// A list of cues. The words are sorted.
struct List {
    words: &'static [&'static str],
    phrases: &'static [&'static str],
    /// Words of Chinese and Japanese.
    inside: &'static [&'static str],
}

const AGAINST: List = List {
    words: list!(section(CUES, "against")),
    phrases: list!(section(CUES, "against phrases")),
    inside: list!(section(CUES, "against inside")),
};
const FOR: List = List {
    words: list!(section(CUES, "for")),
    phrases: list!(section(CUES, "for phrases")),
    inside: list!(section(CUES, "for inside")),
};
/// The lists whose cues are counted: against, for, files, when, later.
const LISTS: [List; 5] = [
    AGAINST,
    FOR,
    List {
        words: list!(section(CUES, "files")),
        phrases: list!(section(CUES, "files phrases")),
        inside: list!(section(CUES, "files inside")),
    },
    List {
        words: list!(section(CUES, "when")),
        phrases: list!(section(CUES, "when phrases")),
        inside: list!(section(CUES, "when inside")),
    },
    List {
        words: list!(section(CUES, "later")),
        phrases: list!(section(CUES, "later phrases")),
        inside: list!(section(CUES, "later inside")),
    },
];
const EMPTY: &[&str] = list!(section(CUES, "empty"));
const WITHOUT: &[&str] = list!(section(CUES, "without"));
const CONTRAST: &[&str] = list!(section(CUES, "contrast"));
const KEEP: &[&str] = list!(section(CUES, "keep"));
/// Answers to a question in the note: "X? no."
const NO: [&str; 4] = ["no", "nein", "non", "não"];

/// The attitude of a note towards something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stance {
    /// It warns.
    Against = 0,
    /// It does neither.
    #[default]
    Open = 1,
    /// It recommends.
    For = 2,
}

/// True for words without a meaning of their own.
pub(crate) fn is_empty_word(word: &str) -> bool {
    is_stop_word(word) || AGAINST.has(word) || FOR.has(word)
}

/// True for articles, pronouns and similar words.
pub(crate) fn is_stop_word(word: &str) -> bool {
    is_in(EMPTY, word)
}

/// True for words that end a command in a sentence.
pub(crate) fn ends_command(word: &str) -> bool {
    is_empty_word(word) && !["run", "add"].contains(&word)
}

/// True if a sorted list contains a word.
pub(crate) fn is_in(sorted: &[&str], word: &str) -> bool {
    sorted.binary_search(&word).is_ok()
}

impl List {
    fn has(&self, word: &str) -> bool {
        is_in(self.words, word)
    }

    /// The places of the cues in a text, without an order.
    fn places(&self, lower: &str, found: &[Word]) -> Vec<(usize, usize)> {
        let is_cue = |word: &&Word| self.has(&word.text) && is_whole(lower, word.start, word.end);
        let mut places: Vec<(usize, usize)> = found.iter().filter(is_cue).map(|word| (word.start, word.end)).collect();
        let of = |cue: &'static str| lower.match_indices(cue).map(move |(at, _)| (at, at + cue.len()));
        places.extend(self.phrases.iter().flat_map(|cue| of(cue)).filter(|(start, end)| is_whole(lower, *start, *end)));
        if !lower.is_ascii() {
            places.extend(self.inside.iter().flat_map(|cue| of(cue)));
        }
        places
    }
}

/// True if a part of a text begins and ends like a word of a sentence, and not inside a path or code.
fn is_whole(lower: &str, start: usize, end: usize) -> bool {
    let before = lower.get(..start).unwrap_or_default().chars().next_back().unwrap_or(' ');
    let after = lower.get(end..).unwrap_or_default().chars().next().unwrap_or(' ');
    !(words::is_letter(before) || "-/.`".contains(before) || words::is_letter(after) || "-/".contains(after))
}

/// A text with its clauses and cues.
pub(crate) struct Sentences<'t> {
    text: &'t str,
    /// The end of each clause.
    clauses: Vec<usize>,
    cues: Vec<Cue>,
    /// The number of different cues of each list: against, for, files, when, later.
    pub(crate) cue_counts: [usize; 5],
}

#[derive(Debug, Clone, Copy)]
struct Cue {
    start: usize,
    end: usize,
    stance: Stance,
    sense: Sense,
}

/// The special meaning of a cue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Plain,
    Without,
    Contrast,
    Keep,
}

impl<'t> Sentences<'t> {
    /// `lower` is the text in lowercase, with the same length; `found` are its words.
    pub(crate) fn of(text: &'t str, lower: &str, found: &[Word]) -> Self {
        let places = LISTS.map(|list| list.places(lower, found));
        let different = |places: &Vec<(usize, usize)>| {
            places.iter().filter_map(|(start, end)| lower.get(*start..*end)).collect::<BTreeSet<&str>>().len()
        };
        let cue_counts = places.each_ref().map(different);
        let [against, recommended, ..] = places;
        let cues = cues(lower, [(against, Stance::Against), (recommended, Stance::For)]);
        Self { text, clauses: clauses(text), cues, cue_counts }
    }

    /// The stance towards a place of the text: that of the nearest cue before it in its clause, otherwise that of the
    /// first cue after it.
    pub(crate) fn stance(&self, start: usize, end: usize) -> Stance {
        let number = self.clauses.partition_point(|clause| *clause <= start);
        let from = number.checked_sub(1).and_then(|before| self.clauses.get(before)).copied().unwrap_or(0);
        let to = self.clauses.get(number).copied().unwrap_or(self.text.len());
        let inside = || self.cues.iter().filter(|cue| cue.start >= from && cue.end <= to);
        let before = inside().filter(|cue| cue.end <= start).max_by_key(|cue| cue.end);
        let after = inside().find(|cue| cue.start >= end);
        let warnings = || inside().filter(|cue| cue.stance == Stance::Against);
        match (before, after) {
            // "stop using X", "do not ever use X"
            (Some(cue), _)
                if cue.stance == Stance::For && warnings().any(|other| self.is_near(other.end, cue.start)) =>
            {
                Stance::Against
            }
            (None, Some(cue)) if cue.sense == Sense::Keep => Stance::Against,
            // "X must not"
            (None, Some(cue))
                if cue.stance == Stance::For
                    && inside()
                        .find(|other| other.start >= cue.end)
                        .is_some_and(|other| other.stance == Stance::Against && self.is_near(cue.end, other.start)) =>
            {
                Stance::Against
            }
            (None, Some(cue)) if cue.sense == Sense::Contrast => Stance::For,
            // "never without X" and "without X it hangs" require X; "run it without X" does not want X.
            (Some(cue), _) if cue.sense == Sense::Without => {
                if warnings().any(|other| other.sense != Sense::Without) {
                    Stance::For
                } else {
                    Stance::Against
                }
            }
            (Some(cue), _) | (None, Some(cue)) => cue.stance,
            (None, None) => Stance::Open,
        }
    }

    /// True if at most one word is between two cues.
    fn is_near(&self, from: usize, to: usize) -> bool {
        self.text
            .get(from..to)
            .is_some_and(|between| between.split_whitespace().count() <= 1 && !between.contains(['`', '"']))
    }
}

/// The ends of clauses: commas, colons, dashes, arrows, brackets and the ends of sentences. An arrow belongs to the
/// clause after it.
fn clauses(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut before = ' ';
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map_or(' ', |(_, c)| *c);
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        let end = match c {
            ',' | ';' | ':' | '.' => next.is_whitespace().then_some(at + 1),
            '?' => (next.is_whitespace() && !NO.iter().any(|no| rest.trim_start().starts_with(no))).then_some(at + 1),
            '!' => (next.is_whitespace() || next == '!').then_some(at + 1),
            '\n' | '，' | '。' | '；' | '：' | '、' | '！' | '？' => Some(at + c.len_utf8()),
            '→' => Some(at),
            '(' => before.is_whitespace().then_some(at + 1),
            ')' => (next.is_whitespace() && before != '(').then_some(at + 1),
            '-' | '–' | '—' => (before.is_whitespace() && next.is_whitespace()).then_some(at + c.len_utf8()),
            '>' => (before == '-' || before == '=').then(|| at - 1),
            _ => None,
        };
        found.extend(end);
        before = c;
    }
    found.push(text.len() + 1);
    found
}

/// The cues at places of a text, in their order.
fn cues(lower: &str, places: [(Vec<(usize, usize)>, Stance); 2]) -> Vec<Cue> {
    let sense = |cue: &str| match cue {
        _ if WITHOUT.contains(&cue) => Sense::Without,
        _ if CONTRAST.contains(&cue) => Sense::Contrast,
        _ if KEEP.contains(&cue) => Sense::Keep,
        _ => Sense::Plain,
    };
    let mut found = Vec::new();
    for (places, stance) in places {
        let cue = |(start, end): (usize, usize)| {
            let sense = sense(lower.get(start..end).unwrap_or_default());
            Cue { start, end, stance, sense }
        };
        found.extend(places.into_iter().map(cue));
    }
    found.sort_by_key(|cue| (cue.start, Reverse(cue.end), cue.stance as u8));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_all_lists_are_sorted() {
        let lists = LISTS.iter().map(|list| list.words).chain([EMPTY, crate::note::COMMON]);
        for words in lists {
            assert!(words.is_sorted(), "{words:?}");
        }
    }
}
