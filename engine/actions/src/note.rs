//! The advice in a memory: words and paths, and whether the memory advises against them or recommends them.

use tessera_tables::{section, words as list};

use crate::path;
use crate::stance::{Sentences, Stance, is_in, is_stop_word};
use crate::words::{self, Word};

const CUES: &str = include_str!("cues.txt");
pub(crate) const COMMON: &[&str] = list!(section(CUES, "common"));
const LOCATED: &[&str] = list!(section(CUES, "located"));
/// Punctuation between the parts of one name.
const GLUE: [&str; 10] = [".", "::", "->", "=", ":", "#", "=\"", "='", "?.", "()."];
/// The maximum number of bytes that are read. The rest is ignored, because advice on one action is short.
const LONGEST: usize = 1_200;

/// The kind of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name of code: with an underscore, an inner capital or punctuation inside, or in backticks.
    Code,
    /// Another word.
    Plain,
    /// A word of many programs, such as `test`.
    Common,
    /// An option: `--force`.
    Flag,
    /// A part of a path.
    Path,
}

/// A word of a note.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    pub(crate) word: String,
    pub(crate) kind: Kind,
    pub(crate) stance: Stance,
    /// True if nothing but punctuation without spaces separates this term from the next one.
    pub(crate) is_glued: bool,
    /// True if only white space or such punctuation separates this term from the next one.
    pub(crate) is_followed: bool,
}

/// A path of a note.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) pattern: String,
    pub(crate) stance: Stance,
    /// True after words such as "in" and "under".
    pub(crate) is_located: bool,
    /// The share of the note before the path, in tenths.
    pub(crate) tenth: usize,
    /// The byte offset of the path.
    start: usize,
    /// False for words with a slash between them that may be alternatives: `malloc/k_malloc`.
    is_sure: bool,
}

/// The parts of a memory that actions are compared with.
#[derive(Debug, Clone, Default)]
pub struct Note {
    pub(crate) terms: Vec<Term>,
    pub(crate) places: Vec<Place>,
    /// How many cues of each list the note has: against, for, files, when, later.
    pub(crate) cues: [usize; 5],
    /// The number of words.
    pub(crate) length: usize,
}

impl Note {
    /// Reads the text of a memory.
    pub fn read(text: &str) -> Self {
        let text = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default().replace(['’', '‘'], "'");
        let lower = text.to_lowercase();
        // Offsets in both texts must be equal. A few characters have a longer lowercase form.
        let text = if lower.len() == text.len() { text } else { lower.clone() };
        let found = words::split(&text);
        let sentences = Sentences::of(&text, &lower, &found);
        let places: Vec<Place> =
            tokens(&text).into_iter().filter_map(|(at, raw)| place(&text, &sentences, at, raw)).collect();
        let term = |(at, word): (usize, &Word)| term(&text, &sentences, &places, word, found.get(at + 1));
        let terms = found.iter().enumerate().map(term).collect();
        Self { terms, cues: sentences.cue_counts, length: found.len(), places }
    }
}

/// Reads a path.
fn place(text: &str, sentences: &Sentences<'_>, at: usize, raw: &str) -> Option<Place> {
    let is_pattern = raw.contains('*') && raw.contains('.') && !raw.contains('(');
    let is_number = raw.bytes().all(|byte| byte.is_ascii_digit() || b"./-:".contains(&byte));
    if !(path::is_path(raw) || is_pattern) || raw.len() < 3 || is_number {
        return None;
    }
    let before = text.get(..at).unwrap_or_default();
    let previous = before.trim_end().rsplit([' ', '\n', '(', ',']).next().unwrap_or_default().to_lowercase();
    let is_located = LOCATED.contains(&previous.as_str());
    Some(Place {
        pattern: raw.to_owned(),
        stance: sentences.stance(at, at + raw.len()),
        is_located,
        is_sure: is_located || raw.contains(['.', '*', '~']) || raw.ends_with('/') || path::is_address(raw),
        tenth: at * 10 / text.len().max(1),
        start: at,
    })
}

/// Reads a word.
fn term(text: &str, sentences: &Sentences<'_>, places: &[Place], word: &Word, next: Option<&Word>) -> Term {
    let is_in =
        |place: &Place| place.is_sure && place.start <= word.start && word.start < place.start + place.pattern.len();
    let kind = if places.iter().any(is_in) { Kind::Path } else { kind(text, word) };
    let between = next.map_or("  ", |next| text.get(word.end..next.start).unwrap_or("  "));
    let is_glued = kind != Kind::Path && GLUE.contains(&between)
        || between == " " && next.is_some_and(|next| is_short_command(text, word, next));
    Term {
        word: word.text.clone(),
        kind,
        stance: sentences.stance(word.start, word.end),
        is_glued,
        is_followed: is_glued || next.is_some() && between.trim().is_empty(),
    }
}

/// True for words of many programs.
pub(crate) fn is_common_word(word: &str) -> bool {
    is_in(COMMON, word)
}

