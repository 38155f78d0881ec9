//! Whole files, changed as memories are: what is changed is the file.

use tessera_engine::Store;
use tessera_engine::domain::{FilePath, Memory, MemoryRef, Patch};
use tessera_engine::store::{Actor, Erase, Forgotten, Intent, StoreError, Stored};
use tessera_files::Expected;
use xxhash_rust::xxh3::xxh3_64;

use super::aside;
use super::layout::lay_out;
use super::read::{MOST_BYTES, failed, held_to_write, refused, seen, writable};
use super::refresh::refresh_held;
use crate::caller::Caller;
use crate::desk::{Effect, Verb};

/// Gives a file another text.
///
/// # Errors
/// When its folder is only read, or its memory does not hold all of it.
pub fn update_file(store: &mut Store, caller: &Caller, file: &Memory, patch: &Patch) -> Result<Stored, StoreError> {
    let _held = held_to_write(store)?;
    refresh_held(store)?;
    let path = path_of(file)?;
    writable(store, path)?;
    if store.file_at(path)?.is_some_and(|row| !row.is_kept) {
        return Err(refused(path, "is not kept whole here, so its old text would be lost; edit the file"));
    }
    let stored = store.update(MemoryRef::Id(file.id), patch, &caller.actor(None))?;
    lay_out(store)?;
    Ok(stored)
}

/// Deletes files, so that they can be brought back or for good.
///
/// # Errors
/// When one lies in a folder that is only read: none is deleted then.
pub fn forget_files(
    store: &mut Store,
    caller: &Caller,
    files: &[Memory],
    erase: Erase,
    reason: Option<String>,
) -> Result<Vec<Forgotten>, StoreError> {
    let _held = held_to_write(store)?;
    refresh_held(store)?;
    for file in files {
        let path = path_of(file)?;
        let (_, tree, inside) = writable(store, path)?;
        if erase == Erase::Soft {
            aside::keep(store, &tree, path, &inside)?;
        }
    }
    let references: Vec<MemoryRef> = files.iter().map(|file| MemoryRef::Id(file.id)).collect();
    let forgotten = store.forget(&references, erase, &caller.actor(reason))?;
    lay_out(store)?;
    if erase == Erase::Hard {
        for file in files {
            aside::let_go(store, path_of(file)?);
        }
    }
    Ok(forgotten)
}

/// Brings back a file that was deleted, or an earlier text of one.
///
/// # Errors
/// When there is nothing to bring back, or its folder is only read.
pub fn restore_file(
    store: &mut Store,
    caller: &Caller,
    file: &Memory,
    before: Option<u64>,
) -> Result<Stored, StoreError> {
    let _held = held_to_write(store)?;
    refresh_held(store)?;
    let path = path_of(file)?;
    writable(store, path)?;
    if before.is_none()
        && file.deleted.is_some()
        && let Some(bytes) = aside::kept(store, path)?
    {
        write_back(store, caller, file, path, &bytes)?;
    } else {
        store.restore(MemoryRef::Id(file.id), before, &caller.actor(None))?;
        lay_out(store)?;
    }
    aside::let_go(store, path);
    store.stored(MemoryRef::Id(file.id))
}

/// Writes a file as it was, with what no memory holds of it.
fn write_back(
    store: &mut Store,
    caller: &Caller,
    file: &Memory,
    path: &FilePath,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let (_, tree, inside) = writable(store, path)?;
    let intent = Intent { path: path.clone(), hash: xxh3_64(bytes), memory: file.id, secrets: Vec::new() };
    // Who wrote it is kept: it is brought back as it was, and nobody wrote it anew.
    store.intend(&[intent], &Actor { origin: file.origin.clone(), ..caller.actor(None) })?;
    tree.write(&inside, bytes, Expected::Absent).map_err(|error| failed(path, &error))?;
    let read = tree.read(&inside, MOST_BYTES.max(bytes.len() as u64)).map_err(|error| failed(path, &error))?;
    // What is no text says nothing, and is there again all the same.
    if let Some(file) = seen(path.clone(), read) {
        store.take_files(&[file])?;
    }
    Ok(())
}

/// Puts a file back that was deleted and that no memory stands for: too large to be read for what it says, or no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutBack {
    /// Where it was.
    pub path: FilePath,
}

impl Verb for PutBack {
    type Outcome = ();
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, _: &Caller) -> Result<(), StoreError> {
        let _held = held_to_write(store)?;
        let bytes = aside::kept(store, &self.path)?;
        let bytes = bytes.ok_or_else(|| refused(&self.path, "is no file that is known, and none was deleted there"))?;
        let (_, tree, inside) = writable(store, &self.path)?;
        tree.write(&inside, &bytes, Expected::Absent).map_err(|error| failed(&self.path, &error))?;
        aside::let_go(store, &self.path);
        Ok(())
    }
}

fn path_of(file: &Memory) -> Result<&FilePath, StoreError> {
    let path = file.file.as_ref().map(|file| &file.path);
    path.ok_or(StoreError::Conflict { memory: MemoryRef::Id(file.id), problem: "is no file" })
}
