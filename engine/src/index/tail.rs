//! The tail: rows that changed since the snapshot was built. A row of the tail hides the row of the snapshot with the
//! same ID.

use std::collections::HashMap;

use super::features::Features;
use super::forward::scan;
use super::postings::{FieldTf, Posting};

/// A row for the index, from any store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexRow {
    /// Its data for ranking.
    pub features: Features,
    /// The name of its scope.
    pub scope: String,
    /// The ID of the row that replaces this one, or that updates it.
    pub successor: Option<u32>,
    /// The forward blob; empty for a deleted row.
    pub blob: Vec<u8>,
    /// The embedding (see [`crate::embedding::Embedding`]); empty if it is not computed yet.
    pub embedding: Vec<u8>,
}

impl IndexRow {
    /// False for a deleted row.
    pub fn is_live(&self) -> bool {
        !self.blob.is_empty()
    }

    /// Visits the terms of a row in order. A damaged blob has none.
    pub(super) fn scan(&self, visit: impl FnMut(&[u8], FieldTf)) {
        if scan(&self.blob, |_, _| ()).is_ok() {
            let _ = scan(&self.blob, visit);
        }
    }
}

/// Changed rows in order of arrival. A later row replaces an earlier one with the same ID.
#[derive(Debug, Default)]
pub struct Tail {
    rows: Vec<IndexRow>,
    by_short_id: HashMap<u32, u32>,
    inverted: Option<HashMap<Box<[u8]>, Vec<Posting>>>,
}

impl Tail {
    /// A tail that is read once. A query scans the blobs of all rows.
    pub fn scanned() -> Self {
        Self::default()
    }

    /// A tail that is read often. Adds each row to an inverted index, so a query need not scan all rows.
    pub fn inverted() -> Self {
        Self { inverted: Some(HashMap::new()), ..Self::default() }
    }

    /// Adds a changed row.
    pub fn push(&mut self, row: IndexRow) {
        let doc = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        if let Some(inverted) = &mut self.inverted {
            row.scan(|term, tf| match inverted.get_mut(term) {
                Some(list) => list.push(Posting { doc, tf }),
                None => drop(inverted.insert(term.into(), vec![Posting { doc, tf }])),
            });
        }
        self.by_short_id.insert(row.features.short_id, doc);
        self.rows.push(row);
    }

    /// The ranking data of the row with an ID, to update its last use and use count.
    pub fn features_mut(&mut self, short_id: u32) -> Option<&mut Features> {
        let doc = *self.by_short_id.get(&short_id)?;
        self.rows.get_mut(doc as usize).map(|row| &mut row.features)
    }

    /// The number of IDs, including deleted ones.
    pub fn len(&self) -> usize {
        self.by_short_id.len()
    }

    /// True if nothing changed since the snapshot.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number of all added rows, including replaced ones. It shows how much memory a rebuild would save.
    pub fn pushed(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn row(&self, doc: u32) -> Option<&IndexRow> {
        self.rows.get(doc as usize)
    }

    /// The latest row with an ID.
    pub(super) fn find(&self, short_id: u32) -> Option<u32> {
        self.by_short_id.get(&short_id).copied()
    }

    /// True for the latest row of its ID, unless it is deleted.
    pub(super) fn is_current(&self, doc: u32) -> bool {
        self.row(doc).is_some_and(|row| !row.blob.is_empty() && self.find(row.features.short_id) == Some(doc))
    }

    pub(super) fn short_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_short_id.keys().copied()
    }

    pub(super) fn current(&self) -> impl Iterator<Item = &IndexRow> + '_ {
        let is_current = |(doc, _): &(usize, &IndexRow)| self.is_current(u32::try_from(*doc).unwrap_or(u32::MAX));
        self.rows.iter().enumerate().filter(is_current).map(|(_, row)| row)
    }

    /// For each term in `terms` (sorted and unique), returns the current rows that contain it, in the order in which
    /// they were added.
    pub(super) fn postings(&self, terms: &[&[u8]]) -> Vec<Vec<Posting>> {
        let keep = |list: &Vec<Posting>| list.iter().filter(|p| self.is_current(p.doc)).copied().collect();
        if let Some(inverted) = &self.inverted {
            return terms.iter().map(|term| inverted.get(*term).map(keep).unwrap_or_default()).collect();
        }
        let mut lists = vec![Vec::new(); terms.len()];
        for (doc, row) in (0..).zip(&self.rows).filter(|(doc, _)| self.is_current(*doc)) {
            let mut next = 0;
            let mut found = Vec::new();
            let sound = scan(&row.blob, |term, tf| {
                while terms.get(next).is_some_and(|wanted| *wanted < term) {
                    next += 1;
                }
                if terms.get(next) == Some(&term) {
                    found.push((next, Posting { doc, tf }));
                }
            });
            let found = if sound.is_ok() { found } else { Vec::new() };
            for (term, posting) in found {
                if let Some(list) = lists.get_mut(term) {
                    list.push(posting);
                }
            }
        }
        lists
    }

    /// Visits the distinct terms of the current rows.
    pub(super) fn visit_terms(&self, mut visit: impl FnMut(&[u8])) {
        if let Some(inverted) = &self.inverted {
            return inverted.keys().for_each(|term| visit(term));
        }
        for row in self.current() {
            row.scan(|term, _| visit(term));
        }
    }
}
