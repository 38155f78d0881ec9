//! Unused files: lists and deletes them.
//!
//! Also checks folders for changes on another thread, without using the store.

use std::collections::BTreeMap;
use std::thread;

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{FilePath, Memory, MemoryRef, Timestamp};
use tessera_engine::store::{Erase, FileUse, Folder, MEMORIES, StoreError, Usage};
use tessera_files::Tree;

use super::left::is_as_known;
use super::place::Place;
use super::read::held_to_write;
use super::refresh::{Refreshed, refresh, refresh_briefly, refresh_held};
use super::whole::forget_held;
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// The number of files that are deleted together, all or none.
const AT_ONCE: usize = 500;

/// Lists files that were neither used nor changed for some days, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread {
    /// The days.
    pub days: u32,
}

/// An unused file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct UnreadFile {
    /// Its path.
    pub path: FilePath,
    /// When the file or a section of it was last used; `None` if this machine knows of no use.
    pub last_read: Option<Timestamp>,
    /// When it was last added, edited, renamed or restored.
    pub changed: Timestamp,
    /// Bytes.
    pub bytes: u64,
    /// True if agents may delete it.
    pub is_writable: bool,
    /// True if it is synced.
    pub is_told: bool,
}

impl UseCase for Unread {
    type Outcome = Vec<UnreadFile>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<UnreadFile>, StoreError> {
        let folders = store.folders()?;
        let has_server = store.sync_status()?.server.is_some();
        let unread = |of: FileUse| {
            let folder = folders.iter().find(|folder| folder.name == of.path.folder());
            let is_told = has_server && folder.is_some_and(|folder| folder.is_told);
            let is_writable = folder.is_some_and(|folder| folder.is_writable);
            let FileUse { path, size: bytes, read: last_read, changed, .. } = of;
            UnreadFile { path, last_read, changed, bytes, is_writable, is_told }
        };
        Ok(unread_for(store, self.days)?.into_iter().map(unread).collect())
    }
}

fn unread_for(store: &Store, days: u32) -> Result<Vec<FileUse>, StoreError> {
    let until = store.now().plus_days(-i64::from(days));
    let mut uses = store.file_uses()?;
    uses.retain(|file| file.last() <= until);
    Ok(uses)
}

/// Deletes unused files. The user can restore them. Keeps files that were used or changed since the listing, and files
/// in read-only folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearUnread {
    /// The days.
    pub days: u32,
    /// The files that the user confirmed.
    pub paths: Vec<FilePath>,
}

impl UseCase for ClearUnread {
    type Outcome = Vec<FilePath>;
    const EFFECT: Effect = Effect::Destroys;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Vec<FilePath>, StoreError> {
        let _held = held_to_write(store)?;
        // Somebody may have changed it since the listing.
        refresh_held(store)?;
        let writable: Vec<String> =
            store.folders()?.into_iter().filter(|folder| folder.is_writable).map(|folder| folder.name).collect();
        let mut files: Vec<Memory> = Vec::new();
        for file in unread_for(store, self.days)? {
            if self.paths.contains(&file.path) && writable.iter().any(|name| name == file.path.folder()) {
                files.extend(store.get(MemoryRef::Id(file.id))?);
            }
        }
        let reason = format!("not used for {} days", self.days);
        for step in files.chunks(AT_ONCE) {
            forget_held(store, caller, step, Erase::Soft, Some(reason.clone()))?;
        }
        let mut gone = Vec::new();
        for path in files.into_iter().filter_map(|file| file.file).map(|file| file.path) {
            let is_there = Place::of(store, &path)?.is_none_or(|place| !matches!(place.read(), Ok(None)));
            if !is_there && store.file_at(&path)?.is_none() {
                gone.push(path);
            }
        }
        Ok(gone)
    }
}

/// How long a caller waits for changed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeWait {
    /// The caller waits until everything is read, because no other thread reads it.
    Long,
    /// The caller waits only a moment, because another thread reads the rest soon.
    Briefly,
}

/// The state of folders at the last comparison. Another thread can compare it with the folders
/// while a question is answered, so that files do not delay answers.
#[derive(Debug, Clone)]
pub struct FolderSnapshot {
    folders: Vec<(Folder, BTreeMap<String, u64>)>,
    is_known_to_differ: bool,
    looks: ChangeWait,
}

impl FolderSnapshot {
    /// The known state of the folders.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn of(store: &Store, looks: ChangeWait) -> Result<Self, StoreError> {
        let known = store.folders()?;
        let is_new = !known.iter().any(|folder| folder.name == MEMORIES)
            && (store.home().memories().is_dir() || store.has_files_for(MEMORIES)?);
        let with_digests = |folder: Folder| {
            let digests = store.digests(&folder.name)?;
            Ok((folder, digests))
        };
        let folders = known.into_iter().map(with_digests).collect::<Result<Vec<_>, StoreError>>()?;
        Ok(Self { folders, is_known_to_differ: is_new || store.has_pending_files()?, looks })
    }

    /// True if there is nothing to check.
    pub fn is_idle(&self) -> bool {
        self.folders.is_empty() && !self.is_known_to_differ
    }

    /// The folders.
    #[cfg(feature = "team")]
    pub(super) fn folders(&self) -> impl Iterator<Item = &Folder> {
        self.folders.iter().map(|(folder, _)| folder)
    }

    /// True if something changed; then [`super::refresh`] is due.
    pub fn differs(&self) -> bool {
        self.is_known_to_differ || self.folders.iter().any(|(folder, known)| has_changed(folder, known))
    }

    /// Checks, and records changes. True if the index may have changed.
    pub fn catch_up(&self, store: &Store) -> bool {
        self.differs() && self.take(store)
    }

    /// Runs a query while another thread checks the folders. If something has changed, runs the query again. Folders
    /// that cannot be checked keep their state.
    ///
    /// # Errors
    /// As the query.
    pub(crate) fn beside<T>(
        &self,
        store: &mut Store,
        mut ask: impl FnMut(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (answer, differs) = thread::scope(|scope| {
            let looking = thread::Builder::new().name("glance".into()).spawn_scoped(scope, || self.differs());
            let answer = ask(store);
            // Without a thread, the check runs here.
            let differs = looking.map_or_else(|_| self.differs(), |looking| looking.join().unwrap_or(true));
            (answer, differs)
        });
        if differs && self.take(store) { ask(store) } else { answer }
    }

    /// The store may be read-only, so this uses its own connection.
    fn take(&self, store: &Store) -> bool {
        let refreshed = store.opener(Usage::Write)().and_then(|mut store| match self.looks {
            ChangeWait::Long => refresh(&mut store),
            ChangeWait::Briefly => refresh_briefly(&mut store),
        });
        // A store that cannot be written answers from its content.
        refreshed.as_ref().is_ok_and(Refreshed::is_change)
    }
}

fn has_changed(folder: &Folder, known: &BTreeMap<String, u64>) -> bool {
    let looked = Tree::open(&folder.dir, &folder.name).and_then(|tree| {
        let identity = tree.identity().ok().map(|identity| (identity.device, identity.inode));
        Ok(folder.away.is_none() && folder.identity == identity && is_as_known(&tree, known)?)
    });
    match looked {
        Ok(is_same) => !is_same,
        // A missing folder is known, or must be recorded.
        Err(_) => folder.away.is_none(),
    }
}
