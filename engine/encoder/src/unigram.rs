//! Word pieces, like the reference tokenizer of XLM-R (SentencePiece, unigram model).
//!
//! The text is normalised. Each word is cut into the pieces with the highest product of probabilities. A text such as
//! `</s>` is ordinary text, so no text can contain a special piece.

use unicode_normalization::UnicodeNormalization as _;

use super::weights::{ChangeTable, E5, UnigramTable};

/// The rows of the special pieces in the word table. The other pieces follow.
const UNKNOWN: u16 = 0;
const BEGIN: u16 = 1;
const END: u16 = 2;
const SPECIAL: usize = 3;
/// The number of marks around a text.
pub(super) const MARKS: usize = 2;
/// Stands for the space before a word.
const WORD_START: char = '\u{2581}';
/// The score of an unknown character: 10 less than the lowest score of the reference's pieces.
const UNKNOWN_SCORE: f32 = -30.364_752;
/// The maximum length of a word in bytes. A longer word is cut, so that no text needs much time.
const LONGEST_WORD: usize = 256;

/// Cuts one text into pieces, only as far as needed.
pub(super) struct UnigramCutter<'a> {
    pieces: &'a UnigramTable,
    changed: &'a ChangeTable,
    word: String,
    found: Vec<u16>,
}

impl<'a> UnigramCutter<'a> {
    pub(super) fn new(weights: &'a E5) -> Self {
        Self { pieces: &weights.pieces, changed: &weights.changed, word: String::new(), found: Vec::new() }
    }

    /// The first `most` pieces of a prefix and a text, as rows of the word table, between the marks of begin and end.
    pub(super) fn cut(mut self, prefix: &str, text: &str, most: usize) -> Vec<u16> {
        self.found.push(BEGIN);
        for char in prefix.chars().chain(text.chars()).nfc() {
            if self.found.len() > most {
                break;
            }
            match self.changed.becomes(char) {
                Some(becomes) => becomes.chars().for_each(|char| self.take(char)),
                // The table has no entry for NUL, but removes all similar characters.
                None if char == '\0' => {}
                None => self.take(char),
            }
        }
        self.end_word();
        self.found.truncate(most.saturating_add(1));
        self.found.push(END);
        self.found
    }

    fn take(&mut self, char: char) {
        if char == ' ' || self.word.len() > LONGEST_WORD {
            self.end_word();
        }
        if char != ' ' {
            if self.word.is_empty() {
                self.word.push(WORD_START);
            }
            self.word.push(char);
        }
    }

    fn end_word(&mut self) {
        let mut pieces = best_pieces(self.pieces, &self.word);
        // Neighbouring unknown characters are one piece.
        pieces.dedup_by(|piece, before| *piece == UNKNOWN && *before == UNKNOWN);
        self.found.append(&mut pieces);
        self.word.clear();
    }
}

/// The best way to a position in a word.
#[derive(Clone, Copy)]
struct Way {
    score: f32,
    /// Where its last piece begins.
    from: usize,
    /// The row of its last piece.
    piece: u16,
}

/// The pieces of a word with the highest sum of scores.
fn best_pieces(table: &UnigramTable, word: &str) -> Vec<u16> {
    let mut ways: Vec<Option<Way>> = vec![None; word.len() + 1];
    for (from, char) in word.char_indices() {
        let score = if from == 0 { 0.0 } else { ways.get(from).copied().flatten().map_or(f32::MIN, |way| way.score) };
        let mut reach = |length: usize, piece: u16, own: f32| {
            if let Some(way) = ways.get_mut(from + length)
                && way.is_none_or(|way| score + own > way.score)
            {
                *way = Some(Way { score: score + own, from, piece });
            }
        };
        let rest = word.as_bytes().get(from..).unwrap_or_default();
        for (at, length) in table.sorted.prefixes(rest.iter().copied()) {
            if let (Some(own), Ok(piece)) = (table.scores.get(at), u16::try_from(SPECIAL + at)) {
                reach(length, piece, f32::from_le_bytes(*own));
            }
        }
        reach(char.len_utf8(), UNKNOWN, UNKNOWN_SCORE);
    }
    let mut pieces = Vec::new();
    let mut end = word.len();
    while let Some(way) = ways.get(end).copied().flatten() {
        pieces.push(way.piece);
        end = way.from;
    }
    pieces.reverse();
    pieces
}

#[cfg(test)]
mod tests;
