//! Ranking: every row that contains a term of the query gets a score before any is dropped.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::allowed::Allowed;
use super::lookup::{Embedding, Gate, Terms};
use super::newer::{newer_first, newest};
use super::query::QueryTerms;
use super::scorer::{Relevance, Scorer};
use super::{breadth, paging};
use crate::domain::{Purpose, RecallRequest, ShortId, Sort, Timestamp};
use crate::embedding::Vector;
use crate::index::{DocId, FieldTf, Flags, IndexView, Posting, TermPostings};
use crate::pack::Ranked;
use crate::score::{DateHints, ScoreParts, Weights};

/// All matches of a query, best first.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    /// The best matches: as many as this page and all earlier pages need.
    pub(super) matches: Vec<Match>,
    total: u32,
    /// The number of searched live rows.
    pub searched: u32,
    /// The number of matches below the relevance threshold.
    pub below_floor: u32,
    /// The best score below the threshold; 0 if there is none.
    pub best_below_floor: f64,
    /// The number of matches below the threshold that contain an informative word.
    near: u32,
    /// Matches below the threshold, best first: for a reply that has no other matches, or for an
    /// explanation.
    pub(super) weak: Vec<Match>,
    /// The best matches below the threshold, for a request with `explain`.
    below: Vec<Match>,
    /// The searched terms in byte order, each with its weight for the choice of an excerpt.
    terms: Vec<(String, f64)>,
    /// True if semantic similarity was used.
    has_embedding: bool,
    /// The embedding of the question, if it was used.
    meant: Option<Vector>,
    /// True for a question about many memories.
    is_broad: bool,
    /// Words that no memory contains, each with its correction.
    read_as: Vec<(String, String)>,
    /// The rank at which this page begins.
    pub(super) start: usize,
    /// True if the cursor of the request names memories that no longer exist.
    pub(super) is_led_astray: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Match {
    pub(super) short_id: u32,
    pub(super) created: u32,
    pub(super) importance: u8,
    pub(super) score: f64,
    pub(super) evidence: f64,
    pub(super) parts: ScoreParts,
    /// The share of the query's information that the match contains.
    pub(super) share: f64,
    /// Its semantic similarity, 0 to 1.
    pub(super) near: f64,
    /// True if the row is a doubtful match: its words alone are not enough, and its similarity alone is not enough.
    /// Such a row is kept only if the best match is not much better.
    pub(super) is_doubtful: bool,
    /// The value that combines similarity and words, for automatic recall.
    pub(super) pointed: f64,
    pub(super) redirected_from: Option<u32>,
    /// True if another memory updates this one.
    pub(super) is_updated: bool,
    /// The newest memory that updates this one.
    pub(super) newer: Option<u32>,
}

/// The maximum number of low-confidence matches in a reply that has no relevant match, and of rows below the threshold
/// in an explanation.
const MAX_WEAK: usize = 3;
const MAX_EXPLAINED: usize = 10;

/// A row that has a larger share of the query's information than this contains all words of the query.
const WHOLE_SHARE: f64 = 0.999;
/// If the order is not by relevance, a match must have at least this share of the evidence of the best match.
const RELEVANT_SHARE: f64 = 0.5;

type Side = fn(&TermPostings) -> &[Posting];
type Wrap = fn(u32) -> DocId;

