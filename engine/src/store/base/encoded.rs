//! Recent results of the encoder.

use crate::embedding::Vector;

/// Texts that were just encoded and will be needed again.
#[derive(Debug, Default)]
pub(in crate::store) struct Encoded {
    /// The last question.
    pub(super) question: Option<(String, Vector)>,
    /// The text of the last written row.
    pub(super) row: Option<(String, Vec<u8>)>,
}
