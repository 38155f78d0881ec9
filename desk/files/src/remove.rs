//! Removes files and directories. A directory first gets a hidden name in one step; its content is removed afterwards.

use std::io;

use crate::change::Expected;
use crate::error::FileError;
use crate::leftovers::{REMOVED, own_name};
use crate::path::RelativePath;
use crate::place::{Kind, Place};
use crate::tree::{Lock, Reach, Tree, system};

/// The maximum number of directories that are open at once, one inside another. Deeper directories are moved up before
/// they are deleted.
const MOST_OPEN: usize = 32;

impl Tree {
    /// Removes a file, a link (never its target), or a directory with its content.
    pub fn remove(&self, path: &RelativePath, expected: Expected) -> Result<(), FileError> {
        let lock = self.lock()?;
        self.remove_under(path, expected, &lock)
    }

    /// The same while the folder is locked.
    pub fn remove_under(&self, path: &RelativePath, expected: Expected, _lock: &Lock) -> Result<(), FileError> {
        let nothing = || FileError::Nothing { path: path.spelled().to_owned() };
        let at = match self.reach(path)? {
            Reach::Root => return Err(FileError::DeleteRoot { folder: self.name().to_owned() }),
            Reach::There(at) => at,
            Reach::NoParent | Reach::ParentIsFile(_) => return Err(nothing()),
        };
        let facts = at.facts.ok_or_else(nothing)?;
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => nothing(),
            _ => system(path, &error),
        };
        match facts.kind {
            Kind::Link => at.place.remove_file(&at.name).map_err(failed)?,
            Kind::File if facts.links <= 1 => {
                self.expect(path, &at, expected)?;
                at.place.remove_file(&at.name).map_err(failed)?;
            }
            Kind::Directory => {
                let inner = at.place.sub(&at.name).map_err(failed)?;
                if let Some(name) = odd_name(&inner, MOST_OPEN).map_err(failed)? {
                    return Err(FileError::OddName { path: path.spelled().to_owned(), name });
                }
                let gone = own_name(REMOVED);
                at.place.move_new(&at.name, &at.place, &gone).map_err(failed)?;
                at.place.sync().map_err(failed)?;
                // The directory is already gone from its path; the next writer removes the hidden rest.
                let _ = clear(&at.place, &gone);
                return Ok(());
            }
            Kind::File | Kind::Other => return Err(FileError::Unsupported { path: path.spelled().to_owned() }),
        }
        at.place.sync().map_err(|error| system(path, &error))
    }
}

/// Finds a name that no path can contain, in a directory and its subdirectories down to a given depth.
fn odd_name(here: &Place, depth: usize) -> io::Result<Option<String>> {
    let mut directories = Vec::new();
    let odd = here.each_name(&mut |name, kind| {
        if kind == Some(Kind::Directory) {
            directories.push(name.to_owned());
        }
    })?;
    if let Some(name) = odd.into_iter().next() {
        return Ok(Some(name));
    }
    for name in directories.into_iter().filter(|_| depth > 0) {
        // An unreadable directory makes the later removal fail.
        if let Ok(inner) = here.sub(&name)
            && let Some(odd) = odd_name(&inner, depth - 1)?
        {
            return Ok(Some(format!("{name}/{odd}")));
        }
    }
    Ok(None)
}

/// Removes a directory with its content. Opens only directories, and follows no links.
pub(crate) fn clear(place: &Place, name: &str) -> io::Result<()> {
    if place.facts(name)?.kind != Kind::Directory {
        // Something replaced it before it was moved here.
        return place.remove_file(name);
    }
    let top = place.sub(name)?;
    // Each round removes everything within the allowed depth, and moves the rest up.
    while empty(&top, &top, MOST_OPEN)? {}
    place.remove_sub(name)
}

/// Empties a directory. Returns true if it moved deep subdirectories up, so that another pass is necessary.
fn empty(here: &Place, top: &Place, depth: usize) -> io::Result<bool> {
    let mut names = Vec::new();
    here.each_name(&mut |name, kind| names.push((name.to_owned(), kind)))?;
    let mut was_moved = false;
    for (name, kind) in names {
        let is_directory = match kind {
            Some(kind) => kind == Kind::Directory,
            None => here.facts(&name)?.kind == Kind::Directory,
        };
        if !is_directory {
            here.remove_file(&name)?;
        } else if depth == 0 {
            here.move_new(&name, top, &own_name(REMOVED))?;
            was_moved = true;
        } else {
            was_moved |= empty(&here.sub(&name)?, top, depth - 1)?;
            here.remove_sub(&name)?;
        }
    }
    Ok(was_moved)
}
