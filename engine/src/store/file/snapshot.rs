//! The snapshot file: memory-mapped for reading, replaced as a whole for writing.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use super::error::StoreError;
use super::private;
use crate::index::{HEADER, Identity, Snapshot, SnapshotError};

/// Distinguishes versions of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    len: u64,
    modified: Option<std::time::SystemTime>,
    inode: u64,
}

impl Version {
    /// Identifies the file until the system starts again: a disk may lose pages without power. `None` if the system does
    /// not say when it started.
    pub(crate) fn mark(&self) -> Option<String> {
        let since = self.modified?.duration_since(std::time::UNIX_EPOCH).ok()?;
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(format!("{} {} {} {}", self.len, since.as_nanos(), self.inode, boot.trim()))
    }
}

pub(crate) fn version(path: &Path) -> Option<Version> {
    let metadata = path.metadata().ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let inode = 0;
    Some(Version { len: metadata.len(), modified: metadata.modified().ok(), inode })
}

/// The identity of the snapshot in a file, without checking its content.
pub(crate) fn identity(path: &Path) -> Result<Identity, SnapshotError> {
    let mut header = [0; HEADER];
    opened(path)?.read_exact(&mut header).map_err(|_| SnapshotError::Damaged)?;
    Identity::of_header(&header)
}

fn opened(path: &Path) -> Result<File, SnapshotError> {
    File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SnapshotError::Missing,
        _ => SnapshotError::Damaged,
    })
}

/// Maps the file, and checks its checksum unless this version of the file is known to be good.
pub(crate) fn map(path: &Path, is_known: bool) -> Result<Snapshot<Mmap>, SnapshotError> {
    let file = opened(path)?;
    let mut options = MmapOptions::new();
    if !is_known {
        // The checksum needs every byte.
        options.populate();
    }
    #[expect(unsafe_code, reason = "the file is replaced only by rename and never written in place")]
    // SAFETY: if a process truncated the file in place, reads would fault. Our processes never do, and the directory is
    // private to its owner.
    let bytes = unsafe { options.map(&file) }.map_err(|_| SnapshotError::Damaged)?;
    if is_known { Snapshot::open_known(bytes) } else { Snapshot::open(bytes) }
}

/// Replaces the file. Readers keep the old map.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    private::replace(path, bytes).map_err(|source| StoreError::file(path, source))
}
