//! Ranking: every row that holds a term of the query gets a score; none is cut before it has one.

use std::cmp::Ordering;

use crate::domain::{Cursor, DomainError, Handle, RecallRequest, Scope, Sort, Timestamp};
use crate::index::{DocId, Features, FieldTf, Flags, IndexView, Label, Posting, TermPostings};
use crate::pack::Ranked;
use crate::score::{Bm25, DateHints, Prior, ScoreParts, Weights, idf};

use super::query::{QueryTerm, QueryTerms};

/// All matches of a query, best first.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    matches: Vec<Match>,
    /// Live rows that were searched.
    pub searched: u32,
    /// Matches that the relevance floor held back.
    pub below_floor: u32,
    /// The best score below the floor, 0 if there was none.
    pub best_below_floor: f64,
}

#[derive(Debug, Clone)]
struct Match {
    handle: u32,
    created: u32,
    importance: u8,
    score: f64,
    evidence: f64,
    parts: ScoreParts,
    redirected_from: Option<u32>,
}

/// Words of a query whose near spellings are looked for, at most.
const MAX_REPAIRED: usize = 6;
/// Terms of a query that are scored, at most: those that tell the most.
const MAX_TERMS: usize = 64;
/// In the orders that are not by relevance, a match must have this share of the best one's evidence.
const RELEVANT_SHARE: f64 = 0.5;

type Side = fn(&TermPostings) -> &[Posting];
type Wrap = fn(u32) -> DocId;

/// Scores every row of `view` that holds a term of the request's query and passes its filters.
pub fn rank<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    request: &RecallRequest,
    now: Timestamp,
    weights: &Weights,
) -> Ranking {
    let query = QueryTerms::analyze(&request.query, request.expanded_query.as_deref(), weights);
    let terms = Terms::look_up(view, query, weights);
    let scorer = Scorer::new(view, request, now, weights, &terms);
    let allowed = Allowed::of(view, request);
    let mut ranking = Ranking { searched: view.rows(), ..Ranking::default() };
    let mut superseded = Vec::new();
    let sides: [(Side, Wrap); 2] = [(|list| &list.snapshot, DocId::Snapshot), (|list| &list.tail, DocId::Tail)];
    for (side, doc_id) in sides {
        let lists: Vec<&[Posting]> = terms.lists.iter().map(side).collect();
        merge(&lists, |doc, hits| {
            let doc = doc_id(doc);
            if allowed.as_ref().is_some_and(|allowed| !allowed.has(doc)) {
                return;
            }
            let features = view.features(doc);
            if !scorer.admits(&features) {
                return;
            }
            let (found, passes) = scorer.score(doc, &features, hits);
            if !passes {
                ranking.below_floor += 1;
                ranking.best_below_floor = ranking.best_below_floor.max(found.score);
            } else if features.flags.has(Flags::SUPERSEDED) {
                superseded.push((doc, found));
            } else {
                ranking.matches.push(found);
            }
        });
    }
    redirect(view, &scorer, &mut ranking.matches, superseded);
    order(&mut ranking.matches, request.sort);
    ranking
}

impl Ranking {
    /// A ranking of rows that were chosen by name, in the order given.
    pub fn chosen(page: &[Ranked]) -> Self {
        let found = |ranked: &Ranked| Match {
            handle: ranked.handle.get(),
            created: 0,
            importance: 0,
            score: ranked.score,
            evidence: 0.0,
            parts: ranked.parts,
            redirected_from: None,
        };
        Self { matches: page.iter().map(found).collect(), ..Self::default() }
    }

    /// Matches above the floor.
    pub fn total(&self) -> u32 {
        u32::try_from(self.matches.len()).unwrap_or(u32::MAX)
    }

    /// The rows of the page that the request asks for, in rank order.
    ///
    /// # Errors
    /// When the cursor belongs to another question.
    pub fn page(&self, request: &RecallRequest) -> Result<Vec<Ranked>, DomainError> {
        let start = match &request.cursor {
            Some(cursor) if cursor.check != check_of(request) => {
                let fix = "pass next_cursor with the query and filters it came with";
                return Err(DomainError::invalid("cursor", "belongs to another question", fix));
            }
            Some(cursor) => cursor.clone(),
            None => Cursor::default(),
        };
        let ranks = (0..).zip(&self.matches).skip(start.from as usize);
        let fresh = ranks.filter(|(rank, _)| !start.also.contains(rank));
        Ok(fresh.take(request.limit as usize).filter_map(|(rank, found)| found.ranked(rank)).collect())
    }

