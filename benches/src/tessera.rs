//! A store filled with a corpus.

use std::path::Path;
use std::sync::Arc;

use tessera_engine::Store;
use tessera_engine::domain::{Category, Draft, FixedClock, Importance, Origin, RecallRequest, Timestamp};
use tessera_engine::score::Weights;
use tessera_engine::store::{SecretRules, StoreConfig, Usage};

use crate::Note;

/// A store in a temporary directory.
#[derive(Debug)]
pub struct Filled {
    /// The store, opened in the mode of a long-running process.
    pub store: Store,
    dir: tempfile::TempDir,
}

const BATCH: usize = 5_000;

impl Filled {
    /// The time of all benchmarks.
    pub fn now() -> Timestamp {
        Timestamp::from_micros(1_795_000_000_000_000)
    }

    /// Stores notes in large transactions, and builds the snapshot of the index.
    pub fn with(notes: &[Note]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut store = Self::open(&dir.path().join("home"), Usage::Serve);
        for batch in notes.chunks(BATCH) {
            let drafts: Vec<Draft> = batch.iter().map(draft).collect();
            store.remember_all(&drafts).expect("the notes are sound");
        }
        store.rebuild_snapshot().expect("a snapshot");
        Self { store, dir }
    }

    /// Opens the store of a home.
    pub fn open(home: &Path, usage: Usage) -> Store {
        let clock = Arc::new(FixedClock(Self::now()));
        Store::open(StoreConfig {
            home: home.into(),
            clock,
            weights: Weights::default(),
            usage,
            embedding: true,
            secrets: SecretRules::default(),
        })
        .expect("a store")
    }

    /// Its home.
    pub fn home(&self) -> std::path::PathBuf {
        self.dir.path().join("home")
    }

    /// Ranks a question; returns the number of matches.
    pub fn rank(&mut self, query: &str) -> u32 {
        self.store.rank(&RecallRequest::new(query)).expect("a ranking").total()
    }

    /// Ranks the memories for a question, builds the reply, and returns its number of tokens.
    pub fn recall(&mut self, query: &str) -> u32 {
        self.store.recall(&RecallRequest::new(query)).expect("a reply").tokens_used
    }
}

/// A note as an observation. The classifiers of probable secrets do not read these; they would read each text of made-up
/// words with the encoder, which takes 5 ms.
fn draft(note: &Note) -> Draft {
    Draft {
        category: Some(Category::default()),
        importance: Some(Importance::from_percent(note.importance)),
        created: Some(Timestamp::from_micros(Filled::now().as_micros() - i64::from(note.age_minutes) * 60_000_000)),
        origin: Origin::User,
        ..Draft::new(format!("- [note] {}", note.text))
    }
}
