//! The score of one row for one query.

use crate::domain::{Handle, Purpose, RecallRequest, Scope, Sort, Timestamp};
use crate::index::{DocId, Features, FieldTf, Flags, IndexView, TermPostings};
use crate::score::{Bm25, DateHints, Prior, ScoreParts, Weights, idf};

use super::lookup::Terms;
use super::query::QueryTerm;
use super::rank::Match;

/// What is the same for all rows of one query.
pub(super) struct Scorer<'a> {
    request: &'a RecallRequest,
    weights: &'a Weights,
    now: Timestamp,
    bm25: Bm25,
    dates: DateHints,
    gains: Vec<Gain>,
    concepts: [f64; 64],
    information: f64,
    /// What a word that one row holds tells.
    rarest: f64,
    in_scope: Option<Box<dyn Fn(DocId) -> bool + 'a>>,
}

/// A letter alone, a piece of an identifier; or hiragana alone, which is grammar.
fn tells_nothing(term: &str) -> bool {
    let is_letter = term.len() == 1 && term.bytes().all(|b| b.is_ascii_alphabetic());
    is_letter || term.chars().all(|c| matches!(c, '\u{3040}'..='\u{309f}'))
}

#[derive(Clone, Copy)]
struct Gain {
    bm25: f64,
    name: f64,
    concept: u8,
    /// How many words a hit counts for where nobody asked: an identifier or a name tells more.
    telling: f64,
}

impl<'a> Scorer<'a> {
    pub(super) fn new<B: AsRef<[u8]>>(
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
            let telling = match term {
                term if tells_nothing(&term.term) => 0.0,
                term if term.is_name || term.is_identifier => weights.unasked_names,
                _ => 1.0,
            };
            Gain { bm25: term.weight * tells, name, concept: term.concept, telling }
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
            rarest: idf(rows, 1),
            in_scope,
        }
    }

    /// The filters that read numbers rather than labels.
    pub(super) fn admits(&self, features: &Features) -> bool {
        let filters = &self.request.filters;
        let is_expired = features.expires != 0 && features.expires <= self.now.minutes();
        let is_early = filters.since.is_some_and(|since| features.created < since.minutes());
        let is_late = filters.until.is_some_and(|until| features.created >= until.minutes());
        let own_only = filters.own_only || self.request.purpose == Purpose::Unasked;
        let is_foreign = own_only && features.flags.has(Flags::FOREIGN);
        let is_excluded = !self.request.exclude.is_empty()
            && Handle::try_from(features.handle).is_ok_and(|handle| self.request.exclude.contains(&handle));
        !(is_expired || is_early || is_late || is_foreign || is_excluded)
    }

    /// The score of a row, and whether it is above the floor.
    pub(super) fn score(&self, doc: DocId, features: &Features, hits: &[(usize, FieldTf)]) -> (Match, bool) {
        let mut parts = ScoreParts::default();
        let mut held = 0_u64;
        let mut own_held = 0_u64;
        let mut telling = 1.0_f64;
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
                telling = telling.max(gain.telling);
            }
            held |= 1 << gain.concept;
            if own > 0.0 && gain.telling > 0.0 {
                own_held |= 1 << gain.concept;
            }
        }
        let passes = match self.request.purpose {
            Purpose::Asked => self.is_above_floor(held),
            Purpose::Unasked => self.is_to_the_point(own_held, telling),
        };
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

    /// A row that nobody asked for must hold as much of the query as so many rare words would: more
    /// for a longer query, up to a bound, so that a long prompt can be about one thing among others.
    fn is_to_the_point(&self, held: u64, telling: f64) -> bool {
        let holds: f64 =
            (0..).zip(&self.concepts).filter(|(concept, _)| held & (1 << concept) != 0).map(|(_, tells)| tells).sum();
        let rare = self.rarest.max(f64::MIN_POSITIVE);
        let [least, most] = self.weights.unasked_words;
        let wanted = (self.weights.unasked_share * self.information / rare).clamp(least, most);
        let all = self.weights.unasked_whole * self.information / rare;
        holds * telling / rare >= wanted.min(all)
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