fn kind(text: &str, word: &Word) -> Kind {
    let raw = text.get(word.start..word.end).unwrap_or_default();
    let is_quoted = is_quoted(text, word);
    let is_quantity = raw.starts_with(|c: char| c.is_ascii_digit()) && raw.len() < 6 && !raw.contains('_');
    if raw.starts_with('-') {
        Kind::Flag
    } else if is_quantity && !is_quoted {
        Kind::Plain
    } else if is_common_word(&word.text) && !is_quoted {
        Kind::Common
    } else if (is_quoted || is_identifier(raw) || has_code_beside(text, word)) && !is_stop_word(&word.text) {
        Kind::Code
    } else {
        Kind::Plain
    }
}

/// True for `snake_case`, `camelCase`, and letters with digits.
fn is_identifier(raw: &str) -> bool {
    let has_letter = |test: fn(char) -> bool| raw.chars().any(test);
    let has_inner_capital = raw.chars().skip(1).any(char::is_uppercase);
    raw.contains('_')
        || has_inner_capital && has_letter(char::is_lowercase)
        || has_letter(char::is_alphabetic) && has_letter(|c| c.is_ascii_digit())
}

/// True if punctuation of code is directly beside a word: `Foo::`, `.bar`, `call(`, `vec!(`.
fn has_code_beside(text: &str, word: &Word) -> bool {
    let joins = |c: char| "_:.!@#$=<>/*[]{}\\".contains(c);
    let before = text.get(..word.start).unwrap_or_default().chars().next_back().unwrap_or(' ');
    let mut after = text.get(word.end..).unwrap_or_default().chars();
    let (next, second) = (after.next().unwrap_or(' '), after.next().unwrap_or(' '));
    let is_call = next == '(' || next == '!' && (second == ' ' || second == '(');
    joins(before) || is_call || joins(next) && words::is_letter(second) || next == ':' && second == ':'
}

/// True inside backticks, and for a single word in quotes.
fn is_quoted(text: &str, word: &Word) -> bool {
    let before = text.get(..word.start).unwrap_or_default();
    let quote = before.chars().next_back().filter(|c| ['\'', '"'].contains(c));
    let is_alone = quote.is_some_and(|quote| text.get(word.end..).is_some_and(|rest| rest.starts_with(quote)));
    is_in_code(before) || is_alone
}

/// True if a backtick is open after this text.
fn is_in_code(before: &str) -> bool {
    before.matches('`').count() % 2 == 1
}

/// True for two words of a command in backticks that has two or three words: `airflow db reset`.
fn is_short_command(text: &str, word: &Word, next: &Word) -> bool {
    let before = text.get(..word.start).unwrap_or_default();
    let Some(open) = before.rfind('`').filter(|_| is_in_code(before)) else { return false };
    let command = text.get(open + 1..).and_then(|rest| rest.split_once('`')).map_or("", |(command, _)| command);
    next.end <= open + 1 + command.len() && (2..=3).contains(&command.split_whitespace().count())
}

/// Pieces between white space, brackets and quotes, without punctuation at their ends.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let is_border = |c: char| {
        c.is_whitespace() || "`\"'(),;<>→、。，；：（）「」『』“”!?！？|".contains(c) || words::is_ideograph(c)
    };
    let mut start = None;
    let mut depth = 0_i32;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        depth += i32::from(c == '{') - i32::from(c == '}');
        let border = is_border(c) && !(c == ',' && depth > 0);
        match (border, start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                let raw = text.get(from..at).unwrap_or_default().trim_end_matches(['.', ':', '!', '?']);
                if !raw.is_empty() {
                    found.push((from, raw));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stance::is_empty_word;

    fn terms(text: &str) -> Vec<String> {
        let note = Note::read(text);
        let sign = |stance: Stance| match stance {
            Stance::Against => '-',
            Stance::Open => '?',
            Stance::For => '+',
        };
        note.terms
            .iter()
            .filter(|term| !is_empty_word(&term.word))
            .map(|term| format!("{}{}", sign(term.stance), term.word))
            .collect()
    }

    #[test]
    fn cues_decide_the_stance() {
        assert_eq!(
            terms("never git push --force, use --force-with-lease"),
            ["-git", "-push", "---force", "+--force-with-lease"]
        );
        assert_eq!(terms("mix test --cover segfaults"), ["-mix", "-test", "---cover"]);
        assert_eq!(terms("openssl 不要加进来，统一用 rustls"), ["-openssl", "+rustls"]);
    }

    #[test]
    fn paths_are_found() {
        let note = Note::read("nie deploy/prod/*.yaml ändern; `config/{a,b}.toml`, proto/ und README.md.");
        let patterns: Vec<&str> = note.places.iter().map(|place| place.pattern.as_str()).collect();
        assert_eq!(patterns, ["deploy/prod/*.yaml", "config/{a,b}.toml", "proto/", "README.md"]);
    }
}
