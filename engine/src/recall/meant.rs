//! Which questions are encoded. All rankers use this one rule.

use std::borrow::Cow;

use crate::domain::{RecallRequest, Timestamp};
use crate::score::Weights;

/// The text to encode for a question that is asked at `now`; `None` if only words are compared.
pub fn semantic_query<'r>(request: &'r RecallRequest, now: Timestamp, weights: &Weights) -> Option<Cow<'r, str>> {
    Some(request.subject(now)).filter(|subject| is_semantic_query(subject, weights))
}

/// True for a question that is also ranked by semantic search.
pub(crate) fn is_semantic_query(subject: &str, weights: &Weights) -> bool {
    weights.embedding > 0.0 && subject.chars().any(char::is_alphanumeric)
}
