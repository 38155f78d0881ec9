//! The end of a stated value, and texts that are clearly not a value.

use std::ops::Range;

use tessera_tables::{field, section, words};

use super::super::value::{self, is_quote};
use super::super::{judge, stand_in};
use super::line::{Line, is_joined, place_of};
use super::nouns::Stated;
use super::words::ENDINGS;
use crate::LISTS;

/// Maximum characters of a value.
const LONGEST: usize = 120;
/// Maximum words of an unquoted password.
const MOST_WORDS: usize = 4;

/// How a text assigns a value to a noun, for example by a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bond {
    /// By a symbol.
    Sign,
    /// An equals sign without spaces assigns the value. A program then reads the value up to the next space.
    Setting,
    /// By a word.
    Word,
    /// The value stands directly after the noun.
    Beside,
}

/// The part of a line up to the end of its clause.
pub(super) fn clause<'a>(line: &Line<'a>, at: usize) -> &'a str {
    let rest = line.rest(at);
    let mut end = rest.len();
    for (place, letter) in rest.char_indices() {
        let after = rest.get(place + letter.len_utf8()..).unwrap_or_default();
        // Scripts without spaces have no space after a comma.
        let is_last = after.is_empty() || after.starts_with(|next: char| next.is_whitespace() || is_joined(next));
        let ends = match letter {
            '。' | '；' | '，' | '、' | '！' | '？' | '।' | '؟' | '،' | '|' | '\\' => true,
            ',' | ';' | '?' => is_last,
            '.' => is_last || after.starts_with(['"', '\'', ')']),
            '(' | '（' | '[' | '—' | '–' => place > 0 && rest.get(..place).is_some_and(|head| head.ends_with(' ')),
            // The final symbol of `Sommer2024!` belongs to the value.
            '!' => is_last && !rest.get(..place).is_some_and(ends_in_digit),
            _ => false,
        };
        if ends {
            end = place;
            break;
        }
    }
    rest.get(..end).unwrap_or_default()
}

fn ends_in_digit(text: &str) -> bool {
    text.rsplit(' ').next().is_some_and(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
}

/// The value between quotes that begin here.
pub(super) fn in_quotes(line: &Line<'_>, noun: &Stated, at: usize) -> Option<Range<usize>> {
    let span = quoted(line, at)?;
    let inside = line.text.get(span.clone())?;
    let is_given = span.end <= line.span.end
        && (3..=LONGEST).contains(&inside.chars().count())
        && !is_none(line, noun, inside)
        && !inside.ends_with([':', '?']);
    is_given.then_some(span)
}

/// The text between quotes that begin here. The closing symbol depends on the language.
fn quoted(line: &Line<'_>, at: usize) -> Option<Range<usize>> {
    const PAIRS: [(char, &[char]); 3] = [('„', &['”', '“', '"']), ('”', &['”']), ('»', &['«'])];
    let rest = line.rest(at);
    let open = rest.chars().next()?;
    let Some((_, close)) = PAIRS.iter().find(|(first, _)| *first == open) else {
        return value::quoted(line.text, at).map(|value| value.span);
    };
    let inner = rest.get(open.len_utf8()..)?;
    let length = inner.find(|letter| close.contains(&letter))?;
    let start = at + open.len_utf8();
    Some(start..start + length)
}

/// The unquoted value that begins here: a word, or the words up to the end of the clause.
pub(super) fn bare(line: &Line<'_>, noun: &Stated, at: usize, bond: Bond) -> Option<Range<usize>> {
    let clause = without_ending(clause(line, at).trim_end());
    let words: Vec<&str> = clause.split_whitespace().collect();
    let first = trimmed(words.first()?);
    if noun.is_other(&first.to_lowercase()) || is_none(line, noun, first) || noun.holds_other(clause) {
        return None;
    }
    let count = words.iter().take_while(|word| !noun.is_other(&word.to_lowercase())).count();
    let is_whole = count == words.len();
    let is_mixed = is_mixed(first);
    let taken = match bond {
        Bond::Setting => first,
        _ if is_whole && count == 1 => first,
        _ if is_mixed && (count > 3 || bond == Bond::Beside) => first,
        // `iPad passcode 246810`
        Bond::Beside if is_whole && count <= 3 && noun.is_bare() => trimmed(clause),
        Bond::Beside => return None,
        _ if is_whole && count <= MOST_WORDS => trimmed(clause),
        _ if is_mixed || count == 1 => first,
        _ if count == 2 && bond == Bond::Sign => {
            let end = clause.find(words.get(1)?)? + words.get(1)?.len();
            trimmed(clause.get(..end)?)
        }
        _ => return None,
    };
    let is_code = count == 1 && is_whole && first.len() >= 4 && first.bytes().all(|byte| byte.is_ascii_digit());
    let is_bare_word = bond == Bond::Beside && !is_mixed && !noun.is_bare() && !is_code;
    let length = taken.chars().count();
    // A small number is a count: `12 characters`.
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit()) && (first.len() < 4 || count > 1);
    if is_bare_word || is_number && !is_whole || !(3..=LONGEST).contains(&length) && !taken.contains(is_joined) {
        return None;
    }
    let start = at + place_of(taken, line.rest(at));
    Some(start..start + taken.len())
}

