//! What was changed in memories of files elsewhere is written to the files: what a team server sent, what was brought back,
//! what settled a conflict. A file that somebody changed meanwhile is never written over: then both texts are kept.

use tessera_engine::Store;
use tessera_engine::domain::{FilePath, Memory, file_of_content};
use tessera_engine::store::{Actor, FileRow, Folder, Intent, Pending, StoreError};
use tessera_files::{Expected, FileError, ReadFile, RelativePath, Tree};
use xxhash_rust::xxh3::xxh3_64;

use super::read::{MOST_BYTES, failed, seen};

/// Writes what is pending. Gives the number of files that were written or removed.
pub(super) fn lay_out(store: &mut Store) -> Result<usize, StoreError> {
    if !store.has_pending_files()? {
        return Ok(0);
    }
    let folders = store.folders()?;
    let mut done = 0;
    done += remove_purged(store, &folders)?;
    for pending in store.pending_files()? {
        let Some(path) = pending.memory.file.as_ref().map(|file| file.path.clone()) else { continue };
        let folder = folders.iter().find(|folder| folder.name == path.folder() && folder.is_writable);
        let Some(folder) = folder else { continue };
        let Ok(tree) = Tree::open(&folder.dir, &folder.name) else { continue };
        let Ok(inside) = RelativePath::found(path.inside(), &folder.name) else { continue };
        let place = Place { tree: &tree, path: &path, inside: &inside };
        done += usize::from(place.lay_out(store, &pending)?);
    }
    Ok(done)
}

/// Removes files whose memories were removed for good. One that somebody changed since says something else: it stays, and
/// is read as a new one.
fn remove_purged(store: &mut Store, folders: &[Folder]) -> Result<usize, StoreError> {
    let mut removed = 0;
    for row in store.purged_files()? {
        let folder = folders.iter().find(|folder| folder.name == row.path.folder() && folder.is_writable);
        let Some(tree) = folder.and_then(|folder| Tree::open(&folder.dir, &folder.name).ok()) else { continue };
        let Ok(inside) = RelativePath::found(row.path.inside(), row.path.folder()) else { continue };
        match tree.read(&inside, MOST_BYTES) {
            Ok(read) if xxh3_64(&read.bytes) == row.stamp.hash => {
                match tree.remove(&inside, Expected::Seen(read.seen())) {
                    Ok(()) | Err(FileError::NotFound { .. } | FileError::Gone { .. } | FileError::Changed { .. }) => {}
                    Err(error) => return Err(failed(&row.path, &error)),
                }
            }
            Ok(_) | Err(FileError::NotFound { .. }) => {}
            Err(error) => return Err(failed(&row.path, &error)),
        }
        store.files_gone(std::slice::from_ref(&row.path), &Actor::default())?;
        removed += 1;
    }
    Ok(removed)
}

struct Place<'a> {
    tree: &'a Tree,
    path: &'a FilePath,
    inside: &'a RelativePath,
}

