//! Directories for what is there for a moment: of their owner alone, gone with whoever made them. Where a process was
//! killed, the next one sweeps what it left.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// How the names of all of them begin.
const PREFIX: &str = "tessera-copy-";
/// In each, held by the process that made it. It is locked before it has this name, so that one that is there and free is
/// of a process that is gone.
const LOCK: &str = "lock";
/// Its name until then.
const UNLOCKED: &str = "lock.new";

/// A directory that is gone when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    // Let go of before the directory goes: a file that is locked cannot be removed everywhere.
    _lock: File,
    dir: TempDir,
}

impl Scratch {
    /// Makes one, and sweeps those that processes left which were killed.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> io::Result<Self> {
        // It holds in clear what somebody's data hold, whoever may look into the directory for such files.
        let mut made = tempfile::Builder::new();
        #[cfg(unix)]
        made.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let dir = made.prefix(PREFIX).tempdir()?;
        let (unlocked, held) = (dir.path().join(UNLOCKED), dir.path().join(LOCK));
        let lock = OpenOptions::new().write(true).create_new(true).open(&unlocked)?;
        lock.lock()?;
        fs::rename(unlocked, held)?;
        sweep(dir.path());
        Ok(Self { _lock: lock, dir })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Removes what lies beside a directory of ours and belongs to nobody any more. What cannot be removed stays.
fn sweep(own: &Path) {
    let Some(entries) = own.parent().and_then(|beside| fs::read_dir(beside).ok()) else { return };
    for entry in entries.flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_named && entry.path() != own && is_of_same(&entry.path(), own) && is_left(&entry.path()) {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// True for a directory of the same user, and no link to one.
fn is_of_same(path: &Path, own: &Path) -> bool {
    let (Ok(found), Ok(own)) = (path.symlink_metadata(), own.symlink_metadata()) else { return false };
    #[cfg(unix)]
    let is_same = std::os::unix::fs::MetadataExt::uid(&found) == std::os::unix::fs::MetadataExt::uid(&own);
    #[cfg(not(unix))]
    let is_same = own.is_dir();
    found.is_dir() && is_same
}

/// True where the process is gone that held it.
fn is_left(path: &Path) -> bool {
    let lock: PathBuf = path.join(LOCK);
    let is_file = lock.symlink_metadata().is_ok_and(|found| found.is_file());
    is_file && OpenOptions::new().write(true).open(lock).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_swept_and_all_else_stays() {
        let beside = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let dir = beside.path().join(name);
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join("copy.db"), "x").unwrap();
            dir
        };
        let (own, left, held, begun) = (at("own"), at("tessera-copy-a"), at("tessera-copy-b"), at("tessera-copy-c"));
        let others = at("other-copy-d");
        for dir in [&left, &held, &others] {
            fs::write(dir.join(LOCK), "").unwrap();
        }
        fs::write(begun.join(UNLOCKED), "").unwrap();
        let lock = OpenOptions::new().write(true).open(held.join(LOCK)).unwrap();
        lock.lock().unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&others, beside.path().join("tessera-copy-e")).unwrap();
        sweep(&own);
        assert!(!left.exists());
        assert!([&own, &held, &begun, &others].iter().all(|dir| dir.join("copy.db").is_file()));
        drop(lock);
        sweep(&own);
        assert!(!held.exists());
    }

    #[test]
    fn it_is_gone_when_it_is_dropped() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        assert!(path.join(LOCK).is_file() && !is_left(&path));
        drop(scratch);
        assert!(!path.exists());
    }
}
