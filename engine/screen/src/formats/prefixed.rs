//! Tokens of the formats in [`super::rows`]: one search for all anchors, then the pattern at each.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::pattern::{Match, Pattern};
use super::{checksum, look, rows};
use crate::finding::{Finding, Kind};

/// Anchors after which a token ends in a checksum.
const CHECKED: [&str; 6] = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"];

struct Formats {
    search: AhoCorasick,
    /// For each anchor searched for, the formats that have it.
    at_anchor: Vec<Vec<(Pattern, Kind)>>,
}

static FORMATS: LazyLock<Formats> = LazyLock::new(Formats::read);

impl Formats {
    fn read() -> Self {
        let mut read: Vec<(Pattern, Kind)> =
            rows::all().filter_map(|(pattern, kind)| Some((Pattern::parse(pattern)?, Kind::new(kind)))).collect();
        read.sort_by_key(|(pattern, _)| pattern.anchor);
        let mut anchors = Vec::new();
        let mut at_anchor: Vec<Vec<(Pattern, Kind)>> = Vec::new();
        for (pattern, kind) in read {
            if anchors.last() != Some(&pattern.anchor) {
                anchors.push(pattern.anchor);
                at_anchor.push(Vec::new());
            }
            if let Some(here) = at_anchor.last_mut() {
                here.push((pattern, kind));
            }
        }
        let search = AhoCorasick::builder()
            .kind(Some(aho_corasick::AhoCorasickKind::ContiguousNFA))
            .build(&anchors)
            .expect("a few hundred short anchors fit any automaton");
        Self { search, at_anchor }
    }
}

/// The tokens of a text, in no order; they may overlap.
pub(super) fn findings(text: &str) -> Vec<Finding> {
    let bytes = text.as_bytes();
    let formats = &*FORMATS;
    let mut found: Vec<Finding> = Vec::new();
    for hit in formats.search.find_overlapping_iter(bytes) {
        for (pattern, kind) in formats.at_anchor.get(hit.pattern().as_usize()).into_iter().flatten() {
            // What a token holds need not be looked at again.
            if found.last().is_some_and(|last| last.span.start < hit.start() && hit.end() <= last.span.end) {
                break;
            }
            if let Some(matched) = pattern.matched(bytes, hit.range())
                && is_token(bytes, pattern.anchor, &matched)
            {
                found.push(Finding { span: matched.span, kind: *kind });
            }
        }
    }
    found
}

/// Whether what matches is a token and no placeholder or name in a program.
fn is_token(bytes: &[u8], anchor: &str, matched: &Match) -> bool {
    let slice = |range: &Range<usize>| bytes.get(range.clone()).unwrap_or_default();
    let random = slice(&matched.random);
    if CHECKED.contains(&anchor) && checksum::is_right(random) {
        return true;
    }
    // All that is random may be the end: a prefix long enough to be nothing else.
    random.is_empty() || (!look::is_placeholder(random) && !look::is_words(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        for (pattern, kind) in rows::all() {
            assert!(Pattern::parse(pattern).is_some(), "{pattern}");
            assert!(
                kind.len() <= 40 && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b" .+/-".contains(&b)),
                "{kind}"
            );
        }
        assert!(FORMATS.at_anchor.len() > 200);
    }
}
