//! What a store keeps of a text beside it, made once for each write.

use xxhash_rust::xxh3::Xxh3Default;

use super::forward::ForwardDoc;
use crate::domain::{Category, Memory};
use crate::enrich;

/// What the analysis of a memory gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// Its terms.
    pub doc: ForwardDoc,
    /// Equal for two texts of the same words, whatever their order, case and punctuation.
    pub signature: u64,
    /// True for a lasting wish or rule.
    pub is_standing: bool,
}

impl Analysis {
    /// Analyses a memory.
    pub fn of(memory: &Memory) -> Self {
        let doc = ForwardDoc::analyze(memory);
        let mut words = Xxh3Default::new();
        for (term, tf) in doc.terms.iter().filter(|(_, tf)| tf.content > 0) {
            words.update(term.as_bytes());
            words.update(&[0, tf.content]);
        }
        if doc.length == 0 {
            words.update(memory.content.as_bytes());
        }
        let is_standing = enrich::is_standing(&memory.content) || memory.category.as_str() == Category::PREFERENCES;
        Self { signature: words.digest(), is_standing, doc }
    }
}
