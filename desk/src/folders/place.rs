//! A path in a writable folder. Its file can be read, written, and deleted if it is unchanged.

use tessera_engine::Store;
use tessera_engine::domain::{FilePath, MemoryUuid};
use tessera_engine::screen::Secret;
use tessera_engine::store::{Actor, FileRow, Intent, SeenFile, StoreError};
use tessera_files::{Expected, FileError, ReadFile, RelativePath, Tree};
use xxhash_rust::xxh3::xxh3_64;

use super::read::{MOST_BYTES, failed, folder, opened, refused, seen};

/// A writable path in a folder.
pub(super) struct Place {
    pub(super) tree: Tree,
    pub(super) path: FilePath,
    pub(super) inside: RelativePath,
}

impl Place {
    /// `None` if its folder is not available.
    pub(super) fn of(store: &Store, path: &FilePath) -> Result<Option<Self>, StoreError> {
        let folders = store.folders()?;
        let folder = folders.iter().find(|folder| folder.name == path.folder() && folder.is_writable);
        let Some(folder) = folder else { return Ok(None) };
        let Ok(tree) = Tree::open(&folder.dir, &folder.name) else { return Ok(None) };
        let inside = RelativePath::found(path.inside(), &folder.name).map_err(|error| failed(path, &error))?;
        Ok(Some(Self { tree, path: path.clone(), inside }))
    }

    /// The path for a requested change.
    ///
    /// # Errors
    /// Returns an error if its folder is unknown, read-only, or not available.
    pub(super) fn writable(store: &Store, path: &FilePath) -> Result<Self, StoreError> {
        let folder = folder(store, path)?;
        if !folder.is_writable {
            return Err(refused(
                path,
                "is in a read-only folder; `tessera files add DIR --writable` makes its folder writable",
            ));
        }
        let (tree, inside) = opened(&folder, path)?;
        if tree.has_second_name(&inside) {
            return Err(refused(
                path,
                "has a second name on this disk (a hard link), so Tessera does not change it; replace the file with a copy",
            ));
        }
        Ok(Self { tree, path: path.clone(), inside })
    }

    pub(super) fn failed(&self, error: &FileError) -> StoreError {
        failed(&self.path, error)
    }

    /// Reads the file on disk; `None` if there is no file.
    pub(super) fn read(&self) -> Result<Option<ReadFile>, StoreError> {
        match self.tree.read(&self.inside, MOST_BYTES) {
            Ok(read) => Ok(Some(read)),
            Err(FileError::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Records the intended text and its author.
    pub(super) fn intend(
        &self,
        store: &mut Store,
        bytes: &[u8],
        (memory, secrets): (MemoryUuid, Vec<Secret>),
        actor: &Actor,
    ) -> Result<(), StoreError> {
        store.intend(&[Intent { path: self.path.clone(), hash: xxh3_64(bytes), memory, secrets }], actor)
    }

    /// Writes the intended text; returns the file as written, so later edits are found by the next scan. `None` if it
    /// is not text.
    pub(super) fn write(&self, bytes: Vec<u8>, expected: Expected) -> Result<Option<SeenFile>, FileError> {
        let stamp = self.tree.write(&self.inside, &bytes, expected)?;
        Ok(seen(self.path.clone(), ReadFile { bytes, stamp }))
    }

    /// Deletes the file if it is unchanged or already gone. False if it changed.
    pub(super) fn remove(&self, read: &ReadFile) -> Result<bool, StoreError> {
        match self.tree.remove(&self.inside, Expected::Seen(read.seen())) {
            Ok(()) | Err(FileError::NotFound { .. } | FileError::Nothing { .. } | FileError::Gone { .. }) => Ok(true),
            Err(FileError::Changed { .. }) => Ok(false),
            Err(error) => Err(self.failed(&error)),
        }
    }
}

/// True if a file matches its stored row.
pub(super) fn is_as_known(row: &FileRow, read: &ReadFile) -> bool {
    row.is_kept && xxh3_64(&read.bytes) == row.stamp.hash
}
