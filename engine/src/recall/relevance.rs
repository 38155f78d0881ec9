//! Decides which of the rows that were found are relevant, and orders them.
//!
//! A classifier compares each row with the question and with the other rows. It gives the probability that the row
//! answers the question. It rates memories, but not turns of conversations.

use super::rank::{Match, Standing, by_score};
use super::scorer::{Location, Signs};
use crate::classifier::{Trees, odds_ratio};
use crate::score::{ScoreParts, Weights};

/// The number of features of a row.
pub const FEATURES: usize = 35;
/// The features of a row, as whole numbers.
pub type Features = [i16; FEATURES];

/// The maximum number of rated rows. All others have a lower score.
const MOST: usize = 64;
/// The share of the lowest rated evidence that the best of the others gets. Rounding does not lift it above a rated row.
const BELOW: f64 = 1.0 - 1e-9;
/// The logarithm of the odds is limited to this value, in 1/1024.
const MOST_ODDS: i32 = 8 * 1024;
/// The unit of features that are shares, similarities or logarithms.
const FINE: f64 = 1000.0;
/// The unit of features that are sums of information.
const COARSE: f64 = 100.0;
/// The unit of features that are evidence.
const EVIDENCE: f64 = 10.0;
/// The evidence of a row with even odds, as the classifier sees it.
const EVIDENCE_UNIT: f64 = 60.0;

/// The data that all rows of a question share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    /// The result of the answerability check.
    pub(super) answerability: f64,
    /// The similarity of the nearest row.
    pub(super) nearest: f64,
    /// The highest share of the question's subject in a row.
    pub(super) most_held: f64,
    /// The information of its subject. The unit is the information of a word that only one row contains.
    pub(super) subject: f64,
    /// True if it contains a name that no row contains.
    pub(super) has_unknown_name: bool,
    /// True if it is probably not in English.
    pub(super) is_foreign: bool,
    /// The number of rows of the store.
    pub(super) rows: u32,
    /// The number of its words.
    pub(super) words: u32,
    /// The number of its words that have much information.
    pub(super) content: u32,
    /// The number of those that at least one row contains.
    pub(super) known: u32,
}

/// The rows of a question after the rating.
#[derive(Debug, Default)]
pub(super) struct Rated {
    /// All rows. Rows that are not relevant are marked.
    pub(super) matches: Vec<Match>,
    /// The ID and the features of each rated row.
    pub(super) features: Vec<(u32, Features)>,
}

impl Rated {
    /// Rates the best memories. Their scores become probabilities, unless turns of conversations are among the rows: the
    /// scores of both must be comparable.
    pub(super) fn of(rows: Vec<Match>, question: &Question, weights: &Weights) -> Self {
        let half = weights.half_score_embedding;
        let mut matches = rows;
        let turns: Vec<Match> = matches.extract_if(.., |row| row.is_turn).collect();
        let keeps_scores = !turns.is_empty();
        matches.sort_unstable_by(by_score);
        let rated = matches.len().min(MOST);
        let (best, others) = matches.split_at_mut(rated);
        let features = features(best, question);
        let cut = weights.least_relevance(question.rows);
        let mut least = f64::INFINITY;
        for (row, features) in best.iter_mut().zip(&features) {
            let mut rated = row.clone();
            rated.rate(Trees(&weights.relevance).odds(features), half);
            let is_irrelevant = rated.score < cut && !rated.holds_all();
            least = least.min(rated.evidence);
            if !keeps_scores {
                *row = rated;
            }
            if is_irrelevant {
                row.standing = Standing::Irrelevant;
            }
        }
        // The others keep their order, below the rated rows.
        let most = others.first().map_or(1.0, Match::odds).max(f64::MIN_POSITIVE);
        for row in others {
            if !keeps_scores {
                row.replace_evidence(BELOW * least * row.odds() / most, half);
            }
            if !row.holds_all() {
                row.standing = Standing::Irrelevant;
            }
        }
        let features = matches.iter().map(|row| row.short_id).zip(features).collect();
        matches.extend(turns);
        Self { matches, features }
    }
}

impl Match {
    /// Replaces the evidence. Without the prior, the score becomes the probability that belongs to these odds.
    fn rate(&mut self, odds: i32, half: f64) {
        self.replace_evidence(half * odds_ratio(odds.clamp(-MOST_ODDS, MOST_ODDS)), half);
    }

    /// Multiplies all parts of the score by one factor, so that they belong to this evidence.
    fn replace_evidence(&mut self, wanted: f64, half: f64) {
        let parts = ScoreParts { newer: 0.0, ..self.parts };
        let evidence = parts.evidence();
        let parts = parts.scaled(if evidence > 0.0 { wanted / evidence } else { 0.0 });
        self.parts = parts.scaled(1.0 / (parts.sum() + half));
        self.score = self.parts.sum();
        self.evidence = wanted;
        self.standing = Standing::Match;
    }

    /// The odds of the score.
    fn odds(&self) -> f64 {
        let score = self.score.min(0.999);
        score / (1.0 - score)
    }
}

