//! What a question means: one rule for whoever ranks.

use crate::domain::RecallRequest;
use crate::meaning::{Encoder, Vector, is_understood};
use crate::score::Weights;

/// The vector of a request's question; `None` where it is ranked by its words alone. It takes milliseconds of a
/// processor: not for a thread that others wait for.
pub fn meant(request: &RecallRequest, weights: &Weights) -> Option<Vector> {
    let subject = request.subject();
    is_semantic_query(&subject, weights).then(|| Encoder::shared().question(&subject))
}

/// True for a question that is ranked by what it means too: one in letters that the encoder was taught.
pub(crate) fn is_semantic_query(subject: &str, weights: &Weights) -> bool {
    weights.meaning > 0.0 && subject.chars().any(char::is_alphanumeric) && is_understood(subject)
}
