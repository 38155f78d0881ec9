//! The store's index. The index is updated before each read, and rebuilt when many rows have changed.

use crate::store::file::error::StoreError;
use crate::store::file::{marker, snapshot};

use super::index_cache::{note_known, snapshot_bytes};
use super::store::Store;
use crate::store::rows::codec::Ask as _;

impl Store {
    /// Rebuilds the snapshot if enough has changed. True if it did.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read, or the snapshot cannot be written. Recall works without it.
    pub fn rebuild_if_due(&mut self) -> Result<bool, StoreError> {
        self.refresh_index()?;
        if !self.index.is_rebuild_due() {
            return Ok(false);
        }
        self.rebuild_snapshot()?;
        Ok(true)
    }

    /// Rebuilds the snapshot.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::rebuild_if_due`].
    pub fn rebuild_snapshot(&mut self) -> Result<(), StoreError> {
        let bytes = snapshot_bytes(&self.connection).map_err(|error| self.failed(error))?;
        let path = self.home.snapshot();
        snapshot::write(&path, &bytes)?;
        if let Err(error) = note_known(&self.connection, snapshot::version(&path)) {
            tracing::debug!(%error, "the next process reads the whole snapshot");
        }
        marker::write(&self.home, self.live_rows().map_err(|error| self.failed(error))?)
    }

    pub(crate) fn refresh_index(&mut self) -> Result<(), StoreError> {
        let refreshed = self.index.refresh(&self.connection, &self.home);
        refreshed.map_err(|error| self.failed(error))
    }

    pub(crate) fn live_rows(&self) -> rusqlite::Result<u64> {
        let sql = "SELECT max(n, 0) FROM counts WHERE kind = 'memories'";
        Ok(self.connection.maybe(sql, [], |row| row.get(0))?.unwrap_or_default())
    }
}
