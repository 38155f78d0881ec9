//! A store that many calls share. A lock allows only one call at a time to use the store, and the calls run on other
//! threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tessera_engine::Store;
use tessera_engine::embedding::Encoder;
use tessera_engine::store::Usage;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::background::{self, WakeSignal};
use crate::caller::PluginRules;
use crate::folders::{ChangeWait, Watch};

/// The idle time after which maintenance runs and memory is released.
const IDLE: Duration = Duration::from_secs(5);

/// A store that many calls share.
#[derive(Debug, Clone)]
pub struct SharedStore {
    store: Arc<Mutex<Store>>,
    used: Arc<Notify>,
    changed: Arc<Notify>,
    asked: Arc<Notify>,
    calls: Arc<AtomicUsize>,
    wake: Arc<OnceLock<WakeSignal>>,
    watch: Arc<OnceLock<Watch>>,
}

/// Returns the store. If another process has replaced the database, opens it again first.
fn following(store: &Mutex<Store>) -> MutexGuard<'_, Store> {
    let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = store.follow() {
        // The call continues: reads see the old content, writes fail with this error.
        tracing::warn!(%error, "the store was replaced and cannot be opened");
    }
    store
}

impl SharedStore {
    /// A store that this process keeps open.
    pub fn new(store: Store) -> Self {
        let store = Arc::new(Mutex::new(store));
        let (used, changed, asked) = (Arc::default(), Arc::default(), Arc::default());
        Self { store, used, changed, asked, calls: Arc::default(), wake: Arc::default(), watch: Arc::default() }
    }

    /// Starts a thread that computes embeddings and sends events to plugins, now and after changes, until the last
    /// handle is dropped.
    pub fn work_in_background(&self, rules: PluginRules) {
        if let Some(wake) = self.here(|store| background::start(store, rules, Arc::clone(&self.calls))) {
            let _ = self.wake.set(wake);
        }
    }

    /// Starts a thread that watches folders, from the first call on, until the last handle is dropped.
    pub fn watch_files_in_background(&self) {
        let (changed, wake) = (Arc::clone(&self.changed), Arc::clone(&self.wake));
        let tell = move || {
            changed.notify_one();
            wake.get().into_iter().for_each(WakeSignal::wake);
        };
        if let Some(watch) = self.here(|store| Watch::start(store, tell)) {
            let _ = self.watch.set(watch);
        }
    }

    /// How a call checks watched folders; `None` if a thread watches them.
    pub(crate) fn looks(&self) -> Option<ChangeWait> {
        match self.watch.get() {
            Some(watch) if watch.is_watching() => None,
            Some(_) => Some(ChangeWait::Briefly),
            None => Some(ChangeWait::Long),
        }
    }

    /// Records a change, which may need sync and embeddings.
    pub fn note_change(&self) {
        self.changed.notify_one();
        self.wake_background();
    }

    /// Wakes the background thread.
    pub(crate) fn wake_background(&self) {
        self.wake.get().into_iter().for_each(WakeSignal::wake);
    }

    /// Runs `work` on the store. Returns `None` if the caller gives up before the work has finished. Work that has
    /// begun finishes anyway. Work that has begun finishes.
    pub async fn run<T: Send + 'static>(
        &self,
        cancelled: &CancellationToken,
        work: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> Option<T> {
        let (store, watch) = (Arc::clone(&self.store), Arc::clone(&self.watch));
        let running = Running::of(&self.calls);
        let call = tokio::task::spawn_blocking(move || {
            let _running = running;
            let done = work(&mut following(&store));
            watch.get().into_iter().for_each(Watch::begin);
            done
        });
        self.used.notify_one();
        tokio::select! {
            done = call => done.ok(),
            () = cancelled.cancelled() => None,
        }
    }

    /// Another connection to the same store. If a call waits there, for example for a folder scan, other calls are not
    /// delayed.
    pub async fn beside(&self) -> Self {
        let store = Arc::clone(&self.store);
        let opened = tokio::task::spawn_blocking(move || {
            let open = following(&store).opener(Usage::Write);
            open()
        });
        match opened.await {
            Ok(Ok(store)) => Self { store: Arc::new(Mutex::new(store)), ..self.clone() },
            failed => {
                tracing::debug!(?failed, "cannot open a second database connection");
                self.clone()
            }
        }
    }

    /// If there are watched folders, opens a second connection. Otherwise returns this store, because no scan can delay
    /// a call.
    pub async fn beside_files(&self) -> Self {
        let never = CancellationToken::new();
        match self.run(&never, |store| store.knows_files()).await {
            Some(Ok(false)) => self.clone(),
            _ => self.beside().await,
        }
    }

    /// Runs `work` on the store, on this thread.
    pub fn here<T>(&self, work: impl FnOnce(&mut Store) -> T) -> T {
        work(&mut following(&self.store))
    }

    /// Resolves after a call that may have changed something.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Records activity, so that changes are fetched sooner.
    pub(crate) fn note_asked(&self) {
        self.asked.notify_one();
    }

    /// Resolves after a request.
    pub(crate) async fn asked(&self) {
        self.asked.notified().await;
    }

    /// Runs maintenance whenever calls pause. Never returns.
    pub async fn keep_tidy(&self) {
        let never = CancellationToken::new();
        loop {
            self.used.notified().await;
            while tokio::time::timeout(IDLE, self.used.notified()).await.is_ok() {}
            self.run(&never, tidy).await;
            // One step at a time, so that a call in between does not wait.
            while self.run(&never, reanalyse).await == Some(true) {}
            // Another process, or sync, may have left some.
            self.wake_background();
            // Maintenance also uses the service layer.
            tokio::select! { biased; () = self.used.notified() => {}, () = std::future::ready(()) => {} }
        }
    }

    /// Finishes work before the process ends, so that the next start is fast.
    pub async fn close(&self) {
        let never = CancellationToken::new();
        let folded = self.run(&never, Store::fold_accesses).await;
        if let Some(Err(error)) = folded {
            tracing::debug!(error = %error, "the access log could not be stored; Tessera tries again at the next start");
        }
    }
}

/// A call that is answered.
struct Running(Arc<AtomicUsize>);

impl Running {
    fn of(calls: &Arc<AtomicUsize>) -> Self {
        calls.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(calls))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// True if there is more to do.
fn reanalyse(store: &mut Store) -> bool {
    store.reanalyse_some().unwrap_or_else(|error| {
        tracing::debug!(error = %error, "rows from an earlier version will be re-indexed later");
        false
    })
}

fn tidy(store: &mut Store) {
    let chores = store.fold_accesses().and_then(|()| store.rebuild_if_due());
    if let Err(error) = chores {
        tracing::debug!(error = %error, "chores failed");
    }
    // Nobody asks now; the encoder's pages are reloaded on demand.
    Encoder::shared().rest();
}
