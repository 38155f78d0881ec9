//! The ranking of the rows that a search found: which rows match, and their order.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::newer::raise_newer;
use super::paging;
use super::query::QueryTerms;
use super::relevance::{Features, Question, Rated};
use super::scorer::{Location, Signs};
use super::timing::{TimeOrder, Timing};
use crate::domain::{Purpose, RecallRequest, ShortId, Sort};
use crate::embedding::Vector;
use crate::pack::{Ranked, Remark, UnreviewedLine};
use crate::score::{NearBest, ScoreParts, Weights};

/// All matches of a query, in the order of the request.
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
    pub(super) near: u32,
    /// Matches below the threshold, best first: for a reply that has no other matches, or for an
    /// explanation.
    pub(super) weak: Vec<Match>,
    /// The best matches below the threshold or far from the best match, for a request with `explain`.
    below: Vec<Match>,
    /// The searched terms in byte order, each with its weight for the choice of an excerpt.
    pub(super) terms: Vec<(String, f64)>,
    /// True if semantic similarity was used.
    has_embedding: bool,
    /// The features of the rated rows, for a request with `explain`.
    rated: Vec<(ShortId, Features)>,
    /// The result of the answerability check, if the classifier of relevance rated the memories.
    answerability: Option<f64>,
    /// Whether the matches of a requested recall are certain.
    certainty: Certainty,
    /// The embedding of the question, if it was used.
    pub(super) meant: Option<Vector>,
    /// True for a question about many memories.
    is_broad: bool,
    /// The question about time.
    pub(super) timing: Option<Timing>,
    /// Words that no memory contains, each with its correction.
    pub(super) read_as: Vec<(String, String)>,
    /// Remarks about requested memories.
    remarks: Vec<(Remark, Vec<String>)>,
    /// Matching lines of the review queue, best first.
    unreviewed: Vec<UnreviewedLine>,
    /// The rank at which this page begins.
    pub(super) start: usize,
    /// True if the cursor of the request names memories that no longer exist.
    pub(super) is_led_astray: bool,
}

/// Whether a reply contains at least one certain match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Certainty {
    /// At least one match is certain, or nothing was rated.
    #[default]
    Sure,
    Unsure,
}

/// Whether a row that was found is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Standing {
    /// It is a match.
    #[default]
    Match,
    /// Its words alone are not enough, and its similarity alone is not enough. Such a row is kept only if the best match is
    /// not much better.
    Doubtful,
    /// The classifier of relevance rated it low, or did not rate it because others are better.
    Irrelevant,
}

#[derive(Debug, Clone, Default)]
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
    /// Whether the row is kept.
    pub(super) standing: Standing,
    /// True for a turn of a conversation.
    pub(super) is_turn: bool,
    /// The value that combines similarity and words, for automatic recall.
    pub(super) pointed: f64,
    pub(super) redirected_from: Option<u32>,
    pub(super) signs: Signs,
    /// True if another memory updates this one.
    pub(super) is_updated: bool,
    /// The newest memory that updates this one.
    pub(super) newer: Option<u32>,
}

/// Memories of other projects are left out if a memory of the project has at least this share of their best evidence.
const OWN_SHARE: f64 = 0.5;
/// The maximum number of low-confidence matches in a reply that has no relevant match, and of rows below the threshold
/// in an explanation.
const MAX_WEAK: usize = 3;
const MAX_EXPLAINED: usize = 10;

/// A row that has a larger share of the query's information than this contains all words of the query.
const WHOLE_SHARE: f64 = 0.999;
/// If the order is not by relevance, a match must have at least this share of the evidence of the best match.
const RELEVANT_SHARE: f64 = 0.5;

impl Ranking {
    /// Words that no memory contains, each with its correction.
    pub(super) fn read_as(&self) -> &[(String, String)] {
        &self.read_as
    }

    /// Remarks about requested memories.
    pub(super) fn remarks(&self) -> &[(Remark, Vec<String>)] {
        &self.remarks
    }

    /// Adds a remark about requested memories, unless there are none.
    #[must_use]
    pub fn remarking(mut self, remark: Remark, names: Vec<String>) -> Self {
        if !names.is_empty() {
            self.remarks.push((remark, names));
        }
        self
    }

