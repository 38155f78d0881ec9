//! Stores in temporary homes, at a time that the test chooses.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use tessera_engine::Store;
use tessera_engine::domain::{Draft, FixedClock, Memory, MemoryRef, RecallRequest, ShortId, Timestamp};
use tessera_engine::score::Weights;
use tessera_engine::store::{ListRequest, SecretRules, StoreConfig, Usage};

/// A home directory; stores are opened in it at any time.
pub(crate) struct Home {
    pub(crate) dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A home with a database that an older version wrote.
    pub(crate) fn with(database: &str) -> Self {
        let home = Self::new();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/db").join(database);
        std::fs::create_dir_all(home.dir.path().join("t")).unwrap();
        std::fs::copy(from, home.dir.path().join("t/tessera.db")).unwrap();
        home
    }

    pub(crate) fn config(&self, now: &str) -> StoreConfig {
        StoreConfig {
            home: self.dir.path().join("t").into(),
            clock: Arc::new(FixedClock(at(now))),
            weights: Weights::default(),
            usage: Usage::Write,
            embedding: true,
            secrets: SecretRules::default(),
        }
    }

    pub(crate) fn open(&self, now: &str) -> Store {
        Store::open(self.config(now)).unwrap()
    }
}

pub(crate) fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

pub(crate) fn store(store: &mut Store, text: &str) -> Memory {
    store.remember(Draft::new(text)).unwrap().memory
}

pub(crate) fn named(number: u32) -> MemoryRef {
    MemoryRef::ShortId(ShortId::try_from(number).unwrap())
}

/// IDs that a listing shows, oldest first.
pub(crate) fn listed(store: &Store, request: ListRequest) -> Vec<u32> {
    let page = store.list(&ListRequest { limit: 200, ..request }).unwrap();
    let mut short_ids: Vec<u32> = page.memories.iter().map(|memory| memory.short_id.get()).collect();
    short_ids.sort_unstable();
    short_ids
}

pub(crate) fn shown(store: &Store) -> Vec<u32> {
    listed(store, ListRequest::default())
}

/// The best texts for a question.
pub(crate) fn recalled(store: &mut Store, question: &str) -> Vec<String> {
    let recall = store.recall(&RecallRequest::new(question)).unwrap();
    recall.details.into_iter().map(|detail| detail.memory.content).collect()
}
