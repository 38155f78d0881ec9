//! Parses tables in text files at compile time. The compiler stores them in the program, so nothing is parsed when the
//! program starts.
//!
//! A list separates its entries by commas and line ends. An entry in single quotes keeps its spaces and commas. A line
//! that begins with `# ` is a comment. `[name]` begins a section. In a section, `key: value` is a field, and indented
//! lines continue its value. A table of pairs has one pair per line: `left | right`.
#![expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]

mod groups;
mod names;
mod settings;

pub use groups::{Groups, NO_GROUP};

/// Parses a list as `&'static [&'static str]`. The argument is a constant text, such as `include_str!("words.txt")`.
#[macro_export]
macro_rules! words {
    ($list:expr) => {{
        const LIST: &str = $list;
        const WORDS: [&str; $crate::count(LIST)] = $crate::entries(LIST);
        &WORDS as &'static [&'static str]
    }};
}

/// Parses a table of pairs as `&'static [(&'static str, &'static str)]`.
#[macro_export]
macro_rules! pairs {
    ($table:expr) => {{
        const TABLE: &str = $table;
        const PAIRS: [(&str, &str); $crate::count_pairs(TABLE)] = $crate::pairs(TABLE);
        &PAIRS as &'static [(&'static str, &'static str)]
    }};
}

