//! The snapshot as a file: mapped to read, replaced whole to write.

use std::fs::File;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use super::error::StoreError;
use super::private;
use crate::index::{Snapshot, SnapshotError};

/// Tells one version of the file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    len: u64,
    modified: Option<std::time::SystemTime>,
    inode: u64,
}

pub(crate) fn version(path: &Path) -> Option<Version> {
    let metadata = path.metadata().ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let inode = 0;
    Some(Version { len: metadata.len(), modified: metadata.modified().ok(), inode })
}

/// Maps and checks the file. Every byte is read for the checksum, so all pages are mapped at once.
pub(crate) fn map(path: &Path) -> Result<Snapshot<Mmap>, SnapshotError> {
    let file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SnapshotError::Missing,
        _ => SnapshotError::Damaged,
    })?;
    #[expect(unsafe_code, reason = "a map of a file that is only ever replaced by rename, never written in place")]
    // SAFETY: a process that truncated the file in place would make reads fault; ours never do, and
    // the directory is private to its owner.
    let bytes = unsafe { MmapOptions::new().populate().map(&file) }.map_err(|_| SnapshotError::Damaged)?;
    Snapshot::open(bytes)
}

/// Puts new bytes in its place. Readers keep the map they have.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    private::replace(path, bytes).map_err(|source| StoreError::file(path, source))
}
