//! The start and end of a value, quoted or not.

use std::ops::Range;

use tessera_tables::{field, section, words};

use super::letters;
use crate::LISTS;

/// A value in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) span: Range<usize>,
    pub(super) is_quoted: bool,
}

const LONGEST: usize = 2048;
/// Opening and closing quotes. The escaped quotes of nested texts are first.
const QUOTES: [(&str, &str); 16] = [
    ("\\\\\"", "\\\\\""),
    ("\\\"", "\\\""),
    ("\\'", "\\'"),
    ("&quot;", "&quot;"),
    ("&#34;", "&#34;"),
    ("%22", "%22"),
    ("\"", "\""),
    ("'", "'"),
    ("`", "`"),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("「", "」"),
    ("『", "』"),
    ("‘", "’"),
    ("”", "”"),
];

/// True if a quote begins here.
pub(super) fn is_quote(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    QUOTES.iter().any(|(open, _)| rest.starts_with(open))
}

/// The value between quotes that begins here.
pub(super) fn quoted(text: &str, at: usize) -> Option<Value> {
    let rest = letters::rest(text, at, LONGEST);
    let (open, close) = QUOTES.iter().find(|(open, _)| rest.starts_with(open))?;
    let inner = rest.get(open.len()..)?;
    let mut from = 0;
    let length = loop {
        let at = from + inner.get(from..)?.find(close)?;
        // An escaped quote does not close.
        let is_escaped = close.len() == 1 && inner.get(..at).is_some_and(ends_in_escape);
        if !is_escaped {
            break at;
        }
        from = at + 1;
    };
    let value = inner.get(..length)?;
    if value.contains('\n') && !value.contains("-----") {
        return None;
    }
    let start = at + open.len();
    // `'"value"'`: nested quotes.
    let nested = value.len() > 2 && is_quote(text, start);
    if let Some(nested) =
        nested.then(|| quoted(text, start)).flatten().filter(|nested| nested.span.end < start + length)
    {
        return Some(nested);
    }
    let lead = value.len() - value.trim_start().len();
    Some(Value { span: start + lead..start + lead + value.trim().len(), is_quoted: true })
}

/// The value after a quote that begins here and is not closed in its line.
pub(super) fn unclosed(text: &str, at: usize) -> Option<Value> {
    let line = letters::rest(text, at, LONGEST).lines().next()?;
    let (open, close) = QUOTES.iter().find(|(open, _)| line.starts_with(open))?;
    let inner = line.get(open.len()..)?;
    let is_open = !inner.contains(close) && inner.starts_with(|first: char| first.is_ascii_alphanumeric());
    is_open.then(|| bare(text, at + open.len(), false))?
}

