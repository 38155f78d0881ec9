//! Finds the phrases of several lists in one pass over a text. The compiler sorts the phrases into groups, so nothing is
//! built when the program starts.
#![expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]

use tessera_tables::{Groups, section, words};

pub(super) const RELATION_WORDS: &str = include_str!("words.txt");
/// The words that show a change.
pub(super) const CHANGE: &[&str] = words!(section(RELATION_WORDS, "change"));
/// The stems of the words that show a change, sorted.
pub(super) const CHANGE_TERMS: &[&str] = words!(section(RELATION_WORDS, "change terms"));
/// The number of lists with cues. They come first, in the order of `Cue`.
pub(super) const CUE_LISTS: usize = 6;
/// All lists. The last one contains phrases before the name of something that is no longer used.
const LISTS: [&[&str]; CUE_LISTS + 3] = [
    CHANGE,
    words!(section(RELATION_WORDS, "addition")),
    words!(section(RELATION_WORDS, "stays")),
    words!(section(RELATION_WORDS, "unsettled")),
    words!(section(RELATION_WORDS, "passing")),
    words!(section(RELATION_WORDS, "negation")),
    words!(section(RELATION_WORDS, "places")),
    words!(section(RELATION_WORDS, "days")),
    words!(section(RELATION_WORDS, "retraction")),
];

const COUNT: usize = {
    let (mut count, mut at) = (0, 0);
    while at < LISTS.len() {
        count += LISTS[at].len();
        at += 1;
    }
    count
};

/// Each phrase with the place of its list.
static PHRASES: [(&str, usize); COUNT] = {
    let (mut phrases, mut next, mut list) = ([("", 0); COUNT], 0, 0);
    while list < LISTS.len() {
        let mut at = 0;
        while at < LISTS[list].len() {
            phrases[next] = (LISTS[list][at], list);
            next += 1;
            at += 1;
        }
        list += 1;
    }
    phrases
};

/// The number of groups. With more of them, fewer phrases share a group.
const GROUPS: usize = 512;
/// The phrases by their first two bytes.
static INDEX: Groups<COUNT, { GROUPS + 1 }> = {
    let (mut groups, mut at) = ([0; COUNT], 0);
    while at < COUNT {
        let bytes = PHRASES[at].0.as_bytes();
        // A phrase has at least two bytes, which is checked here by the compiler.
        groups[at] = group(bytes[0], bytes[1]);
        at += 1;
    }
    Groups::of(&groups)
};

const fn group(first: u8, second: u8) -> usize {
    (first as usize * 31 + second as usize) % GROUPS
}

/// What a phrase means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The place of a cue.
    Cue(usize),
    Place,
    Day,
    Retraction,
}

/// A phrase in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said<'t> {
    pub(super) phrase: &'static str,
    pub(super) meaning: Meaning,
    /// The text after the phrase.
    pub(super) rest: &'t str,
}

/// The phrases of a text whose words have single spaces before and after them. A phrase in a script with spaces matches
/// only whole words.
pub(super) fn phrases(spaced: &str) -> impl Iterator<Item = Said<'_>> {
    let mut is_start = false;
    spaced.char_indices().flat_map(move |(at, character)| {
        let may_begin = character != ' ' && (is_start || is_wide(character));
        is_start = character == ' ';
        let text = spaced.get(at..).filter(|_| may_begin).unwrap_or_default();
        at_start(text)
    })
}

/// The phrases with which a text begins.
fn at_start(text: &str) -> impl Iterator<Item = Said<'_>> {
    let group = match text.as_bytes() {
        [first, second, ..] => INDEX.of_group(group(*first, *second)),
        _ => &[],
    };
    group.iter().filter_map(move |place| {
        let (phrase, list) = *PHRASES.get(usize::from(*place))?;
        let rest = text.strip_prefix(phrase)?;
        let meaning = match list.checked_sub(CUE_LISTS) {
            None => Meaning::Cue(list),
            Some(0) => Meaning::Place,
            Some(1) => Meaning::Day,
            Some(_) => Meaning::Retraction,
        };
        let is_whole = rest.starts_with(' ') || phrase.starts_with(is_wide);
        is_whole.then_some(Said { phrase, meaning, rest })
    })
}

/// True for a character of a script without spaces.
fn is_wide(character: char) -> bool {
    character >= '\u{2e80}'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The phrases of a text, each searched alone.
    fn one_by_one(spaced: &str) -> Vec<(&'static str, usize)> {
        let mut found = Vec::new();
        for (phrase, list) in PHRASES {
            let is_here = |(at, _): (usize, &str)| {
                let (before, after) = (&spaced[..at], &spaced[at + phrase.len()..]);
                phrase.starts_with(is_wide) || (before.ends_with(' ') && after.starts_with(' '))
            };
            found.extend(spaced.match_indices(phrase).filter(|hit| is_here(*hit)).map(|_| (phrase, list)));
        }
        found.sort_unstable();
        found
    }

    fn in_one_pass(spaced: &str) -> Vec<(&'static str, usize)> {
        let list = |meaning| match meaning {
            Meaning::Cue(list) => list,
            Meaning::Place => CUE_LISTS,
            Meaning::Day => CUE_LISTS + 1,
            Meaning::Retraction => CUE_LISTS + 2,
        };
        let mut found: Vec<_> = phrases(spaced).map(|said| (said.phrase, list(said.meaning))).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn one_pass_finds_what_separate_searches_find() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..500 {
            let mut text = String::from(" ");
            for _ in 0..random.usize(0..12) {
                let (phrase, _) = random.choice(PHRASES).unwrap();
                let cut = random.usize(0..=phrase.chars().count());
                text.extend(phrase.chars().take(if random.bool() { cut } else { usize::MAX }));
                text.push_str(random.choice([" ", "x ", " from ", "", " 的"]).unwrap());
            }
            text.push(' ');
            assert_eq!(in_one_pass(&text), one_by_one(&text), "{text:?}");
        }
        assert!(in_one_pass("").is_empty() && in_one_pass("x").is_empty());
    }

    #[test]
    fn the_rest_begins_after_the_phrase() {
        let said: Vec<_> = phrases(" astro instead of hugo ").filter(|said| said.phrase == "instead of").collect();
        assert_eq!(said.len(), 1);
        assert_eq!((said[0].meaning, said[0].rest), (Meaning::Retraction, " hugo "));
    }
}
