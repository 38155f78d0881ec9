//! Rankers: Tessera, FTS5, and the encoder or one of its networks alone. They rank the same memories, and the same code fills the replies.

use std::collections::BTreeMap;

use rusqlite::Connection;
use tessera_engine::domain::{MemoryRef, RecallRequest, ShortId};
use tessera_engine::embedding::{DIMENSIONS, Embedding, Encoder, Vector};
use tessera_engine::pack::{JsonRows, Recall};
use tessera_engine::score::Weights;
use tessera_engine::store::{Store, StoreError};

use crate::EvalError;

/// Which ranker orders the memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ranker {
    /// Tessera, with the given weights.
    #[default]
    Tessera,
    /// SQLite's FTS5: all words joined by OR, the porter stemmer, `bm25()`. No threshold.
    Fts5,
    /// The sentence encoder alone. No threshold.
    Encoder,
    /// One network of the encoder alone. No threshold.
    Network(Network),
}

/// A network of the sentence encoder. Its numbers are one half of each vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// The network for English. It has no part in the vector of a question in another language.
    First,
    /// The network for all languages.
    Second,
}

impl Network {
    fn part(self, vector: &Vector) -> &[i8] {
        let (first, second) = vector.numbers().split_at(DIMENSIONS / 2);
        match self {
            Self::First => first,
            Self::Second => second,
        }
    }

    /// The cosine similarity of this network's parts; 0 if a part is zero.
    fn similarity(self, one: &Vector, other: &Vector) -> f64 {
        let product = |one: &[i8], other: &[i8]| -> f64 {
            one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
        };
        let (one, other) = (self.part(one), self.part(other));
        let sizes = (product(one, one) * product(other, other)).sqrt();
        if sizes > 0.0 { product(one, other) / sizes } else { 0.0 }
    }

    /// The most similar memories. Of equally similar ones, the newer comes first.
    fn order(self, store: &Store, question: &str, most: usize) -> Result<Vec<ShortId>, EvalError> {
        let question = Encoder::shared().question(question);
        let mut near = Vec::new();
        store.each_embedding(|short_id, _, bytes| {
            let vectors = Embedding::vectors(bytes).filter_map(Vector::of_bytes);
            let best = vectors.map(|vector| self.similarity(&question, &vector)).fold(0.0, f64::max);
            if best > 0.0 {
                near.push((short_id, best));
            }
        })?;
        near.sort_by(|(a, near_a), (b, near_b)| near_b.total_cmp(near_a).then(b.cmp(a)));
        Ok(near.into_iter().take(most).map(|(short_id, _)| short_id).collect())
    }
}

impl Ranker {
    /// The weights for a ranker's store. With rankers other than Tessera's, the packed rows stay in the order of the
    /// ranker.
    pub fn weights(self, weights: &Weights) -> Weights {
        match self {
            Self::Tessera => weights.clone(),
            Self::Fts5 | Self::Encoder | Self::Network(_) => Weights { charge_power: 0.0, ..weights.clone() },
        }
    }
}

/// A ranker over a store.
pub(crate) struct Asker<'a> {
    store: &'a mut Store,
    words: Option<Words>,
    ranker: Ranker,
}

impl<'a> Asker<'a> {
    /// Creates a ranker of the memories that the store contains now. FTS5's index does not contain later memories.
    pub(crate) fn new(store: &'a mut Store, ranker: Ranker) -> Result<Self, EvalError> {
        let words = if ranker == Ranker::Fts5 { Some(Words::of(store)?) } else { None };
        Ok(Self { store, words, ranker })
    }

    /// Returns the best memories for a question, as many as requested.
    pub(crate) fn order(&mut self, request: &RecallRequest) -> Result<Vec<ShortId>, EvalError> {
        let most = request.limit as usize;
        Ok(match (&self.words, self.ranker) {
            (Some(words), _) => words.order(&request.query, most)?,
            (None, Ranker::Encoder) => {
                self.store.nearest(&request.query, most)?.into_iter().map(|(short_id, _)| short_id).collect()
            }
            (None, Ranker::Network(network)) => network.order(self.store, &request.query, most)?,
            (None, Ranker::Tessera | Ranker::Fts5) => {
                let page = self.store.rank(request)?.page(request).map_err(StoreError::from)?;
                page.iter().map(|ranked| ranked.short_id).collect()
            }
        })
    }

    /// The reply, as text.
    pub(crate) fn recall(&mut self, request: &RecallRequest) -> Result<Recall, EvalError> {
        if self.ranker == Ranker::Tessera {
            return Ok(self.store.recall(request)?);
        }
        let chosen = self.chosen(request)?;
        Ok(self.store.fetch(&chosen, request)?)
    }

