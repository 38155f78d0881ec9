//! What a store had encoded a moment ago.

use crate::meaning::Vector;

/// What was encoded already and will be asked for again.
#[derive(Debug, Default)]
pub(in crate::store) struct Encoded {
    /// The last question.
    pub(super) question: Option<(String, Vector)>,
    /// What a row says that was just written.
    pub(super) row: Option<(String, Vec<u8>)>,
}
