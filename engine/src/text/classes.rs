//! Unicode properties of characters, from a table in the program's read-only pages, without start-up cost.
//!
//! `engine/tests/counter/generate.rs` creates `classes.bin` from the tables of the crate `regex`, so that the
//! properties equal its `\w`, `\d`, `\s` and `\p{…}`. The table has two levels: for each 256 code points the number of
//! a block, and then the blocks with one byte per character. Equal blocks are stored once. The low three bits of a byte
//! are the class; the higher bits mark title case (8), decimal digit (16) and word character (32).

static TABLE: &[u8] = include_bytes!("classes.bin");

/// Characters per block.
const BLOCK: usize = 256;
/// Blocks of all code points.
const BLOCKS: usize = 0x11_0000 / BLOCK;

const TITLE: u8 = 8;
const DIGIT: u8 = 16;
const WORD: u8 = 32;

/// The Unicode general categories that the pattern distinguishes, and white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// All other characters: punctuation, symbols, controls, unassigned.
    Other,
    /// Upper-case and title-case letters: Lu, Lt.
    Upper,
    /// Lower-case letters: Ll.
    Lower,
    /// Letters without case: Lm, Lo.
    Letter,
    /// Combining marks: M.
    Mark,
    /// Digits and other numbers: N.
    Number,
    /// White space other than `[\r\n]`.
    Space,
    /// `\r` and `\n`.
    Break,
}

/// The class of a character.
pub(super) fn class(character: char) -> Class {
    match facts(character) & 7 {
        1 => Class::Upper,
        2 => Class::Lower,
        3 => Class::Letter,
        4 => Class::Mark,
        5 => Class::Number,
        6 => Class::Space,
        7 => Class::Break,
        _ => Class::Other,
    }
}

/// True for characters of words, `\w`: letters, marks, digits, connectors such as `_`, and joiners.
pub fn is_word(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    facts(character) & WORD != 0
}

/// True for `\d`: decimal digits of any script.
pub fn is_digit(character: char) -> bool {
    facts(character) & DIGIT != 0
}

/// True for `\p{Lu}`: upper-case letters.
pub fn is_upper(character: char) -> bool {
    let facts = facts(character);
    facts & 7 == 1 && facts & TITLE == 0
}

/// True for `\p{Ll}`: lower-case letters.
pub fn is_lower(character: char) -> bool {
    class(character) == Class::Lower
}

/// True for `\p{L}`: letters.
pub fn is_letter(character: char) -> bool {
    matches!(class(character), Class::Upper | Class::Lower | Class::Letter)
}

fn facts(character: char) -> u8 {
    let code = character as usize;
    let of_code = || {
        let block = usize::from(*TABLE.get(code / BLOCK)?);
        TABLE.get(BLOCKS + block * BLOCK + code % BLOCK).copied()
    };
    of_code().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn classes_are_those_of_unicode() {
        let classes = "aAǅʰあ\u{301}٣ \r\u{a0}\u{2028}'🚀\u{200d}\u{10ffff}".chars().map(class);
        use Class::{Break, Letter, Lower, Mark, Number, Other, Space, Upper};
        let expected =
            [Lower, Upper, Upper, Letter, Letter, Mark, Number, Space, Break, Space, Space, Other, Other, Other, Other];
        assert_eq!(classes.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_character_is_what_the_regex_crate_takes_it_for() {
        let every: String = ('\0'..=char::MAX).collect();
        let check = |pattern: &str, asked: fn(char) -> bool| {
            let expected: String = Regex::new(pattern).unwrap().find_iter(&every).map(|found| found.as_str()).collect();
            let told: String = every.chars().filter(|character| asked(*character)).collect();
            assert!(told == expected, "{pattern}");
        };
        check(r"\w", is_word);
        check(r"\d", is_digit);
        check(r"\p{Lu}", is_upper);
        check(r"\p{Ll}", is_lower);
        check(r"\p{L}", is_letter);
    }
}
