//! An open directory, on Linux and macOS.

use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawMode, RenameFlags, Stat};
use rustix::io::Errno;

use crate::place::{DIRECTORY_MODE, Facts, Kind};
use crate::stamp::Stamp;

/// An open directory.
#[derive(Debug)]
pub(crate) struct Place(OwnedFd);

/// Does not block: opening a FIFO returns at once, and its type is checked afterwards.
const LOOK: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// The buffer size for reading names.
#[cfg(target_os = "linux")]
const SPACE_OF_NAMES: usize = 16 * 1024;

impl Place {
    /// Opens a directory by the path that a person named. Only here is a link followed.
    pub(crate) fn ambient(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(CWD, path, LOOK | OFlags::DIRECTORY, Mode::empty())?))
    }

    /// The same directory, opened again.
    pub(crate) fn again(&self) -> io::Result<Self> {
        self.sub(".")
    }

    /// Opens a subdirectory.
    pub(crate) fn sub(&self, name: &str) -> io::Result<Self> {
        let flags = LOOK | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        Ok(Self(rustix::fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// The directory itself.
    pub(crate) fn own_facts(&self) -> io::Result<Facts> {
        Ok(facts(&rustix::fs::fstat(&self.0)?))
    }

    /// The metadata of a name. For a link, the metadata of the link itself.
    pub(crate) fn facts(&self, name: &str) -> io::Result<Facts> {
        Ok(facts(&rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Opens a file for reading, unless it is a link.
    pub(crate) fn open(&self, name: &str) -> io::Result<File> {
        let fd = rustix::fs::openat(&self.0, name, LOOK | OFlags::NOFOLLOW | OFlags::NOCTTY, Mode::empty())?;
        Ok(File::from(fd))
    }

    /// Creates a file under an unused name.
    pub(crate) fn open_new(&self, name: &str, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = bits(mode);
        let fd = rustix::fs::openat(&self.0, name, flags, mode)?;
        // The process mask applies at creation, and an edited file keeps its mode.
        rustix::fs::fchmod(&fd, mode)?;
        Ok(File::from(fd))
    }

    /// Creates a directory that only the owner can access.
    pub(crate) fn make_sub(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, bits(DIRECTORY_MODE))?)
    }

    pub(crate) fn remove_file(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(crate) fn remove_sub(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Renames to an unused name in one step.
    pub(crate) fn move_new(&self, from: &str, there: &Self, to: &str) -> io::Result<()> {
        match rustix::fs::renameat_with(&self.0, from, &there.0, to, RenameFlags::NOREPLACE) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => self.move_new_by_link(from, there, to),
            done => Ok(done?),
        }
    }

    /// On file systems without the necessary system call, moves a file by adding a hard link with the new name and then
    /// removing the old name. A directory cannot have two names, so it is renamed; a non-empty directory is never
    /// replaced.
    fn move_new_by_link(&self, from: &str, there: &Self, to: &str) -> io::Result<()> {
        if self.facts(from)?.kind == Kind::Directory {
            if there.facts(to).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            return Ok(rustix::fs::renameat(&self.0, from, &there.0, to)?);
        }
        rustix::fs::linkat(&self.0, from, &there.0, to, AtFlags::empty())?;
        self.remove_file(from)
    }

    /// Renames an entry. An existing entry with the new name is replaced.
    pub(crate) fn replace(&self, from: &str, there: &Self, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &there.0, to)?)
    }

    /// Calls `each` for every name except `.` and `..`, in no particular order, with the kind if known. Returns the
    /// names that are not valid Unicode, in a readable form. No path can contain such a name.
    pub(crate) fn each_name(&self, each: &mut dyn FnMut(&str, Option<Kind>)) -> io::Result<Vec<String>> {
        let mut odd = Vec::new();
        // Uses its own handle, because the read position belongs to the handle.
        let again = self.again()?;
        #[cfg(target_os = "linux")]
        let mut space = [MaybeUninit::uninit(); SPACE_OF_NAMES];
        #[cfg(target_os = "linux")]
        let mut entries = rustix::fs::RawDir::new(&again.0, &mut space);
        #[cfg(not(target_os = "linux"))]
        let mut entries = rustix::fs::Dir::new(again.0)?;
        while let Some(entry) = entries.next() {
            let entry = match entry {
                // A deleted directory has no names.
                Err(Errno::NOENT) => break,
                entry => entry?,
            };
            match entry.file_name().to_str() {
                Ok("." | "..") => {}
                Ok(name) => each(name, kind(entry.file_type())),
                Err(_) => odd.push(entry.file_name().to_string_lossy().into_owned()),
            }
        }
        Ok(odd)
    }

    /// Makes the names of this directory durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.0) {
            // Some file systems do not support this.
            Err(Errno::INVAL | Errno::NOTSUP | Errno::BADF) => Ok(()),
            done => Ok(done?),
        }
    }

    /// A separate handle for locking, because a lock belongs to a handle.
    pub(crate) fn lockable(&self) -> io::Result<File> {
        Ok(File::from(self.again()?.0))
    }

    /// The same directory for `cap-std`.
    pub(crate) fn capability(&self) -> io::Result<Dir> {
        Ok(Dir::from_std_file(self.lockable()?))
    }
}

/// The metadata of an open file.
pub(crate) fn facts_of_file(file: &File) -> io::Result<Facts> {
    Ok(facts(&rustix::fs::fstat(file.as_fd())?))
}

/// Whether a process with this number exists.
pub(crate) fn is_running(process: u32) -> bool {
    let Some(process) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    !matches!(rustix::process::test_kill_process(process), Err(Errno::SRCH))
}

fn bits(mode: u32) -> Mode {
    Mode::from_raw_mode(RawMode::try_from(mode).unwrap_or(0))
}

fn facts(stat: &Stat) -> Facts {
    let modified = whole(stat.st_mtime).saturating_mul(1_000_000_000).saturating_add(whole(stat.st_mtime_nsec));
    let stamp = Stamp { size: count(stat.st_size), modified, inode: count(stat.st_ino) };
    let kind = kind(FileType::from_raw_mode(stat.st_mode)).unwrap_or(Kind::Other);
    Facts { kind, stamp, links: count(stat.st_nlink), device: count(stat.st_dev), mode: permissions(stat.st_mode) }
}

/// The permission bits of a mode.
fn permissions(mode: impl TryInto<u32>) -> u32 {
    mode.try_into().unwrap_or(0) & 0o777
}

fn kind(kind: FileType) -> Option<Kind> {
    match kind {
        FileType::RegularFile => Some(Kind::File),
        FileType::Directory => Some(Kind::Directory),
        FileType::Symlink => Some(Kind::Link),
        FileType::Unknown => None,
        _ => Some(Kind::Other),
    }
}

/// Converts a number to `i64`, because systems use integers of different widths.
fn whole(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

fn count(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}
