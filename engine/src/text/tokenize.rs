//! Cuts a text into terms.
//!
//! A *chunk* is a run of letters, digits and the characters that join identifiers (`- _ . / \ : @ + # '`). For each
//! chunk, the tokenizer returns the stemmed *words*, and the parts of camelCase words. For a chunk with more than one
//! word, the tokenizer also returns *compounds*. `snake_case`, `snakeCase` and `snake-case` all become the compound
//! `snakecase`, stemmed like a plain word. `src/main.rs`, `v2.1.0` and `c++` stay unchanged. For scripts without
//! spaces, the terms are pairs of neighbouring characters, and single characters.

use super::MAX_TERM_BYTES;
use super::normalize::{fold, is_invisible};
use super::stem::stem;
use super::stopwords::is_stop_word;

/// The kind of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// A word, which counts towards the length of a text.
    Word,
    /// A function word.
    Stop,
    /// Another form of the following word (`2` for `v2`), which does not count in the length of the text.
    Part,
    /// A whole identifier, path, version or address of several words.
    Compound,
    /// Two neighbouring characters of a script without spaces, or an emoji.
    Pair,
    /// One character of a script without spaces.
    Single,
}

/// One term of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The term: folded, stemmed if it is a word, at most [`MAX_TERM_BYTES`] long.
    pub term: String,
    /// Its kind.
    pub kind: TokenKind,
    /// The position of the word in the text, from 0. A compound has the position of its first word.
    pub word: u32,
    /// True if the word begins with a capital and is not the first of a sentence.
    pub is_name: bool,
}

/// Cuts any text into terms, in reading order. It never fails. A text without letters, digits or emoji has no terms.
pub fn tokenize(text: &str) -> Vec<Token> {
    let mut cutter = Cutter { tokens: Vec::with_capacity(text.len() / 4), word: 0, opens_sentence: true };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let run = match class(c) {
            Class::Spaceless => run_of(rest, |c| class(c) == Class::Spaceless || is_mark(c)),
            Class::Letter | Class::Joint => run_of(rest, |c| matches!(class(c), Class::Letter | Class::Joint)),
            Class::Emoji => rest.get(..c.len_utf8()).unwrap_or(rest),
            Class::UnansweredTopic => {
                cutter.gap(c);
                rest = rest.get(c.len_utf8()..).unwrap_or("");
                continue;
            }
        };
        match class(c) {
            Class::Spaceless => cutter.pairs(run),
            Class::Emoji => cutter.push(run.to_owned(), TokenKind::Pair, false),
            _ => cutter.chunk(run),
        }
        rest = rest.get(run.len()..).unwrap_or("");
    }
    cutter.tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Joint,
    Spaceless,
    Emoji,
    UnansweredTopic,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Letter,
        '-' | '_' | '.' | '/' | '\\' | ':' | '@' | '+' | '#' | '\'' | '’' => Class::Joint,
        _ if c.is_ascii() => Class::UnansweredTopic,
        // Formatting inside a word, which folding removes.
        _ if is_invisible(c) => Class::Letter,
        '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}'
        | '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
            if c.is_alphanumeric() || is_mark(c) =>
        {
            Class::Spaceless
        }
        '\u{1f3fb}'..='\u{1f3ff}' => Class::UnansweredTopic,
        '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => Class::Emoji,
        _ if c.is_alphanumeric() || is_mark(c) => Class::Letter,
        _ => Class::UnansweredTopic,
    }
}

fn is_mark(c: char) -> bool {
    !c.is_ascii() && unicode_normalization::char::is_combining_mark(c)
}

