//! Word pieces, like the reference tokenizer of uncased BERT.
//!
//! Removes case and accents from letters. Punctuation and Chinese characters are separate pieces. Then each word is cut
//! into the longest known pieces, or is unknown as a whole. A text such as `[SEP]` is ordinary text, so no text can
//! contain a special piece.

use super::tables::number;
use super::weights::{CharacterTable, Minilm, PieceTable};

/// The rows of the special pieces in the word table.
const UNKNOWN: u16 = 0;
/// Before every text.
const BEGIN: u16 = 1;
/// After every text.
const END: u16 = 2;
/// The maximum length of a word. A longer word counts as unknown.
const LONGEST_WORD: usize = 100;

/// How the tokenizer treats characters that it does not replace.
const LEFT_OUT: u32 = 1;
const SPACE: u32 = 2;
const ALONE: u32 = 3;

/// Cuts one text into pieces, only as far as needed.
pub(super) struct Cutter<'a> {
    pieces: &'a PieceTable,
    characters: &'a CharacterTable,
    word: String,
    found: Vec<u16>,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(weights: &'a Minilm) -> Self {
        Self { pieces: &weights.pieces, characters: &weights.characters, word: String::new(), found: Vec::new() }
    }

    /// The first `most` pieces of a text, as rows of the word table.
    pub(super) fn cut(mut self, text: &str, most: usize) -> Vec<u16> {
        for char in text.chars() {
            if self.found.len() >= most {
                break;
            }
            self.take(char);
        }
        self.end_word();
        self.found.truncate(most);
        self.found
    }

    fn take(&mut self, char: char) {
        match char {
            'a'..='z' | '0'..='9' => self.word.push(char),
            'A'..='Z' => self.word.push(char.to_ascii_lowercase()),
            ' ' | '\t' | '\n' | '\r' => self.end_word(),
            '\0'..'\x20' | '\x7f' => {}
            '\0'..'\u{80}' => self.stand_alone(char),
            '가'..='힣' => self.word.extend(letters(char)),
            _ => self.take_other(char),
        }
    }

    fn take_other(&mut self, char: char) {
        if let Some(becomes) = self.characters.becomes(char) {
            return becomes.chars().for_each(|char| match char {
                ' ' => self.end_word(),
                _ => self.take_final(char),
            });
        }
        match self.characters.kind(char) {
            LEFT_OUT => {}
            SPACE => self.end_word(),
            ALONE => self.stand_alone(char),
            _ => self.take_final(char),
        }
    }

    /// Handles a character that is not replaced by another.
    fn take_final(&mut self, char: char) {
        if char.is_ascii_punctuation() || self.characters.is_mark(char) {
            self.stand_alone(char);
        } else {
            self.word.push(char);
        }
    }

    fn stand_alone(&mut self, char: char) {
        self.end_word();
        self.word.push(char);
        self.end_word();
    }

    fn end_word(&mut self) {
        let mut rest = self.word.as_bytes();
        let before = self.found.len();
        if rest.len() > LONGEST_WORD && self.word.chars().count() > LONGEST_WORD {
            self.found.push(UNKNOWN);
            rest = &[];
        }
        while !rest.is_empty() {
            let Some((length, row)) = self.pieces.longest(rest, self.found.len() > before) else {
                self.found.truncate(before);
                self.found.push(UNKNOWN);
                break;
            };
            self.found.push(row);
            rest = rest.get(length..).unwrap_or_default();
        }
        self.word.clear();
    }
}

/// Adds the begin and end marks.
pub(super) fn framed(pieces: &[u16]) -> Vec<u16> {
    let mut framed = Vec::with_capacity(pieces.len() + 2);
    framed.push(BEGIN);
    framed.extend_from_slice(pieces);
    framed.push(END);
    framed
}

/// The two or three letters of which a Korean syllable is composed in Unicode.
fn letters(syllable: char) -> impl Iterator<Item = char> {
    let at = u32::from(syllable) - 0xAC00;
    let last = (at % 28 > 0).then_some(0x11A7 + at % 28);
    [0x1100 + at / 588, 0x1161 + at % 588 / 28].into_iter().chain(last).filter_map(char::from_u32)
}

impl PieceTable {
    /// The longest piece at the beginning or in the middle of a word: its length in bytes, and its row.
    fn longest(&self, word: &[u8], goes_on: bool) -> Option<(usize, u16)> {
        let prefix: &[u8] = if goes_on { b"##" } else { b"" };
        let (at, length) = self.sorted.prefixes(prefix.iter().chain(word).copied()).last()?;
        let length = length.checked_sub(prefix.len()).filter(|length| *length > 0)?;
        self.rows.get(at).map(|row| (length, u16::from_le_bytes(*row)))
    }
}

impl CharacterTable {
    fn becomes(&self, char: char) -> Option<&str> {
        self.changed.becomes(char)
    }

    fn kind(&self, char: char) -> u32 {
        let code = u32::from(char);
        let at = self.ranges.partition_point(|[_, last, _]| number(*last) < code);
        self.ranges.get(at).filter(|[begin, ..]| number(*begin) <= code).map_or(0, |[.., kind]| number(*kind))
    }

    fn is_mark(&self, char: char) -> bool {
        let code = u32::from(char);
        let at = self.marks.partition_point(|[_, last]| number(*last) < code);
        self.marks.get(at).is_some_and(|[begin, _]| number(*begin) <= code)
    }
}

#[cfg(test)]
mod tests;