    /// The cursor after a page that showed some of its ranks.
    pub(super) fn cursor_after(&self, request: &RecallRequest, shown: &[u32]) -> Option<Cursor> {
        let before = request.cursor.clone().unwrap_or_default();
        let is_shown = |rank: &u32| *rank < before.from || before.also.contains(rank) || shown.contains(rank);
        let from = (0..self.total()).find(|rank| !is_shown(rank))?;
        let also = (from..self.total()).filter(is_shown).take(crate::pack::MAX_ALSO).collect();
        Some(Cursor { from, also, check: check_of(request) })
    }

    /// Matches that no page up to and including this one has shown.
    pub(super) fn left_after(&self, request: &RecallRequest, shown: usize) -> u32 {
        let before = request.cursor.clone().unwrap_or_default();
        let seen = before.from as usize + before.also.len() + shown;
        self.total().saturating_sub(u32::try_from(seen).unwrap_or(u32::MAX))
    }
}

impl Match {
    fn ranked(&self, rank: u32) -> Option<Ranked> {
        let redirected_from = self.redirected_from.and_then(|handle| Handle::try_from(handle).ok());
        let handle = Handle::try_from(self.handle).ok()?;
        Some(Ranked { handle, rank, score: self.score, parts: self.parts, redirected_from })
    }
}

/// Three digits that differ when the question does.
fn check_of(request: &RecallRequest) -> u16 {
    let question =
        format!("{:?}", (&request.query, &request.expanded_query, &request.filters, &request.scope, request.sort));
    u16::try_from(xxhash_rust::xxh3::xxh3_64(question.as_bytes()) % 900).unwrap_or(0) + 100
}

/// The terms of a query with the rows that hold them.
struct Terms {
    terms: Vec<QueryTerm>,
    lists: Vec<TermPostings>,
}

impl Terms {
    fn look_up<B: AsRef<[u8]>>(view: &IndexView<'_, B>, query: QueryTerms, weights: &Weights) -> Self {
        let mut terms = query.terms;
        let mut lists = view.postings(&bytes_of(&terms));
        let near = near_words(view, &terms, &lists, weights);
        if !near.is_empty() {
            terms.extend(near);
            terms.sort_by(|a, b| a.term.cmp(&b.term));
            terms.dedup_by(|a, b| a.term == b.term);
            lists = view.postings(&bytes_of(&terms));
        }
        let mut found = Self { terms, lists };
        found.keep_most_telling(view.rows());
        found
    }

    /// Keeps the terms of a long query that tell the most, and every term of a short one.
    fn keep_most_telling(&mut self, rows: u32) {
        if self.terms.len() <= MAX_TERMS {
            return;
        }
        let gain = |at: &usize| match (self.terms.get(*at), self.lists.get(*at)) {
            (Some(term), Some(list)) if list.own > 0 => term.weight * idf(rows, list.own),
            _ => 0.0,
        };
        let mut best: Vec<usize> = (0..self.terms.len()).collect();
        best.sort_by(|a, b| gain(b).total_cmp(&gain(a)).then(a.cmp(b)));
        best.truncate(MAX_TERMS);
        let mut at = 0..;
        self.terms.retain(|_| at.next().is_some_and(|at| best.contains(&at)));
        let mut at = 0..;
        self.lists.retain(|_| at.next().is_some_and(|at| best.contains(&at)));
    }
}

fn bytes_of(terms: &[QueryTerm]) -> Vec<&[u8]> {
    terms.iter().map(|term| term.term.as_bytes()).collect()
}

/// Words of the index for the words of the query that no row holds: within one edit (two from eight
/// letters on; a swap of neighbours is one), or longer words that begin with them.
fn near_words<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    terms: &[QueryTerm],
    lists: &[TermPostings],
    weights: &Weights,
) -> Vec<QueryTerm> {
    let unknown = terms.iter().zip(lists).filter(|(term, list)| term.is_word && list.own == 0);
    let words = unknown.map(|(term, _)| term).filter(|term| term.term.chars().count() >= 4);
    words.take(MAX_REPAIRED).flat_map(|word| repair(view, word, weights)).collect()
}

