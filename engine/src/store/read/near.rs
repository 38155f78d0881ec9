//! Finds memories with similar content.

use rusqlite::params;
use serde::Serialize;

use crate::domain::{Memory, MemoryRef, ShortId};
use crate::index::DocId;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::sql;
use crate::store::rows::memory::HOLDS;

/// The minimum similarity of two notes about the same subject. Among 494 notes by several people, 13 pairs reach this
/// similarity. These are all five pairs with equal content, four of the nine pairs in which one note replaces the
/// other, and four other pairs. A minimum of 0.68 would find six of the nine replacements, but also seven unrelated
/// pairs of Chinese notes.
const NEAR: f64 = 0.75;
/// The minimum similarity of two notes with the same content, if their words are also the same. Texts with opposite
/// meanings ("above", "below") have a similarity of up to 0.99.
const SAME: f64 = 0.93;
/// Maximum number of returned notes.
const MOST: usize = 3;
/// Maximum number of candidates.
const LOOKED_AT: usize = 20;

/// The relation between two similar memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SimilarityKind {
    /// Equal content in equal words.
    Same,
    /// About the same thing, with possibly different content.
    Other,
}

/// A similar memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Near {
    /// Its ID.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// Its summary.
    pub summary: String,
    /// The relation.
    pub likeness: SimilarityKind,
    /// The cosine similarity: 1 for equal texts.
    pub similarities: f64,
}

impl Store {
    /// Returns memories of the same scope that have equal content or the same subject: the most similar first, at most
    /// three. None if semantic search is off.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn near(&mut self, memory: &Memory) -> Result<Vec<Near>, StoreError> {
        let Some(meant) = self.embedding_key(&memory.content) else { return Ok(Vec::new()) };
        self.refresh_index()?;
        let found = {
            let view = self.index.view();
            let similarities = view.similarities(&meant);
            let rows = similarities.from(NEAR);
            let docs = rows.snapshot.iter().map(|row| DocId::Snapshot(row.doc));
            let docs = docs.chain(rows.tail.iter().map(|row| DocId::Tail(row.doc)));
            let mut found: Vec<(f64, u32)> =
                docs.filter_map(|doc| Some((similarities.of(doc)?, view.features(doc).short_id))).collect();
            found.sort_by(|(near, short_id), (other, later)| other.total_cmp(near).then(short_id.cmp(later)));
            found
        };
        let now = self.now();
        let mut told = Vec::new();
        for (similarities, short_id) in found.into_iter().take(LOOKED_AT) {
            let Some(other) = self.get(MemoryRef::ShortId(ShortId::try_from(short_id)?))? else { continue };
            let is_linked = memory.links.iter().any(|link| link.to == other.id);
            let holds = other.deleted.is_none() && !other.is_over(now) && self.holds(other.short_id)?;
            if other.id == memory.id || other.scope != memory.scope || other.origin.is_captured() || is_linked || !holds
            {
                continue;
            }
            let is_same = similarities >= SAME && !differ(&memory.content, &other.content);
            let likeness = if is_same { SimilarityKind::Same } else { SimilarityKind::Other };
            told.push(Near { short_id: other.short_id, summary: other.summary, likeness, similarities });
            if told.len() == MOST {
                break;
            }
        }
        Ok(told)
    }

    fn holds(&self, short_id: ShortId) -> Result<bool, StoreError> {
        let sql = sql!("SELECT 1 FROM memories WHERE short_id = ?1 AND ", HOLDS);
        let read =
            self.connection.prepare_cached(sql).and_then(|mut query| query.exists(params![short_id, self.now()]));
        read.map_err(|error| self.failed(error))
    }
}

/// True if two similar texts have different words, or a different word order. One text may be the opposite of the
/// other, and embeddings do not show this.
fn differ(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    !words(&one).eq(words(&other))
}

/// The words of a text in order, without punctuation and quotes.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let bare = |word| str::trim_matches(word, ['.', ',', ';', ':', '!', '?', '"', '\'', '(', ')']);
    text.split_whitespace().map(bare).filter(|word| !word.is_empty())
}
