//! Searches the index: every row that contains a term of the query gets a score before any is dropped.

use std::collections::{BTreeMap, BTreeSet};

use super::allowed::Allowed;
use super::lookup::{Embedding, Gate, Terms};
use super::newer::{newer_first, newest};
use super::query::QueryTerms;
use super::rank::{Match, Ranking};
use super::scorer::{Relevance, Scorer, Signs};
use super::timing::{TimeKind, Timing};
use crate::domain::{Purpose, RecallRequest, Timestamp};
use crate::embedding::Vector;
use crate::index::{DocId, FieldTf, Flags, IndexView, Posting, TermPostings};
use crate::score::{DateHints, Weights};

type Side = fn(&TermPostings) -> &[Posting];
type Wrap = fn(u32) -> DocId;

/// Scores every row of `view` that contains a term of the query and passes the filters. If no memory about the subject
/// of a question is in the window that it names, the question is asked without the window.
pub fn rank<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    request: &RecallRequest,
    meant: Option<&Vector>,
    now: Timestamp,
    weights: &Weights,
) -> Ranking {
    let current = request.scope.as_ref();
    let timing = request.timing(now).map(|timing| match request.filters.scopes.as_slice() {
        [] => timing.clone().within(view.scopes_where(|name| timing.names(name, current)), current),
        _ => timing,
    });
    let Some(timing) = timing.filter(Timing::is_strict) else {
        return ranked(view, request, None, (meant, now), weights);
    };
    let is_open = timing.is_open();
    let ranking = ranked(view, request, Some(timing), (meant, now), weights);
    if ranking.total() > 0 || is_open {
        return ranking;
    }
    ranked(view, request, None, (meant, now), weights)
}

fn ranked<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    request: &RecallRequest,
    timing: Option<Timing>,
    (meant, now): (Option<&Vector>, Timestamp),
    weights: &Weights,
) -> Ranking {
    let (automatic, is_asked) = (weights.automatic(), request.purpose == Purpose::Asked);
    let weights = if is_asked { weights } else { &automatic };
    let is_broad = timing.is_some() || request.is_broad();
    let subject = request.subject_for(timing.as_ref());
    let dates = if timing.is_some() { DateHints::default() } else { DateHints::read(&request.query, now) };
    let request = &timing.as_ref().map_or_else(|| request.clone(), |timing| timing.narrowed(request));
    let no_words = BTreeSet::new();
    let date_words = if weights.when > 0.0 { [dates.words(), dates.relative_words()] } else { [&no_words; 2] };
    let query = QueryTerms::analyze(&subject, request.expanded_query.as_deref(), date_words, weights);
    let mut terms = Terms::look_up(view, query, request.purpose, weights);
    let meant = meant.filter(|_| weights.embedding > 0.0 && timing.as_ref().is_none_or(|timing| !timing.is_open()));
    let mut similarities = meant.map(|meant| view.similarities(meant)).unwrap_or_default();
    if let Some(meant) = meant {
        view.complete(&mut similarities, meant, &terms.lists);
    }
    let embedding = Embedding::of(&similarities);
    let scorer = Scorer::new(view, request, now, weights, &terms, dates, embedding);
    if embedding.is_some() {
        terms.lists.push(similarities.from(weights.embedding_least));
    }
    terms.lists.extend(scorer.rows_of_date(view));
    let is_selected = timing.as_ref().is_some_and(|timing| timing.has_window() || timing.is_open());
    if is_selected {
        terms.lists.push(view.rows_where(|features| scorer.admits(features)));
    }
    let allowed = Allowed::of(view, request);
    let mut ranking = Ranking::new(view.rows(), embedding.is_some(), is_broad);
    let mut search = Search::new(request, &scorer, is_selected);
    search.visit(view, &terms.lists, &allowed, &mut ranking);
    if is_selected && !search.has_match && !timing.as_ref().is_some_and(Timing::is_open) {
        return ranking;
    }
    let is_history = timing.as_ref().is_some_and(|timing| timing.kind == TimeKind::History);
    if is_asked && !is_selected && !is_history && !scorer.is_answered(&search.gate, &terms.query) {
        ranking.near += search.found.close(request);
    }
    let groups = search.found.groups();
    let [matches, weak, near, below] =
        groups.map(|rows| newer_first(view, &scorer, &allowed, redirect(view, &scorer, &allowed, rows)));
    let matches = ranking.rate(request, matches, || scorer.question(&search.gate, &terms.query), weights);
    ranking.timing = timing;
    ranking.fill(request, weights, matches, [weak, near, below]);
    ranking.meant = meant.cloned();
    ranking.read_as = terms.query.read_as;
    ranking.terms = terms.query.terms.into_iter().map(|term| term.term).zip(scorer.worths()).collect();
    ranking
}

/// The rows found so far.
struct Search<'a> {
    request: &'a RecallRequest,
    scorer: &'a Scorer<'a>,
    /// True if all rows that pass the filters match.
    takes_all: bool,
    found: Found,
    gate: Gate,
    /// True if a row is above the relevance threshold.
    has_match: bool,
}

impl<'a> Search<'a> {
    fn new(request: &'a RecallRequest, scorer: &'a Scorer<'a>, takes_all: bool) -> Self {
        let gate = Gate::new(scorer.is_foreign());
        let found = Found::default();
        Self { request, scorer, takes_all, found, gate, has_match: false }
    }

