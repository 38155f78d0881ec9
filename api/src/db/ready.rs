//! Waits for a database that starts after its server.

use std::str::FromStr as _;
use std::time::{Duration, Instant};

use backon::{ConstantBuilder, Retryable as _};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection};

use super::{Db, DbError, Patience, own_role};

/// Between two tries to connect.
const PAUSE: Duration = Duration::from_secs(1);
/// The time limit of one attempt.
const TRY: Duration = Duration::from_secs(5);
/// Between two words on it.
const TOLD_EVERY: Duration = Duration::from_secs(5);

impl Db {
    /// Repeats [`Db::connect`] until the database answers or the time is used up. Every few seconds, `tell` receives
    /// the reason for the wait. Does not wait if the database rejects the connection. Uses its own role in the older
    /// system's database.
    ///
    /// # Errors
    /// Returns an error if the address is not valid, the database rejects the connection, or does not answer in time.
    pub async fn connect_once_up(
        url: &str,
        patience: &Patience,
        wait: Duration,
        tell: impl Fn(&str),
    ) -> Result<Self, DbError> {
        let options = PgConnectOptions::from_str(url)?;
        let started = Instant::now();
        let mut told: Option<Instant> = None;
        let tries = ConstantBuilder::default().with_delay(PAUSE).without_max_times();
        (|| answers(&options))
            .retry(tries)
            .sleep(tokio::time::sleep)
            .when(|error| is_passing(error) && started.elapsed() + PAUSE <= wait)
            .notify(|error, _| {
                if told.is_none_or(|at| at.elapsed() >= TOLD_EVERY) {
                    told = Some(Instant::now());
                    let waited = started.elapsed().as_secs();
                    tell(&format!("waiting for PostgreSQL, at most {} s ({waited} s so far): {error}", wait.as_secs()));
                }
            })
            .await?;
        match own_role::own(url).await? {
            Some(options) => Self::connect_as(options, patience).await,
            None => Self::connect_with(url, patience).await,
        }
    }
}

async fn answers(options: &PgConnectOptions) -> Result<(), sqlx::Error> {
    let connected = tokio::time::timeout(TRY, PgConnection::connect_with(options)).await;
    let no_answer =
        |_| sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, "the database does not answer"));
    connected.map_err(no_answer)??.close().await
}

/// True for temporary errors while a database starts: connection refused, unknown host name, too many connections.
fn is_passing(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) => true,
        sqlx::Error::Database(error) => {
            matches!(error.code().as_deref(), Some("57P01" | "57P02" | "57P03" | "53300" | "08006" | "08001"))
        }
        _ => false,
    }
}
