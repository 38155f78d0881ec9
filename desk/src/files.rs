//! Files that are replaced whole: no reader sees half of one, and after a power cut there is the old one or the new one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces a file, or makes it: written beside its place, on disk, and renamed there. A link stays a link, and
/// the mode stays as it was; a new file is its owner's alone. The new name is on disk too when this returns.
///
/// # Errors
/// When it cannot be written; the file is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path: PathBuf = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => fs::canonicalize(path)?,
        _ => path.to_path_buf(),
    };
    let dir = dir_of(&path);
    fs::create_dir_all(dir)?;
    let mut file = tempfile::Builder::new().prefix(".tessera-").tempfile_in(dir)?;
    file.write_all(bytes)?;
    if let Ok(metadata) = fs::metadata(&path) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    sync_dir(dir)
}

/// Has the names in a directory written to disk: a renamed file is safe only then.
///
/// # Errors
/// When the disk fails.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    // Elsewhere a directory cannot be opened, and names are written with their files.
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// The directory that a file is in.
pub fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The text of a small file of somebody else's; `None` when it is none, or no file at all. A pipe, which would keep
/// whoever opens it waiting, is no file.
pub fn small_text(path: &Path) -> Option<String> {
    const MOST_BYTES: u64 = 1024 * 1024;
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}
