//! Creates files of a home directory: accessible only to the owner, atomic, and safe against power failure.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The beginning of the name of an unfinished file.
pub(crate) const SCRATCH: &str = ".tessera-";

/// Creates a directory that only its owner can enter.
///
/// # Errors
/// Returns an error if it does not exist and cannot be created.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Options for creating a file that only its owner can read.
pub fn private_file() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "file modes exist only on Unix"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// True if the group or others have any permission.
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Removes the permissions of the group and others. True if there were any.
pub(crate) fn tighten(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if is_open_to_others(path)
            && let Ok(metadata) = fs::metadata(path)
        {
            let mode = metadata.permissions().mode();
            return fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700)).is_ok();
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    false
}

/// Replaces or creates a file atomically: it is written beside its place, synced to disk, and renamed. So a reader
/// never sees an incomplete file. After a power failure, the path contains the old file or the new one. Symbolic links
/// and the file mode are kept. A new file is accessible only to the owner. When the function returns, the name of the
/// file is also durable. The directory must exist.
///
/// # Errors
/// Returns an error if it cannot be written. Then the file is unchanged.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path: PathBuf = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => fs::canonicalize(path)?,
        _ => path.to_path_buf(),
    };
    let dir = dir_of(&path);
    let mut file = tempfile::Builder::new().prefix(SCRATCH).tempfile_in(dir)?;
    file.write_all(bytes)?;
    if let Ok(metadata) = fs::metadata(&path) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    sync_dir(dir)
}

/// Syncs a directory to disk, so that a renamed file keeps its new name after a power failure.
///
/// # Errors
/// Returns an error if the disk fails.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    // On other systems, a directory cannot be opened, and names are synced with their files.
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// Maximum number of tried names.
const MOST_NAMES: u32 = 10_000;

/// Returns the first unused path; `None` if all tried names are used. `named` is called with an empty text, then with
/// `-1`, `-2` and so on.
pub(crate) fn free_name(named: impl Fn(&str) -> PathBuf) -> Option<PathBuf> {
    let endings = (1..MOST_NAMES).map(|count| format!("-{count}"));
    std::iter::once(String::new()).chain(endings).map(|again| named(&again)).find(|path| !path.exists())
}

/// A path with a suffix.
pub(crate) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    PathBuf::from(path)
}

/// The directory of a file.
pub fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Waits for a lock and takes it. The lock is released when the file is dropped.
///
/// # Errors
/// Returns an error if the file cannot be created or locked.
pub fn lock(path: &Path) -> io::Result<File> {
    let file = lock_file(path)?;
    file.lock()?;
    Ok(file)
}

/// Takes a lock; `None` if another process has it.
///
/// # Errors
/// Returns an error if the file cannot be created or locked.
pub fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Waits for a shared lock and takes it.
///
/// # Errors
/// Returns an error if the file cannot be created or locked.
pub(crate) fn lock_shared(path: &Path) -> io::Result<File> {
    let file = lock_file(path)?;
    file.lock_shared()?;
    Ok(file)
}

fn lock_file(path: &Path) -> io::Result<File> {
    private_file().create(true).truncate(false).write(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(replace(&dir.path().join("missing/f"), b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_its_owners_alone_an_old_one_keeps_its_mode_and_a_link_stays_a_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("f"), dir.path().join("l"));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        replace(&path, b"one").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        symlink(&path, &link).unwrap();
        replace(&link, b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"two".to_vec(), 0o644));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(tighten(&path) && !tighten(&path));
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_lock_is_held_by_one_and_let_go_with_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = try_lock(&path).unwrap().unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        drop(held);
        drop(lock(&path).unwrap());
        assert!(try_lock(&path).unwrap().is_some());
    }
}
