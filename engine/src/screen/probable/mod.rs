//! Finds probable secrets that no rule can recognise, because people phrase them in countless ways and languages.
//!
//! Three small classifiers decide (see docs/architecture/secrets.md): the first reads the letters of a text, the second
//! the mean row of the encoder, and the third the row of each piece. `tessera-train phrases` trains them.

mod shape;
mod spans;
mod table;
mod words;

use std::collections::BTreeSet;
use std::ops::Range;

use tessera_screen::{Finding, Kind, places};
use unicode_normalization::{UnicodeNormalization as _, is_nfc};
use unicode_segmentation::UnicodeSegmentation as _;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::embedding::{Encoder, WIDTH};
pub use shape::SHAPES;
pub use table::{DEVIATION, FACTOR_BITS, INPUTS, Row, Scale, TEXT_INPUTS, Table, UNITS};
pub use words::{BUCKETS, buckets};

/// The kind of all findings of this module.
pub const PROBABLE: Kind = Kind::new("probable secret");

/// A text is read by the encoder only if its letters have at least this logit, in 1/1024. This logit is reached by 97 %
/// of the secrets of the development and test sets and by 27 % of everyday notes.
const LEAST_LETTERS: i32 = -2048;
/// The least logit of the letters in a text with many parts. 84 % of the secrets and 5 % of everyday notes reach it.
const LEAST_LETTERS_OF_MANY: i32 = -1024;
/// A text contains a secret if the sum of the logits of its best piece and of the text, and half the logit of its
/// letters, is at least this, in 1/1024. With it, 2 of 483 everyday notes of the development sets are changed.
const LEAST_SUM: i32 = 768;
/// The maximum length of a part that is read at once, in bytes. The encoder reads about a hundred words.
const LONGEST_PART: usize = 320;
/// The number of different parts of a text that are read. Longer texts are documents; the rules read them completely.
const MOST_PARTS: usize = 24;
/// In a text with more parts than this, fewer of them are read by the encoder.
const FEW_PARTS: usize = 4;

/// The trained table.
const TABLE: &[u8] = include_bytes!("probable.bin");

/// A part of a text as the classifiers read it.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The pieces of the encoder.
    pub pieces: Vec<Piece>,
    /// The mean row.
    pub mean: Row,
}

/// A piece of a text.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Its place in the text; empty for marks.
    pub place: Range<usize>,
    /// Its row.
    pub row: Row,
    /// Its features.
    pub shape: [i8; SHAPES],
}

impl Reading {
    /// Reads a text in the normal form C.
    pub fn of(text: &str, scales: &[Scale]) -> Self {
        let (places, rows): (Vec<_>, Vec<_>) = Encoder::shared().pieces(text).into_iter().unzip();
        let shapes = shape::shapes(text, &places);
        let rows = rows.iter().map(|row| table::row(scales, row));
        let pieces: Vec<Piece> =
            places.into_iter().zip(rows).zip(shapes).map(|((place, row), shape)| Piece { place, row, shape }).collect();
        let mean = mean(pieces.iter().map(|piece| piece.row));
        Self { pieces, mean }
    }

    /// The places of the pieces without the marks, each with the value that belongs to the piece.
    fn said<'a, T>(&'a self, values: &'a [T]) -> impl Iterator<Item = (&'a Range<usize>, &'a T)> {
        let places = self.pieces.iter().map(|piece| &piece.place);
        places.zip(values).filter(|(place, _)| !place.is_empty())
    }

    /// The inputs of the classifier of texts.
    pub fn text_inputs(&self) -> Vec<i8> {
        let said = || self.said(&self.pieces).map(|(_, piece)| piece.shape);
        let largest = said().fold([0; SHAPES], |mut largest, shape| {
            largest.iter_mut().zip(shape).for_each(|(largest, value)| *largest = value.max(*largest));
            largest
        });
        self.mean.into_iter().chain(largest).chain(mean(said())).collect()
    }
}

/// The mean of rows, rounded towards zero.
fn mean<const N: usize>(rows: impl Iterator<Item = [i8; N]>) -> [i8; N] {
    let (mut sums, mut count) = ([0_i32; N], 0);
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += i32::from(value));
        count += 1;
    }
    sums.map(|sum| i8::try_from(sum / count.max(1)).unwrap_or_default())
}

/// The probable secrets of a text, in order.
pub fn probable(text: &str) -> Vec<Finding> {
    Table::read(TABLE).map(|table| probable_by(&table, text)).unwrap_or_default()
}

/// A digest of a text and of the trained table. An equal digest means an equal result.
pub fn digest(text: &str) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), xxh3_64(TABLE))
}

