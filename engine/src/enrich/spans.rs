//! Finds the parts of a text that are names. Each kind has its own rule.

use super::importance::{has_hump, has_joint};
use super::scan::{end_of, next, tail, words};
use crate::text::{is_digit, is_letter, is_lower, is_upper, is_word};

/// Text between backticks, 2 to 60 characters in one line.
pub(super) fn code_spans(text: &str) -> impl Iterator<Item = (usize, &str)> {
    enclosed(text, &['`'], &['`'], 2..=60)
}

/// Text in double quotation marks, 3 to 40 characters in one line.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = (usize, &str)> {
    enclosed(text, &['"', '“'], &['"', '”'], 3..=40)
}

fn enclosed<'a>(
    text: &'a str,
    opening: &'static [char],
    closing: &'static [char],
    lengths: std::ops::RangeInclusive<usize>,
) -> impl Iterator<Item = (usize, &'a str)> {
    let is_inner = move |character| character != '\n' && !opening.contains(&character) && !closing.contains(&character);
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let (offset, mark) = tail(text, at).char_indices().find(|(_, character)| opening.contains(character))?;
            let start = at + offset + mark.len_utf8();
            let end = end_of(text, start, lengths.end() + 1, is_inner);
            let inner = text.get(start..end)?;
            at = start;
            if let Some(mark) = next(text, end).filter(|mark| closing.contains(mark))
                && lengths.contains(&inner.chars().count())
            {
                at = end + mark.len_utf8();
                return Some((start, inner));
            }
        }
    })
}

/// `@name` after white space or at the beginning: the name, at most 40 characters.
pub(super) fn mentions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('@').filter_map(|(at, _)| {
        let is_apart = text.get(..at)?.chars().next_back().is_none_or(char::is_whitespace);
        let name = text.get(at + 1..end_of(text, at + 1, 40, |character| is_word(character) || character == '-'))?;
        (is_apart && name.chars().nth(1).is_some()).then_some((at + 1, name))
    })
}

/// Words written like identifiers or acronyms.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    words(text).filter(|(_, word)| has_hump(word) || has_humps(word) || has_joint(word) || is_acronym(word))
}

/// A name of two or more parts. Each part is an upper-case letter followed by lower-case letters: `TokenBudget`.
fn has_humps(word: &str) -> bool {
    let (mut rest, mut parts) = (word, 0);
    while let Some(after) = rest.strip_prefix(is_upper) {
        rest = after.trim_start_matches(is_lower);
        if rest.len() == after.len() {
            return false;
        }
        parts += 1;
    }
    parts >= 2 && rest.is_empty()
}

/// Two or more upper-case letters, with digits among or after them.
fn is_acronym(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(is_upper)
        && letters.next().is_some_and(is_upper)
        && letters.all(|character| is_upper(character) || is_digit(character))
}

/// Addresses: a mail address as a whole, and the host of a web address.
pub(super) fn addresses(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // No mail address can begin before this position, because that part has already been checked.
    let (mut at, mut no_mail_before) = (0, 0);
    std::iter::from_fn(move || {
        loop {
            let first = next(text, at)?;
            if at >= no_mail_before && is_of_mail(first) {
                let end = end_of(text, at, usize::MAX, is_of_mail);
                if let Some(address) = domain_end(text, end).and_then(|end| text.get(at..end)) {
                    let start = at;
                    at += address.len();
                    return Some((start, address));
                }
                no_mail_before = end;
            }
            if first == 'h'
                && let Some((start, host)) = host(text, at)
            {
                at = start + host.len();
                return Some((start, host));
            }
            at += first.len_utf8();
        }
    })
}

fn is_of_mail(character: char) -> bool {
    is_word(character) || ".+-".contains(character)
}

fn is_of_host(character: char) -> bool {
    is_word(character) || ".-".contains(character)
}

