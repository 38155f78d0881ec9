//! A text is split into passages, each of which has an embedding. A passage has one subject, and the encoder can read
//! it completely.
//!
//! A short text is one passage. A long text is cut between lines and sentences, where a reply could also cut it. Fenced
//! code in a long text gets no embedding, so only its words can be found.

use std::borrow::Cow;

use tessera_encoder::{Embedding, Encoder};
use tessera_screen::without_places;

use crate::text::pieces;
use crate::threads::mapped;

/// A text of at most about this number of word pieces is a single passage.
const SHORT: usize = 100;
/// The approximate maximum number of word pieces in a passage. The encoder can read more.
const LONG: usize = 80;
/// An empty line ends a passage only if the passage has at least this number of word pieces. A shorter passage may be only a heading.
const SLIGHT: usize = 24;
/// A heading ends a passage only if the passage has at least this number of word pieces. A shorter passage may be only
/// a heading itself.
const BRIEF: usize = 10;
/// Maximum passages of one text. If a text needs more passages, they become longer, and the encoder reads only the
/// beginning of each.
const MOST: usize = 64;
/// The maximum number of passages that are encoded together, and the maximum of their total length in bytes. Larger
/// numbers would need more memory without being faster.
const AT_ONCE: usize = 16;
const BYTES_AT_ONCE: usize = 1024;

/// The embeddings of texts. `pause` is called every few tens of milliseconds. If it returns
/// `false`, the computation stops, and the result ends before the first unfinished text.
pub fn embeddings(encoder: &Encoder, texts: &[&str], pause: impl FnMut() -> bool) -> Vec<Embedding> {
    let texts: Vec<(&str, &str)> = texts.iter().map(|text| ("", *text)).collect();
    embeddings_about(encoder, &texts, 1, pause)
}

/// The embeddings of texts with headings, computed on several threads. Each passage is read together with its heading.
/// The heading does not change how the text is cut.
pub fn embeddings_about(
    encoder: &Encoder,
    texts: &[(&str, &str)],
    threads: usize,
    mut pause: impl FnMut() -> bool,
) -> Vec<Embedding> {
    let below = |about: &str, passage: &'_ str| match about {
        "" => as_read(passage).into_owned(),
        about => as_read(&format!("{about}: {passage}")).into_owned(),
    };
    let cut: Vec<Vec<String>> = texts
        .iter()
        .map(|(about, text)| passages_of(text).into_iter().map(|one| below(about, one)).collect())
        .collect();
    let all: Vec<&str> = cut.iter().flatten().map(String::as_str).collect();
    let mut vectors = Vec::with_capacity(all.len());
    for round in batches(&all).chunks(threads.max(1)) {
        if !vectors.is_empty() && !pause() {
            break;
        }
        vectors.extend(mapped(round, threads, |batch| encoder.passages(batch)).into_iter().flatten());
    }
    let mut embeddings = Vec::with_capacity(texts.len());
    let mut start = 0;
    for passages in &cut {
        let Some(of_text) = vectors.get(start..start + passages.len()) else { break };
        embeddings.push(Embedding::of(of_text));
        start += passages.len();
    }
    embeddings
}

/// Passages in batches, each of which is encoded at once.
fn batches<'p>(passages: &'p [&'p str]) -> Vec<&'p [&'p str]> {
    let (mut batches, mut rest) = (Vec::new(), passages);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |passage: &&&str| {
            bytes += passage.len();
            bytes <= BYTES_AT_ONCE
        };
        let (batch, later) = rest.split_at(rest.iter().take(AT_ONCE).take_while(fits).count().max(1));
        batches.push(batch);
        rest = later;
    }
    batches
}

/// A passage as the encoder reads it. The name of a secret is random, so the encoder reads only the kind: `[password]`.
pub fn as_read(passage: &str) -> Cow<'_, str> {
    without_places(passage, |secret| format!("[{}]", secret.kind))
}

/// Cuts a text into passages, in order. Returns no passages for a text without words.
pub fn passages_of(text: &str) -> Vec<&str> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    let all = word_pieces(text);
    if all <= SHORT {
        return vec![text];
    }
    // Passages end before they are full, with at most a fifth of the room unused.
    let long = LONG.max(all * 5 / 4 / MOST);
    let without_code = cut(text, &fences(text), long);
    let mut passages = if without_code.is_empty() { cut(text, &[], long) } else { without_code };
    passages.truncate(MOST);
    passages
}

