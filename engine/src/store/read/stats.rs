//! The store's counts, and the marker file that keeps them in case the database is lost.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::embedding::ENCODER_VERSION;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;

/// Counts of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Live memories.
    pub memories: u64,
    /// Deleted memories that can be restored.
    pub deleted: u64,
    /// Live memories that have expired, and are hidden.
    pub expired: u64,
    /// Live memories by category.
    pub by_category: BTreeMap<String, u64>,
    /// Live memories by type.
    pub by_type: BTreeMap<String, u64>,
    /// Live memories by scope.
    pub by_scope: BTreeMap<String, u64>,
    /// Live memories by tag, the fifty most frequent.
    pub by_tag: BTreeMap<String, u64>,
    /// Live memories with an embedding.
    pub with_embedding: u64,
    /// Live memories without an embedding, which only words find so far.
    pub awaiting_embedding: u64,
    /// The version of the encoder; 0 if semantic search is off.
    pub encoder: u8,
    /// Changes that the server has not received yet.
    pub outbox: u64,
    /// Bytes of the database and its log.
    pub database_bytes: u64,
    /// Bytes of the snapshot.
    pub snapshot_bytes: u64,
    /// Rows changed since the snapshot was built.
    pub tail_rows: u64,
}

impl Store {
    /// Counts the content of the store.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn stats(&mut self) -> Result<Stats, StoreError> {
        self.refresh_index()?;
        let mut stats = self.counted().map_err(|error| self.failed(error))?;
        let size = |path: PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
        stats.database_bytes = size(self.home.database()) + size(self.home.write_ahead_log());
        stats.snapshot_bytes = size(self.home.snapshot());
        stats.tail_rows = self.index.tail_len();
        let embeddings = self.embeddings()?;
        (stats.with_embedding, stats.awaiting_embedding) = (embeddings.made, embeddings.waiting);
        stats.encoder = if self.has_embedding() { ENCODER_VERSION } else { 0 };
        Ok(stats)
    }

    pub(crate) fn count_expired(&self) -> rusqlite::Result<u64> {
        let sql = "SELECT count(*) FROM memories WHERE is_file = 0 AND deleted IS NULL AND expires <= ?1";
        self.connection.query_row(sql, [self.now()], |row| row.get(0))
    }

    fn counted(&self) -> rusqlite::Result<Stats> {
        let one = |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, u64>(0));
        let grouped = |sql: &str| -> rusqlite::Result<BTreeMap<String, u64>> {
            let mut statement = self.connection.prepare(sql)?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let by = |column: &str| {
            grouped(&format!(
                "SELECT {column}, count(*) FROM memories WHERE is_file = 0 AND deleted IS NULL GROUP BY 1"
            ))
        };
        Ok(Stats {
            memories: one("SELECT count(*) FROM memories WHERE is_file = 0 AND deleted IS NULL")?,
            deleted: one("SELECT count(*) FROM memories WHERE is_file = 0 AND deleted IS NOT NULL AND purged = 0")?,
            expired: self.count_expired()?,
            by_category: by("category")?,
            by_type: by("type")?,
            by_scope: by("scope")?,
            by_tag: grouped(
                "SELECT value, count(*) FROM memories, json_each(memories.tags) WHERE is_file = 0 AND deleted IS NULL
                 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50",
            )?,
            outbox: one("SELECT count(*) FROM outbox")?,
            ..Stats::default()
        })
    }
}
