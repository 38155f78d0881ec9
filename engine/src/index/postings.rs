//! Lists of the rows that hold a term.

use super::forward::FieldTf;
use super::varint;

/// One row that holds a term: its number within a segment, and where the term stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// Number of the row within its segment, from 0.
    pub doc: u32,
    /// How often and where.
    pub tf: FieldTf,
}

/// A list under construction: rows must be pushed in ascending order.
#[derive(Debug, Default)]
pub(super) struct PostingsWriter {
    bytes: Vec<u8>,
    count: u32,
    own: u32,
    last: u32,
}

impl PostingsWriter {
    pub(super) fn push(&mut self, posting: Posting) {
        varint::put(&mut self.bytes, posting.doc - self.last);
        posting.tf.put(&mut self.bytes);
        self.last = posting.doc;
        self.count += 1;
        self.own += u32::from(posting.tf.is_own());
    }

    /// Appends count, own count and the list.
    pub(super) fn finish(&self, out: &mut Vec<u8>) {
        varint::put(out, self.count);
        varint::put(out, self.own);
        out.extend_from_slice(&self.bytes);
    }
}

/// Reads a list as [`PostingsWriter::finish`] wrote it. Ends early, never fails, on damaged bytes.
#[derive(Debug, Clone)]
pub(super) struct PostingsReader<'a> {
    bytes: &'a [u8],
    left: u32,
    own: u32,
    doc: u32,
}

impl<'a> PostingsReader<'a> {
    pub(super) fn new(mut bytes: &'a [u8]) -> Option<Self> {
        let left = varint::take(&mut bytes)?;
        let own = varint::take(&mut bytes)?;
        Some(Self { bytes, left, own, doc: 0 })
    }

    /// Rows that hold the term themselves.
    pub(super) fn own(&self) -> u32 {
        self.own
    }

    /// Rows left to read, as far as the list says.
    pub(super) fn left(&self) -> u32 {
        self.left
    }
}

impl Iterator for PostingsReader<'_> {
    type Item = Posting;

    #[inline]
    fn next(&mut self) -> Option<Posting> {
        self.left = self.left.checked_sub(1)?;
        self.doc = self.doc.checked_add(varint::take(&mut self.bytes)?)?;
        Some(Posting { doc: self.doc, tf: FieldTf::take(&mut self.bytes)? })
    }
}
