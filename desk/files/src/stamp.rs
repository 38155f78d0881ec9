//! How a file is known again: by what the system says of it, and by its bytes.

use serde::{Deserialize, Serialize};

use crate::error::FileError;
use crate::path::RelativePath;

/// What the system says of a file. Two stamps that differ are of two states; equal ones are of one, but for writers
/// that are quicker than the system's clock or set it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
    /// Its number in the file system; 0 where there are none.
    pub inode: u64,
}

/// A state of a file: its stamp and the hash of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seen {
    /// What the system said.
    pub stamp: Stamp,
    /// XXH3 of all bytes.
    pub hash: u64,
}

/// Which directory a folder is: another one when a file system was mounted over it, or taken away from it.
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
    /// What the system said of it before and after it was read.
    pub stamp: Stamp,
}

impl ReadFile {
    /// What it was, to be told to [`crate::Expected::Seen`].
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
