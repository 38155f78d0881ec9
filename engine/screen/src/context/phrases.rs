//! Credentials made of words, groups or a few digits: seed phrases, recovery codes, PINs.

use std::ops::Range;

use tessera_tables::{field, section, words};

use super::{letters, value};
use crate::LISTS;

const FURTHEST: usize = 400;

/// The words after `seed phrase`, `mnemonic`, …: twelve to twenty-four, a multiple of three.
pub(super) fn seed(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = letters::rest(text, end, FURTHEST);
    let lead = rest.find([':', '"', '“', '\'', '=', '`']).filter(|at| *at < 60).map(|at| at + 1);
    let is = rest.find(" is ").filter(|at| *at < 40).map(|at| at + 4);
    let from = lead.or(is).unwrap_or_default();
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut at = from;
    while spans.len() < 24 {
        // Lists may have numbers and commas.
        let skipped = letters::on_while(rest, at, 12, |byte| !byte.is_ascii_alphabetic() && byte.is_ascii());
        let word = letters::on_while(rest, skipped, 16, |byte| byte.is_ascii_lowercase());
        let is_word = (3..=8).contains(&(word - skipped)) && !letters::byte(rest, word).is_ascii_alphanumeric();
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

/// Words of ordinary sentences, which no seed phrase contains.
const COMMON: [&str; 32] = [
    "the", "and", "for", "are", "was", "not", "with", "that", "this", "from", "have", "has", "will", "been", "were",
    "they", "you", "your", "our", "its", "which", "should", "must", "into", "use", "used", "and", "but", "when",
    "then", "than", "also",
];

/// The codes after `recovery code`, `backup codes`, …: one or more groups of letters and digits.
pub(super) fn codes(text: &str, end: usize) -> Vec<Range<usize>> {
    let rest = letters::rest(text, end, FURTHEST);
    let mut found = Vec::new();
    let mut at = 0;
    let mut words_between = 0;
    while at < rest.len() && words_between < 8 {
        let start = letters::on_while(rest, at, FURTHEST, |byte| !byte.is_ascii_alphanumeric() && byte.is_ascii());
        let stop = letters::on_while(rest, start, 80, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
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
            // Codes are adjacent, or numbered.
            let joins = ["and", "und", "plus"].contains(&word);
            if !found.is_empty() && !joins && (word.len() > 2 || !word.bytes().all(|byte| byte.is_ascii_digit())) {
                break;
            }
        }
        at = stop;
    }
    found
}

/// If two groups of four digits separated by a space begin here, the end of the second group; otherwise the end of the
/// word.
fn paired(rest: &str, start: usize, stop: usize) -> usize {
    let digits = |from: usize| letters::on_while(rest, from, 5, |byte| byte.is_ascii_digit());
    let end = digits(stop + 1);
    let is_pair =
        digits(start) == start + 4 && stop == start + 4 && letters::byte(rest, stop) == b' ' && end == stop + 5;
    if is_pair && !letters::byte(rest, end).is_ascii_alphanumeric() { end } else { stop }
}

/// True for groups with digits that are joined by hyphens, and for a long group that is not a word.
fn is_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let groups: Vec<&str> = word.split(['-', ' ']).collect();
    let is_grouped = groups.len() >= 2 && groups.iter().all(|group| (3..=12).contains(&group.len()));
    let is_date = groups.len() == 3 && letters == 0 && word.len() == 10;
    digits >= 2 && !is_date && (is_grouped && word.len() >= 8 || groups.len() == 1 && digits + letters >= 8)
}

/// The digits after `PIN`, or after a word for another code, such as that of a door.
pub(super) fn pin(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let marked = text.get(start..end)?;
    let is_whole = !letters::byte(text, start.wrapping_sub(1)).is_ascii_alphanumeric()
        && letters::byte(text, start.wrapping_sub(1)) != b'_';
    let is_named = marked.len() > 3 || ["PIN", "PUK"].contains(&marked);
    let head = letters::head(text, start, 12).trim_end().to_ascii_lowercase();
    let is_own = PIN_OWNERS.iter().any(|owner| head.ends_with(owner)) || is_of_lock(letters::rest(text, end, 40));
    if !is_whole || !is_named && !is_own {
        return None;
    }
    let mut at = end;
    // Alarms and locks also have other codes.
    let mut is_bound = !["alarm code", "lock code", "entry code"].contains(&marked.to_ascii_lowercase().as_str());
    for _ in 0..MOST_WORDS {
        let sign = letters::on_while(text, at, 4, |byte| b" \t:='\"*`#(".contains(&byte));
        is_bound |= text.get(at..sign)?.contains([':', '=']);
        at = sign;
        let stop = letters::on_while(text, at, 24, |byte| byte.is_ascii_digit());
        if stop > at {
            // Not a date, time, version or range. Some locks require a symbol at the end.
            let goes_on =
                b".-/:".contains(&letters::byte(text, stop)) && letters::byte(text, stop + 1).is_ascii_digit();
            let next = letters::rest(text, stop, 12).trim_start().split(|next: char| !next.is_alphabetic()).next();
            let is_counted = next.is_some_and(|next| COUNTED.contains(&next));
            let is_number = !goes_on && !is_counted && !letters::byte(text, stop).is_ascii_alphanumeric();
            let signed = stop + usize::from(matches!(letters::byte(text, stop), b'#' | b'*'));
            return (is_bound && (4..=8).contains(&(stop - at)) && is_number).then_some(at..signed);
        }
        let word = letters::on_while(text, at, 24, |byte| !byte.is_ascii_whitespace() && byte != b':' && byte != b'=');
        let lower = text.get(at..word)?.to_lowercase();
        if word == at || PIN_ENDS.contains(&lower.as_str()) || lower.ends_with(['.', ',', ';', '!', '?', '|']) {
            return None;
        }
        is_bound = PIN_BINDERS.contains(&lower.as_str());
        at = word;
    }
    None
}

/// True of ` for the safe`.
fn is_of_lock(rest: &str) -> bool {
    const LOCKS: &str =
        "safe door gate garage alarm phone card locker mailbox sim vault tablet office building lift gun";
    let mut words = rest.split_whitespace();
    let is_of = words.next().is_some_and(|word| ["for", "of", "to"].contains(&word));
    is_of && words.take(4).take_while(|word| *word != "is").any(|word| letters::is_among(LOCKS, word))
}

const MOST_WORDS: usize = 8;
/// Words that show that a number is a count.
const COUNTED: [&str; 10] =
    ["bytes", "lines", "characters", "digits", "times", "ms", "seconds", "minutes", "days", "entries"];
/// Words directly before a number that show that it is a code.
const PIN_BINDERS: [&str; 22] = [
    "is", "code", "ist", "lautet", "=", "es", "est", "to", "auf", "-", "now", "jetzt", "number", "è", "é", "are", "be",
    "reads", "–", "—", "->", "was",
];
/// Words after `PIN` that show that it is a pin of a circuit board, or that the sentence has another subject.
const PIN_ENDS: [&str; 18] = [
    "header", "headers", "board", "gpio", "pins", "on", "and", "und", "not", "in", "has", "hat", "with", "mit",
    "relay", "expires", "after", "socket",
];
const PIN_OWNERS: [&str; 15] = [
    "my", "atm", "card", "phone", "door", "sim", "bank", "debit", "alarm", "account", "code", "safe", "garage",
    "mailbox", "locker",
];

/// The numbers after `combination` of a lock: `12-34-56`, `4417`.
pub(super) fn combination(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    const LOCKS: [&str; 8] = ["safe", "lock", "vault", "gate", "tresor", "schloss", "schloß", "locker"];
    let before = letters::head(text, start, 24).rsplit('\n').next()?.to_lowercase();
    let line = letters::rest(text, end, 80).lines().next().unwrap_or_default();
    let digit = line.find(|character: char| character.is_ascii_digit())?;
    let between = line.get(..digit)?.to_lowercase();
    let names =
        |text: &str| text.split(|character: char| !character.is_alphanumeric()).any(|word| is_lock(word, &LOCKS));
    let is_bound =
        between.trim_end().ends_with([':', '=']) || PIN_BINDERS.iter().any(|word| ends_with_word(&between, word));
    if !names(&before) && !names(&between) || !is_bound {
        return None;
    }
    let length = line.get(digit..)?.bytes().take_while(|byte| byte.is_ascii_digit() || b"-/ ".contains(byte)).count();
    let numbers = line.get(digit..digit + length)?.trim_end_matches(['-', '/', ' ']);
    let digits = numbers.bytes().filter(u8::is_ascii_digit).count();
    (3..=12).contains(&digits).then(|| end + digit..end + digit + numbers.len())
}

fn is_lock(word: &str, locks: &[&str]) -> bool {
    locks.iter().any(|lock| word == *lock || lock.len() > 3 && word.ends_with(lock) && word != "block")
}

fn ends_with_word(text: &str, word: &str) -> bool {
    text.split_whitespace().next_back() == Some(word)
}

/// The words of a passphrase. A symbol or quotes assign the words to the noun that ends here.
pub(super) fn passphrase(text: &str, end: usize) -> Option<Range<usize>> {
    let line = letters::rest(text, end, 200).lines().next()?;
    let closed = line.find([':', '=', '"', '\'', '“', '„', '`'])?;
    let between: Vec<&str> = line.get(..closed)?.split_whitespace().collect();
    // A passphrase for something, or its value; not the strength or policy of passphrases.
    let is_near = between.len() <= 5
        && between.first().is_none_or(|first| IS.contains(first) || OF.contains(first))
        && (line.get(closed..)?.starts_with([':', '=']) || between.last().is_some_and(|last| IS.contains(last)));
    let lead = line.get(closed..)?;
    let value = lead.trim_start_matches([':', '=', ' ', '\t', '*']);
    let from = end + closed + lead.len() - value.len();
    let given = if value::is_quote(text, from) {
        value::quoted(text, from)?.span
    } else {
        let is_given = lead.starts_with([':', '=']);
        from..from + is_given.then(|| value.trim_end_matches([' ', '.', '\r', '|', '*']).len())?
    };
    let inside = text.get(given.clone())?;
    let words: Vec<String> = inside.split(' ').map(str::to_lowercase).collect();
    let is_word = |word: &String| {
        word.chars().all(char::is_alphanumeric) && word.chars().count() <= 14 && !EXPLAINING.contains(&word.as_str())
    };
    (is_near && (4..=12).contains(&words.len()) && words.iter().all(is_word)).then_some(given)
}

/// Words which introduce a passphrase, or say what it is for.
const IS: [&str; 5] = ["is", "ist", "lautet", "est", "es"];
const OF: [&str; 14] = ["for", "of", "to", "on", "from", "für", "von", "vom", "zum", "zur", "de", "del", "du", "pour"];

/// Words of a sentence about a passphrase, which no passphrase contains.
const EXPLAINING: &[&str] = words!(field(section(LISTS, "passphrases"), "explaining"));