/// Scores every row of `view` that contains a term of the query and passes the filters.
pub fn rank<B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    request: &RecallRequest,
    meant: Option<&Vector>,
    now: Timestamp,
    weights: &Weights,
) -> Ranking {
    let (automatic, is_asked) = (weights.automatic(), request.purpose == Purpose::Asked);
    let weights = if is_asked { weights } else { &automatic };
    let is_broad = request.is_broad();
    let subject = if is_broad { request.subject() } else { request.query.as_str().into() };
    let dates = DateHints::read(&request.query, now);
    let since = is_broad && breadth::names_a_beginning(&request.query);
    let dates = if since { dates.until(now) } else { dates };
    let request = &if since { request.since(dates.beginning()) } else { request.clone() };
    let no_words = BTreeSet::new();
    let date_words = if weights.when > 0.0 { [dates.words(), dates.relative_words()] } else { [&no_words; 2] };
    let query = QueryTerms::analyze(&subject, request.expanded_query.as_deref(), date_words, weights);
    let mut terms = Terms::look_up(view, query, request.purpose, weights);
    let meant = meant.filter(|_| weights.embedding > 0.0);
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
    let allowed = Allowed::of(view, request);
    let mut found = Found::default();
    let mut gate = Gate::default();
    let has_embedding = embedding.is_some();
    let mut ranking = Ranking { searched: view.rows(), has_embedding, is_broad, ..Ranking::default() };
    let sides: [(Side, Wrap); 2] = [(|list| &list.snapshot, DocId::Snapshot), (|list| &list.tail, DocId::Tail)];
    for (side, doc_id) in sides {
        let lists: Vec<&[Posting]> = terms.lists.iter().map(side).collect();
        merge(&lists, |doc, hits| {
            let doc = doc_id(doc);
            if !allowed.has(doc) {
                return;
            }
            let features = view.features(doc);
            if !scorer.admits(&features) {
                return;
            }
            let (row, relevance) = scorer.score(doc, &features, hits);
            gate.see(row.near, row.share);
            if !matches!(relevance, Relevance::Match | Relevance::Doubtful) {
                ranking.near += u32::from(relevance != Relevance::Below);
                ranking.below_floor += 1;
                ranking.best_below_floor = ranking.best_below_floor.max(row.score);
            }
            let list = match relevance {
                Relevance::Match | Relevance::Doubtful => &mut found.matches,
                Relevance::Weak if is_asked => &mut found.weak,
                Relevance::Near if is_asked && (request.weak || request.explain) => &mut found.near,
                Relevance::Below if is_asked && request.explain => &mut found.below,
                Relevance::Weak | Relevance::Near | Relevance::Below => return,
            };
            let list = if features.flags.has(Flags::SUPERSEDED) { &mut list.1 } else { &mut list.0 };
            list.push((doc, row));
        });
    }
    if is_asked && !scorer.is_answered(&gate, &terms.query) {
        ranking.near += found.close(request);
    }
    let [matches, weak, near, below] =
        found.groups().map(|rows| newer_first(view, &scorer, &allowed, redirect(view, &scorer, &allowed, rows)));
    ranking.matches = matches;
    ranking.order(request, weights);
    ranking.add_weak(request, weights, weak, near, below);
    ranking.meant = meant.cloned();
    ranking.read_as = terms.query.read_as;
    ranking.terms = terms.query.terms.into_iter().map(|term| term.term).zip(scorer.worths()).collect();
    ranking
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

impl Ranking {
    /// Words that no memory contains, each with its correction.
    pub(super) fn read_as(&self) -> &[(String, String)] {
        &self.read_as
    }

    /// Creates a ranking of memories that were requested by ID, in the given order. For a long memory, `query` selects
    /// the shown passage.
    pub fn chosen(page: &[Ranked], request: &RecallRequest) -> Self {
        let terms = QueryTerms::analyze(&request.query, None, [&BTreeSet::new(); 2], &Weights::default()).terms;
        let found = |ranked: &Ranked| Match {
            short_id: ranked.short_id.get(),
            created: 0,
            importance: 0,
            score: ranked.score,
            evidence: 0.0,
            parts: ranked.parts,
            share: 1.0,
            near: 0.0,
            is_doubtful: false,
            pointed: 0.0,
            redirected_from: None,
            is_updated: false,
            newer: ranked.newer.map(ShortId::get),
        };
        let total = u32::try_from(page.len()).unwrap_or(u32::MAX);
        let terms = terms.into_iter().map(|term| (term.term, term.weight)).collect();
        let matches: Vec<Match> = page.iter().map(found).collect();
        let start = request.cursor.as_ref().map_or(Some(0), |cursor| paging::start_of(&matches, cursor, |at| at));
        let (is_led_astray, start) = (start.is_none(), start.unwrap_or_default());
        Self { matches, total, terms, start, is_led_astray, ..Self::default() }
    }

    /// Marks the ranking as one for a reply of many short rows.
    #[must_use]
    pub fn broad(self) -> Self {
        Self { is_broad: true, ..self }
    }

    /// Sorts best first, and keeps what the page and all earlier ones need.
    fn order(&mut self, request: &RecallRequest, weights: &Weights) {
        let rows = self.rows(request);
        let matches = &mut self.matches;
        if matches.iter().any(|found| found.is_doubtful) {
            let best = matches.iter().map(|found| found.evidence).fold(0.0, f64::max);
            matches.retain(|found| !found.is_doubtful || found.evidence >= best * weights.embedding_near_best);
        }
        if self.has_embedding && request.purpose == Purpose::Unasked {
            let best = matches.iter().map(|found| found.pointed).fold(0.0, f64::max);
            matches.retain(|found| found.pointed >= best * weights.unasked_gate_near_best);
        }
        let share = match (request.sort, request.purpose) {
            (Sort::Importance | Sort::Recency, _) => RELEVANT_SHARE,
            (_, Purpose::Unasked) if !self.has_embedding => weights.unasked_near_best,
            _ => 0.0,
        };
        if share > 0.0 {
            let best = matches.iter().map(|found| found.evidence).fold(0.0, f64::max);
            // In the order by importance, a row with any word of the query counts, as in claude-memory-mcp.
            let counts = |found: &Match| request.sort == Sort::Importance && found.share > 0.0;
            matches.retain(|found| found.evidence >= best * share || counts(found));
        }
        self.total = u32::try_from(matches.len()).unwrap_or(u32::MAX);
        let order = match request.sort {
            Sort::Hybrid | Sort::Relevance => by_score,
            Sort::Importance => by_importance,
            Sort::Recency => by_creation,
        };
        let rank_of = |at: usize| {
            matches.get(at).map_or(0, |next| matches.iter().filter(|found| order(found, next).is_lt()).count())
        };
        let start = request.cursor.as_ref().map_or(Some(0), |cursor| paging::start_of(matches, cursor, rank_of));
        self.is_led_astray = start.is_none();
        self.start = start.unwrap_or_default();
        // Two more for the cursor.
        let wanted = self.start + rows + 2;
        if matches.len() > wanted {
            matches.select_nth_unstable_by(wanted, order);
            matches.truncate(wanted);
        }
        matches.sort_unstable_by(order);
    }

    /// Keeps the matches below the threshold that the reply shows. It shows them if no match is above the threshold, or
    /// if an explanation was requested.
    fn add_weak(
        &mut self,
        request: &RecallRequest,
        weights: &Weights,
        mut weak: Vec<Match>,
        mut near: Vec<Match>,
        below: Vec<Match>,
    ) {
        weak.sort_unstable_by(by_score);
        near.extend(weak.iter().cloned());
        near.sort_unstable_by(by_score);
        if request.explain {
            self.below = near.iter().cloned().chain(below).collect();
            self.below.sort_unstable_by(by_score);
            self.below.truncate(MAX_EXPLAINED);
        }
        if request.weak {
            near.truncate(request.limit as usize);
            self.weak = near;
        } else if self.total == 0 {
            let best = weak.first().map_or(0.0, |found| found.evidence);
            weak.retain(|found| found.evidence >= best * weights.weak_near_best);
            weak.truncate(MAX_WEAK.min(request.limit as usize));
            self.weak = weak;
        }
    }

    /// The number of memories below the threshold that contain an informative word.
    pub fn near(&self) -> u32 {
        self.near
    }

    /// The best matches below the threshold, best first, for a request with `explain`.
    pub fn below_floor(&self) -> Vec<Ranked> {
        (0..).zip(&self.below).filter_map(|(rank, found)| found.ranked(rank)).collect()
    }

    /// The weights for packing the rows of this ranking.
    pub(super) fn packed_by<'a>(&self, weights: &'a Weights) -> Cow<'a, Weights> {
        if !self.has_embedding {
            return Cow::Borrowed(weights);
        }
        let (charge_power, index_share) = (weights.charge_power_embedding, weights.index_share_embedding);
        Cow::Owned(Weights { charge_power, index_share, ..weights.clone() })
    }

    /// The searched terms in byte order, each with its weight for the choice of an excerpt.
    pub(super) fn terms(&self) -> &[(String, f64)] {
        &self.terms
    }

    /// True for a question about many memories, whose reply has many short rows.
    pub fn is_broad(&self) -> bool {
        self.is_broad
    }

    /// The rows of a page.
    pub(super) fn rows(&self, request: &RecallRequest) -> usize {
        let rows = if self.is_broad { request.rows() } else { request.limit };
        rows as usize
    }

    /// The embedding of the question, if it was used.
    pub(super) fn meant(&self) -> Option<&Vector> {
        self.meant.as_ref()
    }

    /// The number of matches above the threshold.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// The highest ID of its matches.
    pub(super) fn highest(&self) -> u32 {
        self.matches.iter().map(|found| found.short_id).max().unwrap_or_default()
    }
}