/// The highest value of a number.
fn most(rows: &[Match], of: impl Fn(&Match) -> f64) -> f64 {
    rows.iter().map(of).fold(0.0, f64::max)
}

/// For each row, the number of rows with a higher value.
fn ranks(rows: &[Match], of: impl Fn(&Match) -> f64) -> Vec<f64> {
    let values: Vec<f64> = rows.iter().map(of).collect();
    let higher = |value: &f64| values.iter().map(|other| flag(other > value)).sum();
    values.iter().map(higher).collect()
}

/// The best values among the rated rows.
struct Among {
    near: f64,
    share: f64,
    told: f64,
    text: f64,
    /// The evidence of the best and of the second row.
    evidence: [f64; 2],
    /// The mean and the spread of the evidence.
    mean: f64,
    spread: f64,
    count: f64,
}

/// The place of a row among the others.
struct Place {
    evidence: f64,
    by_evidence: f64,
    by_near: f64,
    by_age: f64,
}

/// The part of the evidence for words.
fn text(row: &Match) -> f64 {
    row.parts.text * (1.0 + row.odds())
}

impl Among {
    fn of(rows: &[Match], evidence: &[f64]) -> Self {
        let count = f64::from(u32::try_from(rows.len()).unwrap_or(u32::MAX)).max(1.0);
        let mean = evidence.iter().sum::<f64>() / count;
        let variance = evidence.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>() / count;
        let best = evidence.first().copied().unwrap_or_default();
        Self {
            near: most(rows, |row| row.near),
            share: most(rows, |row| row.share),
            told: most(rows, |row| row.signs.told),
            text: most(rows, text),
            evidence: [best, evidence.get(1).copied().unwrap_or(best)],
            mean,
            spread: variance.sqrt() + 1.0,
            count,
        }
    }

    fn features(&self, row: &Match, place: &Place, question: &Question) -> [f64; FEATURES] {
        let Signs { told, subject, best, words, similar, own_words, length, location, is_match } = row.signs;
        let &Place { evidence, by_evidence, by_near, by_age } = place;
        let [first, second] = self.evidence;
        [
            FINE * row.near,
            FINE * (self.near - row.near),
            FINE * row.share,
            FINE * (self.share - row.share),
            COARSE * told,
            COARSE * (self.told - told),
            FINE * subject,
            EVIDENCE * evidence,
            EVIDENCE * (first - evidence),
            FINE * evidence / first.max(f64::MIN_POSITIVE),
            FINE * text(row),
            FINE * (self.text - text(row)),
            by_evidence,
            by_near,
            flag(location != Location::Here),
            f64::from(words),
            f64::from(similar),
            f64::from(own_words),
            FINE * best,
            flag(is_match),
            flag(row.is_updated),
            flag(row.newer.is_some()),
            EVIDENCE * (evidence - if by_evidence < 1.0 { second } else { first }),
            FINE * question.nearest,
            FINE * question.most_held,
            COARSE * question.subject,
            flag(question.has_unknown_name) + 2.0 * flag(question.is_foreign),
            COARSE * f64::from(question.rows.max(1)).ln(),
            f64::from(question.words),
            f64::from(question.content),
            f64::from(question.known),
            self.count,
            FINE * by_age / self.count,
            f64::from(length),
            COARSE * (evidence - self.mean) / self.spread,
        ]
    }
}

/// The features of rows that are sorted by score, best first.
fn features(rows: &[Match], question: &Question) -> Vec<Features> {
    let evidence: Vec<f64> = rows.iter().map(|row| EVIDENCE_UNIT * row.odds()).collect();
    let among = Among::of(rows, &evidence);
    let ranks = [ranks(rows, Match::odds), ranks(rows, |row| row.near), ranks(rows, |row| f64::from(row.created))];
    let [by_evidence, by_near, by_age] = ranks;
    let places = evidence.into_iter().zip(by_evidence).zip(by_near.into_iter().zip(by_age));
    let places =
        places.map(|((evidence, by_evidence), (by_near, by_age))| Place { evidence, by_evidence, by_near, by_age });
    rows.iter().zip(places).map(|(row, place)| among.features(row, &place, question).map(whole)).collect()
}

fn flag(is_set: bool) -> f64 {
    f64::from(u8::from(is_set))
}