    /// The reply, as JSON.
    pub(crate) fn recall_json(&mut self, request: &RecallRequest) -> Result<Recall, EvalError> {
        if self.ranker == Ranker::Tessera {
            return Ok(self.store.recall_json(request, JsonRows::default())?);
        }
        let chosen = self.chosen(request)?;
        Ok(self.store.fetch_json(&chosen, request)?)
    }

    fn chosen(&mut self, request: &RecallRequest) -> Result<Vec<MemoryRef>, EvalError> {
        Ok(self.order(request)?.into_iter().map(MemoryRef::ShortId).collect())
    }
}

/// A full-text table of the memories of a store.
struct Words {
    connection: Connection,
    short_ids: BTreeMap<i64, ShortId>,
}

impl Words {
    fn of(store: &Store) -> Result<Self, EvalError> {
        let mut texts = Vec::new();
        store.each_embedding(|short_id, text, _| texts.push((short_id, text.to_owned())))?;
        Self::over(&texts).map_err(failed)
    }

    fn over(texts: &[(ShortId, String)]) -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch("CREATE VIRTUAL TABLE notes USING fts5(body, tokenize = 'porter unicode61')")?;
        let tx = connection.unchecked_transaction()?;
        let mut insert = tx.prepare("INSERT INTO notes (rowid, body) VALUES (?1, ?2)")?;
        for (short_id, text) in texts {
            insert.execute((short_id.get(), text))?;
        }
        drop(insert);
        tx.commit()?;
        let short_ids = texts.iter().map(|(short_id, _)| (i64::from(short_id.get()), *short_id)).collect();
        Ok(Self { connection, short_ids })
    }

    fn order(&self, question: &str, most: usize) -> Result<Vec<ShortId>, EvalError> {
        let words = question.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let quoted: Vec<String> = words.filter(|word| !word.is_empty()).map(|word| format!("\"{word}\"")).collect();
        if quoted.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT rowid FROM notes WHERE notes MATCH ?1 ORDER BY bm25(notes), rowid DESC LIMIT ?2";
        let found = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map((quoted.join(" OR "), most), |row| row.get::<_, i64>(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        Ok(found().map_err(failed)?.iter().filter_map(|row| self.short_ids.get(row).copied()).collect())
    }
}

fn failed(source: rusqlite::Error) -> EvalError {
    EvalError::Database { path: ":memory:".into(), source }
}

#[cfg(test)]
mod tests {
    use tessera_engine::domain::{Draft, Timestamp};

    use super::*;
    use crate::Scratch;

    #[test]
    fn a_peer_is_asked_in_its_own_order_and_packed_as_ours() {
        let weights = Ranker::Fts5.weights(&Weights::default());
        let mut scratch = Scratch::new(Timestamp::from_micros(0), &weights).unwrap();
        let said = ["Lunch is at noon", "The caches were moved to birch", "a cache; the cache: \"cached\" caches"];
        let short_ids = said.map(|text| scratch.store.remember(Draft::new(text)).unwrap().memory.short_id);
        let request = RecallRequest::new("who moved \"the\" cache?");
        let mut asker = Asker::new(&mut scratch.store, Ranker::Fts5).unwrap();
        let order = asker.order(&request).unwrap();
        assert_eq!(order, [short_ids[1], short_ids[2]]);
        let reply = asker.recall(&request).unwrap();
        assert_eq!(reply.details.iter().map(|detail| detail.memory.short_id).collect::<Vec<_>>(), order);
        assert_eq!(asker.recall_json(&request).unwrap().details.len(), 2);
        assert!(asker.order(&RecallRequest::new("?!")).unwrap().is_empty(), "no word, no error");
        assert!(asker.recall(&RecallRequest::new("?!")).unwrap().details.is_empty());
    }

    #[test]
    fn each_network_ranks_alone_and_only_the_second_reads_german() {
        let mut scratch = Scratch::new(Timestamp::from_micros(0), &Weights::default()).unwrap();
        let said = ["Lunch is at noon", "Das Mittagessen gibt es um zwölf Uhr", "The cache is on birch"];
        let short_ids = said.map(|text| {
            let stored = scratch.store.remember(Draft::new(text)).unwrap();
            scratch.store.embed_newest(|| true).unwrap();
            stored.memory.short_id
        });
        let mut order = |network, question: &str| {
            let mut asker = Asker::new(&mut scratch.store, Ranker::Network(network)).unwrap();
            asker.order(&RecallRequest::new(question)).unwrap()
        };
        let first = order(Network::First, "when do we eat?");
        assert_eq!(first, [0, 2, 1].map(|at| short_ids[at]), "the German note comes last");
        assert!(order(Network::First, "Wann essen wir zu Mittag?").is_empty());
        assert_ne!(order(Network::Second, "Wann essen wir zu Mittag?")[0], short_ids[2]);
    }
}
