//! One verb for each statement: its rows, a row or none, one row, or its effect alone. Statements are prepared once and kept.

use rusqlite::{Connection, OptionalExtension, Params, Row};

/// Queries. `read` turns a row into a value.
pub(crate) trait Ask {
    /// Why there is no answer.
    type Error;

    /// Every row.
    fn all<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Self::Error>;

    /// The first row, if there is one.
    fn maybe<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Self::Error>;

    /// The first row.
    fn one<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Self::Error>;
}

/// What changes a database: gives how many rows.
pub(crate) trait Run {
    fn run(&self, sql: &str, with: impl Params) -> rusqlite::Result<usize>;
}

impl Run for Connection {
    fn run(&self, sql: &str, with: impl Params) -> rusqlite::Result<usize> {
        self.prepare_cached(sql)?.execute(with)
    }
}

impl Ask for Connection {
    type Error = rusqlite::Error;

    fn all<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.prepare_cached(sql)?.query_map(with, read)?.collect()
    }

    fn maybe<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.one(sql, with, read).optional()
    }

    fn one<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.prepare_cached(sql)?.query_row(with, read)
    }
}
