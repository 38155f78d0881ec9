//! Directories for temporary copies. If a process was killed, the next process deletes its directories.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::home::Home;
use super::private::{self, SCRATCH};

/// The process that uses the directory locks this file in it.
const HELD: &str = "held";
/// Directories without a lock file are deleted after this time.
const LEFT: Duration = Duration::from_hours(1);

/// A directory for a copy. The directory is deleted when this value is dropped.
pub(crate) struct Scratch {
    // Released before the directory is deleted. Some file systems have no locks.
    held: Option<File>,
    dir: TempDir,
}

impl Scratch {
    pub(crate) fn beside(place: &Path) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix(SCRATCH).tempdir_in(place)?;
        Ok(Self { held: private::lock(&dir.path().join(HELD)).ok(), dir })
    }

    /// Keeps the directory, so that the caller can move it. The directory counts as in use as long as the returned file
    /// is held.
    pub(crate) fn keep(self) -> (Option<File>, PathBuf) {
        (self.held, self.dir.keep())
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Deletes copies and unfinished files of killed processes from a home directory.
pub(crate) fn sweep(home: &Home) {
    sweep_in(home.dir());
    sweep_in(&home.backups());
}

fn sweep_in(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(SCRATCH));
        let Ok(found) = entry.metadata() else { continue };
        if !is_ours {
            continue;
        }
        let path = entry.path();
        let is_old = || found.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age > LEFT));
        let held = path.join(HELD);
        let removed = match found.is_dir() {
            true if held.is_file() => match private::try_lock(&held) {
                Ok(Some(_)) => fs::remove_dir_all(&path),
                _ => Ok(()),
            },
            true if is_old() => fs::remove_dir_all(&path),
            false if is_old() => fs::remove_file(&path),
            _ => Ok(()),
        };
        if let Err(error) = removed {
            tracing::debug!(%error, "leftover files of killed commands cannot be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_in_use_stays() {
        let place = tempfile::tempdir().unwrap();
        let used = Scratch::beside(place.path()).unwrap();
        let left = place.path().join(".tessera-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(HELD), "").unwrap();
        fs::write(left.join("tessera.db"), "a copy").unwrap();
        let (begun, old) = (place.path().join(".tessera-begun"), place.path().join(".tessera-old"));
        fs::create_dir(&begun).unwrap();
        let file = File::create(&old).unwrap();
        file.set_modified(file.metadata().unwrap().modified().unwrap() - LEFT * 2).unwrap();
        fs::write(place.path().join("tessera.db"), "no scratch").unwrap();
        sweep(&Home::new(place.path()));
        assert!(used.path().is_dir() && begun.is_dir() && place.path().join("tessera.db").is_file());
        assert!(!left.exists() && !old.exists());
    }
}
