//! The exact ranges of secrets, from the logits of the pieces.

use std::ops::Range;

use super::shape::{quoted_around, word_around};

/// A piece with this logit is a part of a secret, in 1/1024, if the best piece is not lower.
const LEAST: i32 = -1024;
/// Pieces between two parts of a secret belong to it if their logits are at least this.
const LEAST_BETWEEN: i32 = -3072;
/// Most pieces between two parts of a secret.
const MOST_BETWEEN: usize = 2;
/// A shorter part of an address is no secret.
const LEAST_OF_ADDRESS: usize = 3;
/// Characters around a secret that do not belong to it.
const AROUND: &str = ".,;:!?\"'`«»„“”‘’「」『』()[]{}<>|=→—–。，、？！：；…";

/// The secrets of a text that contains one, from the places and logits of its pieces, and the best logit.
pub(super) fn spans(text: &str, said: &[(&Range<usize>, i32)], best: i32) -> Vec<Range<usize>> {
    let least = LEAST.min(best);
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for (at, (place, logit)) in said.iter().enumerate() {
        if *logit < least {
            continue;
        }
        let between = last.and_then(|last: usize| said.get(last + 1..at));
        let joins = between.is_some_and(|between| {
            between.len() <= MOST_BETWEEN && between.iter().all(|(_, logit)| *logit >= LEAST_BETWEEN)
        });
        match found.last_mut() {
            Some(span) if joins => span.end = place.end,
            _ => found.push((*place).clone()),
        }
        last = Some(at);
    }
    let widened = found.iter().filter_map(|span| widened(text, span));
    let mut spans: Vec<Range<usize>> = widened.filter(|span| !span.is_empty()).collect();
    spans.dedup_by(|next, before| {
        let is_one = next.start <= before.end;
        before.end = if is_one { before.end.max(next.end) } else { before.end };
        is_one
    });
    spans
}

/// A range of complete words, without the punctuation around it. In quotes, it is everything between the quotes. In an
/// address, it is a complete part of the address; `None` if only a few letters of the address look secret.
fn widened(text: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let quoted = quoted_around(text, span).filter(|quoted| quoted.len() <= 3 * span.len() + 8);
    if let Some(quoted) = quoted {
        return Some(trimmed(text, &quoted));
    }
    let is_spaced = |at: &Range<usize>| text.get(at.clone()).is_some_and(|said| said.chars().all(is_of_spaced));
    let (first, last) = (word_around(text, &(span.start..span.start)), word_around(text, &(span.end..span.end)));
    let word = first.start.min(span.start)..last.end.max(span.end);
    if !is_spaced(&word) {
        return Some(trimmed(text, &run_around(text, span)));
    }
    if !is_address(text, &word) {
        return Some(trimmed(text, &word));
    }
    (span.len() >= LEAST_OF_ADDRESS).then(|| trimmed(text, &run_around(text, span)))
}

/// True for a character of a script that separates words with spaces.
fn is_of_spaced(c: char) -> bool {
    c < '\u{2e80}'
}

/// A range extended over the letters and digits around it, so that no part of a value remains.
fn run_around(text: &str, span: &Range<usize>) -> Range<usize> {
    let is_run = |c: char| c.is_alphanumeric() && is_of_spaced(c);
    let said = text.get(span.clone()).unwrap_or_default();
    let before = text.get(..span.start).unwrap_or_default();
    let after = text.get(span.end..).unwrap_or_default();
    let start = if said.starts_with(is_run) { before.trim_end_matches(is_run).len() } else { span.start };
    let end = if said.ends_with(is_run) { text.len() - after.trim_start_matches(is_run).len() } else { span.end };
    start..end
}

/// True for an address or an assignment, of which only a part is secret.
fn is_address(text: &str, span: &Range<usize>) -> bool {
    let said = text.get(span.clone()).unwrap_or_default();
    said.contains("://") || said.contains(['=', '@']) || said.trim_end_matches(':').contains(':')
}

fn trimmed(text: &str, span: &Range<usize>) -> Range<usize> {
    let said = text.get(span.clone()).unwrap_or_default();
    let is_around = |c: char| c.is_whitespace() || AROUND.contains(c);
    let start = span.start + (said.len() - said.trim_start_matches(is_around).len());
    // An exclamation mark after a digit or letter may be a part of a password; redacting it, too, does no harm.
    let end = span.start + said.trim_end_matches(|c| is_around(c) && c != '!').len();
    start..end.max(start)
}
