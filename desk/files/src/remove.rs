//! Taking files and directories away. A directory goes in one step, to a hidden name; what was in it goes after.
//!
//! How a file is known again: by what the system says of it, and by its bytes.
//!
//! What a writer that was killed leaves behind: hidden names of ours, which say whose they were.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::change::Expected;
use crate::error::FileError;
use crate::path::{OWN_PREFIX, RelativePath, are_twins, folded};
use crate::place::{Kind, Place, is_running};
use crate::tree::{Lock, Reach, Tree, system};

/// So many directories within one another are open at once; deeper ones are moved up first.
const MOST_OPEN: usize = 32;

impl Tree {
    /// Takes away a file, a link (never what it leads to), or a directory with all that is in it.
    pub fn remove(&self, path: &RelativePath, expected: Expected) -> Result<(), FileError> {
        let lock = self.lock()?;
        self.remove_under(path, expected, &lock)
    }

    /// The same while the folder is held.
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
                // It is gone already: what cannot be cleared away is hidden, and the next writer tries again.
                let _ = clear(&at.place, &gone);
                return Ok(());
            }
            Kind::File | Kind::Other => return Err(FileError::Unsupported { path: path.spelled().to_owned() }),
        }
        at.place.sync().map_err(|error| system(path, &error))
    }
}

/// A name that no path can say, in a directory or in one of those within it, down to a depth.
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
        // One that cannot be read is for whoever clears it to fail at.
        if let Ok(inner) = here.sub(&name)
            && let Some(odd) = odd_name(&inner, depth - 1)?
        {
            return Ok(Some(format!("{name}/{odd}")));
        }
    }
    Ok(None)
}

/// Removes a directory with all that is in it, opening nothing but directories and following nothing.
pub(crate) fn clear(place: &Place, name: &str) -> io::Result<()> {
    if place.facts(name)?.kind != Kind::Directory {
        // Something took its place before it was moved here.
        return place.remove_file(name);
    }
    let top = place.sub(name)?;
    // Each round takes away all that is not deeper than directories may be open, and brings the rest up.
    while empty(&top, &top, MOST_OPEN)? {}
    place.remove_sub(name)
}

/// Empties a directory; whether something was moved up to the top instead.
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

/// What the system says of a file. Two stamps that differ are of two states; equal ones are of one, but for writers
/// that are quicker than the system's clock or set it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
    /// Its number in the file system; 0 where there are none.
    pub inode: u64,
}

/// A state of a file: its stamp and the hash of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seen {
    /// What the system said.
    pub stamp: Stamp,
    /// XXH3 of all bytes.
    pub hash: u64,
}

/// Which directory a folder is: another one when a file system was mounted over it, or taken away from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The file system.
    pub device: u64,
    /// The directory's number in it.
    pub inode: u64,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// All of it.
    pub bytes: Vec<u8>,
    /// What the system said of it before and after it was read.
    pub stamp: Stamp,
}

impl ReadFile {
    /// What it was, to be told to [`crate::Expected::Seen`].
    pub fn seen(&self) -> Seen {
        Seen { stamp: self.stamp, hash: hash(&self.bytes) }
    }

    /// Its text, where it is one.
    pub fn text(self, path: &RelativePath) -> Result<String, FileError> {
        String::from_utf8(self.bytes).map_err(|_| FileError::NotText { path: path.spelled().to_owned() })
    }
}

/// The hash that [`Seen`] holds.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// After an hour nobody is still writing one file.
const HOUR: i64 = 3_600_000_000_000;
/// A file that is written and has no name of its own yet.
pub(crate) const UNFINISHED: &str = ".tmp";
/// A directory that is removed.
pub(crate) const REMOVED: &str = ".gone";

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A name that nothing else has.
pub(crate) fn own_name(ending: &str) -> String {
    format!("{OWN_PREFIX}{}-{}{ending}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// What one look through a directory tells a writer.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// A name that is the same as the one to be written to some file system.
    pub(crate) twin: Option<String>,
    leftovers: Vec<String>,
}

/// Looks through a directory for twins of a name, and for what killed writers left.
pub(crate) fn survey(place: &Place, name: &str) -> io::Result<Survey> {
    let mut found = Survey::default();
    let is_ascii = name.is_ascii();
    let fold = folded(name);
    place.each_name(&mut |other, _| {
        if other.starts_with(OWN_PREFIX) {
            found.leftovers.push(other.to_owned());
            return;
        }
        let is_twin = if is_ascii && other.is_ascii() {
            other != name && other.eq_ignore_ascii_case(&fold)
        } else {
            are_twins(other, name)
        };
        if is_twin {
            found.twin = Some(other.to_owned());
        }
    })?;
    Ok(found)
}

impl Survey {
    /// Clears away what was left, as of a time of this file system. The folder is locked, so nobody who minds the lock
    /// is writing; a writer on a file system without locks is known by its process, or by having begun just now.
    pub(crate) fn clear(&self, place: &Place, now: i64) {
        for name in &self.leftovers {
            let Ok(facts) = place.facts(name) else { continue };
            let is_old = now.saturating_sub(facts.stamp.modified) > HOUR;
            if !is_old && process(name).is_none_or(is_running) {
                continue;
            }
            // What cannot be cleared away now is hidden, and the next writer tries again.
            let _ = match facts.kind {
                Kind::Directory if name.ends_with(REMOVED) => clear(place, name),
                // A link that took a directory's place while it was removed is one name.
                Kind::Link | Kind::File if name.ends_with(UNFINISHED) || name.ends_with(REMOVED) => {
                    place.remove_file(name)
                }
                _ => Ok(()),
            };
        }
    }
}

/// Whose it was.
fn process(name: &str) -> Option<u32> {
    name.strip_prefix(OWN_PREFIX)?.split('-').next()?.parse().ok()
}
