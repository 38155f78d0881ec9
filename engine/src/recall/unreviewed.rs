//! Decides which lines of the review queue match a question.

use std::collections::BTreeSet;

use super::query::QueryTerms;
use crate::embedding::Vector;
use crate::score::Weights;
use crate::text::tokenize;

/// Maximum number of lines in a reply.
const MOST: usize = 3;

/// The positions of the lines that match a question, best first, at most three. Each line has a text and, if known, an
/// embedding.
///
/// The value of a line is the share of the informative words of the question that it contains, plus its cosine
/// similarity to the question. The queue is too short for word statistics, so all words count the same.
pub(crate) fn matching_lines(
    question: &str,
    meant: Option<&Vector>,
    lines: &[(&str, Option<&Vector>)],
    weights: &Weights,
) -> Vec<usize> {
    let query = QueryTerms::analyze(question, None, [&BTreeSet::new(); 2], weights);
    let value = |(text, vector): &(&str, Option<&Vector>)| {
        let near = meant.zip(*vector).map_or(0.0, |(meant, vector)| vector.similarities(meant));
        share(&query, text) + near.max(0.0)
    };
    let mut rated: Vec<(usize, f64)> = lines.iter().map(value).enumerate().collect();
    rated.retain(|(_, value)| *value >= weights.unreviewed_least);
    rated.sort_by(|(at, one), (other_at, other)| other.total_cmp(one).then(at.cmp(other_at)));
    rated.into_iter().take(MOST).map(|(at, _)| at).collect()
}

/// The share of the informative words of a question that a text contains.
fn share(query: &QueryTerms, text: &str) -> f64 {
    let informative = query.asked & !query.light;
    if informative == 0 {
        return 0.0;
    }
    let terms: BTreeSet<String> = tokenize(text).into_iter().map(|token| token.term).collect();
    let is_held = |term: &str| term.split(' ').all(|word| terms.contains(word));
    let held = query.terms.iter().filter(|term| is_held(&term.term)).fold(0, |held, term| held | term.concepts);
    f64::from((held & informative).count_ones()) / f64::from(informative.count_ones())
}
