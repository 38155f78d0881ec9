//! A directory by its handle, and what can be done with one name in it: nothing here takes a path, so nothing can lead
//! elsewhere. Unix says it in its own calls, Windows through `cap-std`.

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

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// What the system says of a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) stamp: Stamp,
    pub(crate) links: u64,
    pub(crate) device: u64,
    /// Who may read and write it; 0 where systems say that in other ways.
    pub(crate) mode: u32,
}

impl Facts {
    /// Whether it is a file that has this name alone: another name may be anywhere.
    pub(crate) fn is_own_file(&self) -> bool {
        self.kind == Kind::File && self.links <= 1
    }

    /// Whether nobody may write to it, where systems say that in its mode.
    pub(crate) fn is_read_only(&self) -> bool {
        cfg!(unix) && self.mode & 0o222 == 0
    }
}

/// Who may read what is made here: its owner.
pub(crate) const FILE_MODE: u32 = 0o600;
/// Who may look into a directory that is made here: its owner.
#[cfg(unix)]
pub(crate) const DIRECTORY_MODE: u32 = 0o700;

/// Where a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a file beneath the root.
    File,
    /// To a directory beneath the root.
    Directory,
    /// Nowhere, or to something that is never opened.
    Nothing,
    /// Out of the root.
    Outside,
}

/// Where a link beneath a root leads, without following it out: `cap-std` walks it within the root.
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
