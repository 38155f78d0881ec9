//! Writes and moves files. Each change is one operation of the file system, and is durable before it is reported.

use std::io::{self, Write};

use crate::error::FileError;
use crate::leftovers::{UNFINISHED, own_name, survey};
use crate::path::RelativePath;
use crate::place::{FILE_MODE, Facts, Kind, Place, facts_of_file};
use crate::stamp::{Seen, Stamp, hash};
use crate::tree::{Lock, Reach, Reached, Tree, system};

/// The state that a file must have before a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// No file exists with this name, or with a name that some file system considers equal.
    Absent,
    /// As the system said of it.
    Same(Stamp),
    /// The file has this stamp and these bytes.
    Seen(Seen),
    /// Whatever it is.
    Any,
}

impl Tree {
    /// Writes a file atomically; the new file is durable afterwards.
    pub fn write(&self, path: &RelativePath, text: &[u8], expected: Expected) -> Result<Stamp, FileError> {
        let lock = self.lock()?;
        self.write_under(path, text, expected, &lock)
    }

    /// Writes a file for a caller that has locked the folder.
    pub fn write_under(
        &self,
        path: &RelativePath,
        text: &[u8],
        expected: Expected,
        lock: &Lock,
    ) -> Result<Stamp, FileError> {
        if !path.is_root() {
            path.check_writable()?;
        }
        self.write_unchecked(path, text, expected, lock)
    }

    /// Restores a file, unless its name is in use again. Names that are invalid for new files are allowed.
    pub fn put_back(&self, path: &RelativePath, text: &[u8]) -> Result<Stamp, FileError> {
        let lock = self.lock()?;
        self.write_unchecked(path, text, Expected::Absent, &lock)
    }

