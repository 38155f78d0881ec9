//! Recent results of the encoder and of comparisons.

use super::ahead::Ahead;
use crate::domain::MemoryUuid;
use crate::embedding::Vector;
use crate::relation::Compared;

/// Results that will probably be needed again.
#[derive(Debug, Default)]
pub(in crate::store) struct Encoded {
    /// The text that is being encoded.
    pub(super) ahead: Option<Ahead>,
    /// The last question.
    pub(super) question: Option<(String, Vector)>,
    /// The text that was compared last, and the embedding of its first passage.
    pub(super) key: Option<(String, Vector)>,
    /// The text of the last written row.
    pub(super) row: Option<(String, Vec<u8>)>,
    /// The last memory that was compared with older ones, and the result.
    pub(in crate::store) compared: Option<(MemoryUuid, Vec<Compared>)>,
}