    /// Matching lines of the review queue.
    pub(super) fn unreviewed(&self) -> &[UnreviewedLine] {
        &self.unreviewed
    }

    /// Adds matching lines of the review queue, best first.
    #[must_use]
    pub fn with_unreviewed(self, unreviewed: Vec<UnreviewedLine>) -> Self {
        Self { unreviewed, ..self }
    }

    /// Creates a ranking of memories that were requested by ID, in the given order. For a long memory, `query` selects
    /// the shown passage.
    pub fn chosen(page: &[Ranked], request: &RecallRequest) -> Self {
        let terms = QueryTerms::analyze(&request.query, None, [&BTreeSet::new(); 2], &Weights::default()).terms;
        let found = |ranked: &Ranked| Match {
            short_id: ranked.short_id.get(),
            score: ranked.score,
            parts: ranked.parts,
            share: 1.0,
            newer: ranked.newer.map(ShortId::get),
            ..Match::default()
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

    /// An empty ranking of this number of rows.
    pub(super) fn new(searched: u32, has_embedding: bool, is_broad: bool) -> Self {
        Self { searched, has_embedding, is_broad, ..Self::default() }
    }

    /// Rates the matches by the classifier of relevance.
    pub(super) fn rate(
        &mut self,
        request: &RecallRequest,
        matches: Vec<Match>,
        question: impl FnOnce() -> Question,
        weights: &Weights,
    ) -> Vec<Match> {
        let is_ranked = matches!(request.sort, Sort::Hybrid | Sort::Relevance);
        if !(self.has_embedding && is_ranked && request.purpose == Purpose::Asked && !self.is_broad) {
            return matches;
        }
        let question = question();
        let Rated { mut matches, features } = Rated::of(matches, &question, weights);
        raise_newer(&mut matches);
        self.answerability = Some(question.answerability);
        if request.explain {
            let id = |short_id| ShortId::try_from(short_id).ok();
            self.rated = features.into_iter().filter_map(|(row, features)| Some((id(row)?, features))).collect();
        }
        matches
    }

    /// True if no match is certain.
    pub(super) fn is_unsure(&self) -> bool {
        self.certainty == Certainty::Unsure
    }

    /// The features of the rated rows, for a request with `explain`.
    pub fn rated(&self) -> &[(ShortId, Features)] {
        &self.rated
    }

    /// Adds the rows: the matches, and the groups of rows below the threshold from better to worse.
    pub(super) fn fill(
        &mut self,
        request: &RecallRequest,
        weights: &Weights,
        matches: Vec<Match>,
        [weak, near, below]: [Vec<Match>; 3],
    ) {
        self.matches = matches;
        self.order(request, weights);
        self.add_weak(request, weights, weak, near, below);
    }

    /// Sorts best first, and keeps what the page and all earlier ones need.
    fn order(&mut self, request: &RecallRequest, weights: &Weights) {
        let rows = self.rows(request);
        let matches = &mut self.matches;
        let is_doubtful = |found: &Match| found.standing == Standing::Doubtful;
        if matches.iter().any(is_doubtful) {
            let best = matches.iter().map(|found| found.evidence).fold(0.0, f64::max);
            matches.retain(|found| !is_doubtful(found) || found.evidence >= best * weights.embedding_near_best);
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
        let is_usual = (request.sort, request.purpose) == (Sort::Hybrid, Purpose::Asked) && !request.weak;
        if self.answerability.is_some() && is_usual {
            self.below.extend(matches.extract_if(.., |found| found.standing == Standing::Irrelevant));
        }
        if request.purpose == Purpose::Asked && !request.weak && request.filters.scopes.is_empty() {
            self.below.extend(of_other_projects(matches));
        }
        if let Some(answerability) = self.answerability.filter(|_| is_usual) {
            let best = matches.iter().map(|found| found.score).fold(0.0, f64::max);
            let is_sure = answerability + weights.sure_score * best >= weights.sure;
            let is_unsure = !is_sure && matches.iter().all(|found| !found.is_turn);
            self.certainty = if is_unsure { Certainty::Unsure } else { Certainty::Sure };
        }
        if let Some(timing) = self.timing.as_ref().filter(|timing| !timing.is_open()) {
            let best = matches.iter().map(|found| found.evidence).fold(0.0, f64::max);
            let NearBest { in_window, in_order, .. } = weights.near_best;
            let share = if timing.has_window() { in_window } else { in_order };
            // An answer from a conversation often needs several turns.
            let keeps_turns = timing.ranked().is_none();
            matches.retain(|found| keeps_turns && found.is_turn || found.evidence >= best * share);
        }
        self.total = u32::try_from(matches.len()).unwrap_or(u32::MAX);
        let order = match request.sort {
            _ if let Some(order) = self.timing.as_ref().and_then(Timing::ranked) => match order {
                TimeOrder::Newest => by_creation,
                TimeOrder::Oldest => by_age,
            },
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
            self.below.extend(near.iter().cloned().chain(below));
            self.below.sort_unstable_by(by_score);
            self.below.truncate(MAX_EXPLAINED);
        } else {
            self.below.clear();
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

    /// The order in which a reply with many short rows shows them.
    pub(super) fn shown(&self) -> TimeOrder {
        self.timing.as_ref().map_or(TimeOrder::Oldest, Timing::shown)
    }

    /// True for a question about time that names a window.
    pub(super) fn is_in_window(&self) -> bool {
        self.timing.as_ref().is_some_and(Timing::has_window)
    }

    /// True for a question about many memories, whose reply has many short rows.
    pub fn is_broad(&self) -> bool {
        self.is_broad
    }

    /// The rows of a page.
    pub(super) fn rows(&self, request: &RecallRequest) -> usize {
        let wanted = self.timing.as_ref().and_then(Timing::rows);
        let is_default = request.limit == RecallRequest::DEFAULT_LIMIT;
        let rows = match wanted.filter(|_| is_default) {
            Some(wanted) => wanted,
            None if self.is_broad => request.rows(),
            None => request.limit,
        };
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
    /// True if the row contains all words of the question.
    pub(super) fn holds_all(&self) -> bool {
        self.share > WHOLE_SHARE
    }

    pub(super) fn ranked(&self, rank: u32) -> Option<Ranked> {
        let redirected_from = self.redirected_from.and_then(|short_id| ShortId::try_from(short_id).ok());
        let short_id = ShortId::try_from(self.short_id).ok()?;
        let (score, parts, share) = (self.score, self.parts, self.share);
        let newer = self.newer.and_then(|short_id| ShortId::try_from(short_id).ok());
        Some(Ranked { short_id, rank, score, parts, share, redirected_from, newer, is_weak: false, is_unsure: false })
    }
}

/// Ties go to the newer ID, so that the order does not depend on where a row is stored.
pub(super) fn by_score(a: &Match, b: &Match) -> Ordering {
    b.score.total_cmp(&a.score).then(b.short_id.cmp(&a.short_id))
}

/// Takes out the memories of other projects, unless they are much better than those of the project and the global ones.
fn of_other_projects(matches: &mut Vec<Match>) -> Vec<Match> {
    let is_elsewhere = |found: &Match| found.signs.location == Location::Elsewhere;
    let best = |elsewhere: bool| {
        let found = matches.iter().filter(|found| is_elsewhere(found) == elsewhere);
        found.map(|found| found.evidence).fold(0.0, f64::max)
    };
    if best(false) < OWN_SHARE * best(true) {
        return Vec::new();
    }
    matches.extract_if(.., |found| is_elsewhere(found)).collect()
}

/// Rows with all words of the query first, then by score and importance together. This is the default order of
/// claude-memory-mcp, which its clients expect.
fn by_importance(a: &Match, b: &Match) -> Ordering {
    let blend = |found: &Match| 0.4 * found.score + 0.6 * f64::from(found.importance) / 100.0;
    b.holds_all().cmp(&a.holds_all()).then_with(|| blend(b).total_cmp(&blend(a))).then_with(|| by_score(a, b))
}

fn by_age(a: &Match, b: &Match) -> Ordering {
    a.created.cmp(&b.created).then_with(|| by_score(a, b))
}

fn by_creation(a: &Match, b: &Match) -> Ordering {
    b.created.cmp(&a.created).then_with(|| by_score(a, b))
}
