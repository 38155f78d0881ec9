//! Credentials made of words, groups or a few digits: seed phrases, recovery codes, PINs.

use std::ops::Range;

use super::scan;

const FURTHEST: usize = 400;

/// The words behind `seed phrase`, `mnemonic`, …: twelve to twenty-four, in threes.
pub(super) fn seed(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = scan::rest(text, end, FURTHEST);
    let lead = rest.find([':', '"', '“', '\'', '=', '`']).filter(|at| *at < 60).map(|at| at + 1);
    let is = rest.find(" is ").filter(|at| *at < 40).map(|at| at + 4);
    let from = lead.or(is).unwrap_or_default();
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut at = from;
    while spans.len() < 24 {
        // Lists are numbered and have commas.
        let skipped = scan::on_while(rest, at, 12, |byte| !byte.is_ascii_alphabetic() && byte.is_ascii());
        let word = scan::on_while(rest, skipped, 16, |byte| byte.is_ascii_lowercase());
        let is_word = (3..=8).contains(&(word - skipped)) && !scan::byte(rest, word).is_ascii_alphanumeric();
        if !is_word || rest.get(skipped..word).is_none_or(|word| COMMON.contains(&word)) {
            break;
        }
        spans.push(skipped..word);
        at = word;
    }
    let count = spans.len() / 3 * 3;
    let (first, last) = (spans.first()?, spans.get(count.checked_sub(1)?)?);
    (count >= 12).then(|| end + first.start..end + last.end)
}

/// Words that every sentence has, and no seed.
const COMMON: [&str; 32] = [
    "the", "and", "for", "are", "was", "not", "with", "that", "this", "from", "have", "has", "will", "been", "were",
    "they", "you", "your", "our", "its", "which", "should", "must", "into", "use", "used", "and", "but", "when",
    "then", "than", "also",
];

/// The codes behind `recovery code`, `backup codes`, …: groups of letters and digits, one or many.
pub(super) fn codes(text: &str, end: usize) -> Vec<Range<usize>> {
    let rest = scan::rest(text, end, FURTHEST);
    let mut found = Vec::new();
    let mut at = 0;
    let mut words_between = 0;
    while at < rest.len() && words_between < 8 {
        let start = scan::on_while(rest, at, FURTHEST, |byte| !byte.is_ascii_alphanumeric() && byte.is_ascii());
        let stop = scan::on_while(rest, start, 80, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if stop == start {
            break;
        }
        let stop = paired(rest, start, stop);
        let word = rest.get(start..stop).unwrap_or_default();
        if is_code(word) {
            found.push(end + start..end + stop);
            words_between = 0;
        } else {
            words_between += 1;
            // Codes stand together, or are numbered.
            if !found.is_empty() && (word.len() > 2 || !word.bytes().all(|byte| byte.is_ascii_digit())) {
                break;
            }
        }
        at = stop;
    }
    found
}

/// Where a code of two groups of four digits with a space between ends, or any other word.
fn paired(rest: &str, start: usize, stop: usize) -> usize {
    let digits = |from: usize| scan::on_while(rest, from, 5, |byte| byte.is_ascii_digit());
    let end = digits(stop + 1);
    let is_pair = digits(start) == start + 4 && stop == start + 4 && scan::byte(rest, stop) == b' ' && end == stop + 5;
    if is_pair && !scan::byte(rest, end).is_ascii_alphanumeric() { end } else { stop }
}

/// Groups of the same kind with hyphens between, or one long enough that is no word.
fn is_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let groups: Vec<&str> = word.split(['-', ' ']).collect();
    let is_grouped = groups.len() >= 2 && groups.iter().all(|group| (3..=12).contains(&group.len()));
    let is_date = groups.len() == 3 && letters == 0 && word.len() == 10;
    digits >= 2 && !is_date && (is_grouped && word.len() >= 8 || groups.len() == 1 && digits + letters >= 8)
}

/// The digits behind `PIN`.
pub(super) fn pin(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    const BINDERS: [&str; 22] = [
        "is", "code", "is:", "ist", "lautet", "=", ":", "for", "the", "my", "es", "est", "to", "für", "-", "now",
        "number", "card", "door", "of", "phone", "sim",
    ];
    let marked = text.get(start..end)?;
    let is_whole = !scan::byte(text, start.wrapping_sub(1)).is_ascii_alphanumeric()
        && scan::byte(text, start.wrapping_sub(1)) != b'_';
    let is_named = marked.len() > 3 || ["PIN", "Pin", "PUK"].contains(&marked);
    let head = scan::head(text, start, 8).trim_end();
    let is_own = ["my", "My", "ATM", "card", "phone", "door", "SIM"].iter().any(|word| head.ends_with(word));
    if !is_whole || !is_named && !is_own {
        return None;
    }
    let mut at = end;
    for _ in 0..5 {
        at = scan::on_while(text, at, 4, |byte| b" \t:='\"*`#(".contains(&byte));
        let stop = scan::on_while(text, at, 24, |byte| byte.is_ascii_digit());
        if stop > at {
            // No date, time, version or range.
            let goes_on = b".-/:".contains(&scan::byte(text, stop)) && scan::byte(text, stop + 1).is_ascii_digit();
            let is_number = !goes_on && !scan::byte(text, stop).is_ascii_alphanumeric();
            return ((4..=8).contains(&(stop - at)) && is_number).then_some(at..stop);
        }
        let word = scan::on_while(text, at, 24, |byte| !byte.is_ascii_whitespace() && byte != b':' && byte != b'=');
        let lower = text.get(at..word)?.to_lowercase();
        if word == at || !BINDERS.contains(&lower.as_str()) && !lower.ends_with('s') {
            return None;
        }
        at = word;
    }
    None
}
