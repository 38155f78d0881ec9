//! Finds memories that a new memory updates, and those with similar content.

use serde::Serialize;

use crate::domain::{LinkKind, Memory, ShortId};
use crate::relation::Compared;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;

/// The minimum similarity of two notes about the same subject. In our development sets, 19 pairs of notes reach it. As
/// many pairs reached 0.75 with the first network of the encoder alone. With that limit, 13 pairs of 494 notes by
/// several people were reported: all five pairs with equal content, four of the nine pairs in which one note replaces
/// the other, and four other pairs.
const NEAR: f64 = 0.66;
/// The minimum similarity of two notes with the same content. Their words must also be the same: texts with opposite
/// meanings ("above", "below") have a similarity of up to 0.99.
const SAME: f64 = 0.75;
/// Maximum number of returned notes.
const MOST: usize = 3;

/// The relation between two similar memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimilarityKind {
    /// The new memory supersedes the older one, and has a link to it. Recall no longer returns the older one.
    Supersedes,
    /// The new memory updates the older one, and has a link to it.
    Updates,
    /// The new memory may update the older one.
    MayUpdate,
    /// Equal content in equal words.
    Same,
    /// About the same thing, with possibly different content.
    Other,
}

/// A similar memory.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Near {
    /// Its ID.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// Its summary.
    pub summary: String,
    /// The relation.
    pub likeness: SimilarityKind,
    /// The cosine similarity: 1 for equal texts, 0 if an embedding is missing.
    pub similarities: f64,
}

impl Store {
    /// Returns the memories that a memory updates, and memories of the same scope that have equal content or the same
    /// subject, at most three. None if semantic search is off.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn near(&mut self, memory: &Memory) -> Result<Vec<Near>, StoreError> {
        // The memory was probably just stored, so it was compared before.
        let compared = match self.encoded.compared.take().filter(|(id, _)| *id == memory.id) {
            Some((_, compared)) => compared,
            None => self.compare(&memory.content, &memory.scope, Some(memory.id))?,
        };
        let mut found: Vec<Near> = compared.iter().filter_map(|older| self.likeness(memory, older)).collect();
        // Superseded memories and updates come first. The order among equals is that of their odds.
        found.sort_by_key(|near| near.likeness as u8);
        found.truncate(MOST);
        Ok(found)
    }

    fn likeness(&self, memory: &Memory, older: &Compared) -> Option<Near> {
        let near = older.near.unwrap_or(0.0);
        let link = memory.links.iter().find(|link| link.to == older.id);
        let is_earlier = older.created <= memory.created;
        let is_here = older.scope == memory.scope;
        let likeness = match link {
            // A link that the caller asked for needs no report.
            Some(link) if link.kind == LinkKind::Supersedes && older.is_replaced => SimilarityKind::Supersedes,
            Some(link) if link.kind == LinkKind::Updates => SimilarityKind::Updates,
            Some(_) => return None,
            None if is_here && older.is_same && near >= SAME => SimilarityKind::Same,
            None if is_earlier && older.odds >= self.weights.may_update_least => SimilarityKind::MayUpdate,
            None if is_here && near >= NEAR => SimilarityKind::Other,
            None => return None,
        };
        let (short_id, summary) = (older.short_id, older.summary.clone());
        Some(Near { short_id, summary, likeness, similarities: near })
    }
}
