//! Tokens of the formats in [`ROWS`]: an index finds all anchors, then the pattern is checked at each.
//!
//! The table contains the formats of providers' tokens: a pattern (see [`super::pattern`]) and the kind. The formats
//! come from the providers' documentation, and from tokens that we saw.
//!
//! Some tokens end with a checksum: the CRC-32 of their random part, in six base62 digits.

use std::ops::Range;

use tessera_tables::{Groups, field, pairs, section, words};

use super::look::{self, Look};
use super::pattern::{Match, Pattern};
use crate::LISTS;
use crate::place::{Finding, Kind};

/// Anchors of tokens that end with a checksum.
const CHECKED: [&str; 11] = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_", "vcp_", "vci_", "vca_", "vcr_", "vck_"];

/// Maximum length of a short anchor.
const SHORT: usize = 3;
/// How many bytes of an anchor are searched. The rest of the anchor may stand on the next line.
const SEARCHED: usize = size_of::<u64>();

/// The number of groups for anchors of two or more bytes.
const PAIRS: usize = 1024;
/// The number of all groups. The last 256 are for anchors of one byte, one for each byte.
const GROUPS: usize = PAIRS + 256;

/// The rows by the beginning of their anchors.
static INDEX: Groups<{ ROWS.len() }, { GROUPS + 1 }> = index();

const fn of_pair(first: u8, second: u8) -> usize {
    (first as usize * 37 + second as usize) % PAIRS
}

const fn of_byte(first: u8) -> usize {
    PAIRS + first as usize
}

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]
const fn index() -> Groups<{ ROWS.len() }, { GROUPS + 1 }> {
    let (mut groups, mut at) = ([0; ROWS.len()], 0);
    while at < ROWS.len() {
        groups[at] = match Pattern::of(ROWS[at].0).anchor.as_bytes() {
            [] => panic!("a pattern begins with its anchor"),
            [first] => of_byte(*first),
            [first, second, ..] => of_pair(*first, *second),
        };
        at += 1;
    }
    Groups::of(&groups)
}

/// The beginning of each row's anchor.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]
static BEGINNINGS: [Beginning; ROWS.len()] = {
    let (mut beginnings, mut at) = ([Beginning { bytes: 0, mask: 0 }; ROWS.len()], 0);
    while at < ROWS.len() {
        beginnings[at] = Beginning::of(Pattern::of(ROWS[at].0).anchor.as_bytes());
        at += 1;
    }
    beginnings
};

/// The first [`SEARCHED`] bytes of an anchor as a number, and which bits of it count.
#[derive(Clone, Copy)]
struct Beginning {
    bytes: u64,
    mask: u64,
}

impl Beginning {
    const fn of(mut anchor: &[u8]) -> Self {
        let (mut bytes, mut mask, mut shift) = (0, 0, 0);
        while let [first, rest @ ..] = anchor
            && shift < u64::BITS
        {
            bytes |= (*first as u64) << shift;
            mask |= 0xff << shift;
            shift += 8;
            anchor = rest;
        }
        Self { bytes, mask }
    }

    /// True if a text begins with it, given the text's first bytes.
    const fn begins(self, text: u64) -> bool {
        text & self.mask == self.bytes
    }
}

/// The patterns whose anchors begin in a text, with the position and the kind of credential.
fn beginnings(text: &str) -> impl Iterator<Item = (usize, Pattern, &'static str)> {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().flat_map(move |(at, first)| {
        let rest = bytes.get(at..).unwrap_or_default();
        let longer = rest.get(1).map_or(&[][..], |second| INDEX.of_group(of_pair(*first, *second)));
        let here = rest.first_chunk().map_or_else(|| Beginning::of(rest).bytes, |chunk| u64::from_le_bytes(*chunk));
        longer.iter().chain(INDEX.of_group(of_byte(*first))).filter_map(move |row| {
            let row = usize::from(*row);
            let (pattern, kind) = ROWS.get(row).filter(|_| BEGINNINGS.get(row).is_some_and(|one| one.begins(here)))?;
            Some((at, Pattern::of(pattern), *kind))
        })
    })
}

/// True if a text contains the beginning of a token.
pub(super) fn may_begin(text: &str) -> bool {
    beginnings(text).next().is_some()
}

/// The tokens of a text, in no order; they may overlap.
pub(super) fn findings(text: &str) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (start, pattern, kind) in beginnings(text) {
        // A match inside a token is skipped.
        let end = start + pattern.anchor.len().min(SEARCHED);
        if found.last().is_some_and(|last| last.span.start < start && end <= last.span.end) {
            continue;
        }
        if let Some(matched) = pattern.matched(text.as_bytes(), start)
            && is_token(text, pattern.anchor, &matched)
        {
            found.push(Finding { span: matched.span, kind: Kind::new(kind) });
        }
    }
    found
}

