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
    let clauses = clauses(text);
    let kind_of = |word: &str| clauses.iter().find_map(|clause| kind_by(clause, word));
    suspects.filter(|word| is_clean(word)).filter_map(|word| Some((word.to_owned(), kind_of(word)?))).collect()
}

/// Words of a clause that may call something a password.
const CALLING: usize = 12;
/// Words that make a sentence of it: that says something of passwords, and calls nothing one.
const VERBS: [&str; 14] =
    ["is", "are", "was", "were", "be", "been", "has", "have", "had", "no", "not", "never", "without", "must"];
/// Words between what calls something a password and what it is for.
const OF: [&str; 6] = ["for", "of", "to", "on", "at", "in"];

/// The first and the last clause of a text, each of which may be what a word beside it is called.
fn clauses(text: &str) -> Vec<&str> {
    let clauses =
        || text.split(['.', ':', ',', ';', '!', '?', '\n']).map(str::trim).filter(|clause| !clause.is_empty());
    let is_verb = |word: &str| VERBS.iter().any(|verb| verb.eq_ignore_ascii_case(word));
    let is_name = |clause: &&str| {
        clause.split_whitespace().count() <= CALLING && !clause.split_whitespace().any(is_verb) && is_clean(clause)
    };
    let mut ends: Vec<&str> = [clauses().next(), clauses().next_back()].into_iter().flatten().collect();
    ends.dedup();
    ends.into_iter().filter(is_name).collect()
}

/// What a clause calls a word: `staging db password`, or `db password for staging`.
fn kind_by(clause: &str, word: &str) -> Option<&'static str> {
    let words: Vec<&str> = clause.split_whitespace().collect();
    let called = |count: usize| {
        let head = words.get(..count)?.join(" ");
        let called = findings(&format!("{head}: {word}")).into_iter().next_back()?;
        (called.span.start == head.len() + 2 && called.span.len() == word.len()).then(|| called.kind.as_str())
    };
    let (count, kind) = (1..=words.len()).find_map(|count| Some((count, called(count)?)))?;
    let is_end = words.get(count).is_none_or(|next| OF.iter().any(|of| of.eq_ignore_ascii_case(next)));
    is_end.then_some(kind)
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
    let is_hexadecimal = |piece: &str| piece.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let is_mixed = |piece: &str| is_mixed(piece) && !is_hexadecimal(piece);
    let is_one = word.len() >= LEAST_PASSWORD && !word.contains(char::is_whitespace);
    is_one && (has_sign || word.split(['-', '_', '.', '/']).any(is_mixed))
}
