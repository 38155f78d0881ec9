//! What the system was asked to tell of: each directory of the folders by itself, so that what is hidden or installed in
//! them costs nothing, and the store's own directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tessera_engine::store::{Folder, MEMORIES};
use tessera_files::Tree;

use super::look::directories;
use super::watch::Heard;

/// Directories of one folder that are watched, at most: systems have little room for more.
const MOST_DIRECTORIES: usize = 8_000;

/// What is watched.
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
    /// Listens at the store's directory, where that is possible.
    pub(super) fn new(home: &Path, heard: Arc<Heard>, wake: SyncSender<()>) -> Self {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        let at = home.clone();
        let hear = move |event: notify::Result<Event>| {
            if note(&at, &heard, event) {
                // One that is not looked at yet is enough.
                let _ = wake.try_send(());
            }
        };
        let mut watcher = notify::recommended_watcher(hear).ok();
        let hears_store = !is_far(&home)
            && watcher.as_mut().is_some_and(|watcher| watcher.watch(&home, RecursiveMode::NonRecursive).is_ok());
        Self { watcher, hears_store, folders: BTreeMap::new() }
    }

    /// True when it is heard of every change of the store.
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
            // What is gone is watched no more anyway.
            let _ = self.watcher.as_mut().map(|watcher| watcher.unwatch(directory));
        }
    }

    /// Watches these folders and no others. `is_anew` where directories came or went: one of the same name may be another.
    /// False where something cannot be watched.
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

    /// Watches every directory of a folder that is looked through; none where not all can be.
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
        // One that went away in between is told of by the directory that it is in.
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

/// Notes what happened. True where it is worth a look.
fn note(home: &Path, heard: &Heard, event: notify::Result<Event>) -> bool {
    let Ok(event) = event else {
        heard.of_directories.store(true, Ordering::Release);
        heard.in_folders.store(true, Ordering::Release);
        return true;
    };
    let is_lost = event.need_rescan();
    // Whoever only reads changes nothing, and we read ourselves.
    if matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write)) && !is_lost {
        return false;
    }
    let is_in_home = |path: &PathBuf| path.parent() == Some(home) || path == home;
    let is_of_home = !event.paths.is_empty() && event.paths.iter().all(is_in_home);
    if is_of_home && !is_lost {
        // Whoever opens the store to read from it touches its files, and closes them, without a change.
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

/// True for a file system that does not tell what happens on other machines.
#[cfg(target_os = "linux")]
fn is_far(dir: &Path) -> bool {
    // NFS, SMB in three, Ceph, AFS, Coda, 9p, FUSE, VirtualBox.
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
