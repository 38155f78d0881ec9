//! Keys in a separate file that only the owner can read. Each line contains one key; the first key encrypts new
//! secrets.
//!
//! A separate file protects against a person who gets the database without the key: in a backup, a copied or
//! synchronised file, or a disk image. A separate file does not protect against a program that runs as the same user,
//! or against a person who reads the whole home directory.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::key::{Key, KeyError, Keys};

/// An error of a key file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be read or written.
    #[error("{}: the key cannot be read or written", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It contains something else.
    #[error("{}: {source}", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: KeyError,
    },
}

/// Maximum size of a key file in bytes.
const MOST_BYTES: u64 = 64 * 1024;

/// The keys in a file; `None` if it does not exist.
///
/// # Errors
/// Returns an error if the file cannot be read, or contains something other than keys.
pub fn keys_in(path: &Path) -> Result<Option<Keys>, FileError> {
    let named = |source| FileError::Io { path: path.to_owned(), source };
    // Reading a pipe or a device would never end.
    if fs::metadata(path).is_ok_and(|found| !found.is_file() || found.len() > MOST_BYTES) {
        return Err(named(io::Error::new(io::ErrorKind::InvalidInput, "it is not a key file")));
    }
    let text = match fs::read_to_string(path) {
        Ok(text) => Zeroizing::new(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(named(error)),
    };
    let none = |source| FileError::NoKey { path: path.to_owned(), source };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut keys = lines.map(Key::from_hex).collect::<Result<Vec<_>, _>>().map_err(none)?.into_iter();
    let current = keys.next().ok_or_else(|| none(KeyError::Empty))?;
    Ok(Some(Keys { current, before: keys.collect() }))
}

/// Writes keys to a file atomically. If several processes create the file at once, the first one succeeds, and all
/// return its content. Existing keys are replaced only if `replacing` is true.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn write_keys(path: &Path, keys: &Keys, replacing: bool) -> Result<Keys, FileError> {
    let named = |source| FileError::Io { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{}", std::process::id(), keys.current.id()));
    let fresh = path.with_file_name(name);
    let written = write_fresh(&fresh, keys).and_then(|()| {
        if replacing {
            return fs::rename(&fresh, path);
        }
        // A link fails if the file exists. Then the other process's keys are read.
        let linked = fs::hard_link(&fresh, path);
        fs::remove_file(&fresh)?;
        linked.or_else(|error| if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
    });
    if let Err(error) = written {
        let _gone_already = fs::remove_file(&fresh);
        return Err(named(error));
    }
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(named)?;
    keys_in(path)?.ok_or_else(|| named(io::ErrorKind::NotFound.into()))
}

fn write_fresh(path: &Path, keys: &Keys) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    for key in std::iter::once(&keys.current).chain(&keys.before) {
        file.write_all(key.to_hex().as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_first_writes_the_key_and_all_read_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.key");
        assert!(keys_in(&path).unwrap().is_none());
        let ids: Vec<_> = std::thread::scope(|scope| {
            let write = || write_keys(&path, &Keys::of(Key::generate().unwrap()), false).unwrap().current.id();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let there = keys_in(&path).unwrap().unwrap();
        assert!(ids.iter().all(|id| *id == there.current.id()));
        let fresh = Key::generate().unwrap();
        let rotated = write_keys(&path, &there.followed_by(fresh.clone()), true).unwrap();
        assert_eq!((rotated.current.id(), rotated.before.len()), (fresh.id(), 1));
        assert_eq!(rotated.of_id(ids[0]).id(), ids[0]);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        for (text, told) in [("no key", "64 hexadecimal digits"), ("", "is empty")] {
            fs::write(&path, text).unwrap();
            assert!(keys_in(&path).unwrap_err().to_string().contains(told), "{text}");
        }
    }
}
