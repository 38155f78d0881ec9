//! Restores files: as they were before deletion, or with an earlier text. Never overwrites content that is stored
//! nowhere else, and never writes an incomplete text.

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

/// Restores a deleted file, or an earlier text.
///
/// # Errors
/// Returns an error if there is nothing to restore, the text is not stored completely, another file has the path, or
/// the folder is read-only. Nothing is written then.
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
    // The memory may have changed since it was named.
    let file = store.get(id)?.ok_or(StoreError::NotFound(id))?;
    let path = path_of(&file)?;
    let place = Place::writable(store, path)?;
    let content = match before {
        Some(rev) => content_before(store, &file, rev)?,
        // An expired file returns unchanged; other cases are for the store to reject.
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
            "was too large to keep completely, or contained a credential that is not stored, so the restored file \
            would be incomplete; `tessera history` with this path and --json shows what is stored; create the \
            file from it",
        ));
    }
    let restored = store.restore(id, before, &caller.actor(None))?;
    lay_out(store)?;
    if !is_written(store, &restored.memory, path)? {
        // A pending write would surprise later.
        match before {
            Some(_) => drop(store.restore(id, Some(restored.memory.rev), &caller.actor(None))?),
            None => drop(store.forget(&[id], Erase::Soft, &caller.actor(None))?),
        }
        return Err(refused(
            path,
            "could not be written, so nothing was restored; check the permissions, and try again",
        ));
    }
    store.stored(id)
}

/// The text of a file before a revision.
fn content_before(store: &Store, file: &Memory, rev: u64) -> Result<String, StoreError> {
    let id = MemoryRef::Id(file.id);
    let entry = store.history(id)?.into_iter().find(|entry| entry.rev == rev);
    let before = entry.and_then(|entry| entry.before);
    let problem = "has no stored text from before this revision";
    before.map(|before| before.content).ok_or(StoreError::Conflict { memory: id, problem })
}

/// Refuses to overwrite another file, or a file whose present text is not stored completely.
fn refuse_another(store: &Store, file: &Memory, place: &Place) -> Result<(), StoreError> {
    let path = &place.path;
    let another = "is now the path of another file; move that file away first";
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
            "is not stored completely, so its current text would be lost; copy the file elsewhere, delete it, and \
            restore it again",
        )),
        _ => Err(refused(path, another)),
    }
}

fn is_written(store: &Store, file: &Memory, path: &FilePath) -> Result<bool, StoreError> {
    let hash = xxh3_64(file_of_content(&file.content).as_bytes());
    let is_it = |row: FileRow| row.id == file.id && row.stamp.hash == hash;
    Ok(store.file_at(path)?.is_some_and(is_it))
}

/// Writes the kept bytes of a file back, including the parts that no memory contains.
fn write_back(
    store: &mut Store,
    caller: &Caller,
    file: &Memory,
    place: &Place,
    bytes: Vec<u8>,
) -> Result<(), StoreError> {
    // Its author stays, because nobody wrote it anew.
    let actor = Actor { origin: file.origin.clone(), ..caller.actor(None) };
    place.intend(store, &bytes, (file.id, Vec::new()), &actor)?;
    // A binary file exists again, but has no text.
    if let Some(file) = place.write(bytes, Expected::Absent).map_err(|error| place.failed(&error))? {
        store.take_files(&[file])?;
    }
    Ok(())
}

/// Restores a path without a memory: files of a deleted directory, or a file that is too large or not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutBack {
    /// Its earlier path.
    pub path: FilePath,
}

/// The restored files, and the failed ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoredFiles {
    /// The restored files.
    pub restored: Vec<FilePath>,
    /// The failed files, with the reasons.
    pub failed: Vec<(FilePath, String)>,
}

/// Restores a file without a memory from its copy. False if there is none.
fn put_back(store: &Store, path: &FilePath) -> Result<bool, StoreError> {
    let Some(bytes) = aside::kept(store, path, None, None)? else { return Ok(false) };
    let place = Place::writable(store, path)?;
    place.tree.put_back(&place.inside, &bytes).map_err(|error| place.failed(&error))?;
    aside::let_go(store, path, None);
    Ok(true)
}

/// Permanently deletes the copies of files without a memory, at this path and below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropCopies {
    /// Its earlier path.
    pub path: FilePath,
}

impl UseCase for DropCopies {
    /// The paths that can no longer be restored.
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

/// True if the error concerns only this file, so that other files can still be restored.
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
            // One failure does not stop the others.
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
        // Then files without memories: the path itself, or those below it.
        for path in std::iter::once(self.path.clone()).chain(aside::kept_below(store, &self.path)) {
            match put_back(store, &path) {
                Ok(true) => back.restored.push(path),
                Ok(false) => {}
                Err(error) if path == self.path => return Err(error),
                Err(error) => back.failed.push((path, error.to_string())),
            }
        }
        if back.restored.is_empty() && back.failed.is_empty() {
            return Err(refused(&self.path, "is not a known file, and no deleted file had this path"));
        }
        Ok(back)
    }
}
