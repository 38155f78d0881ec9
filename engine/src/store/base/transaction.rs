//! Transactions. Each change of the store is one transaction, which is repeated if another process blocks it.

use std::cell::Cell;
use std::time::Duration;

use backon::{BlockingRetryable, ExponentialBuilder};
use rusqlite::{Transaction, TransactionBehavior};

use super::secrets::Secrets;
use super::store::Store;
use crate::compose::Known;
use crate::domain::{Memory, MemoryRef, ShortId, Timestamp};
use crate::store::file::error::StoreError;
use crate::store::file::{marker, replacement};
use crate::store::rows::codec::Run as _;
use crate::store::rows::memory;

/// How long one statement waits for another process.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
/// The maximum number of attempts to begin a transaction while another process blocks it.
const ATTEMPTS: u32 = 5;

/// The context of one transaction.
pub(crate) struct Change<'a> {
    pub tx: &'a Transaction<'a>,
    pub now: Timestamp,
    pub secrets: &'a Secrets,
    rev: Counter,
    short_id: Counter,
}

/// A counter of the store. The counter is read when a transaction first uses it, and written at the end.
struct Counter {
    key: &'static str,
    last: Cell<Option<u64>>,
}

impl Store {
    /// Runs one write transaction. If another process blocked the transaction, it is repeated. If another process
    /// replaced the database file, the transaction runs in the new file.
    pub(crate) fn write<T>(
        &mut self,
        mut work: impl FnMut(&Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut done = self.write_here(&mut work);
        for _ in 0..ATTEMPTS {
            match done {
                Err(StoreError::Replaced { .. }) => self.follow()?,
                Err(StoreError::KeysWanted { to_seal, .. }) => self.secrets.ask_ahead(&self.connection, to_seal)?,
                done => {
                    self.secrets.forget_asked();
                    return done;
                }
            }
            done = self.write_here(&mut work);
        }
        self.secrets.forget_asked();
        done
    }

    fn write_here<T>(&mut self, work: &mut impl FnMut(&Change<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let now = self.clock.now();
        let (connection, path, secrets) = (&mut self.connection, &self.path, &self.secrets);
        let (home, file) = (&self.home, self.file);
        // All attempts together wait no longer than one statement may.
        connection.busy_timeout(PATIENCE / ATTEMPTS).map_err(|error| StoreError::sqlite(path, error))?;
        let attempt = || {
            let failed = |error| StoreError::sqlite(path, error);
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
            // A process that replaces the database locks it until the replacement is complete.
            if file.is_some_and(|file| !replacement::is_in_place(home, file)) {
                return Err(StoreError::Replaced { path: path.clone() });
            }
            let change = Change::of(&tx, now, secrets);
            let done = work(&change).and_then(|done| change.settle().map(|()| done)).map_err(|error| match error {
                StoreError::Sqlite { source, .. } => StoreError::sqlite(path, source),
                other => other,
            })?;
            tx.commit().map_err(failed)?;
            Ok(done)
        };
        let backoff = ExponentialBuilder::default()
            .with_jitter()
            .with_min_delay(Duration::from_millis(5))
            .with_max_delay(Duration::from_millis(500))
            .with_max_times(ATTEMPTS as usize - 1);
        let done = attempt.retry(backoff).when(StoreError::is_transient).call();
        self.connection.busy_timeout(PATIENCE).map_err(|error| self.failed(error))?;
        if done.is_ok() {
            self.mark();
        }
        done
    }

    /// Writes a marker as soon as the store contains a memory, so that Tessera notices later if the database is lost.
    fn mark(&mut self) {
        if self.is_marked {
            return;
        }
        let memories = if self.home.marker().exists() { None } else { self.live_rows().ok() };
        self.is_marked = memories != Some(0);
        if let Some(memories) = memories.filter(|memories| *memories > 0)
            && let Err(error) = marker::write(&self.home, memories)
        {
            tracing::debug!(%error, "cannot write the marker file");
        }
    }
}

/// The size of the page cache during many writes. For SQLite, a negative number means KiB.
const ROOM: i64 = -16 * 1024;
/// During many writes, the write-ahead log is copied to the database after this number of pages.
const LOGGED: i64 = 4_000;

impl Store {
    /// Performs many writes with a larger cache. So a transaction stays in main memory until it ends, and a page that
    /// several transactions change is written to the database once.
    pub fn with_room<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let settings = [("cache_size", ROOM), ("wal_autocheckpoint", LOGGED)];
        let set = |store: &Self, name: &str, value: i64| {
            if let Err(error) = store.connection.pragma_update(None, name, value) {
                // The work continues without it, but slower.
                tracing::debug!(error = %error, "cannot set {name}");
            }
        };
        let usual = settings.map(|(name, value)| {
            let usual: Option<i64> = self.connection.pragma_query_value(None, name, |row| row.get(0)).ok();
            set(self, name, value);
            (name, usual)
        });
        let done = work(self);
        for (name, usual) in usual {
            usual.into_iter().for_each(|usual| set(self, name, usual));
        }
        done
    }
}

impl<'a> Change<'a> {
    /// The context of a transaction that the caller began. The caller must call `settle` at its end.
    pub(crate) fn of(tx: &'a Transaction<'a>, now: Timestamp, secrets: &'a Secrets) -> Self {
        let counter = |key| Counter { key, last: Cell::new(None) };
        Self { tx, now, secrets, rev: counter("rev"), short_id: counter("short_id") }
    }

