//! Small files that anybody may have written.

use std::path::Path;
use std::{fs, io};

/// Bytes of a small file, at most.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a small file. A pipe, which would keep whoever opens it waiting, is no file.
///
/// # Errors
/// When it cannot be read, is no file, or is longer than a megabyte.
pub fn read_small(path: &Path) -> io::Result<String> {
    let found = fs::metadata(path)?;
    match (found.is_file(), found.len()) {
        (true, 0..=MOST_BYTES) => fs::read_to_string(path),
        (true, _) => Err(io::Error::other("is longer than a megabyte")),
        (false, _) => Err(io::Error::other("is no file")),
    }
}

/// The text of a small file of somebody else's; `None` when it is none, or no file at all.
pub fn small_text(path: &Path) -> Option<String> {
    read_small(path).ok()
}
