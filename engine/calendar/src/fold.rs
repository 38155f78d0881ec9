//! Lower case, and one character for each accented letter.

use unicode_normalization::char::compose;

/// A character in lower case. Full-width characters become ASCII.
fn fold(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' | '\u{a0}' | '\u{202f}' => ' ',
        '’' => '\'',
        c => c.to_lowercase().next().unwrap_or(c),
    }
}

/// A text in lower case, and the byte position of each of its characters in the original text. An accent that is a
/// separate character is combined with its letter.
pub(crate) fn folded(text: &str) -> (String, Vec<usize>) {
    let (mut folded, mut places) = (String::new(), Vec::new());
    for (at, c) in text.char_indices() {
        let before = folded.chars().next_back();
        if let Some(both) = before.and_then(|before| compose(before, c)) {
            folded.pop();
            folded.push(both);
        } else {
            folded.push(fold(c));
            places.push(at);
        }
    }
    (folded, places)
}
