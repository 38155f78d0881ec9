//! Word pieces, like the reference tokenizer of XLM-R (SentencePiece, unigram model).
//!
//! The text is normalised. Each word is cut into the pieces with the highest product of probabilities. A text such as
//! `</s>` is ordinary text, so no text can contain a special piece.

use std::ops::Range;

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
    /// The place in the text of each byte of the word.
    origins: Vec<Range<usize>>,
    found: Vec<u16>,
    /// The place in the text of each found piece.
    places: Vec<Range<usize>>,
}

impl<'a> UnigramCutter<'a> {
    pub(super) fn new(weights: &'a E5) -> Self {
        let (pieces, changed) = (&weights.pieces, &weights.changed);
        Self { pieces, changed, word: String::new(), origins: Vec::new(), found: Vec::new(), places: Vec::new() }
    }

    /// The first `most` pieces of a prefix and a text, as rows of the word table, between the marks of begin and end.
    pub(super) fn cut(self, prefix: &str, text: &str, most: usize) -> Vec<u16> {
        self.cut_with_places(prefix, text, most).0
    }

    /// The same, and the place of each piece in the text. The places are right if the text is in the normal form C.
    /// Marks and pieces of the prefix have an empty place.
    pub(super) fn cut_with_places(mut self, prefix: &str, text: &str, most: usize) -> (Vec<u16>, Vec<Range<usize>>) {
        self.push(BEGIN, 0..0);
        let mut at = 0;
        let before = prefix.len();
        for char in prefix.chars().chain(text.chars()).nfc() {
            if self.found.len() > most {
                break;
            }
            let origin = at.max(before) - before..(at + char.len_utf8()).max(before) - before;
            at += char.len_utf8();
            match self.changed.becomes(char) {
                Some(becomes) => becomes.chars().for_each(|char| self.take(char, &origin)),
                // The table has no entry for NUL, but removes all similar characters.
                None if char == '\0' => {}
                None => self.take(char, &origin),
            }
        }
        self.end_word();
        self.found.truncate(most.saturating_add(1));
        self.places.truncate(most.saturating_add(1));
        self.push(END, 0..0);
        (self.found, self.places)
    }

    fn push(&mut self, piece: u16, place: Range<usize>) {
        self.found.push(piece);
        self.places.push(place);
    }

    fn take(&mut self, char: char, origin: &Range<usize>) {
        if char == ' ' || self.word.len() > LONGEST_WORD {
            self.end_word();
        }
        if char != ' ' {
            if self.word.is_empty() {
                self.add(WORD_START, &(origin.start..origin.start));
            }
            self.add(char, origin);
        }
    }

    fn add(&mut self, char: char, origin: &Range<usize>) {
        self.word.push(char);
        self.origins.extend(std::iter::repeat_n(origin.clone(), char.len_utf8()));
    }

    fn end_word(&mut self) {
        let mut from = 0;
        let mut last = None;
        for (piece, end) in best_pieces(self.pieces, &self.word) {
            let place =
                self.origins.get(from..end).and_then(|origins| Some(origins.first()?.start..origins.last()?.end));
            let place = place.unwrap_or_default();
            from = end;
            // Neighbouring unknown characters are one piece.
            if piece == UNKNOWN && last.replace(piece) == Some(UNKNOWN) {
                self.places.last_mut().into_iter().for_each(|before| before.end = place.end);
            } else {
                last = Some(piece);
                self.push(piece, place);
            }
        }
        self.word.clear();
        self.origins.clear();
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

/// The pieces of a word with the highest sum of scores, each with its end in the word.
fn best_pieces(table: &UnigramTable, word: &str) -> Vec<(u16, usize)> {
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
        pieces.push((way.piece, end));
        end = way.from;
    }
    pieces.reverse();
    pieces
}

#[cfg(test)]
mod tests;
