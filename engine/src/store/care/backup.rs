//! Backups: complete copies made by SQLite, written beside their final place and renamed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::domain::Timestamp;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::open::migrate;

/// The maximum number of backups in the home directory.
const KEPT: usize = 7;

impl Store {
    /// Writes a backup to `target`, or to the home directory's backups, of which the newest seven are kept.
    ///
    /// # Errors
    /// Returns an error if it cannot be written. Earlier backups stay.
    pub fn backup(&self, target: Option<&Path>) -> Result<PathBuf, StoreError> {
        if let Some(target) = target {
            migrate::write(&self.connection, &self.path, target)?;
            return Ok(target.to_path_buf());
        }
        let (dir, now) = (self.home.backups(), self.now());
        let target = dir.join(name_at(now));
        migrate::write(&self.connection, &self.path, &target)?;
        rotate(&dir, now);
        Ok(target)
    }
}

/// Formats a time for the name of a file.
pub(super) fn stamp(time: Timestamp) -> String {
    time.to_string().replace(':', "-")
}

fn name_at(time: Timestamp) -> String {
    format!("tessera-{}.db", stamp(time))
}

/// The time of the backup with this file name; `None` if [`name_at`] did not create the name.
fn made_at(path: &Path) -> Option<Timestamp> {
    let name = path.file_name()?.to_str()?;
    let (date, time) = name.strip_prefix("tessera-")?.strip_suffix(".db")?.split_once('T')?;
    let made = format!("{date}T{}", time.replace('-', ":")).parse().ok()?;
    (name_at(made) == name).then_some(made)
}

/// Deletes the oldest backups until [`KEPT`] are left. Backups from the future, made with a clock that was ahead, are
/// neither counted nor deleted.
fn rotate(dir: &Path, now: Timestamp) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut backups: Vec<(Timestamp, PathBuf)> = paths.filter_map(|path| Some((made_at(&path)?, path))).collect();
    backups.retain(|(made, _)| *made <= now);
    backups.sort();
    let surplus = backups.len().saturating_sub(KEPT);
    for (_, path) in backups.iter().take(surplus) {
        if let Err(error) = fs::remove_file(path) {
            tracing::debug!(error = %error, "cannot remove an old backup");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::open::in_memory::InMemory;

    #[test]
    fn rotation_removes_only_backups_that_it_named_and_never_the_newest() {
        let mut store = InMemory::new();
        store.said("one");
        let dir = store.home().backups();
        fs::create_dir_all(&dir).unwrap();
        let mine: Vec<PathBuf> = (1..=7).map(|n| dir.join(format!("tessera-before-step{n}.db"))).collect();
        mine.iter().for_each(|path| fs::write(path, "mine").unwrap());
        let ahead = dir.join(name_at(store.now().plus_days(400)));
        fs::write(&ahead, "ahead").unwrap();
        let mut made = Vec::new();
        for _ in 0..KEPT + 2 {
            store.pass_days(1);
            made.push(store.backup(None).unwrap());
            assert!(made.last().unwrap().exists(), "the newest stays");
        }
        assert!(mine.iter().chain([&ahead]).all(|path| path.exists()));
        let left: Vec<bool> = made.iter().map(|path| path.exists()).collect();
        assert_eq!(left, [[false; 2].as_slice(), &[true; KEPT]].concat());
    }
}
