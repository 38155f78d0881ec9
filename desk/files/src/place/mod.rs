//! An open directory, and operations on one name in it. No function takes a path, so none can leave the directory. Unix
//! needs its own system calls; Windows uses `cap-std`.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::path::Path;

use cap_std::fs::Dir;

#[cfg(unix)]
pub(crate) use unix::{Place, facts_of_file, is_running};
#[cfg(windows)]
pub(crate) use windows::{Place, facts_of_file, is_running};

use crate::stamp::Stamp;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// The metadata of a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) stamp: Stamp,
    pub(crate) links: u64,
    pub(crate) device: u64,
    /// The Unix permission bits; 0 on other systems.
    pub(crate) mode: u32,
}

impl Facts {
    /// Whether the entry is a regular file with exactly one hard link. Another hard link could be anywhere.
    pub(crate) fn is_own_file(&self) -> bool {
        self.kind == Kind::File && self.links <= 1
    }

    /// Whether the file is write-protected for everybody, if the system has such a mode.
    pub(crate) fn is_read_only(&self) -> bool {
        cfg!(unix) && self.mode & 0o222 == 0
    }
}

/// The mode of new files: owner only.
pub(crate) const FILE_MODE: u32 = 0o600;
/// The mode of new directories: owner only.
#[cfg(unix)]
pub(crate) const DIRECTORY_MODE: u32 = 0o700;

/// The target of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a file beneath the root.
    File,
    /// To a directory below the root.
    Directory,
    /// The link points to a missing target, or to something that is never opened.
    Nothing,
    /// Out of the root.
    Outside,
}

/// The target of a link below a root: `cap-std` resolves it within the root.
pub(crate) fn target(root: &Place, relative: &str) -> Target {
    let Ok(root) = root.capability() else { return Target::Nothing };
    target_in(&root, relative)
}

fn target_in(root: &Dir, relative: &str) -> Target {
    match root.metadata(Path::new(relative)) {
        Ok(facts) if facts.is_file() => Target::File,
        Ok(facts) if facts.is_dir() => Target::Directory,
        Ok(_) => Target::Nothing,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Target::Outside,
        Err(_) => Target::Nothing,
    }
}
