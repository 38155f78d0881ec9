//! The similarity of rows to a vector; the nearest passage of each row counts.
//!
//! If there are at most [`SIGNED`] passages, all of them are compared. Above this number of passages, recall compares
//! the signs first. Recall then compares the embeddings of only one eighth of the passages, those with the fewest
//! different signs. On all development sets (10,731 passages, 600 questions), this eighth contains 99.98 % of the ten
//! nearest passages of each question; a sixteenth would contain 99.75 %. The passages of the snapshot and of the tail
//! are ranked together.

use super::passages::{PassageTable, SIGNED};
use super::postings::{FieldTf, Posting};
use super::snapshot::Snapshot;
use super::tail::IndexRow;
use super::view::{DocId, IndexView, TermPostings};
use crate::embedding::{DIMENSIONS, Embedding, Vector, differing_signs, signs_of};

/// If there are very many passages, recall compares the embeddings of only a part of them. The part is one divided by
/// this number.
const COMPARED: usize = 8;

/// The similarity of each row of a view to a vector, -1 to 1.
#[derive(Debug, Clone, Default)]
pub struct Similarities {
    snapshot: Vec<f32>,
    tail: Vec<f32>,
    /// True if rows with too many different signs were skipped.
    is_partial: bool,
    /// True if the question is probably not in English.
    is_foreign: bool,
}

/// The similarity of a hidden row, or of a row without an embedding.
const UNKNOWN: f32 = f32::NEG_INFINITY;
/// The value of a row that was skipped because enough other rows are nearer.
const FAR: f32 = 0.0;

impl Similarities {
    /// True if any row has an embedding.
    pub fn is_known(&self) -> bool {
        self.snapshot.iter().chain(&self.tail).any(|near| *near > UNKNOWN)
    }

    /// True if the question is probably not in English.
    pub fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// The similarity of a row; `None` if it has no embedding.
    #[inline]
    pub fn of(&self, doc: DocId) -> Option<f64> {
        let (side, doc) = match doc {
            DocId::Snapshot(doc) => (&self.snapshot, doc),
            DocId::Tail(doc) => (&self.tail, doc),
        };
        side.get(doc as usize).copied().filter(|near| *near > UNKNOWN).map(f64::from)
    }

    /// Every row with an embedding, and its similarity.
    pub fn all(&self) -> impl Iterator<Item = (DocId, f32)> {
        let snapshot = (0..).zip(&self.snapshot).map(|(doc, near)| (DocId::Snapshot(doc), *near));
        let tail = (0..).zip(&self.tail).map(|(doc, near)| (DocId::Tail(doc), *near));
        snapshot.chain(tail).filter(|(_, near)| *near > UNKNOWN)
    }

    /// The rows with at least this similarity, in the format of postings, but without frequencies.
    pub fn from(&self, least: f64) -> TermPostings {
        let posting =
            |(doc, near): (u32, &f32)| (f64::from(*near) >= least).then_some(Posting { doc, tf: FieldTf::default() });
        let side = |side: &[f32]| (0..).zip(side).filter_map(posting).collect();
        TermPostings { own: 0, snapshot: side(&self.snapshot), tail: side(&self.tail) }
    }
}

