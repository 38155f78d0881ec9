//! What a person was told once, and is not told again.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use tessera_desk::files;

/// The file in the store's directory: one hash a line. Nothing of what was said can be read from it.
pub(crate) const FILE: &str = "told-once";

/// True the first time that this is asked for these words. Appended to without a lock: two sessions that begin at the
/// very same moment may both say it.
pub(crate) fn is_first(home: &Path, words: &str) -> bool {
    let mark = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(words.as_bytes()));
    let path = home.join(FILE);
    if files::small_text(&path).is_some_and(|told| told.lines().any(|line| line == mark)) {
        return false;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // What cannot be kept is not said, or it would be said each time.
    options.open(path).and_then(|mut file| writeln!(file, "{mark}")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_said_once() {
        let home = tempfile::tempdir().unwrap();
        assert!(is_first(home.path(), "a") && is_first(home.path(), "b"));
        assert!(!is_first(home.path(), "a") && !is_first(home.path(), "b"));
        assert!(!is_first(&home.path().join("gone"), "a"), "where it cannot be kept it is not said");
    }
}
