//! The folder: its open directory, its name, path lookup, reading, and the writers' lock.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::error::FileError;
use crate::path::RelativePath;
use crate::place::{self, Facts, Kind, Place, Target, facts_of_file};
use crate::stamp::{Identity, ReadFile};

/// The folder for models. In this folder, a file with several hard links is not opened, because the other name may be
/// outside.
const MEMORIES: &str = "memories";
/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause between two attempts.
const NAP: Duration = Duration::from_millis(2);

/// A folder of files.
#[derive(Debug)]
pub struct Tree {
    root: Place,
    path: PathBuf,
    name: String,
}

/// While this lock is held, no other command writes to the folder. Editors ignore it.
#[derive(Debug)]
pub struct Lock {
    /// None if the file system has no locks.
    _held: Option<File>,
}

/// The result of a path lookup.
#[derive(Debug)]
pub(crate) struct Reached {
    /// The directory that it is in.
    pub(crate) place: Place,
    /// Its name there.
    pub(crate) name: String,
    /// Its metadata; none if the name does not exist.
    pub(crate) facts: Option<Facts>,
}

/// How far a path could be followed.
#[derive(Debug)]
pub(crate) enum Reach {
    /// It is the folder itself.
    Root,
    /// Its directory is there.
    There(Reached),
    /// A parent directory does not exist.
    NoParent,
    /// A parent of the path is a file, with this name.
    ParentIsFile(String),
}

impl Tree {
    /// Opens an existing directory. A link in the folder's own path is followed, because the user chose this path.
    pub fn open(directory: &Path, name: &str) -> Result<Self, FileError> {
        let refused = |error: io::Error| FileError::Folder { folder: name.to_owned(), reason: error.kind() };
        let is_plain = !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0']);
        if !is_plain {
            return Err(refused(io::ErrorKind::InvalidInput.into()));
        }
        let root = Place::ambient(directory).map_err(refused)?;
        Ok(Self { root, path: directory.to_owned(), name: name.to_owned() })
    }

