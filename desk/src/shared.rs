//! A store that many calls share: behind a lock, used in turn, off the thread that asks.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tessera_engine::Store;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// After this long without a call, chores are done and memory is given back.
const IDLE: Duration = Duration::from_secs(5);

/// A store that many calls share.
#[derive(Debug, Clone)]
pub struct SharedStore {
    store: Arc<Mutex<Store>>,
    used: Arc<Notify>,
    changed: Arc<Notify>,
}

impl SharedStore {
    /// A store that this process holds open.
    pub fn new(store: Store) -> Self {
        Self { store: Arc::new(Mutex::new(store)), used: Arc::default(), changed: Arc::default() }
    }

    /// Notes that something may be to be sent.
    pub fn note_change(&self) {
        self.changed.notify_one();
    }

    /// Runs `work` on the store. `None` when the caller gave up waiting; work that began is finished.
    pub async fn run<T: Send + 'static>(
        &self,
        cancelled: &CancellationToken,
        work: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> Option<T> {
        let store = Arc::clone(&self.store);
        let call = tokio::task::spawn_blocking(move || work(&mut store.lock().unwrap_or_else(PoisonError::into_inner)));
        self.used.notify_one();
        tokio::select! {
            done = call => done.ok(),
            () = cancelled.cancelled() => None,
        }
    }

    /// Runs `work` on the store, on this thread.
    pub fn here<T>(&self, work: impl FnOnce(&mut Store) -> T) -> T {
        work(&mut self.store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Resolves after a call, which may have changed something.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Does the chores of a long-lived process whenever calls have paused. Never returns.
    pub async fn keep_tidy(&self) {
        let never = CancellationToken::new();
        loop {
            self.used.notified().await;
            while tokio::time::timeout(IDLE, self.used.notified()).await.is_ok() {}
            self.run(&never, tidy).await;
            // A step at a time: a call in between does not wait for all.
            while self.run(&never, reanalyse).await == Some(true) {}
            // The chores are a use of the desk too.
            tokio::select! { biased; () = self.used.notified() => {}, () = std::future::ready(()) => {} }
        }
    }

    /// What must not wait for the next start.
    pub async fn close(&self) {
        let never = CancellationToken::new();
        let folded = self.run(&never, Store::fold_accesses).await;
        if let Some(Err(error)) = folded {
            tracing::debug!(error = %error, "the access log waits for the next start");
        }
    }
}

/// True when there is more to do.
fn reanalyse(store: &mut Store) -> bool {
    store.reanalyse_some().unwrap_or_else(|error| {
        tracing::debug!(error = %error, "rows of an older program wait");
        false
    })
}

fn tidy(store: &mut Store) {
    let chores = store.fold_accesses().and_then(|()| store.rebuild_if_due());
    if let Err(error) = chores {
        tracing::debug!(error = %error, "chores failed");
    }
}