impl<B: AsRef<[u8]>> IndexView<'_, B> {
    /// True if any row has an embedding. If no row has an embedding, the question needs no embedding either.
    pub fn has_vectors(&self) -> bool {
        let table = self.snapshot.map(Snapshot::passages).unwrap_or_default();
        !table.passages.is_empty() || self.tail_passages().next().is_some()
    }

    /// The similarity of every row to a vector, by its nearest passage. If there are very many passages, rows whose
    /// signs differ too much get 0; see [`IndexView::complete`].
    pub fn similarities(&self, to: &Vector) -> Similarities {
        let table = self.snapshot.map(Snapshot::passages).unwrap_or_default();
        if table.passages.len() + self.tail_passages().count() > SIGNED && self.live_passages(table) > SIGNED {
            return self.nearness_by_signs(to, table);
        }
        let near = to.similarities_to_all(table.passages);
        let mut snapshot = vec![UNKNOWN; self.snapshot.map_or(0, Snapshot::rows) as usize];
        for (best, passages) in snapshot.iter_mut().zip(table.by_row()) {
            *best = near.get(passages).unwrap_or_default().iter().fold(UNKNOWN, |best, near| near.max(best));
        }
        self.mask.hidden().for_each(|doc| clear(&mut snapshot, doc));
        Similarities {
            snapshot,
            tail: self.tail_rows().map(|row| row.map_or(UNKNOWN, |row| nearest(to, row))).collect(),
            is_partial: false,
            is_foreign: to.is_foreign(),
        }
    }

    /// Also compares the rows that contain a query term, whatever their signs, so that recall treats all these rows equally.
    pub fn complete(&self, similarities: &mut Similarities, to: &Vector, lists: &[TermPostings]) {
        if !similarities.is_partial {
            return;
        }
        let table = self.snapshot.map(Snapshot::passages).unwrap_or_default();
        for posting in lists.iter().flat_map(|list| &list.snapshot) {
            if let Some(best) = left_out(&mut similarities.snapshot, posting.doc) {
                *best = nearest_of(to, table, posting.doc);
            }
        }
        for posting in lists.iter().flat_map(|list| &list.tail) {
            if let Some(best) = left_out(&mut similarities.tail, posting.doc) {
                *best = self.tail.row(posting.doc).map_or(UNKNOWN, |row| nearest(to, row));
            }
        }
    }

    fn nearness_by_signs(&self, to: &Vector, table: PassageTable<'_>) -> Similarities {
        let mut differing = if table.signs.is_empty() {
            let signs: Vec<u8> = table.passages.iter().flat_map(signs_of).collect();
            differing_signs(to, &signs)
        } else {
            differing_signs(to, table.signs)
        };
        for passage in self.mask.hidden().flat_map(|doc| table.of_row(doc)) {
            if let Some(differing) = differing.get_mut(passage) {
                *differing = u16::MAX;
            }
        }
        let fresh: Vec<u8> = self.tail_passages().flat_map(signs_of).collect();
        let fresh = differing_signs(to, &fresh);
        let most = most_differing(differing.iter().chain(&fresh));
        let mut snapshot = vec![UNKNOWN; self.snapshot.map_or(0, Snapshot::rows) as usize];
        for (doc, (best, passages)) in (0..).zip(snapshot.iter_mut().zip(table.by_row())) {
            let passages = differing.get(passages).unwrap_or_default();
            if passages.iter().any(|differing| *differing <= most) {
                *best = nearest_of(to, table, doc);
            } else if !passages.is_empty() {
                *best = FAR;
            }
        }
        let mut fresh = fresh.into_iter();
        let tail = self.tail_rows().map(|row| {
            let Some(row) = row else { return UNKNOWN };
            let count = Embedding::vectors(&row.embedding).len();
            let passages = fresh.by_ref().take(count);
            // The iterator must be consumed completely, so that the next row begins with its own passages.
            let least = passages.fold(u16::MAX, u16::min);
            match count {
                0 => UNKNOWN,
                _ if least <= most => nearest(to, row),
                _ => FAR,
            }
        });
        let tail = tail.collect();
        Similarities { snapshot, tail, is_partial: true, is_foreign: to.is_foreign() }
    }

    fn live_passages(&self, table: PassageTable<'_>) -> usize {
        let hidden: usize = self.mask.hidden().map(|doc| table.of_row(doc).len()).sum();
        table.passages.len() - hidden + self.tail_passages().count()
    }

    /// The rows of the tail; `None` for replaced or deleted ones.
    fn tail_rows(&self) -> impl Iterator<Item = Option<&IndexRow>> {
        let all = 0..u32::try_from(self.tail.pushed()).unwrap_or(u32::MAX);
        all.map(|doc| self.tail.row(doc).filter(|_| self.tail.is_current(doc)))
    }

    fn tail_passages(&self) -> impl Iterator<Item = &[u8; DIMENSIONS]> {
        self.tail_rows().flatten().flat_map(|row| Embedding::vectors(&row.embedding)).filter_map(<[u8]>::last_chunk)
    }
}

/// The similarity of a row that has an embedding and may have been skipped.
fn left_out(rows: &mut [f32], doc: u32) -> Option<&mut f32> {
    rows.get_mut(doc as usize).filter(|near| **near > UNKNOWN && **near <= FAR)
}

fn clear(rows: &mut [f32], doc: u32) {
    if let Some(row) = rows.get_mut(doc as usize) {
        *row = UNKNOWN;
    }
}

/// The nearest passage of a row in the tail.
fn nearest(to: &Vector, row: &IndexRow) -> f32 {
    Embedding::vectors(&row.embedding).map(|vector| to.similarities_to_bytes(vector)).fold(UNKNOWN, f32::max)
}

/// The nearest passage of a row in the snapshot.
fn nearest_of(to: &Vector, table: PassageTable<'_>, doc: u32) -> f32 {
    to.similarities_to_all(table.passages.part(table.of_row(doc))).into_iter().fold(UNKNOWN, f32::max)
}

/// The smallest limit on the number of different signs that still includes the required part of all passages.
fn most_differing<'d>(all: impl Iterator<Item = &'d u16>) -> u16 {
    let mut counts = [0_usize; DIMENSIONS + 1];
    for differing in all {
        if let Some(count) = counts.get_mut(usize::from(*differing)) {
            *count += 1;
        }
    }
    let share = counts.iter().sum::<usize>().div_ceil(COMPARED);
    let mut passed = 0;
    let reached = counts.iter().position(|count| {
        passed += count;
        passed >= share
    });
    reached.and_then(|most| u16::try_from(most).ok()).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
