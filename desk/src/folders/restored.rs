//! Files that are brought back: as they were when they were deleted, or with an earlier text. What stands on disk and is
//! kept nowhere else is never written over, nor is a text written that lacks some of what the file said.

use tessera_engine::Store;
use tessera_engine::domain::{FilePath, Memory, MemoryRef, file_of_content};
use tessera_engine::store::{Actor, Erase, FileRow, StoreError, Stored, says_all_of_file};
use tessera_files::{Expected, FileError};
use xxhash_rust::xxh3::xxh3_64;

use super::aside;
use super::layout::lay_out;
use super::place::{Place, is_as_known};
use super::read::{MOST_BYTES, held_to_write, refused};
use super::refresh::refresh_held;
use super::whole::path_of;
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// Brings back a file that was deleted, or an earlier text of one.
///
/// # Errors
/// When there is nothing to bring back, when not all of it is kept, when something else is in its place, or its folder is
/// only read: nothing is written then.
pub fn restore_file(
    store: &mut Store,
    caller: &Caller,
    file: &Memory,
    before: Option<u64>,
) -> Result<Stored, StoreError> {
    let _held = held_to_write(store)?;
    refresh_held(store)?;
    restore_held(store, caller, MemoryRef::Id(file.id), before)
}

fn restore_held(store: &mut Store, caller: &Caller, id: MemoryRef, before: Option<u64>) -> Result<Stored, StoreError> {
    // It may be another one since it was named.
    let file = store.get(id)?.ok_or(StoreError::NotFound(id))?;
    let path = path_of(&file)?;
    let place = Place::writable(store, path)?;
    let content = match before {
        Some(rev) => content_before(store, &file, rev)?,
        // What is only over comes back as it is, and what is neither is for the store to refuse.
        None if file.deleted.is_none() => return store.restore(id, None, &caller.actor(None)),
        None => file.content.clone(),
    };
    refuse_another(store, &file, &place)?;
    if file.deleted.is_some()
        && let Some(bytes) = aside::kept(store, path, Some(&file), Some(&content))?
    {
        write_back(store, caller, &file, &place, bytes)?;
        aside::let_go(store, path, Some(file.id));
        return store.stored(id);
    }
    if !says_all_of_file(&content) {
        return Err(refused(
            path,
            "was longer than what is kept of a file, or had a credential that is kept nowhere: it would come back without \
             it. `tessera history` with this path and --json shows what is kept; write the file from that",
        ));
    }
    let restored = store.restore(id, before, &caller.actor(None))?;
    lay_out(store)?;
    if !is_written(store, &restored.memory, path)? {
        // What waits would be written later, when nobody asks for it.
        match before {
            Some(_) => drop(store.restore(id, Some(restored.memory.rev), &caller.actor(None))?),
            None => drop(store.forget(&[id], Erase::Soft, &caller.actor(None))?),
        }
        return Err(refused(
            path,
            "could not be written, so nothing was brought back; look whether it may be, and try again",
        ));
    }
    store.stored(id)
}

/// What a file said before a change.
fn content_before(store: &Store, file: &Memory, rev: u64) -> Result<String, StoreError> {
    let id = MemoryRef::Id(file.id);
    let entry = store.history(id)?.into_iter().find(|entry| entry.rev == rev);
    let before = entry.and_then(|entry| entry.before);
    let problem = "has no earlier text at that change";
    before.map(|before| before.content).ok_or(StoreError::Conflict { memory: id, problem })
}

/// Refuses to write where something stands that is not kept: another file, or one that no memory holds whole.
fn refuse_another(store: &Store, file: &Memory, place: &Place) -> Result<(), StoreError> {
    let path = &place.path;
    let another = "is the path of another file now; move that one away first";
    let read = match place.tree.read(&place.inside, MOST_BYTES) {
        Ok(read) => read,
        Err(FileError::NotFound { .. } | FileError::Gone { .. }) => return Ok(()),
        Err(FileError::TooLarge { .. } | FileError::Unsupported { .. }) => return Err(refused(path, another)),
        Err(error) => return Err(place.failed(&error)),
    };
    match store.file_at(path)? {
        Some(row) if row.id == file.id && is_as_known(&row, &read) => Ok(()),
        Some(row) if row.id == file.id => Err(refused(
            path,
            "is not kept whole here, so what it says now would be lost; copy it to another path and delete it first",
        )),
        _ => Err(refused(path, another)),
    }
}

