//! Files that no memory holds whole, kept as they were when they are deleted: so that they can be brought back. One copy is
//! kept of each path, the last; it goes when the file comes back, or is removed for good.

use std::path::PathBuf;

use tessera_engine::Store;
use tessera_engine::domain::FilePath;
use tessera_engine::store::{StoreError, make_private_dir, replace};
use tessera_files::{FileError, RelativePath, Tree};
use xxhash_rust::xxh3::xxh3_128;

use super::read::{failed, refused};

/// The largest file that is kept so; a larger one is for its person to delete.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Where the copy of a file lies. Its name says nothing of the path.
fn place(store: &Store, path: &FilePath) -> PathBuf {
    store.home().deleted_files().join(format!("{:032x}", xxh3_128(path.as_str().as_bytes())))
}

/// Keeps a file as it is, unless its memory says all of it.
///
/// # Errors
/// When it cannot be read or kept: it must not be deleted then.
pub(super) fn keep(store: &Store, tree: &Tree, path: &FilePath, inside: &RelativePath) -> Result<(), StoreError> {
    if store.file_at(path)?.is_some_and(|file| file.is_kept) {
        return Ok(());
    }
    let read = match tree.read(inside, MOST_BYTES) {
        Ok(read) => read,
        // There is nothing in it that could be brought back.
        Err(
            FileError::NotFound { .. }
            | FileError::Gone { .. }
            | FileError::Link { .. }
            | FileError::Unsupported { .. },
        ) => {
            return Ok(());
        }
        Err(FileError::TooLarge { .. }) => {
            return Err(refused(path, "is too large to be kept for a restore; delete it by hand"));
        }
        Err(error) => return Err(failed(path, &error)),
    };
    let place = place(store, path);
    let kept = make_private_dir(&store.home().deleted_files()).and_then(|()| replace(&place, &read.bytes));
    kept.map_err(|source| StoreError::File { path: place, source })
}

/// A file as it was kept.
pub(super) fn kept(store: &Store, path: &FilePath) -> Result<Option<Vec<u8>>, StoreError> {
    let place = place(store, path);
    match std::fs::read(&place) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::File { path: place, source }),
    }
}

/// Removes what was kept of a file.
pub(super) fn let_go(store: &Store, path: &FilePath) {
    // It may never have been there.
    let _ = std::fs::remove_file(place(store, path));
}
