//! Finds marks in a text: at each position the longest one, and none within another. The tables are computed by the
//! compiler, so nothing is built when the program starts.

use std::ops::Range;

use tessera_tables::{Groups, NO_GROUP, count_sections, entry_at, section};

use super::Mark;

/// The words and symbols at which a credential may begin. Upper and lower case of ASCII letters are equal.
const MARKS: [(&str, Mark); Mark::COUNT] = Mark::all();

impl Mark {
    const COUNT: usize = Self::fill(&mut []);

    const fn all() -> [(&'static str, Self); Self::COUNT] {
        let mut all = [("", Self::Noun); Self::COUNT];
        Self::fill(&mut all);
        all
    }

    /// Returns the number of marks, and writes as many as the array can hold.
    #[expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]
    const fn fill(into: &mut [(&'static str, Self)]) -> usize {
        const MARKS: &str = include_str!("marks.txt");
        assert!(count_sections(MARKS) == Self::ALL.len(), "each section of marks.txt must have the name of a `Mark`");
        let (mut count, mut kind) = (0, 0);
        while kind < Self::ALL.len() {
            let list = section(MARKS, Self::ALL[kind].as_str());
            let mut from = 0;
            while let Some((mark, next)) = entry_at(list, from) {
                if count < into.len() {
                    into[count] = (mark, Self::ALL[kind]);
                }
                count += 1;
                from = next;
            }
            kind += 1;
        }
        count
    }
}

/// The number of groups of marks. The first two bytes of a mark determine its group.
const GROUPS: usize = 512;
/// The place of no mark.
const NONE: u16 = u16::MAX;

/// The marks by their beginning.
struct Index {
    /// The marks of two or more bytes.
    groups: Groups<{ Mark::COUNT }, { GROUPS + 1 }>,
    /// The places of marks of one byte, by byte.
    single: [u16; 256],
}

static INDEX: Index = Index::of_marks();

const fn group(first: u8, second: u8) -> usize {
    (first.to_ascii_lowercase() as usize * 37 + second.to_ascii_lowercase() as usize) % GROUPS
}

impl Index {
    #[expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]
    #[expect(clippy::cast_possible_truncation, reason = "there are a few hundred marks")]
    const fn of_marks() -> Self {
        let (mut groups, mut single, mut at) = ([NO_GROUP; Mark::COUNT], [NONE; 256], 0);
        while at < Mark::COUNT {
            let bytes = MARKS[at].0.as_bytes();
            if bytes.len() > 1 {
                groups[at] = group(bytes[0], bytes[1]);
            } else if single[bytes[0] as usize] == NONE {
                single[bytes[0] as usize] = at as u16;
            }
            at += 1;
        }
        Self { groups: Groups::of(&groups), single }
    }

    /// The longest mark at the beginning of a text. Of equal ones, the first in the list.
    fn longest(&self, text: &[u8]) -> Option<&'static (&'static str, Mark)> {
        let first = *text.first()?;
        let mut longest = self.single.get(usize::from(first)).and_then(|place| MARKS.get(usize::from(*place)));
        for place in text.get(1).map(|second| self.groups.of_group(group(first, *second))).unwrap_or_default() {
            let Some(mark) = MARKS.get(usize::from(*place)) else { continue };
            let is_here = text.get(..mark.0.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(mark.0.as_bytes()));
            if is_here && longest.is_none_or(|longest| longest.0.len() < mark.0.len()) {
                longest = Some(mark);
            }
        }
        longest
    }
}

/// The marks of a text, in order.
pub(super) fn marks(text: &str) -> impl Iterator<Item = (Mark, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let Some((word, mark)) = INDEX.longest(rest) else {
                at += 1;
                continue;
            };
            let start = at;
            at += word.len();
            return Some((*mark, start..at));
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The marks of a text by comparing every mark at every position.
    fn slowly(text: &str) -> Vec<(Mark, Range<usize>)> {
        let (bytes, mut at, mut found) = (text.as_bytes(), 0, Vec::new());
        while at < bytes.len() {
            let mut longest: Option<&(&str, Mark)> = None;
            for mark in &MARKS {
                let is_here =
                    bytes[at..].get(..mark.0.len()).is_some_and(|b| b.eq_ignore_ascii_case(mark.0.as_bytes()));
                if is_here && longest.is_none_or(|longest| longest.0.len() < mark.0.len()) {
                    longest = Some(mark);
                }
            }
            let length = longest.map_or(1, |(word, _)| word.len());
            found.extend(longest.map(|(_, mark)| (*mark, at..at + length)));
            at += length;
        }
        found
    }

    #[test]
    fn every_mark_is_found_as_by_comparing_all_of_them() {
        let mut random = fastrand::Rng::with_seed(7);
        for number in 0..3000 {
            let mut text = String::new();
            for _ in 0..random.usize(0..12) {
                let (word, _) = MARKS[random.usize(..MARKS.len())];
                let end = word.floor_char_boundary(random.usize(..=word.len()));
                match random.u8(..4) {
                    0 => text.push_str(word),
                    1 => text.push_str(&word.to_uppercase()),
                    2 => text.push_str(&word[..end]),
                    _ => text.push_str([" ", "@", "пар", "x:", "=\n"][random.usize(..5)]),
                }
            }
            assert_eq!(marks(&text).collect::<Vec<_>>(), slowly(&text), "{number}: {text:?}");
        }
        let all: Vec<Mark> = MARKS.iter().filter_map(|(word, _)| Some(marks(word).next()?.0)).collect();
        assert_eq!(all.len(), MARKS.len());
    }
}