fn ends_in_escape(text: &str) -> bool {
    text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// The unquoted value that begins here; in a list of pairs, it ends at the next `&`.
pub(super) fn bare(text: &str, at: usize, is_query: bool) -> Option<Value> {
    let rest = letters::rest(text, at, LONGEST);
    let mut length = rest.len();
    let mut passed = 0;
    for (place, character) in rest.char_indices() {
        if place < passed {
            continue;
        }
        if let Some(run) = letters_inside(rest, place) {
            passed = place + run;
            continue;
        }
        let after = rest.get(place + character.len_utf8()..).unwrap_or_default();
        if ends(character, after, is_query) && place > 0 || character.is_whitespace() || is_ideographic_end(character) {
            length = place;
            break;
        }
    }
    let value = trimmed(rest.get(..length)?);
    (!value.is_empty()).then(|| Value { span: at..at + value.len(), is_quoted: false })
}

/// True for a character that ends an unquoted value.
fn ends(character: char, after: &str, is_query: bool) -> bool {
    match character {
        '"' | '\'' | '`' => true,
        '\\' => after.starts_with(['n', 'r', 't', '"', '\'', '\\']),
        '<' => after.starts_with(|next: char| next == '/' || next.is_ascii_alphabetic()) && after.contains('>'),
        '&' => is_query || is_pair(after),
        ']' => after.starts_with('('),
        '%' => is_query && after.starts_with("26"),
        // A full-width comma counts as a plain one.
        ';' | ',' => {
            after.is_empty()
                || after.starts_with(|next: char| next.is_whitespace() || is_ideographic(next))
                || is_pair(after)
        }
        _ => false,
    }
}

/// The length of a run of Chinese, Japanese or Korean characters inside a mixed value: `龙虎豹9!x`, `x9龙虎y`, `x9!龙虎豹`.
fn letters_inside(rest: &str, place: usize) -> Option<usize> {
    // Characters of words that continue the sentence after a value.
    const GO_ON: &str = "是为為就请不别了的吧哦啊谢用登在和并但也可即它跟与或及到这那里中上下内后前时";
    const LONGEST_HEAD: usize = 16;
    const LONGEST_PART: usize = 4;
    // Words that continue the sentence after a value in scripts without spaces.
    const ENDINGS: &[&str] = words!(field(section(LISTS, "endings"), "joined"));
    let tail = rest.get(place..)?;
    let run: usize = tail
        .chars()
        .take(LONGEST_HEAD + 1)
        .take_while(|character| is_ideographic(*character))
        .map(char::len_utf8)
        .sum();
    let letters = tail.get(..run).filter(|letters| !letters.is_empty())?;
    let next = tail.get(run..)?.chars().next();
    let goes_on = next.is_some_and(|next| next.is_ascii_alphanumeric() || "!#$%&*+?@^_~-=".contains(next));
    let count = letters.chars().count();
    if place == 0 {
        return (goes_on && count <= LONGEST_HEAD).then_some(run);
    }
    let is_han = letters.chars().all(|letter| matches!(letter, '\u{4e00}'..='\u{9fff}'));
    let is_ended = ENDINGS.iter().any(|ending| letters.starts_with(ending));
    let is_own = is_han || rest.starts_with(is_ideographic) && !is_ended;
    let is_end = next.is_none_or(|next| next.is_whitespace() || is_ideographic_end(next));
    (count <= LONGEST_PART && is_own && (goes_on || is_end) && !letters.contains(|letter| GO_ON.contains(letter)))
        .then_some(run)
}

/// True for a letter of a script without spaces.
pub(super) fn is_ideographic(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// True for characters that end an unquoted value in a writing system without spaces.
fn is_ideographic_end(character: char) -> bool {
    is_ideographic(character)
        || matches!(character, '\u{3001}'..='\u{3002}' | '\u{ff0c}' | '\u{300c}'..='\u{300f}' | '“' | '”' | '„' | '»' | '«')
}

/// True if a name and an equals sign follow, because they begin the next item of a list of pairs.
fn is_pair(after: &str) -> bool {
    let name = after.bytes().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || b"_- .".contains(byte)).count();
    name > 1 && after.as_bytes().get(name) == Some(&b'=')
}

/// A value without trailing punctuation of a sentence, a list or a call.
pub(super) fn trimmed(value: &str) -> &str {
    let mut value = value;
    loop {
        let Some(last) = value.chars().next_back() else { return value };
        let is_loose = |open| value.matches(open).count() < value.matches(last).count();
        let goes = match last {
            '.' | ',' | ';' | ':' | '…' => true,
            ')' => is_loose('('),
            ']' => is_loose('['),
            '}' => is_loose('{'),
            '>' => is_loose('<'),
            _ => false,
        };
        if !goes {
            return value;
        }
        value = value.strip_suffix(last).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(text: &str, value: Option<Value>) -> Option<&str> {
        value.map(|value| &text[value.span])
    }

    #[test]
    fn quotes_close_where_they_do() {
        for (text, inside) in [
            ("'a\"b' c", "a\"b"),
            ("\"a\\\"b\"", "a\\\"b"),
            ("\\\"a b\\\", c", "a b"),
            ("„geheim“", "geheim"),
            ("「x」です", "x"),
            ("'\"a b\"'", "a b"),
            ("`x`", "x"),
        ] {
            assert_eq!(text_of(text, quoted(text, 0)), Some(inside), "{text}");
        }
        assert_eq!(quoted("'never closed", 0), None);
    }

    #[test]
    fn bare_values_end_where_the_next_thing_begins() {
        for (text, inside) in [
            ("a&b c", "a&b"),
            ("a;bb=c", "a"),
            ("a, b", "a"),
            ("x9!, then", "x9!"),
            ("x9.", "x9"),
            ("(x9)", "(x9)"),
            ("x9)", "x9"),
            ("x9</p>", "x9"),
            ("x9です", "x9"),
            ("龙虎豹9!Xq", "龙虎豹9!Xq"),
            ("Xq9!龙虎豹", "Xq9!龙虎豹"),
            ("Xq龙虎9!，端口", "Xq龙虎9!"),
            ("Xq9!请保密", "Xq9!"),
            ("a\\nb", "a"),
            ("x9\", y", "x9"),
            ("x,user=y", "x"),
        ] {
            assert_eq!(text_of(text, bare(text, 0, false)), Some(inside), "{text}");
        }
        assert_eq!(text_of("a&b", bare("a&b", 0, true)), Some("a"));
    }
}