/// Returns the lines between `[name]` and the next section.
///
/// # Panics
/// If no section has this name, which is a compile error in a constant.
pub const fn section(text: &'static str, name: &str) -> &'static str {
    let (bytes, mut at) = (text.as_bytes(), 0);
    while let Some((start, end)) = header(bytes, at) {
        if holds(bytes, start + 1, name.as_bytes()) && holds(bytes, start + 1 + name.len(), b"]") {
            return until_section(text, end);
        }
        at = end + 1;
    }
    panic!("no section has this name")
}

/// Returns the lines of the section with the given position in the text, counted from 0.
///
/// # Panics
/// Panics if the text has no section at this position, which is a compile error in a constant.
pub const fn nth_section(text: &'static str, place: usize) -> &'static str {
    let (bytes, mut at, mut before) = (text.as_bytes(), 0, 0);
    while let Some((_, end)) = header(bytes, at) {
        if before == place {
            return until_section(text, end);
        }
        before += 1;
        at = end + 1;
    }
    panic!("the table has fewer sections")
}

/// Counts the sections of a text.
pub const fn count_sections(text: &str) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some((_, end)) = header(text.as_bytes(), at) {
        count += 1;
        at = end + 1;
    }
    count
}

/// The next header at the beginning of a line, and the end of that line. `from` is the beginning of a line.
const fn header(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while at < bytes.len() && bytes[at] != b'[' {
        at = line_end(bytes, at) + 1;
    }
    if at < bytes.len() { Some((at, line_end(bytes, at))) } else { None }
}

const fn until_section(text: &'static str, from: usize) -> &'static str {
    let bytes = text.as_bytes();
    match header(bytes, from + 1) {
        Some((next, _)) => slice(text, from, next),
        None => slice(text, from, bytes.len()),
    }
}

/// Returns the value of a field in a section.
///
/// # Panics
/// If the section has no such field, which is a compile error in a constant.
pub const fn field(section: &'static str, key: &str) -> &'static str {
    match optional_field(section, key) {
        Some(value) => value,
        None => panic!("no field of the section has this name"),
    }
}

/// Returns the value of a field in a section, if the section has it.
pub const fn optional_field(section: &'static str, key: &str) -> Option<&'static str> {
    let bytes = section.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at + key.len() + 1;
        if start <= bytes.len() && holds(bytes, at, key.as_bytes()) && bytes[start - 1] == b':' {
            let mut end = line_end(bytes, at);
            while end + 1 < bytes.len() && is_space(bytes[end + 1]) {
                end = line_end(bytes, end + 1);
            }
            return Some(slice(section, start, end));
        }
        at = line_end(bytes, at) + 1;
    }
    None
}

/// Counts the fields of a section.
pub const fn count_fields(section: &str) -> usize {
    let (bytes, mut count, mut at) = (section.as_bytes(), 0, 0);
    while at < bytes.len() {
        let end = line_end(bytes, at);
        if trimmed(bytes, at, end) > at && !is_space(bytes[at]) && !holds(bytes, at, b"# ") {
            count += 1;
        }
        at = end + 1;
    }
    count
}

/// Returns the first entry of a list at or after a byte, and where to continue.
pub const fn entry_at(list: &'static str, from: usize) -> Option<(&'static str, usize)> {
    match entry(list.as_bytes(), from) {
        Some((start, end, next)) => Some((slice(list, start, end), next)),
        None => None,
    }
}

/// Counts the entries of a list.
pub const fn count(list: &str) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some((_, _, next)) = entry(list.as_bytes(), at) {
        count += 1;
        at = next;
    }
    count
}

/// Returns the `N` entries of a list.
pub const fn entries<const N: usize>(list: &'static str) -> [&'static str; N] {
    let mut found = [""; N];
    let (mut count, mut at) = (0, 0);
    while let Some((found_entry, next)) = entry_at(list, at) {
        found[count] = found_entry;
        count += 1;
        at = next;
    }
    found
}

/// Counts the pairs of a table.
pub const fn count_pairs(table: &str) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some((_, _, _, next)) = pair(table.as_bytes(), at) {
        count += 1;
        at = next;
    }
    count
}

/// Returns the `N` pairs of a table.
pub const fn pairs<const N: usize>(table: &'static str) -> [(&'static str, &'static str); N] {
    let mut found = [("", ""); N];
    let (mut count, mut at) = (0, 0);
    while let Some((start, sign, end, next)) = pair(table.as_bytes(), at) {
        found[count] = (slice(table, start, trimmed(table.as_bytes(), start, sign)), slice(table, sign + 2, end));
        count += 1;
        at = next;
    }
    found
}

/// The start and end of the next entry at or after a position, and where to continue.
const fn entry(bytes: &[u8], from: usize) -> Option<(usize, usize, usize)> {
    let start = skip(bytes, from, true);
    if start >= bytes.len() {
        return None;
    }
    let is_quoted = bytes[start] == b'\'';
    let mut end = start + 1;
    while end < bytes.len() {
        let is_end = if is_quoted { bytes[end] == b'\'' } else { matches!(bytes[end], b',' | b'\n') };
        if is_end {
            break;
        }
        end += 1;
    }
    assert!(!is_quoted || end < bytes.len(), "a quoted entry needs its closing quote");
    if is_quoted { Some((start + 1, end, end + 1)) } else { Some((start, trimmed(bytes, start, end), end)) }
}

/// The start of the next pair at or after a position, the position of its separator, its end, and where to continue.
const fn pair(bytes: &[u8], from: usize) -> Option<(usize, usize, usize, usize)> {
    let start = skip(bytes, from, false);
    if start >= bytes.len() {
        return None;
    }
    let end = line_end(bytes, start);
    let mut sign = start;
    while !holds(bytes, sign, b" | ") {
        assert!(sign < end, "a pair needs ` | ` between its parts");
        sign += 1;
    }
    Some((start, sign + 1, trimmed(bytes, start, end), end))
}

/// The first byte at or after a position that is not white space, a comment, or a comma between entries.
const fn skip(bytes: &[u8], from: usize, commas: bool) -> usize {
    let mut at = from;
    while at < bytes.len() {
        if holds(bytes, at, b"# ") {
            at = line_end(bytes, at);
        } else if is_space(bytes[at]) || commas && bytes[at] == b',' {
            at += 1;
        } else {
            break;
        }
    }
    at
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r')
}

/// Returns where the text ends without its trailing white space.
const fn trimmed(bytes: &[u8], start: usize, end: usize) -> usize {
    let mut end = end;
    while end > start && is_space(bytes[end - 1]) {
        end -= 1;
    }
    end
}

const fn line_end(bytes: &[u8], from: usize) -> usize {
    let mut end = from;
    while end < bytes.len() && bytes[end] != b'\n' {
        end += 1;
    }
    end
}

const fn holds(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    let mut offset = 0;
    while offset < word.len() {
        if at + offset >= bytes.len() || bytes[at + offset] != word[offset] {
            return false;
        }
        offset += 1;
    }
    true
}

const fn slice(text: &'static str, start: usize, end: usize) -> &'static str {
    text.split_at(end).0.split_at(start).1
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# Two sections.\n[one]\nfirst: a, b c,\n    ' d, e '\n# not an entry\nsecond: x y\n[two]\nleft | right hand\n";

    #[test]
    fn lists_fields_and_pairs_are_read() {
        let expected: &[&str] = &["a", "b c", " d, e "];
        assert_eq!(words!(field(section(TEXT, "one"), "first")), expected);
        assert_eq!(field(section(TEXT, "one"), "second"), " x y");
        assert_eq!(optional_field(section(TEXT, "one"), "third"), None);
        assert_eq!(optional_field(section(TEXT, "two"), "first"), None);
        assert_eq!(nth_section(TEXT, 1), section(TEXT, "two"));
        assert_eq!((count_sections(TEXT), count_fields(section(TEXT, "one"))), (2, 2));
        let expected: &[(&str, &str)] = &[("left", "right hand")];
        assert_eq!(pairs!(section(TEXT, "two")), expected);
        assert!(words!("").is_empty() && pairs!("# nothing\n\n").is_empty());
        assert_eq!(words!("ain't\n# a comment\nwon't"), ["ain't", "won't"]);
    }
}
