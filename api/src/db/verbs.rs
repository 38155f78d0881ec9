//! One function for each kind of query result: all rows, at most one row, exactly one row, single values, or the number
//! of changed rows.

use sqlx::postgres::{PgArguments, PgQueryResult, PgRow};
use sqlx::{Decode, Error, FromRow, PgConnection, Postgres, SqlSafeStr, Type};

/// Parameters of a statement, from `$1` on; an error if one cannot be encoded.
pub(crate) type Args = Result<PgArguments, Error>;

macro_rules! args {
    () => { ::core::result::Result::Ok(::sqlx::postgres::PgArguments::default()) };
    ($($value:expr),+ $(,)?) => {{
        let mut args = ::sqlx::postgres::PgArguments::default();
        let mut added = ::core::result::Result::Ok(());
        $(added = added.and_then(|()| ::sqlx::Arguments::add(&mut args, $value).map_err(::sqlx::Error::Encode));)+
        added.map(|()| args)
    }};
}
pub(crate) use args;

/// A value in a result.
pub(crate) trait Value: for<'r> Decode<'r, Postgres> + Type<Postgres> + Send + Unpin {}
impl<T: for<'r> Decode<'r, Postgres> + Type<Postgres> + Send + Unpin> Value for T {}

/// The columns of a row, by position.
pub(crate) trait Tuple: for<'r> FromRow<'r, PgRow> + Send + Unpin {}
impl<T: for<'r> FromRow<'r, PgRow> + Send + Unpin> Tuple for T {}

/// Statements on a connection or in a transaction.
pub(crate) trait Ask {
    async fn run(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<PgQueryResult, Error>;
    async fn all(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Vec<PgRow>, Error>;
    async fn rows<T: Tuple>(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Vec<T>, Error>;
    async fn maybe(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Option<PgRow>, Error>;
    async fn maybe_row<T: Tuple>(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Option<T>, Error>;
    async fn one(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<PgRow, Error>;
    async fn values<T: Value>(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Vec<T>, Error>;
    async fn maybe_value<T: Value>(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Option<T>, Error>;
    async fn value<T: Value>(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<T, Error>;
}

impl Ask for PgConnection {
    async fn run(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<PgQueryResult, Error> {
        sqlx::query_with(sql, args?).execute(self).await
    }

    async fn all(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Vec<PgRow>, Error> {
        sqlx::query_with(sql, args?).fetch_all(self).await
    }

    async fn rows<T: Tuple>(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Vec<T>, Error> {
        sqlx::query_as_with(sql, args?).fetch_all(self).await
    }

    async fn maybe_row<T: Tuple>(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Option<T>, Error> {
        sqlx::query_as_with(sql, args?).fetch_optional(self).await
    }

    async fn maybe(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Option<PgRow>, Error> {
        sqlx::query_with(sql, args?).fetch_optional(self).await
    }

    async fn one(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<PgRow, Error> {
        sqlx::query_with(sql, args?).fetch_one(self).await
    }

    async fn values<T: Value>(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Vec<T>, Error> {
        sqlx::query_scalar_with(sql, args?).fetch_all(self).await
    }

    async fn maybe_value<T: Value>(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<Option<T>, Error> {
        sqlx::query_scalar_with(sql, args?).fetch_optional(self).await
    }

    async fn value<T: Value>(&mut self, sql: impl SqlSafeStr, args: Args) -> Result<T, Error> {
        sqlx::query_scalar_with(sql, args?).fetch_one(self).await
    }
}