/// The first word from this position, if it can be a value.
pub(super) fn first(line: &Line<'_>, noun: &Stated, at: usize) -> Option<Range<usize>> {
    let word = trimmed(clause(line, at).split_whitespace().next()?);
    let start = at + place_of(word, line.rest(at));
    (!is_none(line, noun, word) && !noun.is_other(&word.to_lowercase())).then(|| start..start + word.len())
}

/// The words of a phrase that begins here, up to the end of the clause.
pub(super) fn phrase(line: &Line<'_>, noun: &Stated, at: usize, most: usize) -> Option<Range<usize>> {
    let clause = without_ending(clause(line, at).trim_end());
    let words: Vec<&str> = clause.split_whitespace().collect();
    let first = trimmed(words.first()?);
    // In a script without spaces, a phrase is one word.
    let is_joined = first.contains(is_joined) && first.chars().count() >= 6;
    let is_fine = !is_none(line, noun, first) && ((3..=most).contains(&words.len()) || is_joined);
    // A sentence about phrases names them, or their place.
    const ARTICLES: &[&str] = words!(field(section(LISTS, "phrases"), "articles"));
    const EXPLAINS: &[&str] = words!(field(section(LISTS, "phrases"), "explaining"));
    let first_word = first.to_lowercase();
    let explains = noun.is_other(&first_word) && !ARTICLES.contains(&first_word.as_str())
        || words.iter().any(|word| EXPLAINS.contains(&trimmed(word).to_lowercase().as_str()));
    let taken = trimmed(clause);
    let start = at + place_of(taken, line.rest(at));
    (is_fine && !explains).then(|| start..start + taken.len())
}

/// A clause without a copula or a polite ending.
pub(super) fn without_ending(clause: &str) -> &str {
    ENDINGS.iter().find_map(|ending| clause.strip_suffix(ending)).unwrap_or(clause).trim_end()
}

/// A word without surrounding marks and brackets.
pub(super) fn trimmed(word: &str) -> &str {
    let word = word.trim_matches(|letter: char| letter.is_whitespace() || "\"'`“”„«»‘’*(){}[]<>:".contains(letter));
    word.trim_end_matches(['.', ',', ';', '。', '，', '।'])
}

/// True for letters with a digit or a symbol.
pub(super) fn is_mixed(word: &str) -> bool {
    let letters = word.chars().filter(|letter| letter.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let inner = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let signs = inner.chars().filter(|letter| !letter.is_alphanumeric() && !"'’".contains(*letter)).count();
    word.chars().count() >= 4 && letters > 0 && (digits > 0 || signs > 0)
}

/// True for a text that is clearly not a secret: a template, code, an address, a measure, a name of a credential.
pub(super) fn is_none(line: &Line<'_>, noun: &Stated, inside: &str) -> bool {
    const TYPES: &[&str] = words!(field(section(LISTS, "phrases"), "types"));
    let lower = inside.to_lowercase();
    let name = line.text.get(noun.span.clone()).unwrap_or_default();
    // `lpPassword: LPCSTR` names a type.
    let is_type = name.chars().any(char::is_uppercase)
        && name.starts_with(|first: char| first.is_lowercase())
        && inside.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_path = inside.starts_with(['/', '~', '$', '<', '{', '%', '&', '#', '|', '=', '+']) || inside.contains("://");
    let is_named =
        lower == name.to_lowercase() || is_of_nouns(&lower) && !lower.bytes().any(|byte| byte.is_ascii_digit());
    inside.chars().count() < 2
        || is_path
        || is_named
        || is_type
        || TYPES.contains(&lower.as_str())
        || stand_in::is_template_or_row(inside)
        || judge::is_technical(inside) && !inside.bytes().all(|byte| byte.is_ascii_digit())
        || judge::is_expression(inside) && inside.contains(['(', '.', ':', '[', '/'])
        || inside.contains(['(', ')', '<', '>', '{', '}', '\\', '…'])
        || inside.ends_with(['(', '%'])
        || inside.chars().all(|letter| !letter.is_alphanumeric())
}

/// `db_password`, `user-token`: the name of a credential.
fn is_of_nouns(lower: &str) -> bool {
    ["passw", "secret", "token", "_key", "-key", "apikey", "credential"].iter().any(|noun| lower.contains(noun))
}

/// True if a quote begins here.
pub(super) fn quote_at(text: &str, at: usize) -> bool {
    is_quote(text, at)
}
