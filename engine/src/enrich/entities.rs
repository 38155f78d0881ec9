//! Named things in a text: capitalised names, identifiers, acronyms, code spans, quoted terms,
//! addresses and mentions.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::cues::{cue, pattern};
use crate::domain::MAX_NAME_CHARS;
use crate::text::{fold, is_stop_word};

/// Entities kept of one text, at most.
pub const MAX_ENTITIES: usize = 12;

cue!(CODE_SPAN, r"`([^`\n]{2,60})`");
cue!(QUOTED, "[\"“]([^\"“”\n]{3,40})[\"”]");
cue!(ADDRESS, r"[\w.+-]+@[\w-]+\.[\w.-]*\w|https?://([\w.-]+\w)");
cue!(MENTION, r"(?:^|\s)@([\w-]{2,40})");
cue!(IDENTIFIER, r"\b(\p{Ll}+\p{Lu}\w*|\p{Lu}\p{Ll}+(?:\p{Lu}\p{Ll}+)+|\w+(?:_\w+)+|\p{Lu}{2,}[\p{Lu}\d]*)\b");
cue!(NAME, r"\b\p{Lu}[\p{L}\d'’+#]*(?:[ -]\p{Lu}[\p{L}\d'’+#]*|\s\d+(?:\.\d+)*\b)*");

/// The named things of a text, in the order they appear, without repeats (case ignored).
///
/// A capitalised word that opens a sentence counts only when it is capitalised elsewhere too, or
/// more words of a name follow.
pub fn entities(text: &str) -> Vec<String> {
    let mut found = Found::default();
    for cue in [&CODE_SPAN, &QUOTED, &MENTION, &IDENTIFIER] {
        cue.captures_iter(text).filter_map(|hit| hit.get(1)).for_each(|m| found.add(m.start(), m.as_str()));
    }
    for hit in ADDRESS.captures_iter(text) {
        let whole = hit.get(1).or_else(|| hit.get(0));
        whole.into_iter().for_each(|m| found.add(m.start(), m.as_str()));
    }
    for (offset, sentence) in text.split_sentence_bound_indices() {
        for name in NAME.find_iter(sentence) {
            let opens = sentence.get(..name.start()).is_some_and(|before| !before.contains(char::is_alphanumeric));
            let goes_on = sentence.get(name.end()..).is_some_and(|after| after.starts_with('_'));
            if goes_on {
                continue;
            }
            if !opens
                || name.as_str().contains(' ')
                || capitalised_elsewhere(text, offset + name.start(), name.as_str())
            {
                found.add(offset + name.start(), name.as_str());
            }
        }
    }
    found.finish()
}

fn capitalised_elsewhere(text: &str, at: usize, name: &str) -> bool {
    text.match_indices(name).any(|(other, _)| {
        other != at
            && text
                .get(..other)
                .is_some_and(|before| before.ends_with(' ') && !before.trim_end().ends_with(['.', '!', '?', ':']))
    })
}

#[derive(Default)]
struct Found(Vec<(usize, String)>);

impl Found {
    fn add(&mut self, at: usize, name: &str) {
        let name = name.trim().trim_end_matches(['.', ',', ':', ';']).trim_end_matches("'s").trim_end_matches("’s");
        let words = name.split(' ').count();
        // A heading in capitals is a run of many, and no name.
        let is_noise =
            !(2..=MAX_NAME_CHARS).contains(&name.chars().count()) || (words == 1 && is_stop_word(&fold(name)));
        if !is_noise && name.chars().any(char::is_alphanumeric) {
            self.0.push((at, name.to_owned()));
        }
    }

    fn finish(mut self) -> Vec<String> {
        self.0.sort();
        let mut seen = BTreeSet::new();
        let unique = self.0.into_iter().map(|(_, name)| name).filter(|name| seen.insert(fold(name)));
        unique.take(MAX_ENTITIES).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_identifiers_and_addresses_are_found_and_sentence_openers_are_not() {
        for (text, expected) in [
            ("The billing service moved to PostgreSQL 16.2 last week.", vec!["PostgreSQL 16.2"]),
            ("You may ask Alice Smith or @bob about parseRequest.", vec!["Alice Smith", "bob", "parseRequest"]),
            ("Prefers tabs. Mail ops@example.com.", vec!["ops@example.com"]),
            ("Run `cargo nextest` with RUST_LOG set", vec!["cargo nextest", "RUST_LOG"]),
            ("用户喜欢深色模式", vec![]),
        ] {
            assert_eq!(entities(text), expected, "{text}");
        }
    }
}
