//! Background work that only one replica performs.

use std::time::Duration;

use super::{Db, DbError};

/// Background work that replicas share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chore {
    /// Re-indexes rows that an earlier version analysed.
    Reanalysis,
    /// Removes secrets from the vault that belong to no row.
    Vault,
}

impl Chore {
    const fn name(self) -> &'static str {
        match self {
            Self::Reanalysis => "reanalysis",
            Self::Vault => "vault",
        }
    }
}

impl Db {
    /// Returns true for only one replica. The last replica that took the work must have another version, or must have
    /// taken it longer ago than `every`.
    pub(crate) async fn is_due(&self, chore: Chore, form: &str, every: Duration) -> Result<bool, DbError> {
        // A replica that sleeps for the same time may wake a moment early.
        let every = every.mul_f64(0.9);
        let done = sqlx::query(
            "INSERT INTO chores (name, form) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET form = $2, done = now()
             WHERE chores.form <> $2 OR chores.done < now() - make_interval(secs => $3)",
        )
        .bind(chore.name())
        .bind(form)
        .bind(every.as_secs_f64())
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Records that the work is unfinished, so that the next replica that asks does it.
    pub(crate) async fn is_still_due(&self, chore: Chore) -> Result<(), DbError> {
        sqlx::query("DELETE FROM chores WHERE name = $1").bind(chore.name()).execute(&self.pool).await?;
        Ok(())
    }
}
