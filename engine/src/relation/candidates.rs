//! The older memories with which a new one is compared: the most similar ones, and those that share its rarest terms.

use std::collections::{BTreeMap, BTreeSet};

use super::PreparedText;
use super::pair::Holders;
use crate::index::{DocId, Flags, IndexView, Similarities};

/// The maximum number of candidates by similarity, and by shared terms.
const NEAREST: usize = 12;
const SHARING: usize = 8;
/// A term in more rows than this is not looked up.
const RARE: u32 = 400;

/// An older memory to compare with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its ID.
    pub short_id: u32,
    /// Its similarity; `None` if it has no embedding.
    pub near: Option<f64>,
    /// True if another memory already updates it.
    pub is_updated: bool,
}

/// The older memories with which a new text is compared, the most similar first. `counts` is true for rows of the
/// same or a wider scope. Superseded rows are left out. `holders` gets the number of rows for each term of the text.
pub fn candidates<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    new: &PreparedText,
    similarities: &Similarities,
    counts: impl Fn(DocId) -> bool,
) -> (Vec<Candidate>, Holders) {
    let terms: Vec<&[u8]> = new.terms().map(str::as_bytes).collect();
    let own = view.holders(&terms);
    let holders =
        Holders { rows: view.rows(), terms: new.terms().map(str::to_owned).zip(own.iter().copied()).collect() };
    let is_live = |doc: DocId| !view.features(doc).flags.has(Flags::SUPERSEDED) && counts(doc);
    // Of equal rows, the one with the higher ID comes first, wherever the index keeps the rows.
    let newer_id = |one: DocId, other: DocId| view.features(other).short_id.cmp(&view.features(one).short_id);
    let mut chosen: BTreeSet<DocId> = BTreeSet::new();
    let mut near: Vec<(DocId, f32)> = similarities.all().filter(|(doc, _)| is_live(*doc)).collect();
    near.sort_by(|(one, a), (other, b)| b.total_cmp(a).then_with(|| newer_id(*one, *other)));
    chosen.extend(near.iter().take(NEAREST).map(|(doc, _)| *doc));
    let mut shared: BTreeMap<DocId, i64> = BTreeMap::new();
    let rare: Vec<&str> =
        new.terms().zip(&own).filter(|(_, own)| (1..=RARE).contains(*own)).map(|(term, _)| term).collect();
    // One call for all terms, because each call may read the whole tail.
    let lists = view.postings(&rare.iter().map(|term| term.as_bytes()).collect::<Vec<_>>());
    for (term, list) in rare.iter().zip(&lists) {
        let gain = i64::from(holders.information(term));
        let snapshot = list.snapshot.iter().filter(|row| row.tf.is_own()).map(|row| DocId::Snapshot(row.doc));
        let tail = list.tail.iter().filter(|row| row.tf.is_own()).map(|row| DocId::Tail(row.doc));
        snapshot.chain(tail).for_each(|doc| *shared.entry(doc).or_default() += gain);
    }
    let mut sharing: Vec<(DocId, i64)> = shared.into_iter().filter(|(doc, _)| is_live(*doc)).collect();
    sharing.sort_by(|(one, a), (other, b)| b.cmp(a).then_with(|| newer_id(*one, *other)));
    chosen.extend(sharing.iter().take(SHARING).map(|(doc, _)| *doc));
    let candidate = |doc: DocId| {
        let features = view.features(doc);
        let is_updated = features.flags.has(Flags::UPDATED);
        Candidate { short_id: features.short_id, near: similarities.of(doc), is_updated }
    };
    let mut found: Vec<Candidate> = chosen.into_iter().map(candidate).collect();
    let by_similarity = |candidate: &Candidate| candidate.near.unwrap_or(f64::NEG_INFINITY);
    found.sort_by(|a, b| by_similarity(b).total_cmp(&by_similarity(a)).then(b.short_id.cmp(&a.short_id)));
    (found, holders)
}