    fn write_unchecked(
        &self,
        path: &RelativePath,
        text: &[u8],
        expected: Expected,
        lock: &Lock,
    ) -> Result<Stamp, FileError> {
        let exists = || FileError::Exists { path: path.spelled().to_owned() };
        if path.is_root() {
            return Err(exists());
        }
        self.make_parents_under(path, lock)?;
        let Reach::There(at) = self.reach(path)? else {
            return Err(FileError::Changed { path: path.spelled().to_owned() });
        };
        let failed = |error: io::Error| system(path, &error);
        let survey = survey(&at.place, &at.name).map_err(failed)?;
        let is_new = match (at.facts, expected) {
            (Some(_), Expected::Absent) => return Err(exists()),
            (Some(facts), _) if !facts.is_own_file() => return Err(self.refused(path, &facts)),
            // Replacing a read-only file would bypass its owner's wish.
            (Some(facts), _) if facts.is_read_only() => {
                return Err(failed(io::ErrorKind::PermissionDenied.into()));
            }
            (None, Expected::Same(_) | Expected::Seen(_)) => {
                return Err(FileError::Gone { path: path.spelled().to_owned() });
            }
            (found, _) => found.is_none(),
        };
        if is_new && let Some(existing) = &survey.twin {
            return Err(FileError::Twin { path: path.spelled().to_owned(), existing: existing.clone() });
        }
        let mode = at.facts.map_or(FILE_MODE, |facts| facts.mode);
        let (unfinished, stamp) = write_unfinished(&at.place, text, mode).map_err(failed)?;
        let named = if is_new {
            at.place.move_new(&unfinished, &at.place, &at.name).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => exists(),
                _ => failed(error),
            })
        } else {
            self.expect(path, &at, expected)
                .and_then(|()| at.place.replace(&unfinished, &at.place, &at.name).map_err(failed))
        };
        if let Err(error) = named {
            // The file is hidden; the next writer removes it if this fails.
            let _ = at.place.remove_file(&unfinished);
            return Err(error);
        }
        at.place.sync().map_err(failed)?;
        survey.clear(&at.place, stamp.modified);
        Ok(stamp)
    }

    /// Moves a file or a directory to a path that does not exist yet.
    pub fn rename(&self, from: &RelativePath, to: &RelativePath) -> Result<(), FileError> {
        let lock = self.lock()?;
        self.rename_under(from, to, &lock)
    }

    /// Moves a file or a directory to a path that does not exist yet, for a caller that has locked the folder.
    pub fn rename_under(&self, from: &RelativePath, to: &RelativePath, lock: &Lock) -> Result<(), FileError> {
        to.check_writable()?;
        let (source, _) = self.movable(from, to)?;
        self.make_parents_under(to, lock)?;
        let changed = || FileError::Changed { path: to.spelled().to_owned() };
        let Reach::There(target) = self.reach(to)? else { return Err(changed()) };
        let there = || FileError::DestinationExists { path: to.spelled().to_owned() };
        let is_case_alone = is_one_file(&source, &target);
        if target.facts.is_some() && !is_case_alone {
            return Err(there());
        }
        let moved = if is_case_alone {
            source.place.replace(&source.name, &target.place, &target.name)
        } else {
            source.place.move_new(&source.name, &target.place, &target.name)
        };
        moved.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => there(),
            io::ErrorKind::NotFound => FileError::Nothing { path: from.spelled().to_owned() },
            io::ErrorKind::InvalidInput => {
                FileError::IntoItself { from: from.spelled().to_owned(), to: to.spelled().to_owned() }
            }
            _ => system(from, &error),
        })?;
        target.place.sync().and_then(|()| source.place.sync()).map_err(|error| system(to, &error))
    }

    /// Changes only the spelling of a path, such as its case or accents, if a file system treats both spellings as
    /// equal. Parent directories whose spelling differs are renamed too. Returns false if the names differ in more than
    /// their spelling, or if both paths exist.
    pub fn respell(&self, from: &RelativePath, to: &RelativePath) -> Result<bool, FileError> {
        if !from.is_twin_of(to) {
            return Ok(false);
        }
        let lock = self.lock()?;
        let mut above = String::new();
        for (old, new) in from.names().zip(to.names()) {
            if old != new {
                let [old, new] = [old, new].map(|name| RelativePath::found(&format!("{above}{name}"), to.folder()));
                match self.rename_under(&old?, &new?, &lock) {
                    // Another file of the directory came first.
                    Ok(()) | Err(FileError::Nothing { .. }) => {}
                    Err(FileError::DestinationExists { .. }) => return Ok(false),
                    Err(error) => return Err(error),
                }
            }
            above = format!("{above}{new}/");
        }
        Ok(true)
    }

    /// Checks a move, and returns what would move. Changes nothing.
    pub(crate) fn movable(&self, from: &RelativePath, to: &RelativePath) -> Result<(Reached, Facts), FileError> {
        let nothing = || FileError::Nothing { path: from.spelled().to_owned() };
        let source = match self.reach(from)? {
            Reach::Root => return Err(FileError::RenameRoot { folder: self.name().to_owned() }),
            Reach::There(at) => at,
            Reach::NoParent | Reach::ParentIsFile(_) => return Err(nothing()),
        };
        let facts = source.facts.ok_or_else(nothing)?;
        if facts.kind != Kind::Directory && !facts.is_own_file() {
            return Err(self.refused(from, &facts));
        }
        let there = || FileError::DestinationExists { path: to.spelled().to_owned() };
        if from.holds(to) {
            return Err(if facts.kind == Kind::Directory {
                FileError::IntoItself { from: from.spelled().to_owned(), to: to.spelled().to_owned() }
            } else {
                FileError::ParentIsFile { path: to.spelled().to_owned(), parent: source.name }
            });
        }
        match self.reach(to)? {
            Reach::Root => return Err(there()),
            Reach::There(target) => {
                if target.facts.is_some() && !is_one_file(&source, &target) {
                    return Err(there());
                }
                let twin = survey(&target.place, &target.name).map_err(|error| system(to, &error))?.twin;
                let is_source = twin.as_deref() == Some(source.name.as_str()) && is_one_place(&source, &target);
                if let Some(existing) = twin.filter(|_| !is_source) {
                    return Err(FileError::Twin { path: to.spelled().to_owned(), existing });
                }
            }
            Reach::NoParent => self.parents_can_be_made(to)?,
            Reach::ParentIsFile(parent) => {
                return Err(FileError::ParentIsFile { path: to.spelled().to_owned(), parent });
            }
        }
        Ok((source, facts))
    }

    /// Creates the parent directories of a path, accessible only to the owner.
    pub fn make_parents(&self, path: &RelativePath) -> Result<(), FileError> {
        path.check_writable()?;
        let lock = self.lock()?;
        self.make_parents_under(path, &lock)
    }

    fn make_parents_under(&self, path: &RelativePath, _lock: &Lock) -> Result<(), FileError> {
        self.descend(path, true)
    }

    /// Checks whether [`Tree::make_parents`] would succeed. Changes nothing.
    pub(crate) fn parents_can_be_made(&self, path: &RelativePath) -> Result<(), FileError> {
        self.descend(path, false)
    }

    fn descend(&self, path: &RelativePath, makes: bool) -> Result<(), FileError> {
        let Some((parents, _)) = path.split() else { return Ok(()) };
        let failed = |error: io::Error| system(path, &error);
        let mut place = self.root().again().map_err(|error| self.unreachable(&error))?;
        for (depth, name) in parents.iter().enumerate() {
            if let Ok(inner) = place.sub(name) {
                place = inner;
                continue;
            }
            if place.facts(name).is_ok() {
                let error = place.sub(name).err().unwrap_or_else(|| io::ErrorKind::NotADirectory.into());
                return match self.blocked(path, &place, depth, &error)? {
                    Reach::ParentIsFile(parent) => {
                        Err(FileError::ParentIsFile { path: path.spelled().to_owned(), parent })
                    }
                    _ => Err(FileError::Changed { path: path.spelled().to_owned() }),
                };
            }
            if let Some(existing) = survey(&place, name).map_err(failed)?.twin {
                return Err(FileError::Twin { path: path.spelled().to_owned(), existing });
            }
            if !makes {
                return Ok(());
            }
            match place.make_sub(name) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
                _ => place.sync().map_err(failed)?,
            }
            place = place.sub(name).map_err(failed)?;
        }
        Ok(())
    }

    /// Checks a file immediately before its change.
    pub(crate) fn expect(&self, path: &RelativePath, at: &Reached, expected: Expected) -> Result<(), FileError> {
        let changed = || FileError::Changed { path: path.spelled().to_owned() };
        let (stamp, content) = match expected {
            Expected::Any => return Ok(()),
            Expected::Absent => return Err(FileError::Exists { path: path.spelled().to_owned() }),
            Expected::Same(stamp) => (stamp, None),
            Expected::Seen(seen) => (seen.stamp, Some(seen.hash)),
        };
        let facts = at.place.facts(&at.name).map_err(|_| changed())?;
        if !facts.is_own_file() || facts.stamp != stamp {
            return Err(changed());
        }
        if let Some(content) = content {
            let now = self.read_reached(path, at, stamp.size).map_err(|_| changed())?;
            if hash(&now.bytes) != content {
                return Err(changed());
            }
        }
        Ok(())
    }
}

