//! Stems: irregular English forms first, then the Snowball stemmer for the word's script.
//!
//! The table has irregular English forms that no stemmer reduces. Forms that are also other words (left, found, saw,
//! lives, felt, rose, ground, wound, bore, lay, …) are left out on purpose.

use std::cell::RefCell;

use rust_stemmers::{Algorithm, Stemmer};
use tessera_tables::pairs;

struct Stemmers {
    english: Stemmer,
    russian: Stemmer,
    arabic: Stemmer,
    greek: Stemmer,
}

thread_local! {
    static STEMMERS: RefCell<Stemmers> = RefCell::new(Stemmers {
        english: Stemmer::create(Algorithm::English),
        russian: Stemmer::create(Algorithm::Russian),
        arabic: Stemmer::create(Algorithm::Arabic),
        greek: Stemmer::create(Algorithm::Greek),
    });
}

/// The stem of a folded word. Words with digits, and words in scripts without a stemmer, remain unchanged.
pub(super) fn stem(folded: &str) -> String {
    if folded.len() < 3 || folded.bytes().any(|b| b.is_ascii_digit()) {
        return folded.to_owned();
    }
    let base = base_form(folded).unwrap_or(folded);
    STEMMERS.with_borrow(|stemmers| {
        let stemmer = match base.chars().next() {
            Some('a'..='z') => &stemmers.english,
            Some('\u{0400}'..='\u{04ff}') => &stemmers.russian,
            Some('\u{0600}'..='\u{06ff}') => &stemmers.arabic,
            Some('\u{0370}'..='\u{03ff}') => &stemmers.greek,
            _ => return base.to_owned(),
        };
        stemmer.stem(base).into_owned()
    })
}

/// Sorted by form: (form, base form).
const IRREGULAR: &[(&str, &str)] = pairs!(include_str!("irregular.txt"));

/// The base form of an irregular form.
pub(super) fn base_form(folded: &str) -> Option<&'static str> {
    let at = IRREGULAR.binary_search_by_key(&folded, |(form, _)| form).ok()?;
    IRREGULAR.get(at).map(|(_, base)| *base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (a, b) in [
            ("running", "run"),
            ("ran", "run"),
            ("preferences", "preference"),
            ("bought", "buy"),
            ("deployed", "deploys"),
            ("книги", "книга"),
            ("migration", "migrations"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        assert_eq!(stem("sha256"), "sha256");
    }
}

#[cfg(test)]
mod irregular_tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_goes_one_step() {
        assert!(IRREGULAR.is_sorted_by_key(|(form, _)| form));
        assert!(IRREGULAR.iter().all(|(_, base)| base_form(base).is_none()));
        assert_eq!(base_form("went"), Some("go"));
        assert_eq!(base_form("left"), None);
    }
}
