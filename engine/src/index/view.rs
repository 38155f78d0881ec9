//! One index, combined from a snapshot and a tail. Every reader uses this view.

use std::collections::BTreeSet;

use fst::{Automaton, IntoStreamer, Streamer};

use super::features::Features;
use super::label::Label;
use super::postings::{FieldTf, Posting};
use super::snapshot::Snapshot;
use super::tail::Tail;

/// Maximum number of corrections for a misspelt word.
const MOST_NEAR: usize = 64;

/// A row of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocId {
    /// In the snapshot, by number.
    Snapshot(u32),
    /// In the tail, by number.
    Tail(u32),
}

/// The rows that contain a term, without masked (replaced) rows.
#[derive(Debug, Clone, Default)]
pub struct TermPostings {
    /// The number of live rows whose own text contains the term. Rows with the term only in their context do not count.
    pub own: u32,
    /// Rows of the snapshot, ascending.
    pub snapshot: Vec<Posting>,
    /// Rows of the tail, ascending.
    pub tail: Vec<Posting>,
}

impl TermPostings {
    /// The rows that contain both terms in their own fields, with the lower of the two frequencies.
    pub fn and(&self, other: &Self) -> Self {
        let (snapshot, tail) = (both(&self.snapshot, &other.snapshot), both(&self.tail, &other.tail));
        Self { own: u32::try_from(snapshot.len() + tail.len()).unwrap_or(u32::MAX), snapshot, tail }
    }
}

fn both(a: &[Posting], b: &[Posting]) -> Vec<Posting> {
    let row = |one: &Posting| {
        let at = b.binary_search_by_key(&one.doc, |posting| posting.doc).ok()?;
        let other = b.get(at).filter(|other| one.tf.is_own() && other.tf.is_own())?;
        let content = one.tf.content.min(other.tf.content).max(1);
        Some(Posting { doc: one.doc, tf: FieldTf { content, ..FieldTf::default() } })
    };
    a.iter().filter_map(row).collect()
}

/// The rows of a snapshot that newer rows of the tail replace. A caller can keep the mask between queries.
#[derive(Debug, Clone, Default)]
pub struct Mask {
    masked: Vec<u64>,
    rows: u32,
    total_length: u64,
}

impl Mask {
    /// Rows of the tail mask rows of the snapshot with the same ID.
    pub fn of<B: AsRef<[u8]>>(snapshot: Option<&Snapshot<B>>, tail: &Tail) -> Self {
        let mut mask = Self::default();
        if let Some(snapshot) = snapshot {
            mask.rows = snapshot.rows();
            mask.total_length = snapshot.total_length();
            tail.short_ids().filter_map(|short_id| snapshot.find(short_id)).for_each(|doc| mask.hide(snapshot, doc));
        }
        for row in tail.current() {
            mask.rows += 1;
            mask.total_length += u64::from(row.features.length);
        }
        mask
    }

    fn hide<B: AsRef<[u8]>>(&mut self, snapshot: &Snapshot<B>, doc: u32) {
        if self.masked.is_empty() {
            self.masked = vec![0; (snapshot.rows() as usize).div_ceil(64)];
        }
        if let Some(word) = self.masked.get_mut(doc as usize / 64) {
            *word |= 1 << (doc % 64);
        }
        self.rows = self.rows.saturating_sub(1);
        self.total_length = self.total_length.saturating_sub(u64::from(snapshot.features(doc).length));
    }

    #[inline]
    pub(super) fn hides(&self, doc: u32) -> bool {
        self.masked.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    /// The hidden rows of the snapshot, ascending.
    pub(super) fn hidden(&self) -> impl Iterator<Item = u32> {
        let words = (0_u32..).zip(&self.masked).filter(|(_, word)| **word != 0);
        words.flat_map(|(at, _)| at * 64..(at + 1) * 64).filter(|doc| self.hides(*doc))
    }
}

/// A snapshot and the later changes, as one index.
#[derive(Debug)]
pub struct IndexView<'a, B> {
    pub(super) snapshot: Option<&'a Snapshot<B>>,
    pub(super) tail: &'a Tail,
    pub(super) mask: &'a Mask,
}