fn run_of(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

struct Cutter {
    tokens: Vec<Token>,
    word: u32,
    opens_sentence: bool,
}

impl Cutter {
    fn gap(&mut self, c: char) {
        if matches!(c, '!' | '?' | '\n' | '。' | '！' | '？') {
            self.opens_sentence = true;
        }
    }

    fn push(&mut self, term: String, kind: TokenKind, is_name: bool) {
        if !term.is_empty() {
            self.tokens.push(Token { term: bounded(term), kind, word: self.word, is_name });
        }
        if matches!(kind, TokenKind::Word | TokenKind::Stop | TokenKind::Pair) {
            self.word += 1;
        }
    }

    /// Pairs of neighbours in a script without spaces, and each character alone.
    fn pairs(&mut self, run: &str) {
        let folded: Vec<char> = fold(run).chars().collect();
        for c in &folded {
            self.push(c.to_string(), TokenKind::Single, false);
        }
        for pair in folded.windows(2) {
            self.push(pair.iter().collect(), TokenKind::Pair, false);
        }
        if folded.len() < 2 {
            self.word += 1;
        }
        self.opens_sentence = false;
    }

    fn chunk(&mut self, run: &str) {
        let ends_sentence = run.ends_with(['.', ':']);
        let core = trim_joints(run);
        if is_plain(core) {
            self.component(core);
        } else if !core.is_empty() {
            let components: Vec<&str> = core.split(['/', '\\', ':', '@']).filter(|part| !part.is_empty()).collect();
            if components.len() > 1 {
                self.push(fold(core), TokenKind::Compound, false);
            }
            components.iter().for_each(|component| self.component(trim_joints(component)));
        }
        self.opens_sentence = ends_sentence;
    }

    /// The part between separators: an identifier, a version, a plain word.
    fn component(&mut self, text: &str) {
        if is_plain(text) {
            return self.word_or_stop(&fold(text), text);
        }
        let words: Vec<&str> =
            text.split(['-', '_', '.', '+', '#', '\'', '’']).filter(|word| !word.is_empty()).collect();
        let Some(first) = words.first() else { return };
        if let Some(whole) = contraction(text) {
            return self.word_or_stop(&whole, first);
        }
        let is_compound = words.len() > 1 || first.len() < text.len();
        if is_compound {
            self.push(compound(text), TokenKind::Compound, false);
        }
        for word in words {
            self.word_or_stop(&fold(word), word);
        }
    }

    fn word_or_stop(&mut self, folded: &str, original: &str) {
        let is_name = !self.opens_sentence && original.chars().next().is_some_and(char::is_uppercase);
        self.opens_sentence = false;
        if is_stop_word(folded) {
            return self.push(folded.to_owned(), TokenKind::Stop, false);
        }
        let parts = camel_parts(original);
        if !parts.is_empty() {
            self.push(stem(folded), TokenKind::Compound, false);
            return parts.iter().for_each(|part| self.push(stem(&fold(part)), TokenKind::Word, is_name));
        }
        if let Some(digits) =
            folded.strip_prefix('v').filter(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        {
            self.push(digits.to_owned(), TokenKind::Part, false);
        }
        self.push(stem(folded), TokenKind::Word, is_name);
    }
}

/// True for a word without any separator, like most words.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Separators at the edges are punctuation, and are removed. `c++`, `c#` and `.net` keep these characters.
fn trim_joints(run: &str) -> &str {
    let is_joint = |c| class(c) == Class::Joint;
    let start = run.trim_start_matches(is_joint);
    let dot = run.len() - start.len();
    let start = match run.get(dot.wrapping_sub(1)..) {
        Some(dotted) if dotted.starts_with('.') && dotted.chars().nth(1).is_some_and(char::is_alphabetic) => dotted,
        _ => start,
    };
    let core = start.trim_end_matches(is_joint);
    let tail = start.get(core.len()..).unwrap_or("");
    let kept = tail.find(|c| c != '+' && c != '#').unwrap_or(tail.len());
    start.get(..core.len() + kept).unwrap_or(core)
}

/// The term of a word with an apostrophe: `don't` is kept complete, `Mara's` loses its ending.
fn contraction(text: &str) -> Option<String> {
    let (head, tail) = text.split_once(['\'', '’'])?;
    if head.contains(['-', '_', '.', '+', '#']) || head.is_empty() {
        return None;
    }
    match tail {
        "s" | "S" | "" => Some(fold(head)),
        "t" | "re" | "ve" | "m" | "ll" | "d" => Some(format!("{}'{tail}", fold(head))),
        _ => None,
    }
}

/// Identifiers lose their separators, because different styles use different separators. Versions, file names and names
/// like `c++` keep their separators.
fn compound(text: &str) -> String {
    let folded = fold(text);
    if folded.contains(['.', '+', '#']) {
        let version = folded.strip_prefix('v').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        return version.unwrap_or(&folded).to_owned();
    }
    stem(&folded.replace(['-', '_', '\'', '’'], ""))
}

/// The words of a camelCase or PascalCase word, if there is more than one.
fn camel_parts(word: &str) -> Vec<&str> {
    if !word.contains(char::is_uppercase) {
        return Vec::new();
    }
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut cuts = vec![0];
    for (i, window) in chars.windows(2).enumerate() {
        let [(_, a), (at, b)] = window else { continue };
        let next_is_lower = chars.get(i + 2).is_some_and(|(_, c)| c.is_lowercase());
        if (a.is_lowercase() && b.is_uppercase()) || (a.is_uppercase() && b.is_uppercase() && next_is_lower) {
            cuts.push(*at);
        }
    }
    if cuts.len() < 2 {
        return Vec::new();
    }
    cuts.push(word.len());
    cuts.windows(2).filter_map(|cut| word.get(*cut.first()?..*cut.last()?)).collect()
}

/// Cuts a long term and adds a hash of the complete term, so that only equal terms remain equal.
fn bounded(term: String) -> String {
    if term.len() <= MAX_TERM_BYTES {
        return term;
    }
    let hash = xxhash_rust::xxh3::xxh3_64(term.as_bytes());
    let mut end = MAX_TERM_BYTES - 17;
    while !term.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}~{hash:016x}", term.get(..end).unwrap_or(""))
}

#[cfg(test)]
mod tests;
