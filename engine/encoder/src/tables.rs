//! Lookups in the tables of the tokenizers.

use super::weights::{Bytes4, ChangeTable, SortedTexts};

impl SortedTexts {
    /// The texts that are a prefix of `bytes`, the shortest first: their positions in the table, and their lengths.
    pub(super) fn prefixes(&self, bytes: impl Iterator<Item = u8>) -> impl Iterator<Item = (usize, usize)> {
        let mut among = 0..self.offsets.len().saturating_sub(1);
        let narrowed = bytes.enumerate().map_while(move |(depth, byte)| {
            let reaches = |at: &usize| self.at(*at).get(depth).is_some_and(|found| *found >= byte);
            let exceeds = |at: &usize| self.at(*at).get(depth).is_some_and(|found| *found > byte);
            let begin = first(among.clone(), reaches);
            among = begin..first(begin..among.end, exceeds);
            (!among.is_empty()).then_some((begin, depth + 1))
        });
        narrowed.filter(|(at, length)| self.at(*at).len() == *length)
    }

    fn at(&self, at: usize) -> &[u8] {
        self.text.get(span(self.offsets, at)).unwrap_or_default()
    }
}

impl ChangeTable {
    /// What replaces a character; `None` if it stays.
    pub(super) fn becomes(&self, char: char) -> Option<&str> {
        let at = self.changed.binary_search_by_key(&u32::from(char), |changed| number(*changed)).ok()?;
        std::str::from_utf8(self.becomes.get(span(self.offsets, at))?).ok()
    }
}

/// Returns the first element of a range that passes the test. All later elements must pass it too.
fn first(among: std::ops::Range<usize>, passes: impl Fn(&usize) -> bool) -> usize {
    let (mut low, mut high) = (among.start, among.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if passes(&middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

pub(super) fn number(bytes: Bytes4) -> u32 {
    u32::from_le_bytes(bytes)
}

fn span(offsets: &[Bytes4], at: usize) -> std::ops::Range<usize> {
    let offset = |at: usize| offsets.get(at).map_or(0, |offset| number(*offset) as usize);
    offset(at)..offset(at + 1)
}