/// Cuts a text into ranges of about this number of word pieces, without the ranges in `left_out`. The ranges are byte
/// positions, ascending.
fn cut<'a>(text: &'a str, left_out: &[(usize, usize)], long: usize) -> Vec<&'a str> {
    let mut passages = Vec::new();
    // The start of the open passage, and its word pieces.
    let (mut start, mut held) = (0, 0);
    let mut end = 0;
    let mut left_out = left_out.iter().peekable();
    let mut close = |from: usize, to: usize| {
        let passage = text.get(from..to).map(str::trim);
        passages.extend(passage.filter(|passage| says_something(passage)));
    };
    for piece in pieces(text) {
        let (from, to) = (end, end + piece.len());
        end = to;
        while left_out.next_if(|(_, until)| *until <= from).is_some() {}
        if left_out.peek().is_some_and(|(since, _)| *since < to) {
            close(start, from);
            (start, held) = (to, 0);
            continue;
        }
        let tells = word_pieces(piece);
        let is_full = held + tells > long;
        let ends_here = piece.trim().is_empty() && held >= SLIGHT || is_heading(piece) && held >= BRIEF;
        if held > 0 && (is_full || ends_here) {
            close(start, from);
            (start, held) = (from, 0);
        }
        held += tells;
    }
    close(start, end);
    passages
}

/// True for a Markdown heading.
fn is_heading(line: &str) -> bool {
    let words = line.trim_start_matches('#');
    words.len() < line.len() && words.starts_with(' ')
}

fn says_something(passage: &str) -> bool {
    passage.chars().any(char::is_alphanumeric)
}

