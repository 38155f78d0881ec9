//! Exchanges in the background: soon after a write, regularly, and less often while the server is down.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tessera_engine::Store;
use tessera_engine::store::{StoreError, Upload};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::{Remote, RemoteError, SyncError, round};
use crate::shared::SharedStore;

/// The default interval of downloads.
pub const EVERY: Duration = Duration::from_mins(1);
/// The maximum age of the last exchange when a call arrives; an older one triggers an exchange, so active users see
/// other machines' changes soon.
const FRESH: Duration = Duration::from_secs(5);
/// The minimum pause after a failed exchange.
const PATIENT: Duration = Duration::from_secs(30);
/// The delay between a call and the check for unsent changes, because calls come in groups.
const SOON: Duration = Duration::from_millis(300);
/// How often the process checks whether another process has released the lock.
const TURN: Duration = Duration::from_secs(5);
/// The longest pause while a server is down, and while it rejects the key.
const LONGEST: Duration = Duration::from_mins(5);
/// The maximum time for which a process waits at its end for unsent changes.
const AT_THE_END: Duration = Duration::from_secs(1);

/// The background client of one process.
#[derive(Debug, Clone)]
pub struct Worker {
    desk: SharedStore,
    remote: Arc<Remote>,
    trouble: SyncProblem,
    every: Duration,
}

/// The last error of the sync. Before the store joins a server, the database has no row that could record it.
#[derive(Debug, Clone, Default)]
pub struct SyncProblem(Arc<Mutex<Option<String>>>);

impl SyncProblem {
    /// The words of it.
    pub fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note<T>(&self, result: &Result<T, SyncError>) {
        let trouble = match result {
            Ok(_) => None,
            Err(SyncError::Remote(error)) => Some(error.to_string()),
            Err(SyncError::Store(error @ StoreError::OtherServer { .. })) => Some(error.to_string()),
            Err(error @ SyncError::NotAgreed { .. }) => Some(error.to_string()),
            Err(_) => return,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }
}

impl Worker {
    /// For a store and a server.
    pub fn new(desk: SharedStore, remote: Arc<Remote>, trouble: SyncProblem) -> Self {
        Self { desk, remote, trouble, every: EVERY }
    }

    /// Sets the interval between exchanges.
    #[must_use]
    pub fn exchanging_every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// Exchanges until it is dropped.
    pub async fn run(&self) {
        let mut backoff = backoff();
        let (mut next, mut last, mut hurry_from) = (Instant::now(), None::<Instant>, Instant::now());
        loop {
            // During activity, a failing server is tried sooner, but not each time.
            let may_hurry = || Instant::now() >= hurry_from;
            tokio::select! {
                () = sleep_until(next) => {}
                () = self.desk.changed() => {
                    tokio::time::sleep(SOON).await;
                    if !may_hurry() || !self.has_something_to_send().await {
                        continue;
                    }
                }
                () = self.desk.asked() => {
                    let is_fresh = last.is_some_and(|last| last.elapsed() < FRESH);
                    if is_fresh || !may_hurry() {
                        continue;
                    }
                }
            }
            let result = self.round().await;
            let now = Instant::now();
            last = Some(now);
            hurry_from = match &result {
                Ok(_) | Err(SyncError::Busy | SyncError::NotSent(RemoteError::Failed(_))) => now,
                Err(SyncError::Remote(error) | SyncError::NotSent(error)) if error.wait().is_some() => {
                    now + error.wait().unwrap_or(PATIENT).min(LONGEST)
                }
                Err(SyncError::NotSent(error)) if !error.is_transient() => now,
                Err(_) => now + PATIENT,
            };
            let wait = match result {
                Ok(_) => {
                    backoff = self::backoff();
                    self.every
                }
                // Changes still arrive: a key may be read-only, or the server fails on one change.
                Err(SyncError::NotSent(RemoteError::Failed(_))) => self.every,
                Err(SyncError::NotSent(error)) if !error.is_transient() => self.every,
                Err(SyncError::Busy) => TURN,
                Err(SyncError::Remote(RemoteError::Unauthorized | RemoteError::Forbidden(_))) => LONGEST,
                Err(SyncError::Remote(error) | SyncError::NotSent(error)) if error.wait().is_some() => {
                    error.wait().unwrap_or(PATIENT).min(LONGEST)
                }
                Err(SyncError::Ended) => return,
                Err(error) => {
                    tracing::debug!(%error, "no exchange");
                    backoff.next().unwrap_or(LONGEST)
                }
            };
            next = Instant::now() + wait;
        }
    }

    /// Syncs once. If the store has not joined a server, it joins this server. Of the existing memories, only those are
    /// synced that the server has with the same text. The user has not decided about the others.
    pub async fn round(&self) -> Result<round::Exchanged, SyncError> {
        let result = self.round_or_join().await;
        self.trouble.note(&result);
        result
    }

    async fn round_or_join(&self) -> Result<round::Exchanged, SyncError> {
        match round::run(&self.desk, &self.remote).await {
            Err(SyncError::NotJoined) => {
                let address = self.remote.address().to_owned();
                let held = self.on(|store| store.stats().map(|stats| stats.memories + stats.deleted)).await;
                let held = held.ok_or(SyncError::Ended)??;
                if held > 0 && !self.remote.is_chosen() {
                    return Err(SyncError::NotAgreed { address, held });
                }
                let user = self.remote.user().await?;
                let upload = if held == 0 { Upload::All } else { Upload::Known };
                let joined = self.on(move |store| store.join(&address, &user, upload)).await;
                joined.ok_or(SyncError::Ended)??;
                round::run(&self.desk, &self.remote).await
            }
            other => other,
        }
    }

    async fn has_something_to_send(&self) -> bool {
        let status = self.on(|store| store.sync_status()).await;
        status.is_some_and(|status| status.is_ok_and(|status| status.server.is_some() && status.waiting > 0))
    }

    async fn on<T: Send + 'static>(&self, work: impl FnOnce(&mut Store) -> T + Send + 'static) -> Option<T> {
        self.desk.run(&CancellationToken::new(), work).await
    }

    /// Sends waiting changes before the process ends, if the server is fast.
    pub async fn finish(&self) {
        if self.has_something_to_send().await {
            // Unsent changes are sent by the next process.
            let _ = timeout(AT_THE_END, self.round()).await;
        }
    }
}

fn backoff() -> ExponentialBackoff {
    ExponentialBuilder::default()
        .with_jitter()
        .with_min_delay(Duration::from_secs(1))
        .with_max_delay(LONGEST)
        .without_max_times()
        .build()
}
