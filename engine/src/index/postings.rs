//! Lists of the rows that contain a term.
//!
//! Also contains unsigned LEB128, the integer encoding of blobs and snapshots.

/// The frequency of a term in each field of a row, at most 127.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FieldTf {
    /// In the text.
    pub content: u8,
    /// In the keywords.
    pub keywords: u8,
    /// In tags and entities.
    pub tags: u8,
    /// In the category.
    pub category: u8,
    /// The frequency of the term in neighbours of the same captured conversation, in 25ths (see [`super::context_of`]).
    pub context: u8,
}

impl FieldTf {
    /// True if the row itself contains the term, not only its context.
    #[inline]
    pub fn is_own(self) -> bool {
        self.content | self.keywords | self.tags | self.category != 0
    }

    /// Encodes the frequencies of a term: one byte if the term occurs only in the text; otherwise a mask and one byte
    /// per field.
    pub(super) fn put(self, out: &mut Vec<u8>) {
        let fields = [self.content, self.keywords, self.tags, self.category, self.context];
        if fields.iter().skip(1).all(|tf| *tf == 0) && self.content < 0x80 {
            return out.push(self.content);
        }
        let mask = fields.iter().enumerate().filter(|(_, tf)| **tf != 0).fold(0x80, |mask, (bit, _)| mask | 1 << bit);
        out.push(mask);
        out.extend(fields.iter().filter(|tf| **tf != 0));
    }

    #[inline]
    pub(super) fn take(bytes: &mut &[u8]) -> Option<Self> {
        let head = take_byte(bytes)?;
        if head & 0x80 == 0 {
            return Some(Self { content: head, ..Self::default() });
        }
        let mut field = |bit: u8| if head & bit == 0 { Some(0) } else { take_byte(bytes) };
        Some(Self {
            content: field(1)?,
            keywords: field(2)?,
            tags: field(4)?,
            category: field(8)?,
            context: field(16)?,
        })
    }
}

/// A row that contains a term: its number in a segment, and the frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The number of the row in its segment, from 0.
    pub doc: u32,
    /// The frequencies.
    pub tf: FieldTf,
}

/// A list under construction. Rows must be added in ascending order.
#[derive(Debug, Default)]
pub(super) struct PostingsWriter {
    bytes: Vec<u8>,
    count: u32,
    own: u32,
    last: u32,
}

impl PostingsWriter {
    pub(super) fn push(&mut self, posting: Posting) {
        put(&mut self.bytes, posting.doc - self.last);
        posting.tf.put(&mut self.bytes);
        self.last = posting.doc;
        self.count += 1;
        self.own += u32::from(posting.tf.is_own());
    }

    /// Appends the number of rows, the number of rows that contain the term outside their context, and the list.
    pub(super) fn finish(&self, out: &mut Vec<u8>) {
        put(out, self.count);
        put(out, self.own);
        out.extend_from_slice(&self.bytes);
    }
}

/// Reads a list from [`PostingsWriter::finish`]. If the bytes are damaged, it ends early, and never fails.
#[derive(Debug, Clone)]
pub(super) struct PostingsReader<'a> {
    bytes: &'a [u8],
    left: u32,
    own: u32,
    doc: u32,
}

impl<'a> PostingsReader<'a> {
    pub(super) fn new(mut bytes: &'a [u8]) -> Option<Self> {
        let left = take(&mut bytes)?;
        let own = take(&mut bytes)?;
        Some(Self { bytes, left, own, doc: 0 })
    }

    /// The number of rows that contain the term outside of their context.
    pub(super) fn own(&self) -> u32 {
        self.own
    }

    /// The number of rows left, according to the list.
    pub(super) fn left(&self) -> u32 {
        self.left
    }
}

impl Iterator for PostingsReader<'_> {
    type Item = Posting;

    #[inline]
    fn next(&mut self) -> Option<Posting> {
        self.left = self.left.checked_sub(1)?;
        self.doc = self.doc.checked_add(take(&mut self.bytes)?)?;
        Some(Posting { doc: self.doc, tf: FieldTf::take(&mut self.bytes)? })
    }
}

pub(super) fn put(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "less than 0x80")]
    out.push(value as u8);
}

/// Reads one value from the front; `None` at the end or for an overlong encoding.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for shift in (0..35).step_by(7) {
        let byte = take_byte(bytes)?;
        value |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[inline]
pub(super) fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip_and_garbage_ends() {
        for value in [0, 1, 127, 128, 300, 16_384, u32::MAX] {
            let mut out = Vec::new();
            put(&mut out, value);
            let mut bytes = out.as_slice();
            assert_eq!(take(&mut bytes), Some(value));
            assert!(bytes.is_empty());
        }
        assert_eq!(take(&mut [0xff; 9].as_slice()), None);
        assert_eq!(take(&mut [].as_slice()), None);
    }
}
