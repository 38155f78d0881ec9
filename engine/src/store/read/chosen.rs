//! Memories that the caller names: fetched within a budget, and what of a session holds now.

use rusqlite::params;

use crate::domain::{Handle, RecallRequest, Scope, Timestamp};
use crate::pack::{Ranked, Recall};
use crate::recall::{Form, Ranking, answer};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::ask::Ask as _;
use crate::store::rows::codec::sql;
use crate::store::rows::memory::HOLDS;

impl Store {
    /// Live memories by handle, in the order given, within a budget; those that are gone or replaced
    /// are left out. `None` when none is left. Counts no use.
    ///
    /// # Errors
    /// When the budget is too small for any reply, or the store cannot be read.
    pub fn chosen(&mut self, handles: &[Handle], request: &RecallRequest) -> Result<Option<Recall>, StoreError> {
        let mut page = Vec::new();
        for handle in handles {
            if page.len() >= request.limit as usize {
                break;
            }
            if self.is_current(*handle)? {
                let rank = u32::try_from(page.len()).unwrap_or(u32::MAX);
                page.push(Ranked::chosen(*handle, rank));
            }
        }
        if page.is_empty() {
            return Ok(None);
        }
        let rows = self.rows(&page)?;
        let ranking = Ranking::chosen(&page, request);
        Ok(Some(answer(request, &ranking, page, rows, &self.weights, Form::Text)?))
    }

    /// True where a memory with this text was forgotten after a time.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn was_forgotten_after(&self, content: &str, scope: &Scope, time: Timestamp) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM memories WHERE deleted >= ?1 AND content = ?2 AND scope = ?3 AND purged = 0";
        let read = self.connection.prepare_cached(sql);
        let read = read.and_then(|mut query| query.exists(params![time, content, scope.as_str()]));
        read.map_err(|error| self.failed(error))
    }

    /// True for a memory that holds now and is the person's own: neither deleted, replaced nor over, nor somebody
    /// else's.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_current(&self, handle: Handle) -> Result<bool, StoreError> {
        let sql = sql!(
            "SELECT count(*) FROM memories WHERE handle = ?1 AND deleted IS NULL
             AND (expires IS NULL OR expires > ?2) AND trust <> 'foreign' AND ",
            HOLDS
        );
        let count: rusqlite::Result<u32> = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params![handle, self.now()], |row| row.get(0)));
        Ok(count.map_err(|error| self.failed(error))? > 0)
    }

    /// Memories that came from a session, the weightiest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of_session(&self, session: &str, limit: u32) -> Result<Vec<Handle>, StoreError> {
        let sql = sql!(
            "SELECT handle FROM memories WHERE session = ?1 AND deleted IS NULL AND origin <> 'conversation' AND ",
            HOLDS,
            " ORDER BY importance DESC, handle DESC LIMIT ?3"
        );
        self.all(sql, params![session, self.now(), limit], |row| row.get(0))
    }
}