fn is_written(store: &Store, file: &Memory, path: &FilePath) -> Result<bool, StoreError> {
    let hash = xxh3_64(file_of_content(&file.content).as_bytes());
    let is_it = |row: FileRow| row.id == file.id && row.stamp.hash == hash;
    Ok(store.file_at(path)?.is_some_and(is_it))
}

/// Writes a file as it was, with what no memory holds of it.
fn write_back(
    store: &mut Store,
    caller: &Caller,
    file: &Memory,
    place: &Place,
    bytes: Vec<u8>,
) -> Result<(), StoreError> {
    // Who wrote it is kept: it is brought back as it was, and nobody wrote it anew.
    let actor = Actor { origin: file.origin.clone(), ..caller.actor(None) };
    place.intend(store, &bytes, (file.id, Vec::new()), &actor)?;
    // What is no text says nothing, and is there again all the same.
    if let Some(file) = place.write(bytes, Expected::Absent).map_err(|error| place.failed(&error))? {
        store.take_files(&[file])?;
    }
    Ok(())
}

/// Brings back what a path names that no memory stands for: the files of a directory that was deleted, or a file that is
/// too large to be read for what it says, or no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutBack {
    /// Where it was.
    pub path: FilePath,
}

/// What came back, and what did not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoredFiles {
    /// The files that are there again.
    pub restored: Vec<FilePath>,
    /// Those that are not, each with the reason.
    pub failed: Vec<(FilePath, String)>,
}

/// Writes the copy of a file that no memory stands for. False where there is none.
fn put_back(store: &Store, path: &FilePath) -> Result<bool, StoreError> {
    let Some(bytes) = aside::kept(store, path, None, None)? else { return Ok(false) };
    let place = Place::writable(store, path)?;
    place.tree.put_back(&place.inside, &bytes).map_err(|error| place.failed(&error))?;
    aside::let_go(store, path, None);
    Ok(true)
}

/// Removes for good the copies of what a path names, or was below it, and no memory stood for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropCopies {
    /// Where it was.
    pub path: FilePath,
}

impl UseCase for DropCopies {
    /// What cannot be brought back any more.
    type Outcome = Vec<FilePath>;
    const EFFECT: Effect = Effect::Destroys;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<FilePath>, StoreError> {
        let mut paths = aside::kept_below(store, &self.path);
        if aside::kept(store, &self.path, None, None)?.is_some() {
            paths.insert(0, self.path);
        }
        paths.iter().for_each(|path| aside::let_go(store, path, None));
        Ok(paths)
    }
}

/// True where one thing cannot come back: others may.
fn is_of_one(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::InFile { .. }
            | StoreError::Conflict { .. }
            | StoreError::ValueElsewhere { .. }
            | StoreError::NoKey { .. }
            | StoreError::KeysWanted { .. }
            | StoreError::Sealed { .. }
    )
}

impl UseCase for PutBack {
    type Outcome = RestoredFiles;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<RestoredFiles, StoreError> {
        let _held = held_to_write(store)?;
        refresh_held(store)?;
        let mut back = RestoredFiles::default();
        for id in store.files_deleted_below(&self.path)? {
            // One that cannot come back keeps no other away.
            match restore_held(store, caller, MemoryRef::Id(id), None) {
                Ok(restored) => back.restored.push(path_of(&restored.memory)?.clone()),
                Err(error) if is_of_one(&error) => {
                    let memory = store.get(MemoryRef::Id(id))?;
                    let path =
                        memory.and_then(|memory| memory.file).map_or_else(|| self.path.clone(), |file| file.path);
                    back.failed.push((path, error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        // Then what no memory stands for: the path itself, or what was below it.
        for path in std::iter::once(self.path.clone()).chain(aside::kept_below(store, &self.path)) {
            match put_back(store, &path) {
                Ok(true) => back.restored.push(path),
                Ok(false) => {}
                Err(error) if path == self.path => return Err(error),
                Err(error) => back.failed.push((path, error.to_string())),
            }
        }
        if back.restored.is_empty() && back.failed.is_empty() {
            return Err(refused(&self.path, "is no file that is known, and none was deleted there"));
        }
        Ok(back)
    }
}
