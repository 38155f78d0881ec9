//! Backups: whole copies made by SQLite itself, written beside their place and renamed there.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::error::StoreError;
use super::{Store, files};

/// Backups kept in the home directory.
const KEPT: usize = 7;

/// Copies the database to `target`. Whatever fails, a file that was there before stays.
pub(super) fn write(connection: &Connection, database: &Path, target: &Path) -> Result<(), StoreError> {
    let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    files::make_private_dir(dir).map_err(|source| StoreError::file(dir, source))?;
    let failed = |source| StoreError::file(target, source);
    let scratch = tempfile::Builder::new().prefix(".tessera-backup-").tempdir_in(dir).map_err(failed)?;
    let copy = scratch.path().join("copy.db");
    let bytes = copy.as_os_str().as_encoded_bytes();
    let name = std::str::from_utf8(bytes).map_err(|_| failed(std::io::ErrorKind::InvalidFilename.into()))?;
    connection.execute("VACUUM INTO ?1", [name]).map_err(|error| StoreError::sqlite(database, error))?;
    files::tighten(&copy);
    fs::File::open(&copy).and_then(|file| file.sync_all()).map_err(failed)?;
    fs::rename(&copy, target).and_then(|()| files::sync_dir(dir)).map_err(failed)
}

impl Store {
    /// Writes a backup to `target`, or into the home directory's backups, of which the newest seven are kept.
    ///
    /// # Errors
    /// When it cannot be written; earlier backups stay.
    pub fn backup(&self, target: Option<&Path>) -> Result<PathBuf, StoreError> {
        if let Some(target) = target {
            write(&self.connection, &self.path, target)?;
            return Ok(target.to_path_buf());
        }
        let dir = self.home.join(files::BACKUPS);
        let stamp = self.now().to_string().replace(':', "-");
        let target = dir.join(format!("tessera-{stamp}.db"));
        write(&self.connection, &self.path, &target)?;
        rotate(&dir);
        Ok(target)
    }
}

fn rotate(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let is_ours = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("tessera-"))
    };
    let mut backups: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).filter(is_ours).collect();
    backups.sort();
    let surplus = backups.len().saturating_sub(KEPT);
    for path in backups.iter().take(surplus) {
        if let Err(error) = fs::remove_file(path) {
            tracing::debug!(error = %error, "an old backup cannot be removed");
        }
    }
}
