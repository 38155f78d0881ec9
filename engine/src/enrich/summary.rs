//! The line that stands for a memory in an index: its own words, at most twenty.

use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::cues::{cue, pattern};

/// Words of a summary, at most. A code span, a URL or a number is one word and never cut.
pub const MAX_SUMMARY_WORDS: usize = 20;
const MAX_CHARS: usize = 160;
const MIN_OPENING_WORDS: usize = 4;

cue!(FENCE, r"(?s)```.*?(```|\z)");
cue!(MARKUP, r"(?m)^\s*(#{1,6}\s+|>\s?|[-*+]\s+(\[[ xX]\]\s+)?|\d+[.)]\s+)");
cue!(SPEAKER, r"^([\p{Lu}][\p{L}\d_.'-]{0,30}(?: [\p{Lu}][\p{L}.'-]{0,20})?): ");
cue!(UNIT, r"`[^`]{1,120}`\S*|\S+");

/// The summary of a text: from the first sentence of substance on, at most 20 words and 160
/// characters, ending in `…` where it was cut. A speaker's name stays in front.
pub fn summary(text: &str) -> String {
    let prose = FENCE.replace_all(text, " ");
    let prose = if prose.trim().is_empty() { text.replace("```", " ").into() } else { prose };
    let plain = MARKUP.replace_all(&prose, "");
    let (speaker, said) = match SPEAKER.captures(&plain).and_then(|hit| hit.get(0)) {
        Some(prefix) => plain.split_at(prefix.end()),
        None => ("", plain.as_ref()),
    };
    shorten(speaker, opening(said))
}

/// Skips greetings and other openers of fewer than four words when something longer follows.
fn opening(text: &str) -> &str {
    let is_opening = |(at, sentence): &(usize, &str)| {
        let is_spaced = sentence.is_ascii() || sentence.contains(' ');
        let words = sentence.split_whitespace().count();
        (!is_spaced || words >= MIN_OPENING_WORDS) && text.len() > *at
    };
    let start = text.split_sentence_bound_indices().find(is_opening).map_or(0, |(at, _)| at);
    let skipped = text.get(..start).unwrap_or("");
    if skipped.split_whitespace().count() > 8 { text } else { text.get(start..).unwrap_or(text) }
}

fn shorten(speaker: &str, text: &str) -> String {
    let mut line = speaker.to_owned();
    let spoken = speaker.split_whitespace().count();
    let mut was_cut = false;
    for (words, unit) in (spoken..).zip(UNIT.find_iter(text)) {
        let unit = unit.as_str();
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

/// The beginning of a word that is longer than a summary: whole characters as people see them.
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