    /// Opens a directory, and creates it with its parents if necessary, accessible only to the owner.
    pub fn create(directory: &Path, name: &str) -> Result<Self, FileError> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, place::DIRECTORY_MODE);
        builder
            .create(directory)
            .map_err(|error| FileError::Folder { folder: name.to_owned(), reason: error.kind() })?;
        Self::open(directory, name)
    }

    /// The folder's name, with which paths begin.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether files with a second name are read, for example in a vault with hard-link backups. Such files are never
    /// written.
    pub(crate) fn reads_linked(&self) -> bool {
        self.name != MEMORIES
    }

    /// True for a file with more than one name (hard links).
    pub fn has_second_name(&self, path: &RelativePath) -> bool {
        let Ok(Reach::There(Reached { facts: Some(facts), .. })) = self.reach(path) else { return false };
        facts.kind == Kind::File && facts.links > 1
    }

    fn may_read(&self, facts: &Facts) -> bool {
        facts.kind == Kind::File && (facts.links <= 1 || self.reads_linked())
    }

    /// Parses a path like [`RelativePath::parse`], for this folder.
    pub fn path(&self, spelled: &str) -> Result<RelativePath, FileError> {
        RelativePath::parse(spelled, &self.name)
    }

    /// Parses the path of an existing file, whose name may be invalid on other systems.
    pub(crate) fn known_path(&self, spelled: &str) -> Result<RelativePath, FileError> {
        let refused = match self.path(spelled) {
            Err(refused @ FileError::Name { .. }) if cfg!(unix) => refused,
            parsed => return parsed,
        };
        let Ok(local) = RelativePath::parse_local(spelled, &self.name) else { return Err(refused) };
        match self.reach(&local)? {
            Reach::There(Reached { facts: Some(_), .. }) => Ok(local),
            _ => Err(refused),
        }
    }

    /// Which directory it is.
    pub fn identity(&self) -> Result<Identity, FileError> {
        let facts = self.root.own_facts().map_err(|error| self.unreachable(&error))?;
        Ok(Identity { device: facts.device, inode: facts.stamp.inode })
    }

    /// Whether the folder's path still leads to the opened directory: false after the directory was deleted, replaced
    /// or covered by a mount.
    pub fn is_current(&self) -> bool {
        let now = Self::open(&self.path, &self.name).and_then(|tree| tree.identity());
        matches!((now, self.identity()), (Ok(now), Ok(own)) if now == own)
    }

    /// Reads a complete file. Fails if the file is too large or a link is in its path.
    pub fn read(&self, path: &RelativePath, most: u64) -> Result<ReadFile, FileError> {
        let spelled = || path.spelled().to_owned();
        let reached = match self.reach(path)? {
            Reach::There(reached) => reached,
            Reach::Root => return Err(FileError::Unsupported { path: spelled() }),
            Reach::NoParent | Reach::ParentIsFile(_) => return Err(FileError::NotFound { path: spelled() }),
        };
        match reached.facts {
            None => Err(FileError::NotFound { path: spelled() }),
            Some(facts) if !self.may_read(&facts) => Err(self.refused(path, &facts)),
            Some(_) => self.read_reached(path, &reached, most),
        }
    }

    /// Reads a file that was already found.
    pub(crate) fn read_reached(&self, path: &RelativePath, at: &Reached, most: u64) -> Result<ReadFile, FileError> {
        let spelled = || path.spelled().to_owned();
        let file = match at.place.open(&at.name) {
            Ok(file) => file,
            Err(error) => {
                return Err(match at.place.facts(&at.name) {
                    // Another file replaced it since the lookup.
                    Ok(facts) if !self.may_read(&facts) => self.refused(path, &facts),
                    Err(gone) if gone.kind() == io::ErrorKind::NotFound => FileError::Gone { path: spelled() },
                    _ => system(path, &error),
                });
            }
        };
        let facts = facts_of_file(&file).map_err(|error| system(path, &error))?;
        if !self.may_read(&facts) {
            return Err(self.refused(path, &facts));
        }
        if facts.stamp.size > most {
            return Err(FileError::TooLarge { path: spelled(), bytes: facts.stamp.size, most });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(facts.stamp.size).unwrap_or(0));
        (&file).take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| system(path, &error))?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if length > most {
            return Err(FileError::TooLarge { path: spelled(), bytes: length, most });
        }
        let stamp = facts_of_file(&file).map_err(|error| system(path, &error))?.stamp;
        // A half-written file is not a valid state.
        if stamp != facts.stamp || stamp.size != length {
            return Err(FileError::Changed { path: spelled() });
        }
        Ok(ReadFile { bytes, stamp })
    }

    /// Locks the folder against other commands, and waits for a running one.
    pub fn lock(&self) -> Result<Lock, FileError> {
        let file = self.root.lockable().map_err(|error| self.unreachable(&error))?;
        let mut waited = Duration::ZERO;
        while waited < PATIENCE {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _held: Some(file) }),
                Err(TryLockError::WouldBlock) => sleep(NAP),
                // Without locks, only the check before each change protects.
                Err(TryLockError::Error(_)) => return Ok(Lock { _held: None }),
            }
            waited += NAP;
        }
        Err(FileError::Busy { folder: self.name.clone() })
    }

    pub(crate) fn root(&self) -> &Place {
        &self.root
    }

    /// Follows a path component by component.
    pub(crate) fn reach(&self, path: &RelativePath) -> Result<Reach, FileError> {
        let Some((parents, name)) = path.split() else { return Ok(Reach::Root) };
        let mut place = self.root.again().map_err(|error| self.unreachable(&error))?;
        for (depth, parent) in parents.iter().enumerate() {
            place = match place.sub(parent) {
                Ok(inner) => inner,
                Err(error) => return self.blocked(path, &place, depth, &error),
            };
        }
        let facts = match place.facts(name) {
            Ok(facts) => Some(facts),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(system(path, &error)),
        };
        Ok(Reach::There(Reached { place, name: name.to_owned(), facts }))
    }

    /// Why a parent directory could not be opened.
    pub(crate) fn blocked(
        &self,
        path: &RelativePath,
        at: &Place,
        depth: usize,
        error: &io::Error,
    ) -> Result<Reach, FileError> {
        let name = path.names().nth(depth).unwrap_or_default();
        match at.facts(name) {
            Ok(Facts { kind: Kind::Link, .. }) => Err(self.link(path, depth)),
            Ok(Facts { kind: Kind::Directory, .. }) => Err(system(path, error)),
            Ok(_) => Ok(Reach::ParentIsFile(name.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Reach::NoParent),
            Err(error) => Err(system(path, &error)),
        }
    }

    /// Why an existing name is not opened.
    pub(crate) fn refused(&self, path: &RelativePath, facts: &Facts) -> FileError {
        match facts.kind {
            Kind::Link => self.link(path, path.names().count().saturating_sub(1)),
            _ => FileError::Unsupported { path: path.spelled().to_owned() },
        }
    }

    /// Returns the error for a path with a link, which is never followed. The target of the link determines the error.
    fn link(&self, path: &RelativePath, depth: usize) -> FileError {
        let spelled = path.spelled().to_owned();
        let names: Vec<&str> = path.names().take(depth + 1).collect();
        match place::target(&self.root, &names.join("/")) {
            Target::Outside => FileError::Link {
                folder: self.name.clone(),
                path: spelled,
                component: names.last().copied().unwrap_or_default().to_owned(),
            },
            _ => FileError::Unsupported { path: spelled },
        }
    }

    pub(crate) fn unreachable(&self, error: &io::Error) -> FileError {
        FileError::Folder { folder: self.name.clone(), reason: error.kind() }
    }
}

/// The system's error, without a path.
pub(crate) fn system(path: &RelativePath, error: &io::Error) -> FileError {
    FileError::System { path: path.spelled().to_owned(), reason: error.kind() }
}
