//! A store with a database in memory, for unit tests. The store is opened like a store in a file. It has its own home
//! directory and a clock that tests set.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::Connection;
use rusqlite::types::FromSql;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::migrate::{migrate, recount};
use crate::domain::{
    Clock, Draft, FixedClock, Memory, MemoryRef, MemoryUuid, Permission, RecallRequest, Share, Timestamp,
};
use crate::score::Weights;
use crate::store::base::config::{SecretRules, StoreConfig, Usage};
use crate::store::base::encoded::Encoded;
use crate::store::base::index_cache::IndexCache;
use crate::store::base::secrets::Secrets;
use crate::store::base::store::Store;
use crate::store::file::home::Home;
use crate::store::files::folders::{FileStamp, Folder, SeenFile};
use crate::store::sync::server::Upload;
use crate::sync::{BaseVersion, Document, Row, State};

/// 2026-11-20T00:00:00Z
const NOW: i64 = 1_795_132_800_000_000;

/// The store, its clock and its home directory.
pub(crate) struct InMemory {
    store: Store,
    clock: Arc<MovedClock>,
    _dir: TempDir,
}

struct MovedClock(AtomicI64);

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Relaxed))
    }
}

/// The configuration for a test with a store in a file.
pub(crate) fn config_at(home: &Home) -> StoreConfig {
    StoreConfig {
        home: home.clone(),
        clock: Arc::new(FixedClock(Timestamp::from_micros(NOW))),
        weights: Weights::default(),
        usage: Usage::Write,
        embedding: true,
        secrets: SecretRules::default(),
    }
}

impl InMemory {
    /// A store that has joined a server.
    pub(crate) fn joined() -> Self {
        let mut store = Self::new();
        store.join("http://server", "ada", Upload::All).unwrap();
        store
    }

    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let clock = Arc::new(MovedClock(AtomicI64::new(NOW)));
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &home, 0).unwrap();
        recount(&mut connection).unwrap();
        let secrets = Secrets::of(SecretRules::default(), &home);
        let store = Store {
            connection,
            file: None,
            open: Store::open,
            path: home.database(),
            home,
            clock: clock.clone(),
            weights: Weights::default(),
            usage: Usage::Serve,
            index: IndexCache::new(Usage::Serve),
            embedding: true,
            encoded: Encoded::default(),
            is_marked: false,
            secrets,
        };
        Self { store, clock, _dir: dir }
    }

    /// Moves the clock by days.
    pub(crate) fn pass_days(&self, days: i64) {
        self.clock.0.fetch_add(days * 86_400_000_000, Ordering::Relaxed);
    }

    /// Stores a text of the user.
    pub(crate) fn said(&mut self, text: &str) -> Memory {
        self.remember(Draft::new(text)).unwrap().memory
    }

    /// Indexes a file of the folder `memories`. Returns its memory.
    pub(crate) fn file(&mut self, path: &str, text: &str) -> MemoryUuid {
        let folder = Folder::memories(self.home().memories());
        self.put_folder(&folder).unwrap();
        let stamp = FileStamp { size: text.len() as u64, modified: 1, inode: 1, hash: xxh3_64(text.as_bytes()) };
        let seen = SeenFile { path: path.parse().unwrap(), stamp, text: text.to_owned() };
        self.take_files(&[seen]).unwrap().pop().unwrap().id
    }

    /// The paths of files that wait to be written to disk or deleted.
    pub(crate) fn pending(&self) -> Vec<String> {
        let pending = self.pending_files().unwrap();
        pending.into_iter().map(|pending| pending.memory.file.unwrap().path.as_str().to_owned()).collect()
    }

    /// The present state of a memory.
    pub(crate) fn now_of(&self, memory: &Memory) -> Memory {
        self.get(named(memory)).unwrap().unwrap()
    }

    /// The texts that answer a question, best first.
    pub(crate) fn recalled(&mut self, question: &str) -> Vec<String> {
        let recall = self.recall(&RecallRequest::new(question)).unwrap();
        recall.details.into_iter().map(|detail| detail.memory.content).collect()
    }

    /// One value of the database.
    pub(crate) fn one<T: FromSql>(&self, sql: &str) -> T {
        self.connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Changes the database without the store's knowledge.
    pub(crate) fn run(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap();
    }
}

impl Deref for InMemory {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl DerefMut for InMemory {
    fn deref_mut(&mut self) -> &mut Store {
        &mut self.store
    }
}

/// A memory by its ID.
pub(crate) fn named(memory: &Memory) -> MemoryRef {
    MemoryRef::ShortId(memory.short_id)
}

/// For tests: a text as the server stores it, in the user's own memory or in another user's.
pub(crate) fn base_version(text: &str, seq: u64, share: Option<Share>) -> BaseVersion {
    let document = Document::of(&InMemory::new().said(text)).unwrap();
    let row = Row {
        memory: MemoryUuid::from_key(text),
        rev: 1,
        people_rev: 1,
        content_rev: 1,
        details_at: Timestamp::from_micros(NOW),
        state: State::Live(document),
        edited_by: None,
    };
    BaseVersion { row, seq, share }
}

/// A share of bob's.
pub(crate) fn by_bob(permission: Permission) -> Share {
    Share { by: "bob".into(), permission }
}