/// The nearest whole number that a feature can have.
#[expect(clippy::cast_possible_truncation, reason = "limited to the range")]
fn whole(number: f64) -> i16 {
    number.round().clamp(f64::from(i16::MIN), f64::from(i16::MAX)) as i16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::{NODES, RELEVANCE, TREE};

    const QUESTION: Question = Question {
        answerability: 1.0,
        nearest: 0.5,
        most_held: 0.5,
        subject: 2.0,
        has_unknown_name: false,
        is_foreign: false,
        rows: 100,
        words: 4,
        content: 2,
        known: 2,
    };

    fn row(short_id: u32, near: f64) -> Match {
        let evidence = ScoreParts { embedding: 160.0 * near, text: 5.0 * near, ..ScoreParts::default() };
        let parts = ScoreParts { recency: evidence.sum() * 0.1, ..evidence };
        let parts = parts.scaled(1.0 / (parts.sum() + 60.0));
        Match { short_id, near, share: near, score: parts.sum(), parts, ..Match::default() }
    }

    /// The score before the rating.
    fn row_score(found: &Match) -> f64 {
        row(found.short_id, found.near).score
    }

    #[test]
    fn a_memory_with_all_words_of_the_question_is_never_irrelevant() {
        let mut rows: Vec<Match> = (1..=100).map(|id| row(id, 0.01 + f64::from(id) / 200.0)).collect();
        for at in [0, 50] {
            rows[at].share = 1.0;
        }
        let rated = Rated::of(rows, &QUESTION, &Weights::default());
        let kept: Vec<u32> =
            rated.matches.iter().filter(|row| row.standing != Standing::Irrelevant).map(|row| row.short_id).collect();
        assert!(kept.contains(&1) && kept.contains(&51) && kept.len() < 100, "{kept:?}");
    }

    #[test]
    fn every_node_asks_for_a_feature() {
        assert!(RELEVANCE.len().is_multiple_of(TREE) && !RELEVANCE.is_empty());
        let nodes = RELEVANCE.chunks_exact(TREE).flat_map(|tree| tree[..NODES * 3].chunks_exact(3));
        assert!(nodes.into_iter().all(|node| usize::from(node[0]) < FEATURES));
    }

    #[test]
    fn the_parts_keep_their_proportions_and_add_up_to_the_score() {
        let rows: Vec<Match> = (1..=4).map(|id| row(id, 0.2 * f64::from(id))).collect();
        let rated = Rated::of(rows.clone(), &QUESTION, &Weights::default());
        for found in &rated.matches {
            let before = rows.iter().find(|row| row.short_id == found.short_id).unwrap();
            let ratio = |row: &Match| row.parts.text / row.parts.embedding;
            assert!((found.parts.sum() - found.score).abs() < 1e-12 && found.score > 0.0 && found.score < 1.0);
            assert!((ratio(found) - ratio(before)).abs() < 1e-12);
            assert!((found.parts.recency / found.parts.evidence() - 0.1).abs() < 1e-12);
        }
        let score = |short_id: u32| rated.matches.iter().find(|row| row.short_id == short_id).unwrap().score;
        assert!(score(4) > 2.0 * score(1), "{} {}", score(4), score(1));
    }

    #[test]
    fn without_prior_the_score_is_the_probability() {
        let mut found = row(1, 0.5);
        found.parts.recency = 0.0;
        for (odds, probability) in [(0, 0.5), (1024, 0.731), (-2048, 0.119), (i32::MAX, 0.9997)] {
            found.rate(odds, 60.0);
            assert!((found.score - probability).abs() < 1e-3, "{odds}: {}", found.score);
        }
    }

    #[test]
    fn only_the_best_memories_are_rated_and_next_to_turns_no_score_changes() {
        let mut rows: Vec<Match> = (1..=100).map(|id| row(id, f64::from(id) / 200.0)).collect();
        let alone = Rated::of(rows.clone(), &QUESTION, &Weights::default()).matches;
        let (rated, others): (Vec<Match>, Vec<Match>) = alone.into_iter().partition(|row| row.short_id > 36);
        let least = rated.iter().map(|row| row.score).fold(1.0, f64::min);
        assert!(others.iter().all(|row| row.score <= least && row.score > 0.0), "{least} {others:?}");
        assert!(others.is_sorted_by(|a, b| a.score >= b.score));
        rows.push(Match { is_turn: true, ..row(101, 0.1) });
        let rated = Rated::of(rows, &QUESTION, &Weights::default());
        assert_eq!((rated.features.len(), rated.matches.len()), (64, 101));
        assert!(rated.features.iter().all(|(short_id, _)| *short_id > 36));
        assert!(rated.matches.iter().filter(|row| row.short_id <= 36).all(|row| row.standing == Standing::Irrelevant));
        // The scores of turns and of memories stay comparable.
        assert!(rated.matches.iter().all(|row| (row.score - row_score(row)).abs() < f64::EPSILON));
    }

    #[test]
    fn equal_memories_get_equal_scores() {
        let rows = vec![row(1, 0.4), row(2, 0.4), row(3, 0.1)];
        let rated = Rated::of(rows, &QUESTION, &Weights::default());
        let score = |short_id: u32| rated.matches.iter().find(|row| row.short_id == short_id).unwrap().score;
        assert!((score(1) - score(2)).abs() < f64::EPSILON && score(1) > score(3));
    }

    #[test]
    fn nothing_is_rated_in_an_empty_store() {
        let rated = Rated::of(Vec::new(), &QUESTION, &Weights::default());
        assert!(rated.matches.is_empty() && rated.features.is_empty());
    }
}
