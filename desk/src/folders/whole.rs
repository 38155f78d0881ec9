//! Changes or deletes the memory of a whole file, by changing the file on disk.

use tessera_engine::Store;
use tessera_engine::domain::{FilePath, Memory, MemoryRef, Patch};
use tessera_engine::store::{Erase, Forgotten, StoreError, Stored};
use xxhash_rust::xxh3::xxh3_64;

use super::aside;
use super::layout::lay_out;
use super::place::Place;
use super::read::{held_to_write, refused};
use super::refresh::refresh_held;
use crate::caller::Caller;

/// Replaces the text of a file.
///
/// # Errors
/// Returns an error if the folder is read-only, or the memory does not contain the complete text of the file.
pub fn update_file(store: &mut Store, caller: &Caller, file: &Memory, patch: &Patch) -> Result<Stored, StoreError> {
    let _held = held_to_write(store)?;
    refresh_held(store)?;
    let path = path_of(file)?;
    Place::writable(store, path)?;
    if store.file_at(path)?.is_some_and(|row| !row.is_kept) {
        return Err(refused(path, "is not stored completely, so its old text would be lost; edit the file on disk"));
    }
    let stored = store.update(MemoryRef::Id(file.id), patch, &caller.actor(None))?;
    lay_out(store)?;
    Ok(stored)
}

/// Deletes files, restorably or permanently.
///
/// # Errors
/// Returns an error if a file is in a read-only folder. In this case no file is deleted.
pub fn forget_files(
    store: &mut Store,
    caller: &Caller,
    files: &[Memory],
    erase: Erase,
    reason: Option<String>,
) -> Result<Vec<Forgotten>, StoreError> {
    let _held = held_to_write(store)?;
    refresh_held(store)?;
    forget_held(store, caller, files, erase, reason)
}

/// Deletes files for a caller that holds the lock and has scanned the folders.
pub(super) fn forget_held(
    store: &mut Store,
    caller: &Caller,
    files: &[Memory],
    erase: Erase,
    reason: Option<String>,
) -> Result<Vec<Forgotten>, StoreError> {
    for file in files {
        let path = path_of(file)?;
        let place = Place::writable(store, path)?;
        if erase == Erase::Soft && is_here(store, file)? {
            aside::keep(store, &place.tree, path, &place.inside)?;
        }
    }
    for file in files {
        if is_here(store, file)? {
            remove_what_is_not_kept(store, path_of(file)?)?;
        }
    }
    let references: Vec<MemoryRef> = files.iter().map(|file| MemoryRef::Id(file.id)).collect();
    let forgotten = store.forget(&references, erase, &caller.actor(reason))?;
    lay_out(store)?;
    if erase == Erase::Hard {
        for file in files {
            aside::let_go(store, path_of(file)?, Some(file.id));
        }
    }
    Ok(forgotten)
}

/// True if the file that is now at the path belongs to the memory.
fn is_here(store: &Store, file: &Memory) -> Result<bool, StoreError> {
    Ok(store.file_at(path_of(file)?)?.is_some_and(|row| row.id == file.id))
}

/// Deletes a file whose memory does not contain the complete text. The code that writes pending changes does not delete
/// such a file, because no memory has its text.
fn remove_what_is_not_kept(store: &Store, path: &FilePath) -> Result<(), StoreError> {
    let Some(row) = store.file_at(path)?.filter(|row| !row.is_kept) else { return Ok(()) };
    let place = Place::writable(store, path)?;
    let Some(read) = place.read()? else { return Ok(()) };
    if xxh3_64(&read.bytes) != row.stamp.hash || !place.remove(&read)? {
        return Err(refused(path, "was changed just now; try again"));
    }
    Ok(())
}

pub(super) fn path_of(file: &Memory) -> Result<&FilePath, StoreError> {
    let path = file.file.as_ref().map(|file| &file.path);
    path.ok_or(StoreError::Conflict { memory: MemoryRef::Id(file.id), problem: "is not a file" })
}
