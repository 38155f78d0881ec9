//! Rows that wait for their vectors: they are made after the commit, and never before somebody is told that it is done.

use rusqlite::params;

use super::store::Store;
use crate::meaning::{Encoder, Meaning, passages_of};
use crate::store::file::error::StoreError;

/// Rows of one transaction.
const STEP: usize = 64;

impl Store {
    /// Finds out what some rows mean that wait for it, the newest first. True when there may be more.
    ///
    /// # Errors
    /// When the store cannot be read or written; it is tried again with a later write.
    pub fn give_meaning_to_some(&mut self) -> Result<bool, StoreError> {
        let waiting = self.waiting().map_err(|error| self.failed(error))?;
        if waiting.is_empty() {
            return Ok(false);
        }
        let encoder = Encoder::shared();
        let made: Vec<(u32, u64, Vec<u8>)> = waiting
            .iter()
            .map(|(handle, rev, content)| {
                let vectors = encoder.passages(&passages_of(content));
                (*handle, *rev, Meaning::of(&vectors).into_bytes())
            })
            .collect();
        self.write(|change| {
            for (handle, rev, meaning) in &made {
                let sql = "UPDATE memories SET meaning = ?2, rev = ?3 WHERE handle = ?1 AND rev = ?4 AND meaning = x''";
                change.tx.prepare_cached(sql)?.execute(params![handle, meaning, change.next_rev()?, rev])?;
            }
            Ok(())
        })?;
        Ok(waiting.len() == STEP)
    }

    fn waiting(&self) -> rusqlite::Result<Vec<(u32, u64, String)>> {
        let sql = "SELECT handle, rev, content FROM memories WHERE meaning = x'' AND deleted IS NULL
                   ORDER BY rev DESC LIMIT ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_map([STEP], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
    }
}
