//! The background thread of a long-lived process: computes embeddings, and sends events to plugins.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use tessera_engine::Store;
use tessera_engine::embedding::Encoder;
use tessera_engine::store::{Home, StoreError, Usage};

use crate::caller::PluginRules;
use crate::chain::spool;
use crate::embedding::{Pace, work_off};

/// How long a new process stays idle before it looks for work.
const FIRST: Duration = Duration::from_secs(5);
/// A short delay, so that replies are sent first, and because calls come in groups.
const SOON: Duration = Duration::from_millis(20);
/// While calls are running, the thread checks at this interval whether they have ended. It pauses for at most `ASIDE`.
const LOOK: Duration = Duration::from_millis(2);
const ASIDE: Duration = Duration::from_secs(2);

/// Wakes the thread. The thread ends when the last copy of this signal is dropped.
#[derive(Debug, Clone)]
pub(crate) struct WakeSignal(SyncSender<()>);

impl WakeSignal {
    pub(crate) fn wake(&self) {
        // One pending signal is enough.
        let _ = self.0.try_send(());
    }
}

/// Starts the thread on its own connection. The thread pauses while the process answers calls. If the thread cannot
/// start, the process still answers calls, but computes no embeddings.
pub(crate) fn start(store: &Store, rules: PluginRules, calls: Arc<AtomicUsize>) -> Option<WakeSignal> {
    // The next process informs plugins that are added later.
    if !store.has_embedding() && !store.home().plugin_registry().exists() {
        return None;
    }
    let (sender, woken) = sync_channel(1);
    let (home, opened) = (store.home().clone(), store.opener(Usage::Write));
    let run = move || run(&home, rules, &woken, &calls, opened);
    match thread::Builder::new().name("background".into()).spawn(run) {
        Ok(_) => Some(WakeSignal(sender)),
        Err(error) => {
            tracing::debug!(%error, "this process computes no embeddings");
            None
        }
    }
}

fn run(
    home: &Home,
    rules: PluginRules,
    woken: &Receiver<()>,
    calls: &AtomicUsize,
    opened: impl Fn() -> Result<Store, StoreError>,
) {
    let mut wait = FIRST;
    loop {
        match woken.recv_timeout(wait) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        wait = Duration::MAX;
        thread::sleep(SOON);
        if spool::is_waiting(home)
            && let Err(error) = opened().and_then(|store| spool::work_off(&store, rules, || true))
        {
            tracing::debug!(%error, "plugins will receive events later");
        }
        let worked = opened().and_then(|mut store| {
            work_off(&mut store, Pace::Aside, |_| {
                step_aside(calls);
                true
            })
        });
        if let Err(error) = worked {
            tracing::debug!(%error, "vectors wait");
        }
        Encoder::shared().rest();
    }
}

/// Waits while a call is answered, but not for one that hangs.
fn step_aside(calls: &AtomicUsize) {
    let started = Instant::now();
    while calls.load(Ordering::Relaxed) > 0 && started.elapsed() < ASIDE {
        thread::sleep(LOOK);
    }
}
