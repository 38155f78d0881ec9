//! Small files of somebody else's.

use std::fs;
use std::path::Path;

/// The text of a small file of somebody else's; `None` when it is none, or no file at all. A pipe, which would keep
/// whoever opens it waiting, is no file.
pub fn small_text(path: &Path) -> Option<String> {
    const MOST_BYTES: u64 = 1024 * 1024;
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}
