//! The embedding of a question. All rankers use this one rule.

use crate::domain::{RecallRequest, Timestamp};
use crate::embedding::{Encoder, Vector};
use crate::score::Weights;

/// The embedding of the question that is asked at `now`; `None` if only words are compared. Computing it takes milliseconds of processor time.
/// Do not do this on a thread for which other work waits.
pub fn meant(request: &RecallRequest, now: Timestamp, weights: &Weights) -> Option<Vector> {
    let subject = request.subject(now);
    is_semantic_query(&subject, weights).then(|| Encoder::shared().question(&subject))
}

/// True for a question that is also ranked by semantic search.
pub(crate) fn is_semantic_query(subject: &str, weights: &Weights) -> bool {
    weights.embedding > 0.0 && subject.chars().any(char::is_alphanumeric)
}
