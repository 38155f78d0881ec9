//! Opens a folder, and reads a file for the store.

use std::fs::File;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tessera_engine::Store;
use tessera_engine::domain::FilePath;
use tessera_engine::screen::dropped;
use tessera_engine::store::{FileStamp, Folder, MEMORIES, SeenFile, StoreError, try_lock};
use tessera_files::{FileError, ReadFile, RelativePath, Tree};
use xxhash_rust::xxh3::xxh3_64;

/// The maximum size of an indexed file.
pub(super) const MOST_BYTES: u64 = 1024 * 1024;

/// How long a writer waits.
const PATIENCE: Duration = Duration::from_secs(30);
const NAP: Duration = Duration::from_millis(3);

/// The lock for changes of the file index.
pub(super) struct Held(#[expect(dead_code, reason = "the lock is released when this value is dropped")] File);

/// Waits for the lock for a limited time; `None` if another process still has it after this time.
pub(super) fn held(store: &Store, patience: Duration) -> Result<Option<Held>, StoreError> {
    let path = store.home().files_lock();
    let begun = Instant::now();
    loop {
        match try_lock(&path) {
            Ok(Some(file)) => return Ok(Some(Held(file))),
            Ok(None) if begun.elapsed() < patience => sleep(NAP),
            Ok(None) => return Ok(None),
            Err(source) => return Err(StoreError::File { path, source }),
        }
    }
}

/// The same for a writer.
pub(super) fn held_to_write(store: &Store) -> Result<Held, StoreError> {
    held(store, PATIENCE)?.ok_or_else(|| StoreError::Busy { path: store.home().files_lock() })
}

/// Adds the folder `memories` to the list as soon as its directory exists.
pub(super) fn note_memories(store: &mut Store) -> Result<(), StoreError> {
    let dir = store.home().memories();
    if !dir.is_dir() || store.folders()?.iter().any(|folder| folder.name == MEMORIES) {
        return Ok(());
    }
    store.put_folder(&Folder::memories(dir))
}

/// A folder by its name.
pub(super) fn folder(store: &Store, path: &FilePath) -> Result<Folder, StoreError> {
    let found = store.folders()?.into_iter().find(|folder| folder.name == path.folder());
    found.ok_or_else(|| refused(path, "is not in a watched folder; `tessera files list` lists the folders"))
}

/// A folder, and a path in it.
pub(super) fn opened(folder: &Folder, path: &FilePath) -> Result<(Tree, RelativePath), StoreError> {
    let tree = Tree::open(&folder.dir, &folder.name).map_err(|error| failed(path, &error))?;
    let inside = RelativePath::found(path.inside(), &folder.name).map_err(|error| failed(path, &error))?;
    Ok((tree, inside))
}

/// A file for the store; `None` if it is not text.
pub(super) fn seen(path: FilePath, read: ReadFile) -> Option<SeenFile> {
    let stamp = stamp_of(&read.stamp, xxh3_64(&read.bytes));
    let text = String::from_utf8(read.bytes).ok().filter(|text| !text.contains('\0'))?;
    Some(SeenFile { path, stamp, text })
}

pub(super) fn stamp_of(stamp: &tessera_files::Stamp, hash: u64) -> FileStamp {
    FileStamp { size: stamp.size, modified: stamp.modified, inode: stamp.inode, hash }
}

/// The error for a rejected file operation.
pub(super) fn refused(path: &FilePath, problem: &str) -> StoreError {
    StoreError::InFile { path: path.clone(), problem: problem.to_owned() }
}

pub(super) fn failed(path: &FilePath, error: &FileError) -> StoreError {
    refused(path, &error.to_string())
}

/// The present text of a file without credentials; `None` if it cannot be read. Needed for files whose memory does not
/// contain the complete text.
pub(crate) fn text_now(store: &Store, path: &FilePath) -> Result<Option<String>, StoreError> {
    let Some(folder) = store.folders()?.into_iter().find(|folder| folder.name == path.folder()) else {
        return Ok(None);
    };
    let Ok((tree, inside)) = opened(&folder, path) else { return Ok(None) };
    let file = tree.read(&inside, MOST_BYTES).ok().and_then(|read| seen(path.clone(), read));
    Ok(file.map(|file| dropped(&file.text).into_owned()))
}
