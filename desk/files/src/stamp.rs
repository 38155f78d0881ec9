//! Recognises a file state by its metadata and bytes.

use serde::{Deserialize, Serialize};

use crate::error::FileError;
use crate::path::RelativePath;

/// The metadata of a file. Different stamps mean different states. Equal stamps mean the same state, unless a program
/// changes the file twice within one tick of the clock or sets its time back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
    /// The inode number; 0 if the file system has none.
    pub inode: u64,
}

/// A state of a file: its stamp, and the hash of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seen {
    /// The metadata of the file.
    pub stamp: Stamp,
    /// XXH3 of all bytes.
    pub hash: u64,
}

/// Identifies a folder's directory. The value changes when a file system is mounted over the directory or unmounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The file system.
    pub device: u64,
    /// The directory's number in it.
    pub inode: u64,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// All of it.
    pub bytes: Vec<u8>,
    /// The file's metadata, which was the same before and after reading.
    pub stamp: Stamp,
}

impl ReadFile {
    /// The state of the read file, for [`crate::Expected::Seen`].
    pub fn seen(&self) -> Seen {
        Seen { stamp: self.stamp, hash: hash(&self.bytes) }
    }

    /// Its text, where it is one.
    pub fn text(self, path: &RelativePath) -> Result<String, FileError> {
        String::from_utf8(self.bytes).map_err(|_| FileError::NotText { path: path.spelled().to_owned() })
    }
}

/// The hash that [`Seen`] holds.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}
