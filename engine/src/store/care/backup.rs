//! Backups: whole copies made by SQLite itself, written beside their place and renamed there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::open::copy;

/// Backups kept in the home directory.
const KEPT: usize = 7;

impl Store {
    /// Writes a backup to `target`, or into the home directory's backups, of which the newest seven are kept.
    ///
    /// # Errors
    /// When it cannot be written; earlier backups stay.
    pub fn backup(&self, target: Option<&Path>) -> Result<PathBuf, StoreError> {
        if let Some(target) = target {
            copy::write(&self.connection, &self.path, target)?;
            return Ok(target.to_path_buf());
        }
        let dir = self.home.backups();
        let stamp = self.now().to_string().replace(':', "-");
        let target = dir.join(format!("tessera-{stamp}.db"));
        copy::write(&self.connection, &self.path, &target)?;
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
