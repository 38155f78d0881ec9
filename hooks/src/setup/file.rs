//! Files of others: read whole, replaced whole, with their modes and through their links.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::plan::SetupError;

/// The bytes of a file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, SetupError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SetupError::Unreadable { path: path.to_path_buf(), problem: error.to_string() }),
    }
}

/// Replaces a file, or makes it: written beside its place and renamed there. A link stays a link, and
/// the mode stays as it was; a new file is its owner's alone.
///
/// # Errors
/// When it cannot be written; the file is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path: PathBuf = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => fs::canonicalize(path)?,
        _ => path.to_path_buf(),
    };
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut file = tempfile::Builder::new().prefix(".tessera-").tempfile_in(dir)?;
    file.write_all(bytes)?;
    if let Ok(metadata) = fs::metadata(&path) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map(drop).map_err(|error| error.error)
}