/// The byte ranges of fenced code, with the fences, ascending. An open fence extends to the end of the text.
fn fences(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let mark = line.trim_start();
        let fence = ["```", "~~~"].into_iter().find(|fence| mark.starts_with(fence));
        match (open, fence) {
            (None, Some(fence)) => open = Some((at, fence)),
            (Some((start, fence)), Some(closing)) if fence == closing => {
                found.push((start, at + line.len()));
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    found.extend(open.map(|(start, _)| (start, text.len())));
    found
}

/// The approximate number of word pieces. The exact number would take much longer and is not needed here.
fn word_pieces(text: &str) -> usize {
    let mut pieces = 0;
    let (mut letters, mut digits) = (0_usize, 0_usize);
    for character in text.chars().chain([' ']) {
        // Latin letters with or without marks. In other scripts, nearly every character is a word piece.
        let is_letter = character.is_alphabetic() && character < '\u{370}';
        let is_digit = character.is_ascii_digit();
        if !is_letter && letters > 0 {
            pieces += if letters <= 7 { 1 } else { letters.div_ceil(4) };
            letters = 0;
        }
        if !is_digit && digits > 0 {
            pieces += digits.div_ceil(3);
            digits = 0;
        }
        letters += usize::from(is_letter);
        digits += usize::from(is_digit);
        pieces += usize::from(!is_letter && !is_digit && !character.is_whitespace() && !character.is_control());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The positions of the passages in the text, in ascending order.
    fn places(text: &str, passages: &[&str]) -> Vec<(usize, usize)> {
        let start = text.as_ptr().addr();
        let places: Vec<_> =
            passages.iter().map(|p| (p.as_ptr().addr() - start, p.as_ptr().addr() - start + p.len())).collect();
        assert!(places.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{places:?}");
        assert!(places.last().is_none_or(|last| last.1 <= text.len()));
        places
    }

    const SENTENCE: &str = "Batteries are taken ashore and charged once a month by whoever has the duty that week. ";

    #[test]
    fn the_name_of_a_secret_does_not_change_an_embedding() {
        let text =
            |name: &str| format!("jobs need --account=[secret {name}: password] or {{wait}} [secret dropped: token]");
        assert_eq!(as_read(&text("s7k4q2")), "jobs need --account=[password] or {wait} [token]");
        let [one, other] = ["s7k4q2", "szzzzz"].map(|name| embeddings(Encoder::shared(), &[&text(name)], || true));
        assert_eq!(one, other);
        assert!(matches!(as_read("[secret s7]: no placeholder"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_short_text_is_one_passage_as_it_stands() {
        assert_eq!(passages_of(" The proxy is nginx\n"), ["The proxy is nginx"]);
        assert_eq!(passages_of("Deploy with\n```\nmake ship\n```"), ["Deploy with\n```\nmake ship\n```"]);
        assert!(passages_of(" \n\t ").is_empty() && passages_of("").is_empty());
    }

    #[test]
    fn a_long_text_is_cut_between_sentences_and_paragraphs_and_a_heading_stays_with_what_it_heads() {
        let text = format!("# Winter\n\n{}\n\n# Spring\n\n{}", SENTENCE.repeat(5), SENTENCE.repeat(5));
        let passages = passages_of(&text);
        assert!(passages.len() >= 2, "{passages:?}");
        assert!(passages[0].starts_with("# Winter") && passages[0].ends_with('.'));
        assert!(passages.iter().any(|passage| passage.starts_with("# Spring\n\nBatteries")), "{passages:?}");
        assert!(passages.iter().all(|passage| word_pieces(passage) <= LONG), "{passages:?}");
    }

    #[test]
    fn code_in_fences_of_a_long_text_has_no_passage_unless_there_is_nothing_else() {
        let code = "let berth = harbour.berths().find(|berth| berth.is_free());\n".repeat(20);
        let text = format!("{SENTENCE}\n```rust\n{code}```\nThat is how berths are found.\n~~~\n{code}");
        let passages = passages_of(&text);
        assert!(passages.iter().all(|passage| !passage.contains("let berth")), "{passages:?}");
        assert_eq!(passages.last(), Some(&"That is how berths are found."));
        let alone = format!("```\n{code}```");
        let passages = passages_of(&alone);
        assert!(passages.len() > 3 && passages[1].contains("let berth"), "{passages:?}");
    }

    #[test]
    fn no_text_is_too_odd_or_too_long() {
        let texts = [
            "a".repeat(32 << 10),
            "a ".repeat(16 << 10),
            "\n".repeat(32 << 10),
            "```\n".repeat(8 << 10),
            "\u{301}".repeat(16 << 10),
            "码头。".repeat(3 << 10),
            "👩‍👩‍👧 ".repeat(1 << 10),
            "12345678.".repeat(3 << 10),
            "\0\u{202e}\u{200b}x".repeat(4 << 10),
            SENTENCE.repeat(372),
        ];
        for text in texts {
            let passages = passages_of(&text);
            places(&text, &passages);
            assert!(passages.len() <= MOST && passages.iter().all(|passage| !passage.is_empty()));
        }
        let whole = SENTENCE.repeat(372);
        let said: usize = passages_of(&whole).iter().map(|passage| passage.len() + 1).sum();
        assert_eq!(said, whole.len(), "a text of 32 KiB is covered");
    }

    #[test]
    fn the_count_is_near_what_the_encoder_makes() {
        for (text, pieces) in [
            ("which port does staging use?", 6),
            // 14 in the encoder's vocabulary.
            ("The build cache lives on host birch.", 8),
            ("码头预订系统", 6),
            ("2026-11-22", 6),
        ] {
            assert!(word_pieces(text).abs_diff(pieces) <= 1, "{text}: {}", word_pieces(text));
        }
    }

    #[test]
    fn what_is_interrupted_leaves_out_what_is_not_finished() {
        let texts: Vec<String> = (0..40).map(|n| format!("Berth {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let encoder = Encoder::shared();
        assert_eq!(embeddings(encoder, &texts, || false).len(), AT_ONCE);
        let all = embeddings(encoder, &texts, || true);
        let named: Vec<(&str, &str)> = texts.iter().map(|text| ("", *text)).collect();
        for threads in [0, 2, 3, 40] {
            assert_eq!(embeddings_about(encoder, &named, threads, || true), all);
            let some = embeddings_about(encoder, &named, threads, || false);
            assert_eq!(some, all[..(AT_ONCE * threads.max(1)).min(all.len())], "one round is finished");
        }
        assert_eq!(all.len(), 40);
        assert_eq!(
            all[7],
            Embedding::of(&encoder.passages(&[texts[7]])),
            "the embedding of a text does not depend on the other texts in the batch"
        );
        assert_eq!(embeddings(encoder, &["", "x"], || true).len(), 2, "what says nothing means nothing");
    }

    proptest! {
        #[test]
        fn passages_stand_in_their_order_and_end_where_pieces_end(
            text in "([a-z]{1,12}[ .]|[.!?] |\n|\n\n|```\n|é|码|🚢){0,900}",
        ) {
            let passages = passages_of(&text);
            let trimmed = text.trim();
            let places = places(trimmed, &passages);
            let mut bounds = vec![0];
            bounds.extend(pieces(trimmed).scan(0, |at, piece| { *at += piece.len(); Some(*at) }));
            let is_bound = |at: usize| {
                let (before, after) = trimmed.split_at(at);
                let (blank_before, blank_after) = (before.len() - before.trim_end().len(), after.len() - after.trim_start().len());
                bounds.iter().any(|bound| (at - blank_before..=at + blank_after).contains(bound))
            };
            prop_assert!(passages.len() <= MOST);
            for (start, end) in places {
                prop_assert!(is_bound(start) && is_bound(end), "{start} {end}");
            }
        }
    }
}
