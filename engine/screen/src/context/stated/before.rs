//! Values before their noun: `kunafa5 is the root password`, `(abacaxi88) palavra-passe do Jorge`.

use std::ops::Range;

use super::line::{Line, place_of};
use super::nouns::Stated;
use super::value;
use super::words::Sort;

/// Maximum words between a value and its noun.
const MOST_BETWEEN: usize = 4;
/// Words that assign a value before them to a noun after them.
const BINDERS: &str =
    "is as ist als er är on est es é è is jest to je este είναι это це هي هو זו זה היא — - als nhé thì";

/// Returns the value that stands before the noun in the same sentence, if a word assigns it to the noun or if
/// parentheses surround it.
pub(super) fn value(line: &Line<'_>, noun: &Stated) -> Option<Range<usize>> {
    if noun.sort != Sort::Password || line.is_code() {
        return None;
    }
    let head = line.head(noun.span.start);
    let sentence = head.rfind([';', '!', '?', ':']).map_or(0, |at| at + 1);
    let sentence = head.rfind(". ").map_or(sentence, |at| sentence.max(at + 2));
    let said = head.get(sentence..)?;
    let words: Vec<&str> = said.split_whitespace().collect();
    let offset = |word: &str| line.span.start + place_of(word, head);
    let taken = |word: &str| {
        let word = value::trimmed(word);
        let is_one = value::is_mixed(word)
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && !value::is_none(line, noun, word)
            && !noun.is_other(&word.to_lowercase());
        is_one.then(|| offset(word)..offset(word) + word.len())
    };
    // `(x) password`: only brackets between.
    if let [only] = words.as_slice()
        && only.starts_with('(')
        && only.ends_with(')')
    {
        return taken(only);
    }
    let binds = |word: &&&str| BINDERS.split_ascii_whitespace().any(|binder| binder == word.to_lowercase());
    let at = words.iter().rposition(|word| binds(&word))?;
    if words.len() - at - 1 > MOST_BETWEEN {
        return None;
    }
    // `x — это пароль`: several words assign.
    let value = words.get(..at)?.iter().rev().find(|word| !binds(word))?;
    taken(value)
}