    /// Writes the changed counters.
    pub(crate) fn settle(&self) -> Result<(), StoreError> {
        for counter in [&self.rev, &self.short_id] {
            if let Some(last) = counter.last.take() {
                let sql = "UPDATE meta SET value = ?2 WHERE key = ?1";
                self.tx.run(sql, (counter.key, last))?;
            }
        }
        Ok(())
    }

    /// The next value of the store's change counter.
    pub(crate) fn next_rev(&self) -> rusqlite::Result<u64> {
        self.next(&self.rev)
    }

    pub(crate) fn next_short_id(&self) -> Result<ShortId, StoreError> {
        Ok(ShortId::try_from(u32::try_from(self.next(&self.short_id)?).unwrap_or(u32::MAX))?)
    }

    fn next(&self, counter: &Counter) -> rusqlite::Result<u64> {
        let read = || {
            let sql = "SELECT value FROM meta WHERE key = ?1";
            self.tx.prepare_cached(sql)?.query_row([counter.key], |row| row.get::<_, u64>(0))
        };
        let next = counter.last.get().map_or_else(read, Ok)? + 1;
        counter.last.set(Some(next));
        Ok(next)
    }

    /// An existing memory that was not permanently deleted.
    pub(crate) fn existing(&self, reference: MemoryRef) -> Result<Memory, StoreError> {
        memory::find(self.tx, reference)?.ok_or(StoreError::NotFound(reference))
    }

    /// The existing memory with its derived data.
    pub(crate) fn known(&self, reference: MemoryRef) -> Result<Known, StoreError> {
        memory::find_known(self.tx, reference)?.ok_or(StoreError::NotFound(reference))
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::params;

    use super::*;
    use crate::store::open::in_memory::InMemory;

    #[test]
    fn a_change_that_fails_leaves_nothing_and_its_error_names_the_file() {
        let mut store = InMemory::new();
        let failed = store.write(|change| {
            change.next_rev()?;
            change.tx.execute("INSERT INTO nowhere VALUES (?1)", params![change.now])?;
            Ok(())
        });
        let told = failed.unwrap_err().to_string();
        assert!(told.starts_with(store.path().to_str().unwrap()), "{told}");
        assert_eq!(store.one::<u64>("SELECT value FROM meta WHERE key = 'rev'"), 0);
    }

    #[test]
    fn a_change_is_tried_again_while_another_process_is_in_the_way_and_not_for_ever() {
        let mut store = InMemory::new();
        let mut tries = 0;
        let done = store.write(|change| {
            tries += 1;
            if tries < ATTEMPTS { Err(StoreError::Busy { path: "t".into() }) } else { Ok(change.next_rev()?) }
        });
        assert_eq!((done.unwrap(), tries), (1, ATTEMPTS), "failed attempts do not consume a revision");
        let mut tries = 0;
        let busy = store.write(|_| -> Result<(), StoreError> {
            tries += 1;
            Err(StoreError::Busy { path: "t".into() })
        });
        assert!(matches!(busy, Err(StoreError::Busy { .. })) && tries == ATTEMPTS);
    }
}
