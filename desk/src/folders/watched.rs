//! The watched directories: the store's own directory, and each scanned directory of the folders, each with its own
//! watch. For this reason, hidden directories and `node_modules` need no watch.
//!
//! Also contains the thread that watches folders in a long-lived process. The thread soon notices edits, and changes of
//! other processes. The thread starts after the first call of the process, or when the process is idle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tessera_engine::Store;
use tessera_engine::store::{Folder, MEMORIES, StoreError, Usage};
use tessera_files::Tree;

use super::left::directories;
use super::refresh::refresh_patiently;
use super::unread::{ChangeWait, FolderSnapshot};

/// The maximum number of watched directories per folder, because systems limit them.
const MOST_DIRECTORIES: usize = 8_000;

/// The watched directories.
pub(super) struct Watched {
    watcher: Option<RecommendedWatcher>,
    hears_store: bool,
    /// By the name of the folder.
    folders: BTreeMap<String, Covered>,
}

struct Covered {
    dir: PathBuf,
    directories: BTreeSet<PathBuf>,
}

impl Watched {
    /// Watches the store's directory, if possible.
    pub(super) fn new(home: &Path, heard: Arc<Heard>, wake: SyncSender<()>) -> Self {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        let at = home.clone();
        let hear = move |event: notify::Result<Event>| {
            if note(&at, &heard, event) {
                // One pending signal is enough.
                let _ = wake.try_send(());
            }
        };
        let mut watcher = notify::recommended_watcher(hear).ok();
        let hears_store = !is_far(&home)
            && watcher.as_mut().is_some_and(|watcher| watcher.watch(&home, RecursiveMode::NonRecursive).is_ok());
        Self { watcher, hears_store, folders: BTreeMap::new() }
    }

    /// True if every change of the store is noticed.
    pub(super) fn hears_store(&self) -> bool {
        self.hears_store
    }

    pub(super) fn forget_all(&mut self) {
        for folder in std::mem::take(&mut self.folders).into_values() {
            self.forget(&folder);
        }
    }

    fn forget(&mut self, covered: &Covered) {
        for directory in &covered.directories {
            // A deleted directory is no longer watched anyway.
            let _ = self.watcher.as_mut().map(|watcher| watcher.unwatch(directory));
        }
    }

    /// Watches exactly these folders. Set `is_anew` if directories appeared or disappeared. A new directory may have
    /// the name of an earlier one, so its name alone is not enough. False if something cannot be watched.
    pub(super) fn cover<'a>(&mut self, folders: impl Iterator<Item = &'a Folder>, is_anew: bool) -> bool {
        let mut left = std::mem::take(&mut self.folders);
        let mut is_all = self.hears_store;
        for folder in folders {
            let before = left.remove(&folder.name).filter(|covered| covered.dir == folder.dir);
            let is_known = before.as_ref().is_some_and(|before| !before.directories.is_empty());
            let covered = match before {
                Some(before) if is_known && !is_anew => before,
                before => {
                    let known = before.map(|before| before.directories).unwrap_or_default();
                    self.covered(folder, known)
                }
            };
            is_all &= !covered.directories.is_empty();
            self.folders.insert(folder.name.clone(), covered);
        }
        left.into_values().for_each(|folder| self.forget(&folder));
        is_all
    }

    /// Watches every scanned directory of a folder; none if not all can be watched.
    fn covered(&mut self, folder: &Folder, known: BTreeSet<PathBuf>) -> Covered {
        let none = || Covered { dir: folder.dir.clone(), directories: BTreeSet::new() };
        let found = Tree::open(&folder.dir, &folder.name).and_then(|tree| directories(&tree, MOST_DIRECTORIES));
        let found = found.ok().flatten().filter(|_| !is_far(&folder.dir));
        let gone = Covered { dir: folder.dir.clone(), directories: known };
        let Some(found) = found else {
            self.forget(&gone);
            return none();
        };
        let directories: BTreeSet<PathBuf> = found.iter().map(|inside| folder.dir.join(inside)).collect();
        let gone = Covered { directories: gone.directories.difference(&directories).cloned().collect(), ..gone };
        self.forget(&gone);
        let Some(watcher) = &mut self.watcher else { return none() };
        // The parent directory reports one that disappeared meanwhile.
        let is_full = |error: notify::Error| matches!(error.kind, notify::ErrorKind::MaxFilesWatch);
        let mut tried = directories.iter().map(|dir| watcher.watch(dir, RecursiveMode::NonRecursive));
        let is_full = tried.any(|watched| watched.is_err_and(is_full));
        let covered = Covered { dir: folder.dir.clone(), directories };
        if is_full {
            self.forget(&covered);
            return none();
        }
        covered
    }
}

/// Records an event. True if it needs a check.
fn note(home: &Path, heard: &Heard, event: notify::Result<Event>) -> bool {
    let Ok(event) = event else {
        heard.of_directories.store(true, Ordering::Release);
        heard.in_folders.store(true, Ordering::Release);
        return true;
    };
    let is_lost = event.need_rescan();
    // Read events change nothing, and we read ourselves.
    if matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write)) && !is_lost {
        return false;
    }
    let is_in_home = |path: &PathBuf| path.parent() == Some(home) || path == home;
    let is_of_home = !event.paths.is_empty() && event.paths.iter().all(is_in_home);
    if is_of_home && !is_lost {
        // Opening the store for reading touches and closes its files without a change.
        let is_written = matches!(event.kind, EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any));
        let is_worth = event.paths.iter().any(|path| match path.file_name().unwrap_or_default().to_str() {
            Some("tessera.db-wal" | "tessera.db") => is_written,
            Some(name) => name == MEMORIES && !matches!(event.kind, EventKind::Access(_)),
            None => false,
        });
        if is_worth {
            heard.in_store.store(true, Ordering::Release);
        }
        return is_worth;
    }
    let is_file = matches!(
        event.kind,
        EventKind::Access(_) | EventKind::Create(CreateKind::File) | EventKind::Modify(ModifyKind::Data(_))
    );
    if !is_file || is_lost {
        heard.of_directories.store(true, Ordering::Release);
    }
    heard.in_store.fetch_or(is_lost, Ordering::AcqRel);
    heard.in_folders.store(true, Ordering::Release);
    true
}

