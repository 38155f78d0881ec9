//! Embeddings for the evaluation: computed first, and kept between runs if a directory is named.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use rusqlite::{Connection, OptionalExtension, params};
use tessera_engine::embedding::{Embedding, Encoder, passages_of};
use tessera_engine::score::Weights;
use tessera_engine::store::{Store, StoreError};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::EvalError;

/// The file name of the cache.
const FILE: &str = "vectors.db";

/// Whether semantic search is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Leg {
    /// By both.
    #[default]
    On,
    /// Words only: no embeddings.
    Off,
}

impl FromStr for Leg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            _ => Err("is not valid; use on or off".to_owned()),
        }
    }
}

/// The source of vectors.
#[derive(Debug, Clone, Default)]
pub struct Vectors {
    /// Whether there are any.
    pub leg: Leg,
    /// The cache directory; without one, embeddings are computed in each run.
    pub cache: Option<PathBuf>,
}

impl Vectors {
    /// The weights with or without semantic search.
    pub fn weights(&self, weights: Weights) -> Weights {
        match self.leg {
            Leg::On => weights,
            Leg::Off => Weights { embedding: 0.0, ..weights },
        }
    }

    /// Adds embeddings to every memory of a store.
    ///
    /// # Errors
    /// Returns an error if the store or the cache cannot be read or written.
    pub fn give(&self, store: &mut Store) -> Result<(), EvalError> {
        if self.leg == Leg::Off {
            return Ok(());
        }
        let Some(dir) = &self.cache else { return Ok(make(store)?) };
        let cache = Cache::open(dir)?;
        store.take_embeddings(|text| cache.find(text))?;
        let mut waiting = Vec::new();
        store.each_embedding(|_, text, embedding| waiting.extend(embedding.is_empty().then(|| text.to_owned())))?;
        if waiting.is_empty() {
            return Ok(());
        }
        make(store)?;
        let mut made = Vec::new();
        store.each_embedding(|_, text, embedding| made.push((cache.key(text), embedding.to_vec())))?;
        cache.keep(&made)
    }
}

fn make(store: &mut Store) -> Result<(), StoreError> {
    while store.embed_some()? {}
    Ok(())
}

/// Embeddings by their input.
struct Cache {
    path: PathBuf,
    connection: Connection,
    /// The embedding of a test sentence. It identifies the encoder, even if the encoder's version number is wrong.
    encoder: Vec<u8>,
}

impl Cache {
    fn open(dir: &Path) -> Result<Self, EvalError> {
        std::fs::create_dir_all(dir).map_err(|source| EvalError::File { path: dir.to_path_buf(), source })?;
        let path = dir.join(FILE);
        let open = || {
            let connection = Connection::open(&path)?;
            let schema =
                "CREATE TABLE IF NOT EXISTS vectors (of BLOB PRIMARY KEY, embedding BLOB NOT NULL) WITHOUT ROWID";
            connection.execute_batch(schema)?;
            Ok(connection)
        };
        let connection = open().map_err(|source| EvalError::Database { path: path.clone(), source })?;
        let sentences =
            ["The staging database listens on port 5433, said Ana in May.", "Der Zürcher Server hört auf Port 80."];
        let vectors = Encoder::shared().passages(&sentences);
        Ok(Self { path, connection, encoder: Embedding::of(&vectors).into_bytes() })
    }

    /// The 16-byte cache key of a text, from its passages and the encoder.
    fn key(&self, text: &str) -> [u8; 16] {
        let mut hash = Xxh3::new();
        hash.update(&xxh3_128(&self.encoder).to_le_bytes());
        for passage in passages_of(text) {
            hash.update(&passage.len().to_le_bytes());
            hash.update(passage.as_bytes());
        }
        hash.digest128().to_le_bytes()
    }

    /// The embeddings of a text; none if the cache cannot be read.
    fn find(&self, text: &str) -> Option<Vec<u8>> {
        let mut statement = self.connection.prepare_cached("SELECT embedding FROM vectors WHERE of = ?1").ok()?;
        statement.query_row([self.key(text)], |row| row.get(0)).optional().ok()?
    }

    fn keep(&self, made: &[([u8; 16], Vec<u8>)]) -> Result<(), EvalError> {
        let keep = || {
            let tx = self.connection.unchecked_transaction()?;
            let mut insert = tx.prepare("INSERT OR IGNORE INTO vectors (of, embedding) VALUES (?1, ?2)")?;
            for (key, embedding) in made.iter().filter(|(_, embedding)| !embedding.is_empty()) {
                insert.execute(params![key, embedding])?;
            }
            drop(insert);
            tx.commit()
        };
        keep().map_err(|source| EvalError::Database { path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use tessera_engine::domain::{Draft, Timestamp};

    use super::*;
    use crate::Scratch;

    fn scratch() -> Scratch {
        let mut scratch = Scratch::new(Timestamp::from_micros(0), &Weights::default()).unwrap();
        for text in ["The cache lives on birch", "Lunch is at noon"] {
            scratch.store.remember(Draft::new(text)).unwrap();
        }
        scratch
    }

    fn embeddings(scratch: &Scratch) -> Vec<Vec<u8>> {
        let mut embeddings = Vec::new();
        scratch.store.each_embedding(|_, _, embedding| embeddings.push(embedding.to_vec())).unwrap();
        embeddings
    }

    #[test]
    fn vectors_are_kept_for_later_runs_and_are_those_that_would_be_made() {
        let dir = tempfile::tempdir().unwrap();
        let cached = Vectors { leg: Leg::On, cache: Some(dir.path().join("vectors")) };
        let (mut first, mut second, mut plain) = (scratch(), scratch(), scratch());
        cached.give(&mut first.store).unwrap();
        let cache = Cache::open(&dir.path().join("vectors")).unwrap();
        assert!(cache.find("Lunch is at noon").is_some() && cache.find("Lunch is at one").is_none());
        let kept =
            || cache.connection.query_row("SELECT count(*) FROM vectors", [], |row| row.get::<_, u32>(0)).unwrap();
        assert_eq!(kept(), 2);
        cached.give(&mut second.store).unwrap();
        assert_eq!(kept(), 2, "nothing was made again");
        Vectors::default().give(&mut plain.store).unwrap();
        assert!(embeddings(&first) == embeddings(&second) && embeddings(&first) == embeddings(&plain));
        assert!(embeddings(&first).iter().all(|embedding| !embedding.is_empty()));
    }

    #[test]
    fn without_the_leg_no_vectors_are_made_and_none_count() {
        let mut scratch = scratch();
        let off = Vectors { leg: Leg::Off, cache: None };
        off.give(&mut scratch.store).unwrap();
        assert!(embeddings(&scratch).iter().all(Vec::is_empty));
        assert!(off.weights(Weights::default()).embedding.abs() < f64::EPSILON);
        assert_eq!(Vectors::default().weights(Weights::default()), Weights::default());
    }
}