/// Writes a text under a hidden name, and makes it durable before the rename.
fn write_unfinished(place: &Place, text: &[u8], mode: u32) -> io::Result<(String, Stamp)> {
    loop {
        let name = own_name(UNFINISHED);
        let mut file = match place.open_new(&name, mode) {
            // An earlier process with our number was killed here.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        let written = file.write_all(text).and_then(|()| file.sync_all()).and_then(|()| facts_of_file(&file));
        drop(file);
        return match written {
            Ok(facts) => Ok((name, facts.stamp)),
            Err(error) => {
                // The full disk is reported in any case.
                let _ = place.remove_file(&name);
                Err(error)
            }
        };
    }
}

/// True if both names refer to the same file, because the file system ignores the difference.
fn is_one_file(one: &Reached, other: &Reached) -> bool {
    let (Some(first), Some(second)) = (one.facts, other.facts) else { return false };
    one.name != other.name
        && crate::path::are_twins(&one.name, &other.name)
        && is_one_place(one, other)
        && (first.device, first.stamp.inode) == (second.device, second.stamp.inode)
}

fn is_one_place(one: &Reached, other: &Reached) -> bool {
    match (one.place.own_facts(), other.place.own_facts()) {
        (Ok(one), Ok(other)) => (one.device, one.stamp.inode) == (other.device, other.stamp.inode),
        _ => false,
    }
}
