//! What a folder looks like: its directories, each with its texts and one number that stands for them.

use std::collections::{BTreeMap, BTreeSet};

use tessera_files::{Entry, FileError, Stamp, Tree, WalkOptions};

use super::read::MOST_BYTES;
use super::refresh::holds_token;

/// Counted up whenever other files than before are left out: every directory is compared once more then, so that no file
/// stays out of sight for a rule that is not there any more.
const RULES: u64 = 2;
/// Files of a folder that are looked at, at most.
const MOST_FILES: usize = 200_000;

/// A folder as it looks.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) directories: Vec<Directory>,
    /// Directories that could not be read to their end: what is known of their files is as true as before.
    pub(super) unreadable: Vec<String>,
}

/// A directory of a folder.
#[derive(Debug)]
pub(super) struct Directory {
    /// Beneath the folder; empty for itself.
    pub(super) path: String,
    pub(super) digest: u64,
    /// Its texts, by their paths beneath the folder.
    pub(super) files: Vec<(String, Stamp)>,
    /// Files that are there and could not be looked at.
    pub(super) unreadable: Vec<String>,
    /// What is there and no text to be read: too large, a link.
    pub(super) unfit: Vec<String>,
}

impl Look {
    /// Looks through a folder.
    ///
    /// # Errors
    /// When the folder itself cannot be read.
    pub(super) fn at(tree: &Tree) -> Result<Self, FileError> {
        let mut look = Self::default();
        tree.walk(&options(), &mut |entry| match entry {
            // Nothing in it is known, and neither is it: its name would be noted.
            Entry::Directory { path, .. } if holds_token(path) => {}
            Entry::Directory { path, digest, files } => look.directories.push(Directory {
                path: path.to_owned(),
                digest,
                files: files.iter().map(|file| (joined(path, &file.name), file.stamp)).collect(),
                unreadable: Vec::new(),
                unfit: Vec::new(),
            }),
            Entry::UnreadableDirectory { path } => look.unreadable.push(path.to_owned()),
            Entry::UnreadableFile { path } => {
                if let Some(directory) = look.directories.last_mut() {
                    directory.unreadable.push(path.to_owned());
                }
            }
            Entry::Unfit { path, .. } => {
                if let Some(directory) = look.directories.last_mut() {
                    directory.unfit.push(path.to_owned());
                }
            }
        })?;
        Ok(look)
    }

    /// True where there is no text in it.
    pub(super) fn is_empty(&self) -> bool {
        self.directories.iter().all(|directory| directory.files.is_empty())
    }

    /// All that stands there and is no directory.
    pub(super) fn standing(&self) -> BTreeSet<&str> {
        let files = self.directories.iter().flat_map(|directory| {
            directory.files.iter().map(|(path, _)| path).chain(&directory.unfit).chain(&directory.unreadable)
        });
        files.map(String::as_str).collect()
    }

    /// True for a directory of which it is not known what is in it.
    pub(super) fn hides(&self, path: &str) -> bool {
        self.unreadable.iter().any(|hidden| is_below(path, hidden))
    }
}

/// True when a folder looks as its directories are known to, without keeping what is in them.
///
/// # Errors
/// When the folder itself cannot be read.
pub(super) fn is_as_known(tree: &Tree, known: &BTreeMap<String, u64>) -> Result<bool, FileError> {
    let (mut is_same, mut same, mut hidden) = (true, 0, Vec::new());
    tree.glance(&options(), &mut |entry| match entry {
        Entry::Directory { path, digest, .. } if known.get(path) == Some(&digest) => same += 1,
        Entry::Directory { path, .. } => is_same = is_same && holds_token(path),
        Entry::UnreadableDirectory { path } => hidden.push(path.to_owned()),
        Entry::UnreadableFile { .. } | Entry::Unfit { .. } => {}
    })?;
    let not_seen = || known.keys().filter(|path| hidden.iter().any(|hidden| is_below(path, hidden))).count();
    Ok(is_same && same + if hidden.is_empty() { 0 } else { not_seen() } == known.len())
}

/// The directories of a folder, beneath it; `None` for more than so many.
///
/// # Errors
/// When the folder itself cannot be read.
#[cfg(feature = "team")]
pub(super) fn directories(tree: &Tree, most: usize) -> Result<Option<Vec<String>>, FileError> {
    let mut found = Vec::new();
    tree.glance(&options(), &mut |entry| match entry {
        Entry::Directory { path, .. } | Entry::UnreadableDirectory { path } => found.push(path.to_owned()),
        Entry::UnreadableFile { .. } | Entry::Unfit { .. } => {}
    })?;
    Ok((found.len() <= most).then_some(found))
}

pub(super) fn options() -> WalkOptions {
    WalkOptions { most_bytes: MOST_BYTES, most_files: MOST_FILES, endings: Vec::new(), seed: RULES }
}

/// A path and those of the directories that it is in.
pub(super) fn upwards(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(directory, _)| directory))
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path == directory || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

pub(super) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
