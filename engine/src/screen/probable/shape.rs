//! The outer features of the pieces of a text: characters, separators, quotes and positions.

use std::ops::Range;

/// The number of features of a piece.
pub const SHAPES: usize = 28;
/// The value of a feature that is true, and the maximum of the others.
const YES: i8 = 64;

/// Pairs of quotes and brackets.
pub(super) const QUOTES: [(char, char); 14] = [
    ('"', '"'),
    ('«', '»'),
    ('„', '“'),
    ('“', '”'),
    ('„', '”'),
    ('”', '”'),
    ('‘', '’'),
    ('「', '」'),
    ('『', '』'),
    ('`', '`'),
    ('\'', '\''),
    ('(', ')'),
    ('[', ']'),
    ('»', '«'),
];

/// The features of the pieces at these places.
pub(super) fn shapes(text: &str, places: &[Range<usize>]) -> Vec<[i8; SHAPES]> {
    let line_breaks = text.contains('\n');
    let is_table = text.contains(['<', '|']);
    let is_question = text.trim_end().ends_with(['?', '？', '؟']);
    let of_text = [line_breaks, is_table, is_question];
    places.iter().map(|place| if place.is_empty() { mark() } else { shape(text, place, of_text) }).collect()
}

/// The features of a mark before or after the text.
fn mark() -> [i8; SHAPES] {
    let mut shape = [0; SHAPES];
    shape[0] = YES;
    shape
}

/// The word that contains a place, between white space.
pub(super) fn word_around(text: &str, place: &Range<usize>) -> Range<usize> {
    let start = text.get(..place.start).and_then(|head| head.char_indices().rfind(|(_, c)| c.is_whitespace()));
    let end = text.get(place.end..).and_then(|rest| rest.find(char::is_whitespace));
    start.map_or(0, |(at, c)| at + c.len_utf8())..end.map_or(text.len(), |at| place.end + at)
}

/// The first quotes around a place that begin before it and end after it.
pub(super) fn quoted_around(text: &str, place: &Range<usize>) -> Option<Range<usize>> {
    let (before, after) = (text.get(..place.start)?, text.get(place.end..)?);
    QUOTES.iter().find_map(|&(open, close)| {
        let start = if open == close {
            (before.matches(open).count() % 2 == 1).then(|| before.rfind(open)).flatten()?
        } else {
            let start = before.rfind(open)?;
            before.rfind(close).is_none_or(|end| end < start).then_some(start)?
        };
        Some(start + open.len_utf8()..place.end + after.find(close)?)
    })
}

fn shape(text: &str, place: &Range<usize>, of_text: [bool; 3]) -> [i8; SHAPES] {
    let word = word_around(text, place);
    let said = text.get(word.clone()).unwrap_or_default();
    let piece = text.get(place.clone()).unwrap_or_default();
    let core = said.trim_matches(|c: char| ".,;:!?\"'`«»„“”()[]「」".contains(c));
    let before = text.get(..word.start).unwrap_or_default();
    let line = text.get(..place.start).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let separator = before.trim_end_matches(' ').chars().next_back();
    let (has_digit, has_letter) = (core.chars().any(char::is_numeric), core.chars().any(char::is_alphabetic));
    let is_capital = |c: Option<char>| c.is_some_and(char::is_uppercase);
    let share = |part: usize, all: usize| i8::try_from(part.min(all) * 64 / all.max(1)).unwrap_or(YES);
    let is = |holds: bool| if holds { YES } else { 0 };
    [
        0,
        is(has_digit),
        is(has_digit && has_letter),
        is(!core.is_empty() && core.chars().all(char::is_numeric)),
        is(is_capital(core.chars().next())),
        is(core.chars().skip(1).any(char::is_uppercase)),
        is(core.chars().any(|c| !c.is_alphanumeric())),
        is(said.contains("://")),
        share(core.chars().count(), 20),
        is(matches!(separator, Some(':' | '：' | '='))),
        is(matches!(separator, Some('-' | '–' | '—' | '→' | '>' | '|' | '/'))),
        is(before.is_empty() || before.ends_with('\n')),
        is(line.contains([':', '=', '：', '→'])),
        is(quoted_around(text, place).is_some()),
        is(word.end == text.len()),
        is(text.get(word.end..).is_some_and(|rest| rest.starts_with('\n'))),
        is(said.ends_with(['.', ',', ';', '!', '?', '。', '，'])),
        share(place.start, text.len()),
        is(place.start == word.start),
        is(place.end == word.end),
        is(piece.chars().all(|c| !c.is_alphanumeric() && !c.is_whitespace())),
        is(piece.chars().any(char::is_numeric)),
        is(is_capital(piece.chars().next())),
        is(piece.chars().any(|c| c > '\u{2e80}')),
        is(of_text[0]),
        share(text.len(), 400),
        is(of_text[1]),
        is(of_text[2]),
    ]
}
