//! The nouns of a line.

use std::ops::Range;

use tessera_tables::{entry_at, field, optional_field, section, words};

use super::line::{Line, Word, is_joined};
use super::words::{LANGUAGES, Language, PARTS, Sort};
use crate::LISTS;

/// Maximum additional letters of a noun's inflected form.
const MOST_ENDING: usize = 5;

/// A noun in a line.
#[derive(Debug)]
pub(super) struct Stated {
    pub(super) sort: Sort,
    /// The languages that have this noun, as positions in the table.
    pub(super) languages: Vec<usize>,
    pub(super) span: Range<usize>,
    /// The last of its words.
    pub(super) last: usize,
    /// True for a short word with many meanings, such as `key`.
    pub(super) is_short: bool,
}

/// The maximum length in bytes of a short noun with several meanings, such as `clave`.
const SHORT: usize = 5;

impl Stated {
    /// The noun's languages, and English, because people mix English words into other languages.
    pub(super) fn spoken(&self) -> impl Iterator<Item = &'static Language> {
        let english = (!self.languages.contains(&0)).then_some(0);
        self.languages.iter().copied().chain(english).filter_map(|at| LANGUAGES.get(at))
    }

    /// True if a value may follow the noun directly.
    pub(super) fn is_bare(&self) -> bool {
        self.languages.iter().filter_map(|at| LANGUAGES.get(*at)).any(|language| language.is_bare)
    }

    /// True if a word assigns a value to this noun.
    pub(super) fn is_bound_by(&self, word: &str) -> bool {
        self.spoken().any(|language| language.binders.split_ascii_whitespace().any(|binder| binder == word))
    }

    /// True if a clause in a writing system without spaces does not state the value of the noun.
    pub(super) fn holds_other(&self, clause: &str) -> bool {
        let others = self.spoken().flat_map(|language| language.others.split_ascii_whitespace());
        others.filter(|other| other.contains(is_joined)).any(|other| clause.contains(other))
    }

    /// True for a word that cannot begin a value. If hyphens join words, only the first word is checked:
    /// `on-the-fridge`.
    pub(super) fn is_other(&self, word: &str) -> bool {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let is_one = |word: &str| {
            self.spoken().any(|language| language.others.split_ascii_whitespace().any(|other| other == word))
        };
        let first = word.split('-').next().unwrap_or_default();
        let is_place =
            matches!(first, "on" | "in" | "at" | "by" | "under" | "see" | "ask" | "not" | "generated" | "stored");
        word.is_empty() || is_one(word) || first.len() < word.len() && is_place
    }

    /// True if the noun is a part of something else: `password policy`.
    pub(super) fn is_part_of_more(&self, line: &Line<'_>) -> bool {
        let next = line.words.get(self.last + 1).map_or("", |word| word.lower.as_str());
        PARTS.split_ascii_whitespace().any(|part| part == next)
    }
}

/// A noun of the tables.
#[derive(Debug, Clone, Copy)]
struct Entry {
    language: u8,
    sort: Sort,
    noun: &'static str,
}

const COUNT: usize = count();
const BYTES: usize = 256;

/// All nouns, sorted by their first byte. For each byte, also the index of its first noun. The table is built at
/// compile time.
static NOUNS: ([Entry; COUNT], [usize; BYTES + 1]) = nouns();

const fn count() -> usize {
    let mut count = 0;
    each(&mut count, &mut []);
    count
}

/// Counts all nouns, and writes them in order, as many as the array can contain.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]
const fn each(count: &mut usize, into: &mut [Entry]) {
    let mut language = 0;
    while language < LANGUAGES.len() {
        let mut at = 0;
        while at < Sort::ALL.len() {
            let sort = Sort::ALL[at];
            let list = optional_field(LANGUAGES[language].table, sort.as_str());
            let (list, mut from) = if let Some(list) = list { (list, 0) } else { ("", 0) };
            while let Some((noun, next)) = entry_at(list, from) {
                if *count < into.len() {
                    #[expect(clippy::cast_possible_truncation, reason = "there are twenty-five")]
                    let language = language as u8;
                    into[*count] = Entry { language, sort, noun };
                }
                *count += 1;
                from = next;
            }
            at += 1;
        }
        language += 1;
    }
}

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]
const fn nouns() -> ([Entry; COUNT], [usize; BYTES + 1]) {
    let mut entries = [Entry { language: 0, sort: Sort::Password, noun: "" }; COUNT];
    each(&mut 0, &mut entries);
    let (mut sorted, mut starts) = (entries, [0; BYTES + 1]);
    let (mut byte, mut filled) = (0, 0);
    while byte < BYTES {
        starts[byte] = filled;
        let mut at = 0;
        while at < COUNT {
            if entries[at].noun.as_bytes()[0] as usize == byte {
                sorted[filled] = entries[at];
                filled += 1;
            }
            at += 1;
        }
        byte += 1;
    }
    starts[BYTES] = filled;
    (sorted, starts)
}

