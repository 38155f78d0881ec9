//! The open store, on which the other modules are based.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, Params, Row};

use super::config::{StoreConfig, Usage};
use super::encoded::Encoded;
use super::index_cache::IndexCache;
use super::secrets::Secrets;
use crate::domain::{Clock, Timestamp};
use crate::score::Weights;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::file::identity::FileId;
use crate::store::file::replacement;
use crate::store::rows::codec::Ask;

/// An open store.
pub struct Store {
    pub(in crate::store) connection: Connection,
    /// The identity of the open database file; `None` if the system cannot provide it, or there is no file.
    pub(in crate::store) file: Option<FileId>,
    /// The function that opens the store again after its file was replaced.
    pub(in crate::store) open: fn(StoreConfig) -> Result<Self, StoreError>,
    pub(in crate::store) path: PathBuf,
    pub(in crate::store) home: Home,
    pub(in crate::store) clock: Arc<dyn Clock>,
    pub(in crate::store) weights: Weights,
    pub(in crate::store) usage: Usage,
    pub(in crate::store) index: IndexCache,
    pub(in crate::store) embedding: bool,
    pub(in crate::store) encoded: Encoded,
    pub(in crate::store) secrets: Secrets,
    /// True if this process need not write the marker file: the file exists, or the process has tried to write it. The
    /// marker file contains the number of memories.
    pub(in crate::store) is_marked: bool,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.path).field("usage", &self.usage).finish_non_exhaustive()
    }
}

impl Store {
    /// True if a directory contains a store.
    pub fn is_there(home: impl AsRef<Path>) -> bool {
        Home::new(home.as_ref()).holds_store()
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The home directory.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Opens the store again if another database has replaced the open one. Writes do this by themselves.
    ///
    /// # Errors
    /// Returns an error if the present database cannot be opened.
    pub fn follow(&mut self) -> Result<(), StoreError> {
        if self.file.is_some_and(|file| !replacement::is_in_place(&self.home, file)) {
            *self = (self.open)(self.config(self.usage))?;
        }
        Ok(())
    }

    /// Returns the same configuration with another [`Usage`].
    pub(in crate::store) fn config(&self, usage: Usage) -> StoreConfig {
        let (home, clock, weights) = (self.home.clone(), Arc::clone(&self.clock), self.weights.clone());
        StoreConfig { home, clock, weights, usage, embedding: self.embedding, secrets: self.secrets.rules() }
    }

    /// The time of the store's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(in crate::store) fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, source)
    }
}

impl Ask for Store {
    type Error = StoreError;

    fn all<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.connection.all(sql, with, read).map_err(|error| self.failed(error))
    }

    fn maybe<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.connection.maybe(sql, with, read).map_err(|error| self.failed(error))
    }

    fn one<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.connection.one(sql, with, read).map_err(|error| self.failed(error))
    }
}