/// True if a match is a token, and not a placeholder or an identifier.
fn is_token(text: &str, anchor: &str, matched: &Match) -> bool {
    let bytes = text.as_bytes();
    let slice = |range: &Range<usize>| bytes.get(range.clone()).unwrap_or_default();
    let random = slice(&matched.random);
    if CHECKED.contains(&anchor) && is_right(random) {
        return true;
    }
    // The random part may be missing at the end of a text after a long, unmistakable prefix.
    if random.is_empty() {
        return true;
    }
    // A short prefix is not enough, so the rest must look random. Two quotes of a JSON object in base64 are enough.
    if anchor.len() <= SHORT && anchor != "ey" {
        return look::look(random) >= Look::Short;
    }
    // A user who tests with an invented key must see that it is redacted. So a published example is accepted only if
    // the line says that it is one.
    let is_example =
        look::is_masked(random) || look::is_placeholder(random) && is_said_to_be_example(text, &matched.span);
    !is_example && !look::is_words(random)
}

/// True if the line of a token says that it is an example.
fn is_said_to_be_example(text: &str, token: &Range<usize>) -> bool {
    const SAYS: &[&str] = words!(field(section(LISTS, "examples"), "said"));
    let before = text.get(..token.start).and_then(|head| head.rsplit('\n').next()).unwrap_or_default();
    let after = text.get(token.end..).and_then(|rest| rest.split('\n').next()).unwrap_or_default();
    [before, after].iter().any(|part| {
        let part = part.to_lowercase();
        SAYS.iter().any(|says| part.contains(says))
    })
}

/// The pattern of each format, and the kind of its credentials.
pub(super) const ROWS: &[(&str, &str)] = pairs!(include_str!("rows.txt"));

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH: usize = 6;
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// True if the last six bytes of a token's random part are the checksum of the rest.
pub(super) fn is_right(random: &[u8]) -> bool {
    let Some((body, said)) = random.len().checked_sub(LENGTH).and_then(|at| random.split_at_checked(at)) else {
        return false;
    };
    let value = said.iter().try_fold(0_u64, |value, byte| {
        let digit = DIGITS.iter().position(|digit| digit == byte)?;
        Some(value * 62 + digit as u64)
    });
    !body.is_empty() && value == Some(u64::from(crc32(body)))
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (POLYNOMIAL & 0_u32.wrapping_sub(crc & 1)))
    })
}

/// The checksum for a token's random part, which is computed from the rest of this part.
#[cfg(test)]
pub(super) fn of(body: &[u8]) -> String {
    let digit = |place: u32| char::from(DIGITS[crc32(body) as usize / 62_usize.pow(place) % 62]);
    (0..6).rev().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_finds_the_same_as_a_comparison_with_every_row() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..2000 {
            let mut text = String::new();
            for _ in 0..random.usize(1..5) {
                let anchor = Pattern::of(ROWS[random.usize(..ROWS.len())].0).anchor;
                text.push_str(&anchor[..random.usize(..=anchor.len())]);
                text.push_str(["", "|", "ä", " ", "x", "\0"][random.usize(..6)]);
            }
            let found: Vec<(usize, &str)> = beginnings(&text).map(|(at, pattern, _)| (at, pattern.anchor)).collect();
            let all = (0..text.len()).flat_map(|at| {
                let rest = &text.as_bytes()[at..];
                let anchors = ROWS.iter().map(|(pattern, _)| Pattern::of(pattern).anchor);
                let is_here = move |anchor: &&str| rest.starts_with(&anchor.as_bytes()[..anchor.len().min(SEARCHED)]);
                // Anchors of two or more bytes come first.
                let (longer, single): (Vec<&str>, Vec<&str>) = anchors.filter(is_here).partition(|one| one.len() > 1);
                longer.into_iter().chain(single).map(move |anchor| (at, anchor))
            });
            assert_eq!(found, all.collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn every_row_is_read() {
        for (pattern, kind) in ROWS {
            assert!(Pattern::of(pattern).is_sound(), "{pattern}");
            assert!(
                kind.len() <= 40 && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b" .+/-".contains(&b)),
                "{kind}"
            );
        }
    }
}

#[cfg(test)]
mod checksum_tests {
    use super::*;

    #[test]
    fn a_checksum_is_the_one_of_the_published_algorithm() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn only_the_right_checksum_is_right() {
        let body = b"q7VxK2mZp9LtR4bWc8NfJ1sYh6Dg3A";
        let mut token = [&body[..], of(body).as_bytes()].concat();
        assert!(is_right(&token));
        token[0] ^= 1;
        assert!(!is_right(&token));
        assert!(!is_right(b"000000") && !is_right(b"") && !is_right("ghp_ä".as_bytes()));
    }
}
