//! Puts a memory before the older memories that it updates, and marks the older ones.

use std::collections::{BTreeMap, BTreeSet};

use super::allowed::Allowed;
use super::rank::Match;
use super::scorer::{Scorer, Signs};
use crate::index::{DocId, Features, Flags, IndexView};

/// Follows the chain of newer memories to the last one that is live and not expired. A chain consists of rows that have
/// one of the flags in `follows`. Returns `None` if there is no such memory, or if the chain is a cycle.
pub(super) fn newest<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    scorer: &Scorer<'_>,
    doc: DocId,
    follows: &[Flags],
) -> Option<(DocId, Features)> {
    let mut doc = doc;
    let mut last = None;
    let mut seen = BTreeSet::new();
    loop {
        let Some(next) = view.successor(doc).and_then(|short_id| view.find(short_id)) else { return last };
        let features = view.features(next);
        if !seen.insert(features.short_id) {
            return None;
        }
        if !scorer.is_over(&features) {
            last = Some((next, features));
        }
        if !follows.iter().any(|flag| features.flags.has(*flag)) {
            return last;
        }
        doc = next;
    }
}

/// For each match that another memory updates: the newest memory of its chain gets at least its score, and is added if
/// it did not match. Unrequested replies leave out an older memory if the newer one may not be shown, because the
/// session has usually received the newer one.
pub(super) fn newer_first<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    scorer: &Scorer<'_>,
    allowed: &Allowed<'_>,
    mut matches: Vec<Match>,
) -> Vec<Match> {
    if !matches.iter().any(|found| found.is_updated) {
        return matches;
    }
    let mut places: BTreeMap<u32, usize> = (0..).zip(&matches).map(|(at, found)| (found.short_id, at)).collect();
    let mut left_out = BTreeSet::new();
    // The best first, so that a newer memory gets the highest score at once.
    let mut older: Vec<usize> =
        (0..matches.len()).filter(|at| matches.get(*at).is_some_and(|m| m.is_updated)).collect();
    older.sort_by(|a, b| {
        let score = |at: &usize| matches.get(*at).map_or(0.0, |found| found.score);
        score(b).total_cmp(&score(a)).then(a.cmp(b))
    });
    for at in older {
        let Some(old) = matches.get(at).cloned() else { continue };
        let doc = view.find(old.short_id);
        let Some((next, features)) =
            doc.and_then(|doc| newest(view, scorer, doc, &[Flags::UPDATED, Flags::SUPERSEDED]))
        else {
            continue;
        };
        let is_shown = scorer.admits(&features) && allowed.has(next);
        if !is_shown && scorer.is_unasked() {
            left_out.insert(old.short_id);
            continue;
        }
        if let Some(old) = matches.get_mut(at) {
            old.newer = Some(features.short_id);
        }
        if let Some(known) = places.get(&features.short_id).and_then(|at| matches.get_mut(*at)) {
            known.raise_above(&old);
        } else if is_shown {
            places.insert(features.short_id, matches.len());
            let (short_id, created, importance) = (features.short_id, features.created, features.importance);
            let redirected_from = Some(old.short_id);
            let signs = Signs { location: scorer.location(next), ..old.signs };
            let mut new = Match {
                short_id,
                created,
                importance,
                redirected_from,
                signs,
                is_updated: false,
                newer: None,
                ..old.clone()
            };
            new.raise_above(&old);
            matches.push(new);
        }
    }
    matches.retain(|found| !left_out.contains(&found.short_id));
    matches
}

/// Raises each newer memory above the older memories that it updates, after their scores have changed.
pub(super) fn raise_newer(matches: &mut [Match]) {
    let places: BTreeMap<u32, usize> = (0..).zip(matches.iter()).map(|(at, found)| (found.short_id, at)).collect();
    let mut older: Vec<Match> = matches.iter().filter(|found| found.newer.is_some()).cloned().collect();
    older.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.short_id.cmp(&b.short_id)));
    for old in older {
        let newer = old.newer.and_then(|newer| places.get(&newer));
        if let Some(newer) = newer.and_then(|at| matches.get_mut(*at)) {
            newer.raise_above(&old);
        }
    }
}

impl Match {
    /// Raises the score so that the match ranks before an older one.
    fn raise_above(&mut self, older: &Self) {
        let lift = older.score.next_up() - self.score;
        if lift > 0.0 {
            self.score += lift;
            self.parts.newer += lift;
        }
        self.evidence = self.evidence.max(older.evidence);
        self.pointed = self.pointed.max(older.pointed);
        self.standing = self.standing.min(older.standing);
    }
}
