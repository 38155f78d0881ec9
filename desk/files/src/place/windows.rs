//! An open directory, on Windows.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use crate::place::{Facts, Kind};
use crate::stamp::Stamp;

/// An open directory.
#[derive(Debug)]
pub(crate) struct Place(Dir);

impl Place {
    /// Opens a directory by the path that a person named.
    pub(crate) fn ambient(path: &Path) -> io::Result<Self> {
        Ok(Self(Dir::open_ambient_dir(path, ambient_authority())?))
    }

    /// The same directory, opened again.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Opens a subdirectory.
    pub(crate) fn sub(&self, name: &str) -> io::Result<Self> {
        Ok(Self(self.0.open_dir_nofollow(name)?))
    }

    /// The directory itself.
    pub(crate) fn own_facts(&self) -> io::Result<Facts> {
        facts_by_handle(&self.0.dir_metadata()?)
    }

    /// The metadata of a name. For a link, the metadata of the link itself.
    pub(crate) fn facts(&self, name: &str) -> io::Result<Facts> {
        let said = self.0.symlink_metadata(name)?;
        // Only an open file has the number of names and the file number.
        if said.is_file() { facts_of_file(&self.open(name)?) } else { facts_of(&said, 1, 0, 0) }
    }

    /// Opens a file for reading, unless it is a link.
    pub(crate) fn open(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        Ok(self.0.open_with(name, &options)?.into_std())
    }

    /// Creates a file under an unused name.
    pub(crate) fn open_new(&self, name: &str, _mode: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        Ok(self.0.open_with(name, &options)?.into_std())
    }

    /// Makes a directory.
    pub(crate) fn make_sub(&self, name: &str) -> io::Result<()> {
        self.0.create_dir(name)
    }

    pub(crate) fn remove_file(&self, name: &str) -> io::Result<()> {
        self.0.remove_file_or_symlink(name)
    }

    pub(crate) fn remove_sub(&self, name: &str) -> io::Result<()> {
        self.0.remove_dir(name)
    }

    /// Moves a file by a hard link with the new name, because a hard link cannot replace an existing file.
    pub(crate) fn move_new(&self, from: &str, there: &Self, to: &str) -> io::Result<()> {
        if self.0.symlink_metadata(from)?.is_file() {
            self.0.hard_link(from, &there.0, to)?;
            return self.remove_file(from);
        }
        if there.0.symlink_metadata(to).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.0.rename(from, &there.0, to)
    }

    /// Renames an entry, and replaces an existing one with the new name.
    pub(crate) fn replace(&self, from: &str, there: &Self, to: &str) -> io::Result<()> {
        self.0.rename(from, &there.0, to)
    }

    /// Calls `each` for every name with its kind, in no particular order. Returns the names that are not valid Unicode,
    /// in a readable form. No path can contain such a name.
    pub(crate) fn each_name(&self, each: &mut dyn FnMut(&str, Option<Kind>)) -> io::Result<Vec<String>> {
        let mut odd = Vec::new();
        for entry in self.0.entries()? {
            let entry = entry?;
            match entry.file_name().to_str() {
                Some(name) => each(name, entry.metadata().ok().map(|said| kind(&said))),
                None => odd.push(entry.file_name().to_string_lossy().into_owned()),
            }
        }
        Ok(odd)
    }

    /// On Windows, the system itself makes changed directory entries durable.
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "on other systems this function can fail, so it returns a `Result` here too"
    )]
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// A handle for locking. Windows cannot lock directories, so Tessera locks a file in the directory.
    pub(crate) fn lockable(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).follow(FollowSymlinks::No);
        Ok(self.0.open_with(".tessera-lock", &options)?.into_std())
    }

    /// The same directory for `cap-std`.
    pub(crate) fn capability(&self) -> io::Result<Dir> {
        self.0.try_clone()
    }
}

/// The metadata of an open file.
pub(crate) fn facts_of_file(file: &File) -> io::Result<Facts> {
    facts_by_handle(&Metadata::from_file(file)?)
}

/// Whether a process with this ID may be running. On Windows, the age decides.
pub(crate) fn is_running(_process: u32) -> bool {
    true
}

fn facts_by_handle(said: &Metadata) -> io::Result<Facts> {
    facts_of(said, said.nlink(), said.ino(), said.dev())
}

fn facts_of(said: &Metadata, links: u64, inode: u64, device: u64) -> io::Result<Facts> {
    let since = said.modified()?.into_std().duration_since(UNIX_EPOCH).unwrap_or_default();
    let modified = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
    let stamp = Stamp { size: said.len(), modified, inode };
    Ok(Facts { kind: kind(said), stamp, links, device, mode: 0 })
}

fn kind(said: &Metadata) -> Kind {
    if said.is_symlink() {
        Kind::Link
    } else if said.is_dir() {
        Kind::Directory
    } else if said.is_file() {
        Kind::File
    } else {
        Kind::Other
    }
}
