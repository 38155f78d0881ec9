//! Passwords that stand beside the text that calls them so: among keywords, names and tags.

use super::found::{findings, is_clean};
use super::texts::Texts;

/// Words that are credentials by what the text beside them calls them, with their kinds.
pub(super) fn called(value: &impl Texts) -> Vec<(String, &'static str)> {
    let Some((text, words)) = value.words_beside() else { return Vec::new() };
    let mut suspects = words.into_iter().filter(|word| is_like_a_password(word) && !text.contains(word)).peekable();
    if suspects.peek().is_none() {
        return Vec::new();
    }
    let heads = heads(text);
    let kind_of = |word: &str| {
        heads.iter().find_map(|head| {
            let called = findings(&format!("{head}: {word}")).into_iter().next_back()?;
            (called.span == (head.len() + 2..head.len() + 2 + word.len())).then(|| called.kind.as_str())
        })
    };
    suspects.filter(|word| is_clean(word)).filter_map(|word| Some((word.to_owned(), kind_of(word)?))).collect()
}

/// Words at each end of a text that may call something a password.
const CALLING: usize = 12;

/// The beginnings of the first and the last words of a text, each of which may be what a word beside it is called.
fn heads(text: &str) -> Vec<String> {
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_end_matches(['.', ':', ',', ';', '!'])).collect();
    let ends = [words.get(..CALLING.min(words.len())), words.get(words.len().saturating_sub(CALLING)..)];
    let heads = ends
        .into_iter()
        .flatten()
        .flat_map(|end| (1..=end.len()).filter_map(|count| Some(end.get(..count)?.join(" "))));
    heads.filter(|head| is_clean(head)).collect()
}

/// Bytes of a word from which on it may be a password beside the text that calls it one.
const LEAST_PASSWORD: usize = 8;

/// True for a word that nobody takes for a name: letters and digits mixed, or with signs between them.
pub(super) fn is_like_a_password(word: &str) -> bool {
    let is_mixed = |piece: &str| {
        let has = |is: fn(&u8) -> bool| piece.bytes().any(|byte| is(&byte));
        let cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
        let turns =
            piece.as_bytes().windows(2).filter(|pair| pair.iter().filter(|byte| byte.is_ascii_digit()).count() == 1);
        has(u8::is_ascii_digit) && (cases || turns.count() > 2)
    };
    let has_sign = word.bytes().any(|byte| b"!@#$%^&*?+=~".contains(&byte));
    let is_one = word.len() >= LEAST_PASSWORD && !word.contains(char::is_whitespace);
    is_one && (has_sign || word.split(['-', '_', '.', '/']).any(is_mixed))
}
