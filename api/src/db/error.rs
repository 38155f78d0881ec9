//! Database errors, and whether a later attempt may succeed.

use std::sync::Arc;
use std::time::Duration;

use super::Used;

/// How often a transaction is repeated after a deadlock or serialization failure.
const ATTEMPTS: u32 = 5;
/// The first delay; each further delay is longer by this amount.
const PAUSE: Duration = Duration::from_millis(10);

/// Why a database operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DbError {
    /// PostgreSQL, or the way to it.
    #[error("PostgreSQL: {0}")]
    Sql(#[from] sqlx::Error),
    /// The schema cannot be updated, or is newer than this program.
    #[error("the database schema cannot be used: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A row that this program did not write.
    #[error("cannot read a row: {0}")]
    Row(String),
    /// The export of a removed user cannot be written. The user's rows stay.
    #[error("cannot write the export: {0}")]
    Export(#[from] std::io::Error),
    /// The database is not safe: the role has wrong rights, row-level security is not forced, or Citus does not
    /// distribute the tables.
    #[error("the database is not safe to use: {0}")]
    Unsafe(String),
    /// A name or ID that is not valid.
    #[error("{0}")]
    Invalid(String),
    /// The user's quota is used up.
    #[error("the quota is used up: {0}")]
    Quota(Used),
    /// A shared operation failed.
    #[error("{0}")]
    Shared(Arc<DbError>),
}

/// The remedy for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Try again later: the database is down, busy, or timed out.
    Wait,
    /// The request can never succeed as it is, and must be changed.
    Change,
    /// The program or its data is at fault, so the error must be reported.
    Report,
}

impl DbError {
    fn code(&self) -> Option<String> {
        let Self::Sql(sqlx::Error::Database(error)) = self else { return None };
        error.code().map(std::borrow::Cow::into_owned)
    }

    /// The remedy.
    pub(crate) fn remedy(&self) -> Remedy {
        let error = match self {
            Self::Sql(error) => error,
            Self::Shared(error) => return error.remedy(),
            _ => return Remedy::Report,
        };
        match error {
            sqlx::Error::Database(_) => remedy_of(&self.code().unwrap_or_default()),
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Remedy::Wait,
            _ => Remedy::Report,
        }
    }

    /// True if PostgreSQL aborted the transaction in favour of another one. The aborted transaction has no effect.
    pub(crate) fn is_overtaken(&self) -> bool {
        matches!(self.code().as_deref(), Some("40001" | "40P01"))
    }
}

/// Uses the error classes of PostgreSQL's Appendix A.
fn remedy_of(code: &str) -> Remedy {
    match (code.get(..2).unwrap_or_default(), code) {
        // A lock timeout, an idle timeout, or a standby that accepts no writes yet.
        (_, "55P03" | "25P03" | "25006") => Remedy::Wait,
        // Connection errors, aborted transactions, missing resources, timeouts, operator actions, system errors.
        ("08" | "40" | "53" | "57" | "58", _) => Remedy::Wait,
        // A value or a constraint.
        ("22" | "23", _) => Remedy::Change,
        _ => Remedy::Report,
    }
}

/// Runs a transaction, and repeats it if another one aborted it. The closure must begin a new transaction each time.
pub(crate) async fn unless_overtaken<T, E, F>(mut transaction: impl FnMut() -> F) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
    E: MayConflict,
{
    for attempt in 1..ATTEMPTS {
        match transaction().await {
            Err(error) if error.is_overtaken() => {
                metrics::counter!("tessera_transactions_repeated_total").increment(1);
                tokio::time::sleep(PAUSE * attempt).await;
            }
            done => return done,
        }
    }
    transaction().await
}

/// An error that may come from a conflict with another transaction.
pub(crate) trait MayConflict {
    /// True where it was.
    fn is_overtaken(&self) -> bool;
}

impl MayConflict for DbError {
    fn is_overtaken(&self) -> bool {
        Self::is_overtaken(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_away_by_itself_is_told_from_what_does_not() {
        for (code, remedy) in [
            ("08006", Remedy::Wait),
            ("40001", Remedy::Wait),
            ("40P01", Remedy::Wait),
            ("53300", Remedy::Wait),
            ("53100", Remedy::Wait),
            ("55P03", Remedy::Wait),
            ("57014", Remedy::Wait),
            ("57P01", Remedy::Wait),
            ("25006", Remedy::Wait),
            ("22021", Remedy::Change),
            ("23502", Remedy::Change),
            ("23505", Remedy::Change),
            ("42501", Remedy::Report),
            ("42P01", Remedy::Report),
            ("XX000", Remedy::Report),
            ("", Remedy::Report),
        ] {
            assert_eq!(remedy_of(code), remedy, "{code}");
        }
        assert_eq!(DbError::Sql(sqlx::Error::PoolTimedOut).remedy(), Remedy::Wait);
        assert_eq!(DbError::Row("category: is empty".into()).remedy(), Remedy::Report);
        assert_eq!(DbError::Sql(sqlx::Error::RowNotFound).remedy(), Remedy::Report);
    }
}