fn repair<B: AsRef<[u8]>>(view: &IndexView<'_, B>, word: &QueryTerm, weights: &Weights) -> Vec<QueryTerm> {
    let letters = word.term.chars().count();
    if word.term.bytes().any(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let (allowed, searched) = match letters {
        ..5 => (0, 0),
        5..8 => (1, 2),
        _ => (2, 2),
    };
    let mut near: Vec<(usize, String)> = Vec::new();
    for candidate in view.near_words(&word.term, searched) {
        let edits = strsim::osa_distance(&word.term, &candidate);
        if edits <= allowed && candidate.chars().next() == word.term.chars().next() {
            near.push((edits, candidate));
        } else if candidate.starts_with(&word.term) {
            near.push((allowed.max(1), candidate));
        }
    }
    near.sort();
    let closest = near.first().map_or(0, |(edits, _)| *edits);
    let kept = near.into_iter().filter(|(edits, _)| *edits == closest).take(3);
    let weight = word.weight * weights.near_words;
    kept.map(|(_, term)| QueryTerm { term, weight, is_name: false, ..word.clone() }).collect()
}

/// Rows that pass the filters on labels.
struct Allowed {
    snapshot: Vec<u32>,
    tail: Vec<u32>,
}

impl Allowed {
    /// `None` when there is no such filter.
    fn of<B: AsRef<[u8]>>(view: &IndexView<'_, B>, request: &RecallRequest) -> Option<Self> {
        let filters = &request.filters;
        let kinds: [Vec<String>; 6] = [
            filters.categories.iter().map(|category| Label::Category(category).term()).collect(),
            filters.types.iter().map(|kind| Label::Type(*kind).term()).collect(),
            filters.tags.iter().map(|tag| Label::Tag(tag).term()).collect(),
            filters.entities.iter().map(|name| Label::Entity(name).term()).collect(),
            filters.scopes.iter().map(|scope| Label::Scope(scope).term()).collect(),
            filters.shared_by.iter().map(|user| Label::SharedBy(user).term()).collect(),
        ];
        let wanted = kinds.into_iter().filter(|labels| !labels.is_empty());
        wanted.map(|labels| Self::any_of(view, labels)).reduce(Self::and)
    }

    fn any_of<B: AsRef<[u8]>>(view: &IndexView<'_, B>, mut labels: Vec<String>) -> Self {
        labels.sort();
        labels.dedup();
        let terms: Vec<&[u8]> = labels.iter().map(String::as_bytes).collect();
        let lists = view.postings(&terms);
        let docs = |side: fn(&TermPostings) -> &[Posting]| {
            let mut docs: Vec<u32> = lists.iter().flat_map(|list| side(list).iter().map(|p| p.doc)).collect();
            docs.sort_unstable();
            docs.dedup();
            docs
        };
        Self { snapshot: docs(|list| &list.snapshot), tail: docs(|list| &list.tail) }
    }

    fn and(mut self, other: Self) -> Self {
        self.snapshot.retain(|doc| other.snapshot.binary_search(doc).is_ok());
        self.tail.retain(|doc| other.tail.binary_search(doc).is_ok());
        self
    }

    fn has(&self, doc: DocId) -> bool {
        match doc {
            DocId::Snapshot(doc) => self.snapshot.binary_search(&doc).is_ok(),
            DocId::Tail(doc) => self.tail.binary_search(&doc).is_ok(),
        }
    }
}

/// What is the same for all rows of one query.
struct Scorer<'a> {
    request: &'a RecallRequest,
    weights: &'a Weights,
    now: Timestamp,
    bm25: Bm25,
    dates: DateHints,
    gains: Vec<Gain>,
    concepts: [f64; 64],
    information: f64,
    in_scope: Option<Box<dyn Fn(DocId) -> bool + 'a>>,
}

#[derive(Clone, Copy)]
struct Gain {
    bm25: f64,
    name: f64,
    concept: u8,
}

impl<'a> Scorer<'a> {
    fn new<B: AsRef<[u8]>>(
        view: &'a IndexView<'_, B>,
        request: &'a RecallRequest,
        now: Timestamp,
        weights: &'a Weights,
        terms: &Terms,
    ) -> Self {
        let rows = view.rows();
        let mut concepts = [0.0_f64; 64];
        let gain = |(term, list): (&QueryTerm, &TermPostings)| {
            let tells = idf(rows, list.own);
            if let Some(known) = concepts.get_mut(usize::from(term.concept)) {
                *known = known.max(tells * term.weight);
            }
            let name = if term.is_name {
                weights.names * (1.0 + f64::from(rows) / f64::from(list.own.max(1))).ln()
            } else {
                0.0
            };
            Gain { bm25: term.weight * tells, name, concept: term.concept }
        };
        let gains = terms.terms.iter().zip(&terms.lists).map(gain).collect();
        let in_scope = request.scope.as_ref().map(|scope| {
            let wanted = scope.as_str().to_owned();
            let test = view.scope_test(move |name| name == wanted || name == Scope::Global.as_str());
            Box::new(test) as Box<dyn Fn(DocId) -> bool + 'a>
        });
        Self {
            request,
            weights,
            now,
            bm25: Bm25::new(weights, view.mean_length()),
            dates: DateHints::read(&request.query, now),
            gains,
            information: concepts.iter().sum(),
            concepts,
            in_scope,
        }
    }

    /// The filters that read numbers rather than labels.
    fn admits(&self, features: &Features) -> bool {
        let filters = &self.request.filters;
        let is_expired = features.expires != 0 && features.expires <= self.now.minutes();
        let is_early = filters.since.is_some_and(|since| features.created < since.minutes());
        let is_late = filters.until.is_some_and(|until| features.created >= until.minutes());
        let is_foreign = filters.own_only && features.flags.has(Flags::FOREIGN);
        !(is_expired || is_early || is_late || is_foreign)
    }