/// The nouns that begin with the same byte as the word.
fn beginning_as(word: &str) -> &'static [Entry] {
    let (entries, starts) = &NOUNS;
    let first = word.as_bytes().first().map_or(0, |byte| usize::from(*byte));
    let range = starts.get(first).zip(starts.get(first + 1));
    range.and_then(|(from, to)| entries.get(*from..*to)).unwrap_or_default()
}

/// The nouns for secrets in a line; at each position, only the longest one.
pub(super) fn in_line(line: &Line<'_>) -> Vec<Stated> {
    let mut found: Vec<Stated> = Vec::new();
    for (at, word) in line.words.iter().enumerate() {
        if word.lower.chars().any(is_joined) {
            joined(word, at, &mut found);
            continue;
        }
        for part in parts(&word.lower) {
            let before = found.len();
            // `two-pass` is about passes.
            let is_pass = part == "pass" && part.len() < word.lower.len();
            if !is_pass {
                spaced(line, at, part, &mut found);
            }
            if found.len() > before {
                break;
            }
        }
    }
    found.sort_by_key(|noun| (noun.span.start, std::cmp::Reverse(noun.span.end)));
    found.dedup_by(|next, kept| next.span.start < kept.span.end);
    found
}

/// The candidates in a word: the word, its part after the last separator or after an article, and the end of a
/// compound.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    const ENDS: &[&str] = words!(field(section(LISTS, "endings"), "compounds"));
    let joint = word.rfind(['-', '_', '\'']).and_then(|at| word.get(at + 1..));
    let compound = ENDS.iter().find(|end| word.len() > end.len() && word.ends_with(*end));
    [Some(word), joint, compound.copied()].into_iter().flatten()
}

/// Adds the longest noun that begins with this part of a word.
fn spaced(line: &Line<'_>, at: usize, part: &str, found: &mut Vec<Stated>) {
    let Some(word) = line.words.get(at) else { return };
    let mut longest: Option<Stated> = None;
    for Entry { language, sort, noun } in beginning_as(part) {
        // Most of them differ in the second byte.
        if noun.as_bytes().get(1) != part.as_bytes().get(1) {
            continue;
        }
        let Some(last) = last_of(line, at, part, noun) else { continue };
        let end = line.words.get(last).map_or(word.span.end, |last| last.span.end);
        match &mut longest {
            Some(known) if known.span.end > end => {}
            Some(known) if known.span.end == end => known.languages.push(usize::from(*language)),
            _ => {
                let (span, is_short) = (word.span.start..end, noun.len() <= SHORT);
                longest = Some(Stated { sort: *sort, languages: vec![usize::from(*language)], span, last, is_short });
            }
        }
    }
    found.extend(longest.filter(|noun| !is_counted(line, at, part, noun)));
}

/// `first pass`, `cache key`, `public key`: the word before the noun shows that the noun does not mean a credential.
fn is_counted(line: &Line<'_>, at: usize, part: &str, noun: &Stated) -> bool {
    const PASSES: &str = "one two three single multi first second third next last final each every per dry full hot the a this that another";
    const KEYS: &str = "cache idempotency sort primary foreign partition public dedup lookup map row object index shard routing json \
        dictionary hash arrow shift ctrl alt tab enter escape composite unique natural surrogate group join config";
    let before = at.checked_sub(1).and_then(|before| line.words.get(before)).map_or("", |word| word.lower.as_str());
    let among = |words: &str| words.split_ascii_whitespace().any(|word| word == before);
    match part {
        "pass" => among(PASSES),
        "key" => noun.span.len() == part.len() && among(KEYS),
        _ => false,
    }
}

/// Finds a noun whose first word is this part of a word, and returns the position of its last word.
fn last_of(line: &Line<'_>, at: usize, part: &str, noun: &str) -> Option<usize> {
    let (noun, may_end) = noun.strip_suffix('*').map_or((noun, false), |stem| (stem, true));
    let mut spelled = noun.split(' ').enumerate().peekable();
    while let Some((offset, expected)) = spelled.next() {
        let word = if offset == 0 { part } else { line.words.get(at + offset)?.lower.as_str() };
        let rest = word.strip_prefix(expected)?;
        let is_last = spelled.peek().is_none();
        let ending = if is_last && may_end { MOST_ENDING } else { 0 };
        let is_owned = is_last && matches!(rest, "'s" | "’s");
        if rest.chars().count() > ending && !is_owned {
            return None;
        }
        if is_last {
            return Some(at + offset);
        }
    }
    None
}

/// Adds the nouns in a word of a script without spaces.
fn joined(word: &Word, at: usize, found: &mut Vec<Stated>) {
    for Entry { language, sort, noun } in NOUNS.0.iter().filter(|entry| entry.noun.contains(is_joined)) {
        let noun = noun.to_lowercase();
        for (from, _) in word.lower.match_indices(noun.as_str()) {
            let span = word.span.start + from..word.span.start + from + noun.len();
            if span.end <= word.span.end {
                let languages = vec![usize::from(*language)];
                found.push(Stated { sort: *sort, languages, span, last: at, is_short: false });
            }
        }
    }
}
