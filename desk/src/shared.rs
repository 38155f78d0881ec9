//! A store that many calls share: behind a lock, used in turn, off the thread that asks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tessera_engine::Store;
use tessera_engine::meaning::Encoder;
use tessera_engine::store::Usage;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::background::{self, WakeSignal};
use crate::caller::PluginRules;
use crate::folders::{ChangeWait, Watch};

/// After this long without a call, chores are done and memory is given back.
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

/// The store as it is now: another process may have put another database in its place.
fn following(store: &Mutex<Store>) -> MutexGuard<'_, Store> {
    let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = store.follow() {
        // The call goes on: reads see the old content, and each write fails with this error.
        tracing::warn!(%error, "the store was replaced, and cannot be opened");
    }
    store
}

impl SharedStore {
    /// A store that this process holds open.
    pub fn new(store: Store) -> Self {
        let store = Arc::new(Mutex::new(store));
        let (used, changed, asked) = (Arc::default(), Arc::default(), Arc::default());
        Self { store, used, changed, asked, calls: Arc::default(), wake: Arc::default(), watch: Arc::default() }
    }

    /// Has the vectors of memories made that wait for them, and plugins told of what was done, by a thread of its own, now and
    /// whenever something changed, until the last of these is dropped.
    pub fn work_in_background(&self, rules: PluginRules) {
        if let Some(wake) = self.here(|store| background::start(store, rules, Arc::clone(&self.calls))) {
            let _ = self.wake.set(wake);
        }
    }

    /// Has the folders of files watched by a thread of its own, from the first call on, until the last of these is dropped.
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

    /// How a call looks at the folders of files; `None` where they are watched.
    pub(crate) fn looks(&self) -> Option<ChangeWait> {
        match self.watch.get() {
            Some(watch) if watch.is_standing() => None,
            Some(_) => Some(ChangeWait::Briefly),
            None => Some(ChangeWait::Long),
        }
    }

    /// Notes that something changed: it may be to be sent, and have no vectors yet.
    pub fn note_change(&self) {
        self.changed.notify_one();
        self.wake_background();
    }

    /// Has what nobody waits for done soon.
    pub(crate) fn wake_background(&self) {
        self.wake.get().into_iter().for_each(WakeSignal::wake);
    }

    /// Runs `work` on the store. `None` when the caller gave up waiting; work that began is finished.
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

    /// The same store behind another connection: what waits there, such as for whoever reads folders of files, keeps no other call
    /// waiting.
    pub async fn beside(&self) -> Self {
        let store = Arc::clone(&self.store);
        let opened = tokio::task::spawn_blocking(move || {
            let open = following(&store).opener(Usage::Write);
            open()
        });
        match opened.await {
            Ok(Ok(store)) => Self { store: Arc::new(Mutex::new(store)), ..self.clone() },
            failed => {
                tracing::debug!(?failed, "there is no second connection");
                self.clone()
            }
        }
    }

    /// The same where files are known; else nobody has to wait for whoever reads them.
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

    /// Resolves after a call, which may have changed something.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Notes that somebody works here: news of a server are wanted sooner.
    pub(crate) fn note_asked(&self) {
        self.asked.notify_one();
    }

    /// Resolves after somebody asked for something.
    pub(crate) async fn asked(&self) {
        self.asked.notified().await;
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
            // Another process, or a server's news, may have left some.
            self.wake_background();
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
    // Nobody asks just now: what the encoder holds is the program's own pages, which come back by themselves.
    Encoder::shared().rest();
}