    /// The score of a row, and whether it is above the floor.
    fn score(&self, doc: DocId, features: &Features, hits: &[(usize, FieldTf)]) -> (Match, bool) {
        let mut parts = ScoreParts::default();
        let mut held = 0_u64;
        for (term, tf) in hits {
            let Some(gain) = self.gains.get(*term) else { continue };
            let (own, around) = self.bm25.frequency(*tf, features.length);
            let score = self.bm25.saturate(gain.bm25, own + around);
            if around > 0.0 {
                let share = score * around / (own + around);
                parts.context += share;
                parts.text += score - share;
            } else {
                parts.text += score;
            }
            if own > 0.0 {
                parts.names += gain.name;
            }
            held |= 1 << gain.concept;
        }
        let passes = self.is_above_floor(held);
        if !self.dates.is_empty() {
            parts.date = self.dates.score(features.created, self.weights);
        }
        if features.flags.has(Flags::STANDING) {
            parts.standing = self.weights.standing;
        }
        (self.finish(doc, features, parts), passes)
    }

    /// A row with one piece of the query's information of several must hold a fair share of the whole.
    fn is_above_floor(&self, held: u64) -> bool {
        if held.count_ones() > 1 {
            return true;
        }
        let share = self.concepts.get(held.trailing_zeros() as usize).copied().unwrap_or(0.0);
        share >= self.weights.floor * self.information
    }

    fn finish(&self, doc: DocId, features: &Features, mut parts: ScoreParts) -> Match {
        if self.in_scope.as_ref().is_some_and(|in_scope| !in_scope(doc)) {
            parts = parts.scaled(self.weights.other_scope);
        }
        let evidence = parts.evidence();
        if self.request.sort == Sort::Hybrid {
            let [importance, recency, frequency] = Prior::of(features, self.now, self.weights).lifts(self.weights);
            parts.importance = evidence * importance;
            parts.recency = evidence * recency;
            parts.frequency = evidence * frequency;
        }
        let parts = parts.scaled(1.0 / (parts.sum() + self.weights.half_score));
        Match {
            handle: features.handle,
            created: features.created,
            importance: features.importance,
            score: parts.sum(),
            evidence,
            parts,
            redirected_from: None,
        }
    }
}

/// Visits every row of the lists once, in ascending order, with the terms it holds in list order.
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

/// Answers a superseded match with what replaces it, at the better of the two scores.
fn redirect<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    scorer: &Scorer<'_>,
    matches: &mut Vec<Match>,
    superseded: Vec<(DocId, Match)>,
) {
    for (doc, old) in superseded {
        let Some((handle, features)) = last_successor(view, doc) else {
            matches.push(old);
            continue;
        };
        if let Some(known) = matches.iter_mut().find(|found| found.handle == handle) {
            if known.score < old.score {
                *known = Match {
                    handle,
                    created: known.created,
                    importance: known.importance,
                    redirected_from: Some(old.handle),
                    ..old
                };
            }
        } else if scorer.admits(&features) {
            let (created, importance) = (features.created, features.importance);
            matches.push(Match { handle, created, importance, redirected_from: Some(old.handle), ..old });
        }
    }
}

/// Follows the chain of successors to its live end. `None` if there is none, or it runs in a circle.
fn last_successor<B: AsRef<[u8]>>(view: &IndexView<'_, B>, doc: DocId) -> Option<(u32, Features)> {
    const LONGEST_CHAIN: usize = 32;
    let mut doc = doc;
    for _ in 0..LONGEST_CHAIN {
        let next = view.find(view.successor(doc)?)?;
        let features = view.features(next);
        if !features.flags.has(Flags::SUPERSEDED) {
            return Some((features.handle, features));
        }
        doc = next;
    }
    None
}

/// Sorts best first. Ties go to the newer handle, so that the order never depends on where a row is kept.
fn order(matches: &mut Vec<Match>, sort: Sort) {
    let by_score = |a: &Match, b: &Match| b.score.total_cmp(&a.score).then(b.handle.cmp(&a.handle));
    if matches!(sort, Sort::Importance | Sort::Recency) {
        let best = matches.iter().map(|found| found.evidence).fold(0.0, f64::max);
        matches.retain(|found| found.evidence >= best * RELEVANT_SHARE);
    }
    match sort {
        Sort::Hybrid | Sort::Relevance => matches.sort_unstable_by(by_score),
        Sort::Importance => {
            matches.sort_unstable_by(|a, b| b.importance.cmp(&a.importance).then_with(|| by_score(a, b)));
        }
        Sort::Recency => {
            matches.sort_unstable_by(|a, b| b.created.cmp(&a.created).then_with(|| -> Ordering { by_score(a, b) }));
        }
    }
}