impl Place<'_> {
    fn lay_out(&self, store: &mut Store, pending: &Pending) -> Result<bool, StoreError> {
        let there = self.read()?;
        let hash = there.as_ref().map(|read| xxh3_64(&read.bytes));
        let known = pending.on_disk.as_ref().map(|row| row.stamp.hash);
        if pending.memory.deleted.is_some() {
            return self.remove(store, pending.on_disk.as_ref(), there.as_ref().filter(|_| hash == known));
        }
        let text = file_of_content(&pending.memory.content);
        match &there {
            // It says that already.
            Some(read) if hash == Some(xxh3_64(text.as_bytes())) => {
                let is_taken = self.take(store, &pending.memory, read.clone())?;
                if hash == known {
                    // What was changed of the memory is nothing that the file says.
                    store.note_laid_out(&pending.memory)?;
                }
                Ok(is_taken)
            }
            Some(read) if known.is_some() && hash == known => {
                self.write(store, &pending.memory, Expected::Seen(read.seen()))
            }
            Some(read) => self.keep_both(store, pending, read.clone()),
            None => self.write(store, &pending.memory, Expected::Absent),
        }
    }

    fn read(&self) -> Result<Option<ReadFile>, StoreError> {
        match self.tree.read(self.inside, MOST_BYTES) {
            Ok(read) => Ok(Some(read)),
            Err(FileError::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(self.path, &error)),
        }
    }

    fn write(&self, store: &mut Store, memory: &Memory, expected: Expected) -> Result<bool, StoreError> {
        let text = file_of_content(&memory.content);
        let intent =
            Intent { path: self.path.clone(), hash: xxh3_64(text.as_bytes()), memory: memory.id, secrets: Vec::new() };
        store.intend(&[intent], &last_author(memory))?;
        match self.tree.write(self.inside, text.as_bytes(), expected) {
            Ok(_) => {}
            // Somebody was quicker: it is looked at again the next time.
            Err(FileError::Changed { .. } | FileError::Exists { .. } | FileError::Gone { .. }) => return Ok(false),
            Err(error) => return Err(failed(self.path, &error)),
        }
        let read = self.tree.read(self.inside, MOST_BYTES).map_err(|error| failed(self.path, &error))?;
        self.take(store, memory, read)
    }

    fn take(&self, store: &mut Store, memory: &Memory, read: ReadFile) -> Result<bool, StoreError> {
        let intent =
            Intent { path: self.path.clone(), hash: xxh3_64(&read.bytes), memory: memory.id, secrets: Vec::new() };
        store.intend(&[intent], &last_author(memory))?;
        let Some(file) = seen(self.path.clone(), read) else { return Ok(false) };
        Ok(!store.take_files(&[file])?.is_empty())
    }

    fn remove(&self, store: &mut Store, row: Option<&FileRow>, there: Option<&ReadFile>) -> Result<bool, StoreError> {
        if let Some(read) = there {
            match self.tree.remove(self.inside, Expected::Seen(read.seen())) {
                Ok(()) | Err(FileError::NotFound { .. } | FileError::Gone { .. }) => {}
                Err(FileError::Changed { .. }) => return Ok(false),
                Err(error) => return Err(failed(self.path, &error)),
            }
        } else if self.read()?.is_some() {
            // Somebody changed it: that has precedence over its removal, and is taken as such.
            let Some(file) = self.read()?.and_then(|read| seen(self.path.clone(), read)) else { return Ok(false) };
            return Ok(!store.take_files(&[file])?.is_empty());
        }
        let Some(row) = row else { return Ok(false) };
        Ok(!store.files_gone(std::slice::from_ref(&row.path), &Actor::default())?.is_empty())
    }

    /// A file that was changed here while its memory was changed elsewhere: what came is written beside it, and what
    /// stands there is taken as it is.
    fn keep_both(&self, store: &mut Store, pending: &Pending, read: ReadFile) -> Result<bool, StoreError> {
        let text = file_of_content(&pending.memory.content);
        let beside = beside(self.path, xxh3_64(text.as_bytes()))?;
        let inside = RelativePath::found(beside.inside(), beside.folder()).map_err(|error| failed(&beside, &error))?;
        match self.tree.write(&inside, text.as_bytes(), Expected::Absent) {
            Ok(_) | Err(FileError::Exists { .. }) => {}
            Err(error) => return Err(failed(&beside, &error)),
        }
        let mut files = Vec::new();
        if let Ok(other) = self.tree.read(&inside, MOST_BYTES) {
            files.extend(seen(beside, other));
        }
        files.extend(seen(self.path.clone(), read));
        Ok(!store.take_files(&files)?.is_empty())
    }
}

/// The path of the other text of a file: `notes.conflict-3fa9c1.md`.
pub(super) fn beside(path: &FilePath, hash: u64) -> Result<FilePath, StoreError> {
    let inside = path.inside();
    let (dir, _) = inside.rsplit_once('/').map_or(("", inside), |(dir, name)| (dir, name));
    let ending = path.name().strip_prefix(path.stem()).unwrap_or_default();
    let name = format!("{}.conflict-{:06x}{ending}", path.stem(), hash & 0xff_ffff);
    let inside = if dir.is_empty() { name } else { format!("{dir}/{name}") };
    Ok(FilePath::new(path.folder(), &inside)?)
}

/// Who wrote what a memory says, as far as it says so.
fn last_author(memory: &Memory) -> Actor {
    Actor {
        origin: memory.origin.clone(),
        session: memory.session.clone(),
        client: memory.client.clone(),
        reason: None,
    }
}
