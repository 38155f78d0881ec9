//! Reads small files that anybody may have written, and lists directories.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The maximum size of a small file.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a small file. Rejects pipes, which could block.
///
/// # Errors
/// Returns an error if it cannot be read, is not a file, or is larger than 1 MB.
pub fn read_small(path: &Path) -> io::Result<String> {
    let found = fs::metadata(path)?;
    match (found.is_file(), found.len()) {
        (true, 0..=MOST_BYTES) => fs::read_to_string(path),
        (true, _) => Err(io::Error::other("is longer than 1 MB")),
        (false, _) => Err(io::Error::other("is not a file")),
    }
}

/// Returns the text of a small file; `None` if it cannot be read, is too large or is not text.
pub fn small_text(path: &Path) -> Option<String> {
    read_small(path).ok()
}

/// The paths in a directory, sorted. Empty if the directory cannot be read.
pub fn entries(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

/// The paths in a directory whose names begin with a text, sorted.
pub fn beginning_with(dir: &Path, begin: &str) -> Vec<PathBuf> {
    let begins =
        |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(begin));
    entries(dir).into_iter().filter(begins).collect()
}