/// True for a network file system or another one that does not report changes made by other machines.
#[cfg(target_os = "linux")]
fn is_far(dir: &Path) -> bool {
    // NFS, three SMB variants, Ceph, AFS, Coda, 9p, FUSE, VirtualBox.
    const FAR: [i64; 10] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x00c3_6400,
        0x5346_414f,
        0x7375_7245,
        0x0102_1997,
        0x6573_5546,
        0x786f_4256,
    ];
    rustix::fs::statfs(dir).is_ok_and(|found| FAR.contains(&found.f_type))
}

#[cfg(not(target_os = "linux"))]
fn is_far(_: &Path) -> bool {
    false
}

/// How long a new process stays idle before it starts watching.
const FIRST: Duration = Duration::from_secs(1);
/// After this time without events, the changes count as finished. The first limit is the pause after the last change,
/// and the second limit is the maximum wait.
const QUIET: Duration = Duration::from_millis(60);
const LONGEST: Duration = Duration::from_millis(500);
/// The interval of checks if there are no notifications, or if some may be lost.
const POLL: Duration = Duration::from_secs(2);
/// The interval of additional checks, because a system may not report everything.
const ANYWAY: Duration = Duration::from_secs(30);
/// Checks again after a change, because a file may change twice within one tick of the clock.
const AGAIN: Duration = Duration::from_millis(200);

/// Events since the last check.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Something happened in a folder.
    pub(super) in_folders: AtomicBool,
    /// Directories appeared, disappeared or were renamed.
    pub(super) of_directories: AtomicBool,
    /// Somebody wrote to the store.
    pub(super) in_store: AtomicBool,
    /// The process has finished its work.
    is_over: AtomicBool,
    /// Watching is active, so no other code needs to check for changes.
    is_watching: AtomicBool,
}

/// A handle to the thread that watches folders. A call wakes the thread if the thread is not watching. The thread ends
/// when the last handle is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    heard: Arc<Heard>,
    begin: SyncSender<()>,
}

impl Watch {
    /// Starts the thread on its own connection. `tell` is called after changes.
    pub(crate) fn start(store: &Store, tell: impl Fn() + Send + 'static) -> Option<Self> {
        let (begin, woken) = sync_channel(1);
        let heard = Arc::new(Heard::default());
        let (read, write) = (store.opener(Usage::ReadOnce), store.opener(Usage::Write));
        let home = store.home().dir().to_owned();
        let (shared, waker) = (Arc::clone(&heard), begin.clone());
        let run = move || {
            // The first call gets its answer before anything is set up here.
            let _ = woken.recv_timeout(FIRST);
            let watched = Watched::new(&home, Arc::clone(&shared), waker);
            let mut watching = Watching { heard: shared, woken, watched, read, write, tell, pause: AGAIN };
            watching.run();
        };
        match thread::Builder::new().name("files".into()).spawn(run) {
            Ok(_) => Some(Self { heard, begin }),
            Err(error) => {
                tracing::debug!(%error, "this process watches no files");
                None
            }
        }
    }

    /// A call was answered.
    pub(crate) fn begin(&self) {
        if !self.is_watching() {
            let _ = self.begin.try_send(());
        }
    }

    /// True if the thread finds changes, so a call does not need to check the folders.
    pub(crate) fn is_watching(&self) -> bool {
        self.heard.is_watching.load(Ordering::Acquire)
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
    /// The time until the next check, if the last one found differences.
    pause: Duration,
}

impl<R, W, T> Drop for Watching<R, W, T> {
    fn drop(&mut self) {
        // Also after a panic, because nobody finds changes then.
        self.heard.is_watching.store(false, Ordering::Release);
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
            // If the check failed, calls check themselves.
            self.heard.is_watching.store(glance.is_some(), Ordering::Release);
            match self.woken.recv_timeout(wait) {
                Ok(()) => self.hear_out(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Waits until no more events arrive, up to a limit.
    fn hear_out(&self) {
        let begun = Instant::now();
        while begun.elapsed() < LONGEST && self.woken.recv_timeout(QUIET).is_ok() {}
    }

    /// Processes events; returns the time until the next check.
    fn look(&mut self, glance: &mut Option<FolderSnapshot>) -> Duration {
        let has_heard = self.heard.in_folders.swap(false, Ordering::AcqRel);
        let is_of_store = self.heard.in_store.swap(false, Ordering::AcqRel);
        if is_of_store || glance.is_none() || !self.watched.hears_store() {
            *glance = (self.read)().and_then(|store| FolderSnapshot::of(&store, ChangeWait::Long)).ok();
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
            *glance = (self.read)().and_then(|store| FolderSnapshot::of(&store, ChangeWait::Long)).ok();
            return self.next_pause(is_change || has_heard, is_watched);
        }
        self.pause = AGAIN;
        if is_watched { ANYWAY } else { POLL }
    }

    /// The pause before the next check. The pause is short after a change. It becomes longer if checks find differences
    /// but processing them changes nothing, for example because a file remains unreadable.
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
                tracing::debug!(%error, "checking the files failed");
                false
            }
        }
    }
}
