//! The embeddings of a snapshot's passages, in the order in which a search reads them.
//!
//! ```text
//! values     DIMENSIONS bytes per passage, row by row
//! squares    4 bytes per passage: the sum of the squares of its values
//! signs      SIGN_BYTES per passage, if there are more than SIGNED
//! ends       4 bytes per row: the number of passages up to its last one
//! count      4 bytes: the number of passages; 0 without any of the above
//! ```

use std::ops::Range;

use crate::embedding::{DIMENSIONS, Embedding, Passages, SIGN_BYTES, signs_of};

/// If there are more passages, the snapshot also stores the signs of their embeddings, and recall compares the signs
/// first.
pub(super) const SIGNED: usize = if cfg!(test) { 400 } else { 100_000 };

/// A readable section. The empty one has no passages.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PassageTable<'a> {
    pub(super) passages: Passages<'a>,
    /// The stored signs of the embeddings; empty for a small snapshot, in which they are computed from the embeddings.
    pub(super) signs: &'a [u8],
    ends: &'a [[u8; 4]],
}

impl<'a> PassageTable<'a> {
    /// Reads the section with the passages of a snapshot that has this number of rows. Returns `None` if the lengths of
    /// its parts contradict each other.
    pub(super) fn of(section: &'a [u8], rows: u32) -> Option<Self> {
        let (rest, count) = section.split_last_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        if count == 0 {
            return rest.is_empty().then(Self::default);
        }
        let (values, rest) = rest.split_at_checked(count.checked_mul(DIMENSIONS)?)?;
        let (squares, rest) = rest.split_at_checked(count * 4)?;
        let (signs, ends) = rest.split_at_checked(if count > SIGNED { count * SIGN_BYTES } else { 0 })?;
        let (ends, left) = ends.as_chunks::<4>();
        let is_whole = left.is_empty() && ends.len() == rows as usize;
        is_whole.then_some(Self { passages: Passages { values, squares }, signs, ends })
    }

    /// The passages of a row.
    #[inline]
    pub(super) fn of_row(&self, row: u32) -> Range<usize> {
        let end = |row: u32| self.ends.get(row as usize).map_or(0, |end| u32::from_le_bytes(*end) as usize);
        let end_of_row = end(row).min(self.passages.len());
        row.checked_sub(1).map_or(0, end).min(end_of_row)..end_of_row
    }

    /// The passages of every row, in order.
    pub(super) fn by_row(&self) -> impl Iterator<Item = Range<usize>> {
        let all = self.passages.len();
        self.ends.iter().scan(0, move |begin, end| {
            let end = (u32::from_le_bytes(*end) as usize).clamp(*begin, all);
            Some(std::mem::replace(begin, end)..end)
        })
    }
}

/// Writes a section, row by row.
#[derive(Default)]
pub(super) struct PassageWriter {
    values: Vec<u8>,
    squares: Vec<u8>,
    ends: Vec<u8>,
}

impl PassageWriter {
    pub(super) fn add(&mut self, embedding: &[u8]) {
        for vector in Embedding::vectors(embedding) {
            if let Some((squares, values)) = vector.split_first_chunk::<4>() {
                self.squares.extend(squares);
                self.values.extend_from_slice(values);
            }
        }
        self.ends.extend(u32::try_from(self.squares.len() / 4).unwrap_or(u32::MAX).to_le_bytes());
    }

    pub(super) fn finish(self, out: &mut Vec<u8>) {
        let count = self.squares.len() / 4;
        if count > 0 {
            out.extend_from_slice(&self.values);
            out.extend_from_slice(&self.squares);
            if count > SIGNED {
                out.extend(Passages { values: &self.values, squares: &self.squares }.iter().flat_map(signs_of));
            }
            out.extend_from_slice(&self.ends);
        }
        out.extend(u32::try_from(count).unwrap_or(0).to_le_bytes());
    }
}
