//! The summary that represents a memory in an index: its own words, at most twenty.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::scan::{end_of, next, tail};
use crate::text::{is_digit, is_letter, is_upper, sentences};

/// Maximum words of a summary. A code span, a URL or a number counts as one word and is never cut.
pub const MAX_SUMMARY_WORDS: usize = 20;
const MAX_CHARS: usize = 160;
const MIN_OPENING_WORDS: usize = 4;
const FENCE: &str = "```";
/// Maximum characters of a code span that is never cut.
const MAX_CODE_CHARS: usize = 120;

/// The summary of a text: it begins at the first sentence of substance and has at most 20 words and 160 characters. It
/// ends in `…` if it was cut. The summary keeps a speaker's name at the beginning.
pub fn summary(text: &str) -> String {
    let prose = without_fences(text);
    let prose = if prose.trim().is_empty() { text.replace("```", " ").into() } else { prose };
    let plain = without_markup(&prose);
    let (speaker, said) = plain.split_at_checked(speaker_end(&plain).unwrap_or(0)).unwrap_or(("", &plain));
    shorten(speaker, opening(said))
}

/// A text without fenced code. A code block without a closing fence extends to the end of the text.
fn without_fences(text: &str) -> Cow<'_, str> {
    let Some((before, mut rest)) = text.split_once(FENCE) else { return text.into() };
    let mut prose = before.to_owned();
    loop {
        prose.push(' ');
        let Some((_, after)) = rest.split_once(FENCE) else { return prose.into() };
        match after.split_once(FENCE) {
            Some((before, inside)) => {
                prose.push_str(before);
                rest = inside;
            }
            None => return (prose + after).into(),
        }
    }
}

/// A text without Markdown marks of headings, quotes and lists, and without empty lines.
fn without_markup(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let (mut kept, mut line) = (0, Some(0));
    while let Some(start) = line {
        let first = end_of(text, start, usize::MAX, char::is_whitespace);
        let mut at = first;
        if let Some(end) = mark_end(text, first) {
            plain.push_str(text.get(kept..start).unwrap_or_default());
            (kept, at) = (end, end);
        }
        let is_line = at > first && text.get(..at).is_some_and(|before| before.ends_with('\n'));
        line = if is_line { Some(at) } else { tail(text, at).find('\n').map(|offset| at + offset + 1) };
    }
    plain.push_str(tail(text, kept));
    plain
}

/// The end of a Markdown mark at the beginning of a line: `## `, `> `, `- [x] `, `3. `.
fn mark_end(text: &str, at: usize) -> Option<usize> {
    let spaces = |at: usize| {
        let end = end_of(text, at, usize::MAX, char::is_whitespace);
        (end > at).then_some(end)
    };
    match next(text, at)? {
        '#' => spaces(end_of(text, at, 6, |character| character == '#')),
        '>' => Some(end_of(text, at + 1, 1, char::is_whitespace)),
        '-' | '*' | '+' => {
            let item = spaces(at + 1)?;
            let is_box = ["[ ]", "[x]", "[X]"].iter().any(|mark| tail(text, item).starts_with(mark));
            is_box.then(|| spaces(item + 3)).flatten().or(Some(item))
        }
        digit if is_digit(digit) => {
            let end = end_of(text, at, usize::MAX, is_digit);
            tail(text, end).starts_with(['.', ')']).then(|| spaces(end + 1)).flatten()
        }
        _ => None,
    }
}

/// The end of a speaker's name of one or two words, with its separator: `Mara: `.
fn speaker_end(text: &str) -> Option<usize> {
    let name = |at: usize, most: usize, marks: &str, has_digits: bool| {
        let first = next(text, at).filter(|first| is_upper(*first))?;
        let is_inner = |inner| is_letter(inner) || marks.contains(inner) || (has_digits && is_digit(inner));
        Some(end_of(text, at + first.len_utf8(), most, is_inner))
    };
    let end = name(0, 30, "_.'-", true)?;
    let end = match next(text, end)? {
        ' ' => name(end + 1, 20, ".'-", false)?,
        _ => end,
    };
    tail(text, end).starts_with(": ").then_some(end + 2)
}

