//! Memories that say what another one says, in whatever words.

use rusqlite::params;
use serde::Serialize;

use crate::domain::{Memory, MemoryRef, ShortId};
use crate::index::DocId;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::sql;
use crate::store::rows::memory::HOLDS;

/// From where on two notes are told to be about one thing. Of 494 notes of several people 13 pairs are so near: all five that
/// say the same, four of nine of which one replaces the other, and four others, of which three are of one thing. From 0.68
/// on it would be six of nine, and seven pairs that have nothing in common but to be in Chinese.
const NEAR: f64 = 0.75;
/// From where on they say the same, where they are of the same words too: opposites ("above", "below") are as near as 0.99.
const SAME: f64 = 0.93;
/// Notes that are told, at most.
const MOST: usize = 3;
/// Rows that are looked at for them.
const LOOKED_AT: usize = 20;

/// How a memory stands to one that is near.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SimilarityKind {
    /// They say the same, in the same words.
    Same,
    /// They are about the same thing, and may say something else of it.
    Other,
}

/// A memory that is near another in what it says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Near {
    /// Its number.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// What it says, in short.
    pub summary: String,
    /// How it stands to the other.
    pub likeness: SimilarityKind,
    /// The cosine of the angle between them: 1 for the same text.
    pub similarities: f64,
}

impl Store {
    /// The memories of the same scope that hold now and say nearly what a memory says, or something else of the same
    /// thing; the nearest first, three at most. None where the leg of meaning is switched off.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn near(&mut self, memory: &Memory) -> Result<Vec<Near>, StoreError> {
        let Some(meant) = self.meant_by(&memory.content) else { return Ok(Vec::new()) };
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

/// True where two texts that are near are of other words, or of the same in another order: one may say the opposite, and meaning
/// does not tell.
fn differ(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    !words(&one).eq(words(&other))
}

/// The words of a text in their order, without the signs that end a sentence or quote.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let bare = |word| str::trim_matches(word, ['.', ',', ';', ':', '!', '?', '"', '\'', '(', ')']);
    text.split_whitespace().map(bare).filter(|word| !word.is_empty())
}