impl Match {
    pub(super) fn ranked(&self, rank: u32) -> Option<Ranked> {
        let redirected_from = self.redirected_from.and_then(|short_id| ShortId::try_from(short_id).ok());
        let short_id = ShortId::try_from(self.short_id).ok()?;
        let (score, parts, share) = (self.score, self.parts, self.share);
        let newer = self.newer.and_then(|short_id| ShortId::try_from(short_id).ok());
        Some(Ranked { short_id, rank, score, parts, share, redirected_from, newer, is_weak: false })
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
        let new = Match { short_id, created, importance, redirected_from, is_updated, ..old };
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

/// Ties go to the newer ID, so that the order does not depend on where a row is stored.
fn by_score(a: &Match, b: &Match) -> Ordering {
    b.score.total_cmp(&a.score).then(b.short_id.cmp(&a.short_id))
}

/// Rows with all words of the query first, then by score and importance together. This is the default order of
/// claude-memory-mcp, which its clients expect.
fn by_importance(a: &Match, b: &Match) -> Ordering {
    let holds_all = |found: &Match| found.share > WHOLE_SHARE;
    let blend = |found: &Match| 0.4 * found.score + 0.6 * f64::from(found.importance) / 100.0;
    holds_all(b).cmp(&holds_all(a)).then_with(|| blend(b).total_cmp(&blend(a))).then_with(|| by_score(a, b))
}

fn by_creation(a: &Match, b: &Match) -> Ordering {
    b.created.cmp(&a.created).then_with(|| by_score(a, b))
}
