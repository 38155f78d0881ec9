//! The progress of learning per session, and the cost of extractors.

use rusqlite::{OptionalExtension, params};
use serde::Serialize;

use crate::domain::Timestamp;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Reader, read_columns, sql};

/// Maximum number of sessions whose progress is stored.
const MOST_SESSIONS: u32 = 500;

/// The progress of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of processed turns.
    pub turns: u32,
    /// The ID of the last processed turn, from the client.
    pub cursor: Option<String>,
}

/// The usage of an extractor on one day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ExtractorUsage {
    /// The day in UTC.
    pub day: String,
    /// The extractor: heuristic, ollama or claude.
    pub extractor: String,
    /// Calls.
    pub calls: u64,
    /// Calls without an answer.
    pub failures: u64,
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Extracted memories.
    pub learned: u64,
}

read_columns! {
    /// The usage of an extractor on one day.
    SpendingColumns of ExtractorUsage {
        "day" => day,
        "extractor" => extractor,
        "calls" => calls,
        "failures" => failures,
        "input_tokens" => input_tokens,
        "output_tokens" => output_tokens,
        "learned" => learned,
    }
}

impl Store {
    /// The progress of a session.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn progress(&self, session: &str) -> Result<Progress, StoreError> {
        let sql = "SELECT turns, cursor FROM learning WHERE session = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok(Progress { turns: row.get(0)?, cursor: row.get(1)? });
        let found = self.connection.query_row(sql, [session], read).optional();
        Ok(found.map_err(|error| self.failed(error))?.unwrap_or_default())
    }

    /// Records the progress of a session. The progress of the oldest sessions is deleted.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn note_progress(&mut self, session: &str, progress: &Progress) -> Result<(), StoreError> {
        self.write(|change| {
            let sql = "INSERT INTO learning (session, turns, cursor, updated) VALUES (?1, ?2, ?3, ?4)
                       ON CONFLICT (session) DO UPDATE SET turns = ?2, cursor = ?3, updated = ?4";
            change.tx.execute(sql, params![session, progress.turns, progress.cursor, change.now])?;
            let sql = "DELETE FROM learning WHERE session NOT IN
                       (SELECT session FROM learning ORDER BY updated DESC LIMIT ?1)";
            change.tx.execute(sql, [MOST_SESSIONS])?;
            Ok(())
        })
    }

    /// Adds numbers to today's usage of an extractor. Returns the day.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn note_spending(&mut self, spent: &ExtractorUsage) -> Result<String, StoreError> {
        let day = self.now().date().to_string();
        self.write(|change| {
            let sql = "INSERT INTO spending (day, extractor, calls, failures, input_tokens, output_tokens, learned)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (day, extractor) DO UPDATE SET calls = calls + ?3,
                 failures = failures + ?4, input_tokens = input_tokens + ?5, output_tokens = output_tokens + ?6,
                 learned = learned + ?7";
            change.tx.execute(
                sql,
                params![
                    day,
                    spent.extractor,
                    spent.calls,
                    spent.failures,
                    spent.input_tokens,
                    spent.output_tokens,
                    spent.learned
                ],
            )?;
            Ok(day.clone())
        })
    }

    /// Replaces the estimate for a call by the actual cost, on the day of the estimate. The record stays a sum.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. Then the estimate stays.
    pub fn settle_spending(&mut self, in_advance: u64, spent: &ExtractorUsage) -> Result<(), StoreError> {
        self.write(|change| {
            let sql = "UPDATE spending SET failures = failures + ?3, input_tokens = max(0, input_tokens - ?4) + ?5,
                 output_tokens = output_tokens + ?6 WHERE day = ?1 AND extractor = ?2";
            let ExtractorUsage { day, extractor, failures, input_tokens, output_tokens, .. } = spent;
            change.tx.execute(sql, params![day, extractor, failures, in_advance, input_tokens, output_tokens])?;
            Ok(())
        })
    }

    /// The input and output tokens of all extractors today.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn spent_today(&self) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM spending WHERE day = ?1";
        let spent = self.connection.query_row(sql, [self.now().date().to_string()], |row| row.get(0));
        spent.map_err(|error| self.failed(error))
    }

    /// The usage of extractors since a day, latest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn spending(&self, since: Timestamp) -> Result<Vec<ExtractorUsage>, StoreError> {
        let read = || -> rusqlite::Result<Vec<ExtractorUsage>> {
            let sql =
                sql!("SELECT ", SpendingColumns::LIST, " FROM spending WHERE day >= ?1 ORDER BY day DESC, extractor");
            let mut statement = self.connection.prepare(sql)?;
            let since = [since.date().to_string()];
            let rows = statement.query_map(since, |row| SpendingColumns::read(&mut Reader::new(row)))?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::open::in_memory::InMemory;

    #[test]
    fn progress_is_kept_by_session_and_the_oldest_sessions_are_forgotten() {
        let mut store = InMemory::new();
        assert_eq!(store.progress("s").unwrap(), Progress::default());
        for turns in [1, 2] {
            let progress = Progress { turns, cursor: Some(format!("turn {turns}")) };
            store.note_progress("s", &progress).unwrap();
            assert_eq!(store.progress("s").unwrap(), progress);
        }
        store.run(
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 500)
             INSERT INTO learning (session, turns, cursor, updated) SELECT 'old ' || i, 1, NULL, i FROM n",
        );
        store.pass_days(1);
        store.note_progress("new", &Progress::default()).unwrap();
        assert_eq!(store.one::<u32>("SELECT count(*) FROM learning"), MOST_SESSIONS);
        assert_eq!(store.progress("s").unwrap().turns, 2, "the oldest went");
    }

    #[test]
    fn what_judges_cost_is_a_sum_a_day_and_an_estimate_is_settled() {
        let mut store = InMemory::new();
        let asked =
            ExtractorUsage { extractor: "claude".into(), calls: 1, input_tokens: 900, ..ExtractorUsage::default() };
        let day = store.note_spending(&asked).unwrap();
        store.note_spending(&ExtractorUsage { learned: 2, ..asked.clone() }).unwrap();
        assert_eq!(store.spent_today().unwrap(), 1800);
        let first_day = store.now();
        // The answer arrived after midnight.
        store.pass_days(1);
        let cost = ExtractorUsage { day, input_tokens: 100, output_tokens: 50, failures: 1, ..asked.clone() };
        store.settle_spending(900, &cost).unwrap();
        assert_eq!(store.spent_today().unwrap(), 0);
        store.note_spending(&asked).unwrap();
        let days = store.spending(first_day).unwrap();
        assert_eq!(days.iter().map(|spent| spent.input_tokens).collect::<Vec<_>>(), [900, 1000], "the latest first");
        let ExtractorUsage { calls, failures, output_tokens, learned, .. } = days[1];
        assert_eq!((calls, failures, output_tokens, learned), (2, 1, 50, 2));
        assert_eq!(store.spending(store.now()).unwrap().len(), 1);
    }
}
