//! The analysis of a text, which a store keeps with it. It is made once per write.

use xxhash_rust::xxh3::Xxh3Default;

use super::forward::ForwardDoc;
use crate::domain::{Category, Memory};
use crate::enrich;

/// The analysis of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// Its terms.
    pub doc: ForwardDoc,
    /// A hash that is equal for two texts with the same words in any order, case and punctuation.
    pub signature: u64,
    /// True for a lasting preference or rule.
    pub is_instruction: bool,
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
        let is_instruction =
            enrich::is_instruction(&memory.content) || memory.category.as_str() == Category::PREFERENCES;
        Self { signature: words.digest(), is_instruction, doc }
    }
}
