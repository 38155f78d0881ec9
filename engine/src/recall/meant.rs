//! What a question means: one rule for whoever ranks.

use crate::domain::RecallRequest;
use crate::meaning::{Encoder, Vector};
use crate::score::Weights;

/// The vector of a request's question; `None` where it is ranked by its words alone. It takes milliseconds of a
/// processor: not for a thread that others wait for.
pub fn meant(request: &RecallRequest, weights: &Weights) -> Option<Vector> {
    let is_wanted = weights.meaning > 0.0 && !request.query.is_empty();
    is_wanted.then(|| Encoder::shared().question(&request.subject()))
}
