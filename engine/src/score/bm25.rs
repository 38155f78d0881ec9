//! BM25F: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf of
//! Lucene, which stays positive: ln(1 + (N − df + 0.5) / (df + 0.5)).
//!
//! Also a score with its parts.

use serde::{Deserialize, Serialize};

use super::Weights;
use crate::index::FieldTf;

/// The inverse document frequency of a term. `df` of `rows` rows contain the term.
pub fn idf(rows: u32, df: u32) -> f64 {
    let (rows, df) = (f64::from(rows), f64::from(df.min(rows)));
    (1.0 + (rows - df + 0.5) / (df + 0.5)).ln()
}

/// The part of BM25F that all rows of one query share.
#[derive(Debug, Clone)]
pub struct Bm25 {
    k1: f64,
    keywords: f64,
    tags: f64,
    category: f64,
    context: f64,
    b: f64,
    mean_length: f64,
    norms: Vec<f64>,
}

/// For shorter texts, the norm is read from a table.
const SHORT: u16 = 256;
/// The frequencies of context words are stored in 25ths.
const CONTEXT_UNIT: f64 = 25.0;

impl Bm25 {
    /// Creates the calculator for an index whose texts have `mean_length` words on average.
    pub fn new(weights: &Weights, mean_length: f64) -> Self {
        let norm = |length: u16| 1.0 - weights.b + weights.b * f64::from(length) / mean_length;
        Self {
            k1: weights.k1,
            keywords: weights.keywords,
            tags: weights.tags,
            category: weights.category,
            context: weights.context / CONTEXT_UNIT,
            b: weights.b,
            mean_length,
            norms: (0..SHORT).map(norm).collect(),
        }
    }

    fn norm(&self, length: u16) -> f64 {
        match self.norms.get(usize::from(length)) {
            Some(norm) => *norm,
            None => 1.0 - self.b + self.b * f64::from(length) / self.mean_length,
        }
    }

    /// The weighted frequency of a term in a row of `length` words, as a pair: in the row itself, and in its context.
    /// Only the text is normalised by length, because the other fields are short.
    #[inline]
    pub fn frequency(&self, tf: FieldTf, length: u16) -> (f64, f64) {
        let mut own = f64::from(tf.content) / self.norm(length);
        if tf.keywords | tf.tags | tf.category != 0 {
            own += self.keywords * f64::from(tf.keywords)
                + self.tags * f64::from(tf.tags)
                + self.category * f64::from(tf.category);
        }
        (own, self.context * f64::from(tf.context))
    }

    /// The score of a term at a weighted frequency. `gain` is weight times idf.
    #[inline]
    pub fn saturate(&self, gain: f64, frequency: f64) -> f64 {
        gain * frequency * (self.k1 + 1.0) / (frequency + self.k1)
    }
}

/// The parts of a score. The sum of all parts is the score, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(default)]
pub struct ScoreParts {
    /// Semantic similarity to the query.
    pub embedding: f64,
    /// The share of the query's information that the memory contains.
    pub held: f64,
    /// The part of the score for words of the query that the memory contains.
    pub text: f64,
    /// The part of the score for words of the query that neighbouring turns of the conversation contain.
    pub context: f64,
    /// The part of the score for names of the query that the memory contains.
    pub names: f64,
    /// Agreement with a date in the query.
    pub date: f64,
    /// The text states a lasting preference or rule.
    pub instruction: f64,
    /// Importance.
    pub importance: f64,
    /// How recently it was used or created.
    pub recency: f64,
    /// How often it was used.
    pub frequency: f64,
    /// The rise above the older memories that this memory updates.
    pub newer: f64,
}

impl ScoreParts {
    /// The displayed names of the parts.
    pub const NAMES: [&'static str; 11] = [
        "embedding",
        "held",
        "text",
        "context",
        "names",
        "date",
        "instruction",
        "importance",
        "recency",
        "frequency",
        "newer",
    ];

    /// The parts in the order of [`ScoreParts::NAMES`].
    pub fn values(&self) -> [f64; 11] {
        let Self { embedding, held, text, context, names, date, instruction, importance, recency, frequency, newer } =
            *self;
        [embedding, held, text, context, names, date, instruction, importance, recency, frequency, newer]
    }

    /// The score.
    pub fn sum(&self) -> f64 {
        self.values().iter().sum()
    }

    /// The evidence without the prior, unscaled.
    pub(crate) fn evidence(&self) -> f64 {
        self.embedding + self.held + self.text + self.context + self.names + self.date + self.instruction
    }

    /// Every part multiplied by `factor`.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        for part in [
            &mut self.embedding,
            &mut self.held,
            &mut self.text,
            &mut self.context,
            &mut self.names,
            &mut self.date,
            &mut self.instruction,
            &mut self.importance,
            &mut self.recency,
            &mut self.frequency,
            &mut self.newer,
        ] {
            *part *= factor;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn values_agree_with_a_calculation_by_hand() {
        // N = 10, df = 2: ln(1 + 8.5 / 2.5) = ln 4.4
        assert!(close(idf(10, 2), 4.4_f64.ln()));
        let bm25 = Bm25::new(&Weights { k1: 1.2, b: 0.75, ..Weights::default() }, 20.0);
        // length 10 of mean 20: norm = 0.25 + 0.75 · 0.5 = 0.625; tf 2 / 0.625 = 3.2
        let (own, around) = bm25.frequency(FieldTf { content: 2, ..FieldTf::default() }, 10);
        assert!(close(own, 3.2) && close(around, 0.0));
        // 3.2 · 2.2 / (3.2 + 1.2) = 1.6
        assert!(close(bm25.saturate(1.0, own), 1.6));
        // beyond the table: length 300: norm = 0.25 + 0.75 · 15 = 11.5
        assert!(close(bm25.frequency(FieldTf { content: 1, ..FieldTf::default() }, 300).0, 1.0 / 11.5));
    }

    #[test]
    fn more_of_a_word_scores_more_and_a_rare_word_more_than_a_common_one() {
        let bm25 = Bm25::new(&Weights::default(), 10.0);
        let score = |content| {
            let (own, _) = bm25.frequency(FieldTf { content, ..FieldTf::default() }, 10);
            bm25.saturate(1.0, own)
        };
        assert!((1..127).all(|tf| score(tf) < score(tf + 1)));
        assert!((0..100).all(|df| idf(100, df) > idf(100, df + 1) && idf(100, df + 1) > 0.0));
    }
}