/// The words of a text. A code span counts as one word, including the characters that follow it without a space.
fn units(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        let is_space = |character: char| character.is_whitespace();
        let code = rest.strip_prefix('`').and_then(|code| {
            let end = end_of(code, 0, MAX_CODE_CHARS + 1, |character| character != '`');
            let is_span = (1..=MAX_CODE_CHARS).contains(&code.get(..end)?.chars().count());
            (is_span && tail(code, end).starts_with('`')).then_some(end + 2)
        });
        let start = code.unwrap_or(0);
        let (unit, after) = rest.split_at_checked(end_of(rest, start, usize::MAX, |inner| !is_space(inner)))?;
        rest = after.trim_start();
        Some(unit).filter(|unit| !unit.is_empty())
    })
}

/// Skips greetings and other openings of fewer than four words if something longer follows.
fn opening(text: &str) -> &str {
    let is_opening = |(at, sentence): &(usize, &str)| {
        let is_spaced = sentence.is_ascii() || sentence.contains(' ');
        let words = sentence.split_whitespace().count();
        (!is_spaced || words >= MIN_OPENING_WORDS) && text.len() > *at
    };
    let start = sentences(text).find(is_opening).map_or(0, |(at, _)| at);
    let skipped = text.get(..start).unwrap_or("");
    if skipped.split_whitespace().count() > 8 { text } else { text.get(start..).unwrap_or(text) }
}

fn shorten(speaker: &str, text: &str) -> String {
    let mut line = speaker.to_owned();
    let spoken = speaker.split_whitespace().count();
    let mut was_cut = false;
    for (words, unit) in (spoken..).zip(units(text)) {
        let room = MAX_CHARS.saturating_sub(line.chars().count() + 1);
        if words == MAX_SUMMARY_WORDS || unit.chars().count() > room {
            was_cut = true;
            if words == spoken {
                line.push_str(&head_of(unit, room));
            }
            break;
        }
        if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(unit);
    }
    let mut line = line.trim_end().to_owned();
    if was_cut {
        line.push('…');
    }
    line
}

/// The beginning of a word that is longer than a summary, cut between visible characters.
fn head_of(unit: &str, room: usize) -> String {
    let mut head = String::new();
    for grapheme in unit.graphemes(true) {
        if head.chars().count() + grapheme.chars().count() > room {
            break;
        }
        head.push_str(grapheme);
    }
    head
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn summaries_keep_whole_sentences_numbers_and_code() {
        for (text, expected) in [
            ("User prefers dark mode.", "User prefers dark mode."),
            (
                "The database is PostgreSQL 16.2 and runs in Frankfurt.",
                "The database is PostgreSQL 16.2 and runs in Frankfurt.",
            ),
            ("Note. The payment service runs v2.1 now.", "The payment service runs v2.1 now."),
            (
                "Mara: Hey Bob! Good! I moved the cron job to `make cron` today.",
                "Mara: I moved the cron job to `make cron` today.",
            ),
            ("# Deploy\n- run `just ship`\n```sh\nrm -rf x\n```", "Deploy run `just ship`"),
            ("用户喜欢深色模式", "用户喜欢深色模式"),
        ] {
            assert_eq!(summary(text), expected);
        }
    }

    #[test]
    fn long_texts_are_cut_at_a_word() {
        let text = (1..=40).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
        assert_eq!(summary(&text).split(' ').count(), MAX_SUMMARY_WORDS);
        assert!(summary(&text).ends_with("w20…"));
    }

    proptest! {
        #[test]
        fn a_summary_is_one_short_line(text in any::<String>()) {
            let line = summary(&text);
            prop_assert!(line.split_whitespace().count() <= MAX_SUMMARY_WORDS, "{line}");
            prop_assert!(line.chars().count() <= MAX_CHARS + 1, "{}", line.chars().count());
        }
    }
}