impl<'a, B: AsRef<[u8]>> IndexView<'a, B> {
    /// Combines a snapshot and a tail; `mask` is the result of [`Mask::of`].
    pub fn new(snapshot: Option<&'a Snapshot<B>>, tail: &'a Tail, mask: &'a Mask) -> Self {
        Self { snapshot, tail, mask }
    }

    /// The number of live rows.
    pub fn rows(&self) -> u32 {
        self.mask.rows
    }

    /// The mean length of live rows; 1 if there are none.
    pub fn mean_length(&self) -> f64 {
        if self.mask.rows == 0 || self.mask.total_length == 0 {
            return 1.0;
        }
        self.mask.total_length as f64 / f64::from(self.mask.rows)
    }

    /// For each term in `terms` (sorted and unique), returns the rows that contain it.
    pub fn postings(&self, terms: &[&[u8]]) -> Vec<TermPostings> {
        let tail = self.tail.postings(terms);
        let lists = terms.iter().zip(tail).map(|(term, tail)| {
            let mut list = TermPostings { own: 0, snapshot: Vec::new(), tail };
            list.own = u32::try_from(list.tail.iter().filter(|p| p.tf.is_own()).count()).unwrap_or(u32::MAX);
            let Some(reader) = self.snapshot.and_then(|snapshot| snapshot.postings(term)) else { return list };
            list.snapshot.reserve(reader.left().min(self.mask.rows) as usize);
            if self.mask.masked.is_empty() {
                list.own += reader.own();
                list.snapshot.extend(reader);
            } else {
                list.snapshot.extend(reader.filter(|p| !self.mask.hides(p.doc)));
                list.own += u32::try_from(list.snapshot.iter().filter(|p| p.tf.is_own()).count()).unwrap_or(u32::MAX);
            }
            list
        });
        lists.collect()
    }

    /// For each term in `terms` (sorted and unique), returns the number of rows whose own text contains it. Replaced rows
    /// of the snapshot count too, so the rows need not be read.
    pub fn holders(&self, terms: &[&[u8]]) -> Vec<u32> {
        let tail = self.tail.postings(terms);
        let own = terms.iter().zip(tail).map(|(term, tail)| {
            let fresh = u32::try_from(tail.iter().filter(|row| row.tf.is_own()).count()).unwrap_or(u32::MAX);
            let stored = self.snapshot.and_then(|snapshot| snapshot.postings(term)).map_or(0, |reader| reader.own());
            stored.saturating_add(fresh)
        });
        own.collect()
    }

    /// The rows whose stored features pass a test. Reads every row.
    pub fn rows_where(&self, passes: impl Fn(&Features) -> bool) -> TermPostings {
        let posting = |doc| Posting { doc, tf: FieldTf::default() };
        let rows = self.snapshot.map_or(0, Snapshot::rows);
        let shown = (0..rows).filter(|doc| !self.mask.hides(*doc) && passes(&self.features(DocId::Snapshot(*doc))));
        let tail = (0..u32::try_from(self.tail.pushed()).unwrap_or(u32::MAX)).filter(|doc| self.tail.is_current(*doc));
        let fresh = tail.filter(|doc| passes(&self.features(DocId::Tail(*doc))));
        TermPostings { own: 0, snapshot: shown.map(posting).collect(), tail: fresh.map(posting).collect() }
    }

    /// The features of a row.
    #[inline]
    pub fn features(&self, doc: DocId) -> Features {
        match doc {
            DocId::Snapshot(doc) => self.snapshot.map(|snapshot| snapshot.features(doc)).unwrap_or_default(),
            DocId::Tail(doc) => self.tail.row(doc).map(|row| row.features).unwrap_or_default(),
        }
    }

