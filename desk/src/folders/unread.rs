//! Files that nobody was given for long: listed, and deleted where somebody says so.

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{FilePath, Memory, MemoryRef, Timestamp};
use tessera_engine::store::{Erase, FileUse, StoreError};

use super::place::Place;
use super::read::held_to_write;
use super::refresh::refresh_held;
use super::whole::forget_held;
use crate::caller::Caller;
use crate::desk::{Effect, Verb};

/// Files that are deleted together: all of them, or none.
const AT_ONCE: usize = 500;

/// Lists files that were neither given nor changed for some days, the one of which that is longest ago first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread {
    /// The days.
    pub days: u32,
}

/// A file that was not read for long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadFile {
    /// Where.
    pub path: FilePath,
    /// When all or a part of it was given last; never, as far as this machine knows.
    pub last_read: Option<Timestamp>,
    /// When it was added, edited, renamed or brought back last.
    pub changed: Timestamp,
    /// Bytes.
    pub bytes: u64,
    /// True where it may be deleted by whoever is asked to.
    pub is_writable: bool,
    /// True where a team server hears of what becomes of it.
    pub is_told: bool,
}

impl Verb for Unread {
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

/// Deletes files that were not read for long, so that they can be brought back. One that was read or changed since it was
/// listed stays, and so does one in a folder that is only read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearUnread {
    /// The days.
    pub days: u32,
    /// The files, as they were shown to whoever agreed.
    pub paths: Vec<FilePath>,
}

impl Verb for ClearUnread {
    type Outcome = Vec<FilePath>;
    const EFFECT: Effect = Effect::Destroys;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Vec<FilePath>, StoreError> {
        let _held = held_to_write(store)?;
        // Since it was listed, somebody may have changed it, or have put something else there.
        refresh_held(store)?;
        let writable: Vec<String> =
            store.folders()?.into_iter().filter(|folder| folder.is_writable).map(|folder| folder.name).collect();
        let mut files: Vec<Memory> = Vec::new();
        for file in unread_for(store, self.days)? {
            if self.paths.contains(&file.path) && writable.iter().any(|name| name == file.path.folder()) {
                files.extend(store.get(MemoryRef::Id(file.id))?);
            }
        }
        let reason = format!("not read for {} days", self.days);
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
