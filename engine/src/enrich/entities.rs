//! Named things in a text: capitalised names, identifiers, acronyms, code spans, quoted terms, addresses and mentions.

use std::collections::BTreeSet;

use super::spans::{addresses, code_spans, identifiers, mentions, names, quoted};
use crate::domain::MAX_NAME_CHARS;
use crate::text::{fold, is_stop_word, sentences};

/// Maximum number of entities of one text.
pub const MAX_ENTITIES: usize = 12;

/// The named things of a text in order of appearance, without duplicates (case-insensitive).
///
/// A capitalised word at the beginning of a sentence counts only if it is also capitalised elsewhere, or if it is part
/// of a longer name.
pub fn entities(text: &str) -> Vec<String> {
    let mut found = Found::default();
    for (at, name) in code_spans(text).chain(quoted(text)).chain(mentions(text)).chain(identifiers(text)) {
        found.add(at, name);
    }
    for (at, address) in addresses(text) {
        found.add(at, address);
    }
    for (offset, sentence) in sentences(text) {
        for (at, name) in names(sentence) {
            let opens = sentence.get(..at).is_some_and(|before| !before.contains(char::is_alphanumeric));
            let goes_on = sentence.get(at + name.len()..).is_some_and(|after| after.starts_with('_'));
            if goes_on {
                continue;
            }
            if !opens || name.contains(' ') || capitalised_elsewhere(text, offset + at, name) {
                found.add(offset + at, name);
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
        // A heading in capitals has many capitalised words in a row, and is not a name.
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
