//! A path in a folder that may be written: read, written, and removed where it is what it was.

use tessera_engine::Store;
use tessera_engine::domain::{FilePath, MemoryUuid};
use tessera_engine::screen::Secret;
use tessera_engine::store::{Actor, FileRow, Intent, SeenFile, StoreError};
use tessera_files::{Expected, FileError, ReadFile, RelativePath, Tree};
use xxhash_rust::xxh3::xxh3_64;

use super::read::{MOST_BYTES, failed, folder, opened, refused, seen};

/// A path of a folder that may be written.
pub(super) struct Place {
    pub(super) tree: Tree,
    pub(super) path: FilePath,
    pub(super) inside: RelativePath,
}

impl Place {
    /// `None` where its folder is not there.
    pub(super) fn of(store: &Store, path: &FilePath) -> Result<Option<Self>, StoreError> {
        let folders = store.folders()?;
        let folder = folders.iter().find(|folder| folder.name == path.folder() && folder.is_writable);
        let Some(folder) = folder else { return Ok(None) };
        let Ok(tree) = Tree::open(&folder.dir, &folder.name) else { return Ok(None) };
        let inside = RelativePath::found(path.inside(), &folder.name).map_err(|error| failed(path, &error))?;
        Ok(Some(Self { tree, path: path.clone(), inside }))
    }

    /// Where somebody asks for a change.
    ///
    /// # Errors
    /// When its folder is not known, only read, or not there.
    pub(super) fn writable(store: &Store, path: &FilePath) -> Result<Self, StoreError> {
        let folder = folder(store, path)?;
        if !folder.is_writable {
            return Err(refused(
                path,
                "is in a folder that is only read; `tessera files add` with --writable changes that",
            ));
        }
        let (tree, inside) = opened(&folder, path)?;
        if tree.has_second_name(&inside) {
            return Err(refused(
                path,
                "has a second name (a hard link), so it is only read; a copy in its place has one name",
            ));
        }
        Ok(Self { tree, path: path.clone(), inside })
    }

    pub(super) fn failed(&self, error: &FileError) -> StoreError {
        failed(&self.path, error)
    }

    /// The file as it is now; `None` where there is none.
    pub(super) fn read(&self) -> Result<Option<ReadFile>, StoreError> {
        match self.tree.read(&self.inside, MOST_BYTES) {
            Ok(read) => Ok(Some(read)),
            Err(FileError::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Notes that this is about to be written here, as the text of a memory and by whom.
    pub(super) fn intend(
        &self,
        store: &mut Store,
        bytes: &[u8],
        (memory, secrets): (MemoryUuid, Vec<Secret>),
        actor: &Actor,
    ) -> Result<(), StoreError> {
        store.intend(&[Intent { path: self.path.clone(), hash: xxh3_64(bytes), memory, secrets }], actor)
    }

    /// Writes what was intended, and gives the file as it was written: what somebody else writes there right after is for the
    /// next look. `None` for what is no text.
    pub(super) fn write(&self, bytes: Vec<u8>, expected: Expected) -> Result<Option<SeenFile>, FileError> {
        let stamp = self.tree.write(&self.inside, &bytes, expected)?;
        Ok(seen(self.path.clone(), ReadFile { bytes, stamp }))
    }

    /// Removes the file where it still is what was read, or is gone already. False where it is another one now.
    pub(super) fn remove(&self, read: &ReadFile) -> Result<bool, StoreError> {
        match self.tree.remove(&self.inside, Expected::Seen(read.seen())) {
            Ok(()) | Err(FileError::NotFound { .. } | FileError::Nothing { .. } | FileError::Gone { .. }) => Ok(true),
            Err(FileError::Changed { .. }) => Ok(false),
            Err(error) => Err(self.failed(&error)),
        }
    }
}

/// True when a file is what is known of it, and kept.
pub(super) fn is_as_known(row: &FileRow, read: &ReadFile) -> bool {
    row.is_kept && xxh3_64(&read.bytes) == row.stamp.hash
}