    /// The live row with an ID.
    pub fn find(&self, short_id: u32) -> Option<DocId> {
        if let Some(doc) = self.tail.find(short_id) {
            return self.tail.is_current(doc).then_some(DocId::Tail(doc));
        }
        self.snapshot?.find(short_id).map(DocId::Snapshot)
    }

    /// The ID of the row that replaces a superseded one, or that updates an older one.
    pub fn successor(&self, doc: DocId) -> Option<u32> {
        match doc {
            DocId::Snapshot(doc) => self.snapshot?.successor(doc),
            DocId::Tail(doc) => self.tail.row(doc)?.successor,
        }
    }

    /// Returns false if the snapshot already has the maximum number of scopes (65,535). If the snapshot contains too
    /// many scopes, [`IndexView::scope_test`] misses some rows.
    pub fn knows_every_scope(&self) -> bool {
        self.snapshot.is_none_or(|snapshot| snapshot.scopes().len() < usize::from(u16::MAX))
    }

    /// A fast test whether the scope of a row satisfies `wanted`.
    pub fn scope_test<'v>(&'v self, wanted: impl Fn(&str) -> bool + 'v) -> impl Fn(DocId) -> bool + 'v {
        let known: Vec<bool> =
            self.snapshot.map(|s| s.scopes().iter().map(|name| wanted(name)).collect()).unwrap_or_default();
        move |doc| match doc {
            DocId::Snapshot(doc) => {
                let number = self.snapshot.map_or(u16::MAX, |snapshot| snapshot.scope_number(doc));
                known.get(usize::from(number)).copied().unwrap_or(false)
            }
            DocId::Tail(doc) => self.tail.row(doc).is_some_and(|row| wanted(&row.scope)),
        }
    }

    /// The scopes of its rows that satisfy `wanted`, in byte order.
    pub fn scopes_where(&self, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let known = self.snapshot.map(Snapshot::scopes).unwrap_or_default().iter().map(String::as_str);
        let tail = (0..u32::try_from(self.tail.pushed()).unwrap_or(u32::MAX)).filter(|doc| self.tail.is_current(*doc));
        let fresh = tail.filter_map(|doc| self.tail.row(doc)).map(|row| &*row.scope);
        let names: BTreeSet<&str> = known.chain(fresh).collect();
        names.into_iter().filter(|name| wanted(name)).map(str::to_owned).collect()
    }

    /// Words of the index that a misspelt or shortened `word` may mean, at most 64. First come
    /// words within `edits` insertions, deletions or replacements, then words that begin with
    /// `word`, each group in byte order.
    pub fn near_words(&self, word: &str, edits: u32) -> Vec<String> {
        let Ok(distance) = fst::automaton::Levenshtein::new(word, edits) else { return Vec::new() };
        let mut near = self.accepted(&distance);
        let longer = self.accepted(&fst::automaton::Str::new(word).starts_with());
        near.extend(longer.into_iter().filter(|term| !accepts(&distance, term.as_bytes())));
        near.truncate(MOST_NEAR);
        near
    }

    /// The first words that an automaton accepts.
    fn accepted<A: Automaton>(&self, automaton: &A) -> Vec<String> {
        let mut found = BTreeSet::new();
        if let Some(dictionary) = self.snapshot.and_then(Snapshot::dictionary) {
            let mut stream = dictionary.search(automaton).into_stream();
            while found.len() < MOST_NEAR
                && let Some((term, _)) = stream.next()
            {
                found.extend(std::str::from_utf8(term).ok().map(str::to_owned));
            }
        }
        self.tail.visit_terms(|term| {
            if !Label::is_label(term) && accepts(automaton, term) {
                found.extend(std::str::from_utf8(term).ok().map(str::to_owned));
            }
        });
        found.into_iter().take(MOST_NEAR).collect()
    }
}

fn accepts<A: Automaton>(automaton: &A, term: &[u8]) -> bool {
    let mut state = automaton.start();
    for byte in term {
        if !automaton.can_match(&state) {
            return false;
        }
        state = automaton.accept(&state, *byte);
    }
    automaton.is_match(&state)
}
