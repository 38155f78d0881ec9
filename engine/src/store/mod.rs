//! The embedded store: one SQLite file, its snapshot, and an access log, in one directory.
//!
//! Reads never wait for a write lock. Every write is one `BEGIN IMMEDIATE` transaction that holds
//! the row, its forward blob, its provenance and its outbox row, and returns after the commit is
//! on disk (WAL, `synchronous=FULL`).

mod access_log;
mod arrival;
mod backup;
mod brief;
mod conflict;
mod connection;
mod doctor;
mod erase;
mod error;
mod files;
mod give_back;
mod history;
mod import_line;
mod index_cache;
mod learning;
mod links;
mod list;
mod migrate;
mod offers;
mod places;
mod recall;
mod receipts;
mod recount;
mod row;
mod salvage;
mod session;
mod snapshot_file;
mod spool;
mod stats;
mod sync;
mod traces;
mod transfer;
mod write;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use crate::domain::{Clock, Origin, Timestamp};
use crate::score::Weights;
use crate::text::O200k;

pub use conflict::{Conflict, Resolution};
pub use doctor::{Check, Health, Verdict};
pub use erase::{Erase, Forgotten};
pub use error::StoreError;
pub use files::make_private_dir;
pub use history::{HistoryEntry, Operation};
pub use learning::{Progress, Spending};
pub use list::{ListRequest, Listing};
pub use places::Place;
pub use receipts::{Given, GivenAs, Receipt, ReceiptFilter, given_by};
pub use salvage::Salvage;
pub use stats::Stats;
pub use sync::{RefusedChange, ServerState, SyncStatus, Upload, Whole};
pub use traces::Traces;
pub use transfer::{ImportAs, ImportProgress, Imported};
pub use write::Stored;

/// How a store is opened.
#[derive(Clone)]
pub struct StoreConfig {
    /// The directory that holds everything. Made if missing, for the owner alone.
    pub home: PathBuf,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Numbers of the ranking.
    pub weights: Weights,
    /// What the process will do with it.
    pub usage: Usage,
}

/// What a process will do with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// Read once and exit. Works in a read-only directory.
    ReadOnce,
    /// Write, and read now and then.
    Write,
    /// Live long: the index is kept in memory between reads.
    Serve,
}

/// Who makes a change: kept in its provenance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actor {
    /// Who or what.
    pub origin: Origin,
    /// In which session.
    pub session: Option<String>,
    /// Through which client program.
    pub client: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// An open store.
pub struct Store {
    connection: Connection,
    path: PathBuf,
    home: PathBuf,
    clock: Arc<dyn Clock>,
    weights: Weights,
    usage: Usage,
    counter: OnceCell<O200k>,
    index: index_cache::IndexCache,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.path).field("usage", &self.usage).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store in `config.home`, making it if it is not there yet.
    ///
    /// # Errors
    /// When the file is foreign, newer, damaged or gone: it is then left as it is.
    pub fn open(config: StoreConfig) -> Result<Self, StoreError> {
        let path = config.home.join(files::DATABASE);
        let connection = connection::open(&config.home, &path, config.usage, config.clock.now())?;
        Ok(Self {
            connection,
            index: index_cache::IndexCache::new(config.usage),
            path,
            home: config.home,
            clock: config.clock,
            weights: config.weights,
            usage: config.usage,
            counter: OnceCell::new(),
        })
    }

    /// True when there is a store in a directory.
    pub fn is_there(home: &Path) -> bool {
        home.join(files::DATABASE).exists()
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that holds everything.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The time now, as this store sees it.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The token counter, loaded on first use.
    pub fn counter(&self) -> &O200k {
        self.counter.get_or_init(O200k::load)
    }

    /// Lets the token counter's memory go until the next write.
    pub fn release_counter(&mut self) {
        self.counter.take();
    }

    fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, source)
    }
}
