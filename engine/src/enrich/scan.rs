//! Moves through a text by characters and words, for the patterns in this module.
//!
//! These functions replace equivalent regular expressions of the crate `regex`. The tests in `engine/tests/enrich`
//! check that both find the same. Compiling the regular expressions took longer than all other steps of storing a
//! memory.

use crate::text::is_word;

/// The text from a position.
pub(super) fn tail(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// The character that begins at a position.
pub(super) fn next(text: &str, at: usize) -> Option<char> {
    tail(text, at).chars().next()
}

/// The character that ends at a position.
fn previous(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// The end of a run of `wanted` characters from a position, at most `most` characters.
pub(super) fn end_of(text: &str, at: usize, most: usize, wanted: impl Fn(char) -> bool) -> usize {
    let run = tail(text, at).chars().take(most).take_while(|character| wanted(*character));
    at + run.map(char::len_utf8).sum::<usize>()
}

/// True at the beginning or end of a word: `\b`.
pub(super) fn is_boundary(text: &str, at: usize) -> bool {
    previous(text, at).is_some_and(is_word) != next(text, at).is_some_and(is_word)
}

/// The words of a text with their positions: everything between two positions where [`is_boundary`] is true.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = end_of(text, at, usize::MAX, |character| !is_word(character));
        at = end_of(text, start, usize::MAX, is_word);
        text.get(start..at).filter(|word| !word.is_empty()).map(|word| (start, word))
    })
}

/// If the text contains these words at this position, in any case of letters, returns the position after them.
pub(super) fn after(text: &str, at: usize, words: &str) -> Option<usize> {
    // No character has fewer bytes than the ASCII letter of which it is a form.
    let head = text.as_bytes().get(at..at + words.len())?;
    let differs = |(found, wanted): (&u8, u8)| found.is_ascii() && found.to_ascii_lowercase() != wanted;
    // Most words differ in their first letter, so this check is fast.
    if head.iter().zip(words.bytes()).any(differs) {
        return None;
    }
    if head.is_ascii() {
        return Some(at + words.len());
    }
    let mut found = tail(text, at).char_indices();
    for wanted in words.chars() {
        let (_, character) = found.next()?;
        if in_lower_case(character) != wanted {
            return None;
        }
    }
    Some(at + found.offset())
}

/// The ASCII letter in lowercase. ſ becomes s, and the Kelvin sign becomes k.
fn in_lower_case(character: char) -> char {
    match character {
        'ſ' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    }
}

/// The positions within `most` characters from `at`, in the same line.
pub(super) fn within(text: &str, at: usize, most: usize) -> impl Iterator<Item = usize> {
    let line = tail(text, at).char_indices().take(most).take_while(|(_, character)| *character != '\n');
    std::iter::once(at).chain(line.map(move |(offset, character)| at + offset + character.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_stands_between_boundaries() {
        let text = "a_1 é\u{301}x\u{200d}y—用户 'q'";
        let found: Vec<(usize, &str)> = words(text).collect();
        assert_eq!(found.iter().map(|(_, word)| *word).collect::<Vec<_>>(), ["a_1", "é\u{301}x\u{200d}y", "用户", "q"]);
        assert!(found.iter().all(|(at, word)| is_boundary(text, *at) && is_boundary(text, at + word.len())));
        assert!(!is_boundary("", 0) && !is_boundary(" ", 1) && !is_boundary("ab", 1));
    }

    #[test]
    fn words_are_found_in_any_case_and_places_end_with_the_line() {
        assert_eq!(after("x ALWAYſ", 2, "always"), Some(9));
        assert_eq!(after("always", 0, "always use"), None);
        assert_eq!(within("é\nx", 0, 9).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(within("abc", 1, 1).collect::<Vec<_>>(), [1, 2]);
    }
}
