//! Small steps over the bytes of a text.

/// The byte at a place; nought beyond the end.
pub(super) fn byte(text: &str, at: usize) -> u8 {
    text.as_bytes().get(at).copied().unwrap_or_default()
}

/// Where a run of bytes begins that ends at a place, at most so far back; a boundary of characters.
pub(super) fn back_while(text: &str, end: usize, most: usize, holds: impl Fn(u8) -> bool) -> usize {
    let bytes = text.as_bytes().get(end.saturating_sub(most)..end).unwrap_or_default();
    let start = end - bytes.iter().rev().take_while(|byte| holds(**byte)).count();
    ceiling(text, start)
}

/// Where a run of bytes ends that begins at a place, at most so far on; a boundary of characters.
pub(super) fn on_while(text: &str, start: usize, most: usize, holds: impl Fn(u8) -> bool) -> usize {
    let bytes = text.as_bytes().get(start..).unwrap_or_default();
    let end = start + bytes.iter().take(most).take_while(|byte| holds(**byte)).count();
    floor(text, end)
}

/// After spaces and tabs.
pub(super) fn after_blanks(text: &str, at: usize) -> usize {
    on_while(text, at, 64, |byte| byte == b' ' || byte == b'\t')
}

/// After blanks of all kinds.
pub(super) fn after_space(text: &str, at: usize) -> usize {
    on_while(text, at, 128, |byte| byte.is_ascii_whitespace() || byte == 0x0b)
}

/// The text from a place on, so many bytes at most.
pub(super) fn rest(text: &str, at: usize, most: usize) -> &str {
    text.get(at..floor(text, at.saturating_add(most))).unwrap_or_default()
}

/// The text up to a place, so many bytes at most.
pub(super) fn head(text: &str, end: usize, most: usize) -> &str {
    text.get(ceiling(text, end.saturating_sub(most))..end).unwrap_or_default()
}

/// The boundary of characters at or before a place.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The boundary of characters at or after a place.
pub(super) fn ceiling(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// True when a text begins with another, whatever the case of its letters.
pub(super) fn begins(text: &str, opening: &str) -> bool {
    text.as_bytes().get(..opening.len()).is_some_and(|head| head.eq_ignore_ascii_case(opening.as_bytes()))
}

/// True when a word is one of those that are written with a space between.
pub(super) fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}
