//! The snapshot file: memory-mapped for reading, replaced as a whole for writing.

use std::fs::File;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use super::error::StoreError;
use super::private;
use crate::index::{Snapshot, SnapshotError};

/// Distinguishes versions of the file.
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

/// Maps and checks the file. The checksum needs every byte, so all pages are mapped at once.
pub(crate) fn map(path: &Path) -> Result<Snapshot<Mmap>, SnapshotError> {
    let file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SnapshotError::Missing,
        _ => SnapshotError::Damaged,
    })?;
    #[expect(unsafe_code, reason = "the file is replaced only by rename and never written in place")]
    // SAFETY: if a process truncated the file in place, reads would fault. Our processes never do, and the directory is
    // private to its owner.
    let bytes = unsafe { MmapOptions::new().populate().map(&file) }.map_err(|_| SnapshotError::Damaged)?;
    Snapshot::open(bytes)
}

/// Replaces the file. Readers keep the old map.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    private::replace(path, bytes).map_err(|source| StoreError::file(path, source))
}
