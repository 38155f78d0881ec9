//! The files of a home directory, and how they are made: for the owner alone, whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::error::StoreError;

pub(super) const DATABASE: &str = "tessera.db";
pub(super) const SNAPSHOT: &str = "tessera.snapshot";
pub(super) const ACCESS_LOG: &str = "access.log";
pub(super) const RECEIPTS: &str = "receipts.log";
pub(super) const MARKER: &str = "store.json";
pub(super) const LOCK: &str = "open.lock";
pub(super) const BACKUPS: &str = "backups";

/// Makes a directory that only its owner can enter.
///
/// # Errors
/// When it is not there and cannot be made.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Options for a file that only its owner can read.
pub(super) fn private() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes exist on Unix alone"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes away what group and others may do. True when there was something to take away.
pub(super) fn tighten(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let Ok(metadata) = fs::metadata(path) else { return false };
        let mode = metadata.permissions().mode();
        if mode & 0o077 != 0 {
            return fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700)).is_ok();
        }
    }
    false
}

/// Writes a file beside its final place and renames it there, so that no reader sees half of it.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let failed = |source| StoreError::file(path, source);
    let mut file = tempfile::Builder::new().prefix(".tessera-").tempfile_in(dir).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_data()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    sync_dir(dir).map_err(failed)
}

/// Puts the names in a directory on disk: a file that was renamed into it is there after a power cut too.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return File::open(dir)?.sync_all();
    #[cfg(not(unix))]
    {
        let _ = dir;
        Ok(())
    }
}

/// Takes the lock that guards opening and migration; it is let go when the file is dropped.
pub(super) fn lock(home: &Path) -> Result<File, StoreError> {
    let path = home.join(LOCK);
    let failed = |source| StoreError::file(&path, source);
    let file = private().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}