    /// Scores the rows of all lists.
    fn visit<B: AsRef<[u8]>>(
        &mut self,
        view: &IndexView<'_, B>,
        lists: &[TermPostings],
        allowed: &Allowed<'_>,
        ranking: &mut Ranking,
    ) {
        let sides: [(Side, Wrap); 2] = [(|list| &list.snapshot, DocId::Snapshot), (|list| &list.tail, DocId::Tail)];
        for (side, doc_id) in sides {
            let lists: Vec<&[Posting]> = lists.iter().map(side).collect();
            merge(&lists, |doc, hits| {
                let doc = doc_id(doc);
                if !allowed.has(doc) {
                    return;
                }
                let features = view.features(doc);
                if self.scorer.admits(&features) {
                    let (row, relevance) = self.scorer.score(doc, &features, hits);
                    self.add(doc, row, relevance, features.flags.has(Flags::SUPERSEDED), ranking);
                }
            });
        }
    }

    fn add(&mut self, doc: DocId, row: Match, relevance: Relevance, is_superseded: bool, ranking: &mut Ranking) {
        let is_asked = self.request.purpose == Purpose::Asked;
        let explains = self.request.explain;
        self.gate.see(row.near, row.share);
        let is_match = matches!(relevance, Relevance::Match | Relevance::Doubtful);
        self.has_match |= relevance == Relevance::Match;
        if !is_match && !self.takes_all {
            ranking.near += u32::from(relevance != Relevance::Below);
            ranking.below_floor += 1;
            ranking.best_below_floor = ranking.best_below_floor.max(row.score);
        }
        let list = match relevance {
            _ if is_match || self.takes_all => &mut self.found.matches,
            Relevance::Weak if is_asked => &mut self.found.weak,
            Relevance::Near if is_asked && (self.request.weak || explains) => &mut self.found.near,
            Relevance::Below if is_asked && explains => &mut self.found.below,
            _ => return,
        };
        let list = if is_superseded { &mut list.1 } else { &mut list.0 };
        list.push((doc, row));
    }
}

/// The rows that were found, grouped by their relation to the relevance threshold. Superseded memories are in separate
/// lists.
#[derive(Default)]
struct Found {
    matches: Rows,
    weak: Rows,
    near: Rows,
    below: Rows,
}

type Rows = (Vec<(DocId, Match)>, Vec<(DocId, Match)>);

impl Found {
    fn groups(self) -> [Rows; 4] {
        [self.matches, self.weak, self.near, self.below]
    }

    /// Turns every match into a low-confidence match, because the question has no answer here. Returns their number.
    fn close(&mut self, request: &RecallRequest) -> u32 {
        let (live, old) = std::mem::take(&mut self.matches);
        let count = u32::try_from(live.len() + old.len()).unwrap_or(u32::MAX);
        self.weak = Rows::default();
        if request.weak || request.explain {
            self.near.0.extend(live);
            self.near.1.extend(old);
        }
        count
    }
}

/// Visits every row of the lists once, in ascending order. For each row, also gives the positions of the lists that
/// contain it.
fn merge(lists: &[&[Posting]], mut visit: impl FnMut(u32, &[(usize, FieldTf)])) {
    let mut heads: Vec<(usize, &[Posting])> =
        lists.iter().copied().enumerate().filter(|(_, list)| !list.is_empty()).collect();
    let mut hits = Vec::with_capacity(heads.len());
    while let Some(doc) = heads.iter().filter_map(|(_, list)| list.first()).map(|p| p.doc).min() {
        hits.clear();
        let mut is_any_done = false;
        for (term, list) in &mut heads {
            if let Some((first, rest)) = list.split_first().filter(|(first, _)| first.doc == doc) {
                hits.push((*term, first.tf));
                *list = rest;
                is_any_done |= rest.is_empty();
            }
        }
        if is_any_done {
            heads.retain(|(_, list)| !list.is_empty());
        }
        visit(doc, &hits);
    }
}

/// Replaces each superseded row by its successor, with the better score of the two; if the successor has expired, the
/// row itself stays. A successor must pass the filters like any other row.
fn redirect<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    scorer: &Scorer<'_>,
    allowed: &Allowed<'_>,
    (live, superseded): Rows,
) -> Vec<Match> {
    let mut matches: Vec<Match> = live.into_iter().map(|(_, found)| found).collect();
    if superseded.is_empty() {
        return matches;
    }
    let mut places: BTreeMap<u32, usize> = (0..).zip(&matches).map(|(at, found)| (found.short_id, at)).collect();
    for (doc, old) in superseded {
        let next = newest(view, scorer, doc, &[Flags::SUPERSEDED]);
        let (next, features) = next.unwrap_or_else(|| (doc, view.features(doc)));
        let short_id = features.short_id;
        let redirected_from = (short_id != old.short_id).then_some(old.short_id);
        let (created, importance) = (features.created, features.importance);
        let is_updated = features.flags.has(Flags::UPDATED);
        let signs = Signs { location: scorer.location(next), ..old.signs };
        let new = Match { short_id, created, importance, redirected_from, signs, is_updated, ..old };
        if let Some(known) = places.get(&short_id).and_then(|at| matches.get_mut(*at)) {
            if known.score < new.score {
                *known = new;
            }
        } else if scorer.admits(&features) && allowed.has(next) {
            places.insert(short_id, matches.len());
            matches.push(new);
        }
    }
    matches
}
