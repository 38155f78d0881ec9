//! How much there is, and the marker that remembers it when the database is gone.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::{Store, files};

/// Counts of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Live memories.
    pub memories: u64,
    /// Deleted ones that can be restored.
    pub deleted: u64,
    /// Live ones that are hidden here, because the lifetime that somebody asked for has ended.
    pub expired: u64,
    /// Live ones by category.
    pub by_category: BTreeMap<String, u64>,
    /// Live ones by type.
    pub by_type: BTreeMap<String, u64>,
    /// Live ones by scope.
    pub by_scope: BTreeMap<String, u64>,
    /// Live ones by tag, the fifty most used.
    pub by_tag: BTreeMap<String, u64>,
    /// Changes that no server has been told of.
    pub outbox: u64,
    /// Bytes of the database and its log.
    pub database_bytes: u64,
    /// Bytes of the snapshot.
    pub snapshot_bytes: u64,
    /// Rows that changed since the snapshot was built.
    pub tail_rows: u64,
}

impl Store {
    /// Counts what is there.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn stats(&mut self) -> Result<Stats, StoreError> {
        self.refresh_index()?;
        let mut stats = self.counted().map_err(|error| self.failed(error))?;
        let size = |name: &str| self.home.join(name).metadata().map_or(0, |metadata| metadata.len());
        stats.database_bytes = size(files::DATABASE) + size("tessera.db-wal");
        stats.snapshot_bytes = size(files::SNAPSHOT);
        stats.tail_rows = self.index.tail_len();
        Ok(stats)
    }

    pub(super) fn count_expired(&self) -> rusqlite::Result<u64> {
        let sql = "SELECT count(*) FROM memories WHERE deleted IS NULL AND expires <= ?1";
        self.connection.query_row(sql, [self.now()], |row| row.get(0))
    }

    fn counted(&self) -> rusqlite::Result<Stats> {
        let one = |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, u64>(0));
        let grouped = |sql: &str| -> rusqlite::Result<BTreeMap<String, u64>> {
            let mut statement = self.connection.prepare(sql)?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let by = |column: &str| {
            grouped(&format!("SELECT {column}, count(*) FROM memories WHERE deleted IS NULL GROUP BY 1"))
        };
        Ok(Stats {
            memories: one("SELECT count(*) FROM memories WHERE deleted IS NULL")?,
            deleted: one("SELECT count(*) FROM memories WHERE deleted IS NOT NULL AND purged = 0")?,
            expired: self.count_expired()?,
            by_category: by("category")?,
            by_type: by("type")?,
            by_scope: by("scope")?,
            by_tag: grouped(
                "SELECT value, count(*) FROM memories, json_each(memories.tags) WHERE deleted IS NULL
                 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50",
            )?,
            outbox: one("SELECT count(*) FROM outbox")?,
            ..Stats::default()
        })
    }
}

/// What stands beside the database, to tell a new home from one that lost its database.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    memories: u64,
}

pub(super) fn write_marker(store: &Store) -> Result<(), StoreError> {
    let sql = "SELECT count(*) FROM memories WHERE deleted IS NULL";
    let memories = store.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| store.failed(error))?;
    let text = serde_json::to_vec(&Marker { memories }).unwrap_or_default();
    files::replace(&store.home.join(files::MARKER), &text)
}

/// Refuses to begin a new store where one with memories has vanished.
pub(super) fn refuse_vanished(home: &Path, path: &Path) -> Result<(), StoreError> {
    let marker = home.join(files::MARKER);
    let held = std::fs::read(&marker).ok().and_then(|bytes| serde_json::from_slice::<Marker>(&bytes).ok());
    match held {
        Some(Marker { memories }) if memories > 0 => {
            Err(StoreError::Vanished { path: path.to_path_buf(), memories, marker })
        }
        _ => Ok(()),
    }
}
