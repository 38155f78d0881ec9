//! A cache of screened texts, so that a text that many memories share is screened only once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;
use tessera_screen::{Finding, Kind, places};

use super::found::findings;
use super::known::KnownValues;
use super::screened::{LEAST_REPEATED, is_apart};

/// Maximum bytes of a recorded text. Longer ones rarely repeat.
const LONGEST: usize = 128;

/// Texts without credentials, and the credentials of the complete text. Its parts are screened with these.
#[derive(Default)]
pub struct Looked<'a> {
    whole: Option<&'a str>,
    said: RefCell<BTreeSet<String>>,
    known: KnownValues,
    values: Option<AhoCorasick>,
}

impl std::fmt::Debug for Looked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Looked({:?})", self.known)
    }
}

/// The findings in a text, in order, with all repetitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The findings with all repetitions of values that can be recognised without context; used for parts of a text.
    pub known: Vec<Finding>,
    /// The findings with all repetitions of all values, even of those that may be ordinary words; used for a complete
    /// text.
    pub repeated: Vec<Finding>,
}

impl<'a> Looked<'a> {
    /// Screens a text, and returns the findings.
    pub fn through(text: &'a str) -> (Self, Found) {
        let found = findings(text);
        if found.is_empty() {
            return (Self { whole: Some(text), ..Self::default() }, Found::default());
        }
        let mut known = KnownValues::default();
        for finding in &found {
            known.note(finding.kind.as_str(), text.get(finding.span.clone()).unwrap_or_default());
        }
        let values = matcher(known.values());
        let again = Found {
            known: everywhere(text, &found, KnownValues::takes),
            repeated: everywhere(text, &found, |value| value.len() >= LEAST_REPEATED),
        };
        (Self { known, values, ..Self::default() }, again)
    }

    /// The same for parts of another text.
    pub fn of_parts<'b>(self) -> Looked<'b> {
        Looked { whole: None, said: self.said, known: self.known, values: self.values }
    }

    /// True if a text contains no credential.
    pub(super) fn is_clean(&self, text: &str) -> bool {
        if self.whole == Some(text) || self.said.borrow().contains(text) {
            return true;
        }
        let is_known =
            self.values.as_ref().is_some_and(|values| values.is_match(text) || self.known.piece(text).is_some());
        let is_clean = !is_known && findings(text).is_empty();
        if is_clean && text.len() <= LONGEST {
            self.said.borrow_mut().insert(text.to_owned());
        }
        is_clean
    }

    /// Returns the text without its credentials; `None` if the text contains none.
    pub fn taken_out_of(&self, text: &str) -> Option<String> {
        if self.is_clean(text) { None } else { self.known.taken_out_of(text) }
    }

    pub(super) fn known(&self) -> &KnownValues {
        &self.known
    }
}

fn matcher<'v>(values: impl Iterator<Item = &'v str>) -> Option<AhoCorasick> {
    let values: Vec<&str> = values.collect();
    if values.is_empty() { None } else { AhoCorasick::new(values).ok() }
}

/// The findings of a text, and other places where their values occur as complete words, without overlaps.
fn everywhere(text: &str, found: &[Finding], is_sought: impl Fn(&str) -> bool) -> Vec<Finding> {
    let value = |finding: &Finding| text.get(finding.span.clone()).filter(|value| is_sought(value));
    let values: BTreeMap<&str, Kind> =
        found.iter().filter_map(|finding| Some((value(finding)?, finding.kind))).collect();
    let mut all = found.to_vec();
    if let Some(matcher) = matcher(values.keys().copied()) {
        let places = places(text);
        let again = matcher.find_overlapping_iter(text).filter_map(|found| {
            let span = found.range();
            let at = places.partition_point(|(place, _)| place.end <= span.start);
            let is_place = places.get(at).is_some_and(|(place, _)| place.start < span.end);
            let kind = values.get(text.get(span.clone())?).copied()?;
            (!is_place && is_apart(text, &span)).then_some(Finding { span, kind })
        });
        all.extend(again);
    }
    all.sort_by_key(|finding| (finding.span.start, std::cmp::Reverse(finding.span.end)));
    all.dedup_by(|next, before| {
        let is_one = next.span.start < before.span.end;
        before.span.end = if is_one { before.span.end.max(next.span.end) } else { before.span.end };
        is_one
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_through_is_clean_only_where_nothing_was_found() {
        let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
        let text = format!("the token is {token}");
        let (looked, found) = Looked::through(&text);
        assert_eq!((found.known.len(), found.repeated.len()), (1, 1));
        for _ in 0..2 {
            assert!(!looked.is_clean(&text) && !looked.is_clean(&token) && looked.is_clean("the token is"));
        }
        let (looked, found) = Looked::through("uses tabs");
        assert!(found == Found::default() && looked.is_clean("uses tabs") && !looked.is_clean(&text));
    }

    #[test]
    fn a_value_that_was_found_once_is_found_in_every_piece_and_a_word_in_the_whole_alone() {
        let text = "the password is Tr4vel-Pl0ver!92xQ\nTr4vel-Pl0ver!92xQ is a boat\npassword: kQzWmXvTgRbN\nthe kQzWmXvTgRbN\n";
        let (looked, found) = Looked::through(text);
        let said = |found: &[Finding]| found.iter().map(|one| text[one.span.clone()].to_owned()).collect::<Vec<_>>();
        assert_eq!(said(&found.known), ["Tr4vel-Pl0ver!92xQ", "Tr4vel-Pl0ver!92xQ", "kQzWmXvTgRbN"]);
        assert_eq!(said(&found.repeated), ["Tr4vel-Pl0ver!92xQ", "Tr4vel-Pl0ver!92xQ", "kQzWmXvTgRbN", "kQzWmXvTgRbN"]);
        let out = looked.taken_out_of("a boat, Tr4vel-Pl0ver!92xQ").unwrap();
        assert!(out.starts_with("a boat, [secret dropped: "), "{out}");
        assert_eq!(looked.taken_out_of("the kQzWmXvTgRbN"), None);
        assert_eq!(format!("{looked:?}"), "Looked(KnownValues(1))");
    }
}
