//! Which file a path names: another one may have taken its place.

use std::path::Path;

/// A file, by its device and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The file that a path names; `None` where there is none, or where the system does not number files.
    #[cfg(unix)]
    pub(crate) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let found = path.metadata().ok()?;
        Some(Self { device: found.dev(), inode: found.ino() })
    }

    #[cfg(not(unix))]
    pub(crate) fn of(_: &Path) -> Option<Self> {
        None
    }
}