/// The end of a domain such as `@example.com` that begins at a position.
fn domain_end(text: &str, at: usize) -> Option<usize> {
    let at = at + tail(text, at).starts_with('@').then_some(1)?;
    let dot = end_of(text, at, usize::MAX, |character| is_word(character) || character == '-');
    let rest = dot + (dot > at && tail(text, dot).starts_with('.')).then_some(1)?;
    Some(rest + last_word_end(text.get(rest..end_of(text, rest, usize::MAX, is_of_host))?)?)
}

/// The host of a web address that begins at a position.
fn host(text: &str, at: usize) -> Option<(usize, &str)> {
    let rest = tail(text, at).strip_prefix("http")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix("://")?;
    let start = text.len() - rest.len();
    let run = text.get(start..end_of(text, start, usize::MAX, is_of_host))?;
    let end = last_word_end(run)?;
    // More than one character.
    run.get(..end).filter(|host| host.chars().nth(1).is_some()).map(|host| (start, host))
}

/// The end of the last word of a run.
fn last_word_end(run: &str) -> Option<usize> {
    let (at, last) = run.char_indices().rfind(|(_, character)| is_word(*character))?;
    Some(at + last.len_utf8())
}

/// Runs of capitalised words, with numbers between and after them: `Alice Smith`, `PostgreSQL 16.2`.
pub(super) fn names(sentence: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let mut is_in_word = false;
    std::iter::from_fn(move || {
        loop {
            let first = next(sentence, at)?;
            let start = at;
            at += first.len_utf8();
            if is_in_word || !is_upper(first) {
                is_in_word = is_word(first);
                continue;
            }
            at = end_of(sentence, at, usize::MAX, is_of_name);
            while let Some(end) = next_of_name(sentence, at) {
                at = end;
            }
            let name = sentence.get(start..at)?;
            is_in_word = name.ends_with(is_word);
            return Some((start, name));
        }
    })
}

fn is_of_name(character: char) -> bool {
    is_letter(character) || is_digit(character) || "'’+#".contains(character)
}

/// The end of the next word of a name, or of a number after it.
fn next_of_name(sentence: &str, at: usize) -> Option<usize> {
    let gap = next(sentence, at)?;
    let start = at + gap.len_utf8();
    let first = next(sentence, start)?;
    if (gap == ' ' || gap == '-') && is_upper(first) {
        return Some(end_of(sentence, start, usize::MAX, is_of_name));
    }
    if !gap.is_whitespace() || !is_digit(first) {
        return None;
    }
    let mut before = None;
    let mut end = end_of(sentence, start, usize::MAX, is_digit);
    while let Some('.') = next(sentence, end)
        && next(sentence, end + 1).is_some_and(is_digit)
    {
        before = Some(end);
        end = end_of(sentence, end + 1, usize::MAX, is_digit);
    }
    // `16.2x` is not a number, but its 16 may be one.
    if next(sentence, end).is_some_and(is_word) { before } else { Some(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(spans: impl Iterator<Item = (usize, &'a str)>) -> Vec<&'a str> {
        spans.map(|(_, span)| span).collect()
    }

    #[test]
    fn spans_end_where_their_rules_say() {
        assert_eq!(found(code_spans("`a` `ab` ``cd` `e\nf`g` h `")), ["ab", "cd", " h "]);
        assert_eq!(found(quoted("\"abc\" “de” “def” \"gh”i jk\"")), ["abc", "def"]);
        assert_eq!(found(mentions("@bob a@bob.de @x\n@ann-marie")), ["bob", "ann-marie"]);
        assert_eq!(
            found(identifiers("aB Ab AbCd ab_c _ab ABC A1 AB12 AbC a1B")),
            ["aB", "AbCd", "ab_c", "ABC", "AB12"]
        );
        assert_eq!(
            found(addresses("ops@example.com, https://a.example/x http://b a@b a.b@c-d.e--f.")),
            ["ops@example.com", "a.example", "a.b@c-d.e--f"]
        );
        assert_eq!(found(names("the PostgreSQL 16.2x and O'Neil-Smith C# 7")), ["PostgreSQL 16", "O'Neil-Smith C# 7"]);
    }
}
