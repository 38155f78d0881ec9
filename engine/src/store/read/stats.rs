//! The store's counts, and the marker file that keeps them in case the database is lost.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::embedding::ENCODER_VERSION;
use crate::store::base::index_cache::tail_rows;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::Ask as _;

/// Counts of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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
        let mut stats = self.counted().map_err(|error| self.failed(error))?;
        let size = |path: PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
        stats.database_bytes = size(self.home.database()) + size(self.home.write_ahead_log());
        stats.snapshot_bytes = size(self.home.snapshot());
        stats.tail_rows = tail_rows(&self.connection, &self.home.snapshot()).map_err(|error| self.failed(error))?;
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
        let mut stats = Stats { expired: self.count_expired()?, ..Stats::default() };
        let sql = "SELECT kind, value, max(n, 0) FROM counts WHERE kind <> 'tag'
                   UNION ALL SELECT * FROM (SELECT kind, value, max(n, 0) FROM counts WHERE kind = 'tag' ORDER BY n DESC, value LIMIT 50)";
        let counts: Vec<(String, String, u64)> =
            self.connection.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for (kind, value, count) in counts {
            let by = match kind.as_str() {
                "memories" => {
                    stats.memories = count;
                    continue;
                }
                "deleted" => {
                    stats.deleted = count;
                    continue;
                }
                "category" => &mut stats.by_category,
                "type" => &mut stats.by_type,
                "scope" => &mut stats.by_scope,
                "tag" => &mut stats.by_tag,
                _ => continue,
            };
            by.insert(value, count);
        }
        stats.outbox = self.connection.one("SELECT count(*) FROM outbox", [], |row| row.get(0))?;
        Ok(stats)
    }
}