/// The probable secrets of a text, according to a table.
pub fn probable_by(table: &Table<'_>, text: &str) -> Vec<Finding> {
    if is_document(text) || is_one_token(text) {
        return Vec::new();
    }
    let plain = Plain::of(text);
    let parts = parts(&plain.text);
    let least = if parts.len() > FEW_PARTS { LEAST_LETTERS_OF_MANY } else { LEAST_LETTERS };
    let taken = places(text);
    let mut read = BTreeSet::new();
    let mut found = Vec::new();
    for part in parts {
        // A part with a placeholder was read before. Read again without its secret, it might seem to contain another.
        let whole = Finding { span: plain.origin(&part), kind: PROBABLE };
        if taken.iter().any(|(place, _)| whole.overlaps(place)) {
            continue;
        }
        let said = plain.text.get(part.clone()).unwrap_or_default();
        if read.len() == MOST_PARTS || !read.insert(said) {
            continue;
        }
        for span in secrets(table, said, least) {
            let span = plain.origin(&(part.start + span.start..part.start + span.end));
            if !span.is_empty() && !text.get(span.clone()).is_some_and(names_file) {
                found.push(Finding { span, kind: PROBABLE });
            }
        }
    }
    found
}

/// True for a Markdown document with front matter, headings or observations (`- [category] text`). Nobody wrote training
/// sentences of this kind, and the classifiers find secrets in such documents where there are none.
fn is_document(text: &str) -> bool {
    let is_part =
        |line: &str| line.trim_start_matches('#').starts_with(' ') && line.starts_with('#') || line.starts_with("- [");
    text.starts_with("---\n") || text.lines().any(is_part)
}

/// True for the name of a file.
fn names_file(text: &str) -> bool {
    const ENDINGS: [&str; 24] = [
        "c", "cpp", "css", "csv", "db", "go", "gz", "h", "html", "java", "jpg", "js", "json", "log", "md", "pdf",
        "png", "py", "rs", "sh", "sql", "toml", "txt", "yaml",
    ];
    let ending = text.rsplit_once('.').map_or("", |(_, ending)| ending);
    !text.contains(char::is_whitespace) && ENDINGS.contains(&ending)
}

/// True for a token, an address or an assignment alone. Nothing around it says what it means, so only the rules decide.
/// Other scripts write sentences without spaces.
fn is_one_token(text: &str) -> bool {
    text.is_ascii() && !text.trim().contains(char::is_whitespace)
}

/// The probable secrets of a short text.
fn secrets(table: &Table<'_>, text: &str, least: i32) -> Vec<Range<usize>> {
    let letters = table.letters(text);
    if letters < least {
        return Vec::new();
    }
    let reading = Reading::of(text, &table.scales);
    let logits = table.pieces(&reading);
    let said: Vec<(&Range<usize>, i32)> = reading.said(&logits).map(|(place, logit)| (place, *logit)).collect();
    let best = said.iter().map(|(_, logit)| *logit).max().unwrap_or(i32::MIN / 2);
    let sum = best + table.text(&reading) + letters / 2;
    if sum < LEAST_SUM { Vec::new() } else { spans::spans(text, &said, best) }
}

/// A text in the normal form C, and its origin.
struct Plain<'t> {
    text: std::borrow::Cow<'t, str>,
    /// Where the characters that people see begin in both texts; empty if the texts are equal.
    origins: Vec<(usize, usize)>,
}

impl<'t> Plain<'t> {
    fn of(text: &'t str) -> Self {
        if is_nfc(text) {
            return Self { text: text.into(), origins: Vec::new() };
        }
        let (mut plain, mut origins) = (String::new(), Vec::new());
        for (at, seen) in text.grapheme_indices(true) {
            origins.push((plain.len(), at));
            plain.extend(seen.nfc());
        }
        origins.push((plain.len(), text.len()));
        Self { text: plain.into(), origins }
    }

    /// The range in the original text.
    fn origin(&self, span: &Range<usize>) -> Range<usize> {
        let start = self.origins.partition_point(|(plain, _)| *plain <= span.start).checked_sub(1);
        let end = self.origins.partition_point(|(plain, _)| *plain < span.end);
        let at = |at: usize| self.origins.get(at).map(|(_, origin)| *origin);
        start.and_then(at).unwrap_or(span.start)..at(end).unwrap_or(span.end)
    }
}

/// Cuts a text into parts of at most [`LONGEST_PART`] bytes: after a line if possible, else after a sentence or a word.
fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while text.len() - start > LONGEST_PART {
        let most = text.floor_char_boundary(start + LONGEST_PART);
        let head = text.get(start..most).unwrap_or_default();
        let after = |end: Option<usize>| end.filter(|end| *end > LONGEST_PART / 4);
        let sentence = || head.rmatch_indices(['.', '!', '?', '。', '！', '？']).map(|(at, end)| at + end.len());
        let cut = after(head.rfind('\n').map(|at| at + 1))
            .or_else(|| after(sentence().next()))
            .or_else(|| after(head.rfind(' ').map(|at| at + 1)))
            .unwrap_or(head.len());
        parts.push(start..start + cut.max(1));
        start += cut.max(1);
    }
    parts.push(start..text.len());
    parts
}

#[cfg(test)]
mod tests;
