//! The thread of a long-lived process that watches the folders: what somebody changes there is known soon after, and so
//! is what another process changed in the memories of files. It begins when the process was first used, or has nothing
//! else to do, and ends with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use tessera_engine::Store;
use tessera_engine::store::{StoreError, Usage};

use super::glance::{Glance, Looks};
use super::refresh::refresh_patiently;
use super::watched::Watched;

/// How long a new process has nothing else to do before it begins.
const FIRST: Duration = Duration::from_secs(1);
/// Nothing happened for so long: whoever writes is done. It is not waited longer than the other for that.
const QUIET: Duration = Duration::from_millis(60);
const LONGEST: Duration = Duration::from_millis(500);
/// How often it is looked where nothing can be watched, and where it is not known whether all was seen.
const POLL: Duration = Duration::from_secs(2);
/// How often it is looked all the same: a system may not tell everything.
const ANYWAY: Duration = Duration::from_secs(30);
/// After a change it is looked again: the same file may change once more within one tick of the system's clock.
const AGAIN: Duration = Duration::from_millis(200);

/// What was heard since the last look.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Something happened in a folder.
    pub(super) in_folders: AtomicBool,
    /// Directories came, went, or are called otherwise.
    pub(super) of_directories: AtomicBool,
    /// Somebody wrote to the store.
    pub(super) in_store: AtomicBool,
    /// The process that this is for has ended its work.
    is_over: AtomicBool,
    /// It is watched: nobody else need look.
    is_standing: AtomicBool,
}

/// Tells the thread that the process was used. It ends with the last of these.
#[derive(Debug)]
pub(crate) struct Watch {
    heard: Arc<Heard>,
    begin: SyncSender<()>,
}

impl Watch {
    /// Starts the thread, which works on a connection of its own. `tell` is called when something changed.
    pub(crate) fn start(store: &Store, tell: impl Fn() + Send + 'static) -> Option<Self> {
        let (begin, woken) = sync_channel(1);
        let heard = Arc::new(Heard::default());
        let (read, write) = (store.opener(Usage::ReadOnce), store.opener(Usage::Write));
        let home = store.home().dir().to_owned();
        let (shared, waker) = (Arc::clone(&heard), begin.clone());
        let run = move || {
            // Whoever has the process at its first use has its answer before anything is set up here.
            let _ = woken.recv_timeout(FIRST);
            let watched = Watched::new(&home, Arc::clone(&shared), waker);
            let mut watching = Watching { heard: shared, woken, watched, read, write, tell, pause: AGAIN };
            watching.run();
        };
        match thread::Builder::new().name("files".into()).spawn(run) {
            Ok(_) => Some(Self { heard, begin }),
            Err(error) => {
                tracing::debug!(%error, "nobody watches files here");
                None
            }
        }
    }

    /// A call was answered.
    pub(crate) fn begin(&self) {
        if !self.is_standing() {
            let _ = self.begin.try_send(());
        }
    }

    /// True when what changes is found by itself.
    pub(crate) fn is_standing(&self) -> bool {
        self.heard.is_standing.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.heard.is_over.store(true, Ordering::Release);
        let _ = self.begin.try_send(());
    }
}

struct Watching<R, W, T> {
    heard: Arc<Heard>,
    woken: Receiver<()>,
    watched: Watched,
    read: R,
    write: W,
    tell: T,
    /// How long until the next look, where the last did not end in agreement.
    pause: Duration,
}

impl<R, W, T> Drop for Watching<R, W, T> {
    fn drop(&mut self) {
        // Also where the thread panicked: nobody finds what changes any more.
        self.heard.is_standing.store(false, Ordering::Release);
    }
}

impl<R, W, T> Watching<R, W, T>
where
    R: Fn() -> Result<Store, StoreError>,
    W: Fn() -> Result<Store, StoreError>,
    T: Fn(),
{
    fn run(&mut self) {
        let mut glance = None;
        loop {
            if self.heard.is_over.load(Ordering::Acquire) {
                return;
            }
            let wait = self.look(&mut glance);
            // Where the look itself failed, calls look for themselves.
            self.heard.is_standing.store(glance.is_some(), Ordering::Release);
            match self.woken.recv_timeout(wait) {
                Ok(()) => self.hear_out(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Waits until nothing more happens, or for as long as is waited at most.
    fn hear_out(&self) {
        let begun = Instant::now();
        while begun.elapsed() < LONGEST && self.woken.recv_timeout(QUIET).is_ok() {}
    }

    /// Looks at what was heard of, and says how long there is nothing to do.
    fn look(&mut self, glance: &mut Option<Glance>) -> Duration {
        let has_heard = self.heard.in_folders.swap(false, Ordering::AcqRel);
        let is_of_store = self.heard.in_store.swap(false, Ordering::AcqRel);
        if is_of_store || glance.is_none() || !self.watched.hears_store() {
            *glance = (self.read)().and_then(|store| Glance::of(&store, Looks::Long)).ok();
        }
        let Some(known) = glance.as_ref() else { return POLL };
        if known.is_idle() {
            self.watched.forget_all();
            self.pause = AGAIN;
            return if self.watched.hears_store() { Duration::MAX } else { POLL };
        }
        let is_anew = self.heard.of_directories.swap(false, Ordering::AcqRel);
        let is_watched = self.watched.cover(known.folders(), is_anew);
        if known.differs() {
            let is_change = self.take();
            *glance = (self.read)().and_then(|store| Glance::of(&store, Looks::Long)).ok();
            return self.next_pause(is_change || has_heard, is_watched);
        }
        self.pause = AGAIN;
        if is_watched { ANYWAY } else { POLL }
    }

    /// It is looked again soon after a change, and ever more seldom where looking changes nothing: a file that cannot be
    /// read is not read because it is tried all the time.
    fn next_pause(&mut self, has_moved: bool, is_watched: bool) -> Duration {
        let most = if is_watched { ANYWAY } else { POLL };
        self.pause = if has_moved { AGAIN } else { (self.pause * 2).min(most) };
        self.pause
    }

    fn take(&self) -> bool {
        let refreshed = (self.write)().and_then(|mut store| refresh_patiently(&mut store, POLL));
        match refreshed {
            Ok(refreshed) => {
                if refreshed.is_change() {
                    (self.tell)();
                }
                refreshed.is_change() || refreshed.is_busy
            }
            Err(error) => {
                tracing::debug!(%error, "files are as they were");
                false
            }
        }
    }
}
