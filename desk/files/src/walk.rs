//! Scans a folder for texts and their states without opening files. Each directory has a digest, so unchanged ones need
//! no comparison.

use std::io;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::FileError;
use crate::path::MOST_DEPTH;
use crate::place::{Facts, Kind, Place};
use crate::stamp::Stamp;
use crate::tree::Tree;

/// The search criteria.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkOptions {
    /// Larger files are skipped.
    pub most_bytes: u64,
    /// The maximum number of files; beyond it, the walk is incomplete.
    pub most_files: usize,
    /// The extensions of text files, without a dot and in lowercase: `md`. If the list is empty, every extension is
    /// allowed, except those of binary files.
    pub endings: Vec<String>,
    /// A seed for the digests. If a caller changes its rules, it uses another seed. Then all directories count as
    /// changed.
    pub seed: u64,
}

/// Why a file is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// The extension of the file is typical of a picture, an archive or a program.
    Name,
    /// It is too large.
    TooLarge,
    /// The entry is not a regular file, but for example a link or a device.
    NoFile,
    /// Its name is not Unicode, so no path can express it.
    OddName,
}

/// A text in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Its name in the directory.
    pub name: String,
    /// Its state.
    pub stamp: Stamp,
}

/// An entry of the walk. Directories come before their subdirectories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A completely read directory.
    Directory {
        /// Its path below the folder; empty for the folder itself.
        path: &'a str,
        /// The digest of all names, sizes, times and inodes of its files; equal while nothing changes.
        digest: u64,
        /// The text files in it, sorted by name, without those of subdirectories.
        files: &'a [FoundFile],
    },
    /// An unreadable directory, or one with another file system mounted on it. Its known files stay valid.
    UnreadableDirectory {
        /// Beneath the folder.
        path: &'a str,
    },
    /// A file that could not be examined, or that has a second name. It is not deleted.
    UnreadableFile {
        /// Beneath the folder.
        path: &'a str,
    },
    /// A file that is skipped, because it is not a text or is too large. Hidden and temporary files are not reported.
    Unfit {
        /// Beneath the folder.
        path: &'a str,
        /// Why it is none.
        why: Unfit,
    },
}

/// The totals of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Walked {
    /// Directories that were read.
    pub directories: usize,
    /// Texts.
    pub files: usize,
    /// Unreadable directories and files.
    pub unreadable: usize,
    /// The number of skipped links, devices, and binary or too large files.
    pub left_out: usize,
    /// Whether the walk is complete. If the walk is incomplete, a missing file does not count as deleted.
    pub is_complete: bool,
}

impl Tree {
    /// Reports every text of the folder, and every unreadable directory and file.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder itself cannot be read; then nothing is known, and nothing is deleted.
    pub fn walk(&self, options: &WalkOptions, each: &mut dyn FnMut(Entry<'_>)) -> Result<Walked, FileError> {
        self.walk_for(Wanted::Files, options, each)
    }

    /// Scans the folder for changes only, without reporting files.
    ///
    /// # Errors
    ///
    /// As [`Tree::walk`].
    pub fn glance(&self, options: &WalkOptions, each: &mut dyn FnMut(Entry<'_>)) -> Result<Walked, FileError> {
        self.walk_for(Wanted::Digests, options, each)
    }

    fn walk_for(
        &self,
        wanted: Wanted,
        options: &WalkOptions,
        each: &mut dyn FnMut(Entry<'_>),
    ) -> Result<Walked, FileError> {
        let failed = |error: io::Error| self.unreachable(&error);
        let root = self.root().again().map_err(failed)?;
        let device = root.own_facts().map_err(failed)?.device;
        let look = Look { device, wanted, reads_linked: self.reads_linked() };
        let listed = Listed::of(&root, look, options).map_err(failed)?;
        let mut walk = Walk { look, options, each, walked: Walked { is_complete: true, ..Walked::default() } };
        walk.directory(&root, "", listed, 0);
        Ok(walk.walked)
    }
}

/// The purpose of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Files,
    /// Stores no names, and sorts nothing.
    Digests,
}

/// How names are looked at.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// The file system of the folder.
    device: u64,
    wanted: Wanted,
    reads_linked: bool,
}

struct Walk<'a> {
    look: Look,
    options: &'a WalkOptions,
    each: &'a mut dyn FnMut(Entry<'_>),
    walked: Walked,
}

impl Walk<'_> {
    fn directory(&mut self, place: &Place, path: &str, listed: Listed, depth: usize) {
        let rest = self.options.most_files.saturating_sub(self.walked.files);
        if listed.texts > rest {
            self.walked.is_complete = false;
            self.unreadable_directory(path);
            return;
        }
        self.walked.directories += 1;
        self.walked.files += listed.texts;
        self.walked.left_out += listed.left_out;
        self.walked.unreadable += listed.unreadable.len();
        (self.each)(Entry::Directory { path, digest: listed.digest, files: &listed.files });
        for name in &listed.unreadable {
            (self.each)(Entry::UnreadableFile { path: &joined(path, name) });
        }
        for (name, why) in &listed.unfit {
            (self.each)(Entry::Unfit { path: &joined(path, name), why: *why });
        }
        for name in &listed.directories {
            let inner = joined(path, name);
            if depth + 1 >= MOST_DEPTH {
                self.unreadable_directory(&inner);
                continue;
            }
            self.sub(place, name, &inner, depth + 1);
        }
    }

    fn sub(&mut self, place: &Place, name: &str, path: &str, depth: usize) {
        let opened = place.sub(name).and_then(|inner| {
            let facts = inner.own_facts()?;
            Ok((inner, facts))
        });
        match opened {
            // A mount hides the previous content, which is not deleted.
            Ok((_, facts)) if facts.device != self.look.device => self.unreadable_directory(path),
            Ok((inner, _)) => match Listed::of(&inner, self.look, self.options) {
                Ok(listed) => self.directory(&inner, path, listed, depth),
                Err(_) => self.unreadable_directory(path),
            },
            // It disappeared or changed after its name was read; the next walk reports it.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => {}
            Err(_) => match place.facts(name) {
                Ok(Facts { kind: Kind::Link | Kind::File | Kind::Other, .. }) => {
                    self.walked.left_out += 1;
                    (self.each)(Entry::Unfit { path, why: Unfit::NoFile });
                }
                _ => self.unreadable_directory(path),
            },
        }
    }

    fn unreadable_directory(&mut self, path: &str) {
        self.walked.unreadable += 1;
        (self.each)(Entry::UnreadableDirectory { path });
    }
}

/// One directory.
#[derive(Debug, Default)]
struct Listed {
    files: Vec<FoundFile>,
    directories: Vec<String>,
    unreadable: Vec<String>,
    /// Skipped files, if the caller wants their names.
    unfit: Vec<(String, Unfit)>,
    texts: usize,
    left_out: usize,
    digest: u64,
}

impl Listed {
    fn of(place: &Place, look: Look, options: &WalkOptions) -> io::Result<Self> {
        let digest_of_none = xxh3_64(&options.seed.to_le_bytes());
        let mut listed = Self { digest: digest_of_none, ..Self::default() };
        let mut bytes = Vec::new();
        let odd = place.each_name(&mut |name, kind| {
            if is_passing(name) {
                return;
            }
            match kind {
                Some(Kind::Directory) => listed.directories.push(name.to_owned()),
                Some(Kind::Link | Kind::Other) => listed.leave_out(name, Unfit::NoFile, look.wanted),
                Some(Kind::File) | None => {
                    let Some(stamp) = listed.look(place, name, look, options) else { return };
                    listed.texts += 1;
                    // The sum does not depend on the order of names.
                    listed.digest = listed.digest.wrapping_add(digest(name, &stamp, &mut bytes));
                    if look.wanted == Wanted::Files {
                        listed.files.push(FoundFile { name: name.to_owned(), stamp });
                    }
                }
            }
        })?;
        odd.iter().for_each(|name| listed.leave_out(name, Unfit::OddName, look.wanted));
        listed.files.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        listed.directories.sort_unstable();
        listed.unreadable.sort_unstable();
        listed.unfit.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(listed)
    }

    /// The state of a text file; any other entry is recorded as a directory, as skipped or as unreadable.
    fn look(&mut self, place: &Place, name: &str, look: Look, options: &WalkOptions) -> Option<Stamp> {
        let Look { device, wanted, reads_linked } = look;
        let facts = place.facts(name);
        let is_text = is_wanted(name, options);
        match facts {
            // If the kind was unknown, this may be a directory.
            Ok(Facts { kind: Kind::Directory, .. }) => self.directories.push(name.to_owned()),
            Ok(Facts { kind: Kind::Link | Kind::Other, .. }) => self.leave_out(name, Unfit::NoFile, wanted),
            _ if !is_text => self.leave_out(name, Unfit::Name, wanted),
            Ok(facts) if facts.device != device => self.leave_out(name, Unfit::NoFile, wanted),
            Ok(facts) if facts.links > 1 && !reads_linked => self.unreadable.push(name.to_owned()),
            Ok(facts) if facts.stamp.size > options.most_bytes => self.leave_out(name, Unfit::TooLarge, wanted),
            Ok(facts) => return Some(facts.stamp),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => self.unreadable.push(name.to_owned()),
        }
        None
    }

    fn leave_out(&mut self, name: &str, why: Unfit, wanted: Wanted) {
        self.left_out += 1;
        if wanted == Wanted::Files {
            self.unfit.push((name.to_owned(), why));
        }
    }
}

/// The digest of a text's metadata.
fn digest(name: &str, stamp: &Stamp, bytes: &mut Vec<u8>) -> u64 {
    bytes.clear();
    bytes.extend_from_slice(name.as_bytes());
    bytes.push(0);
    bytes.extend(stamp.size.to_le_bytes());
    bytes.extend(stamp.modified.to_le_bytes());
    bytes.extend(stamp.inode.to_le_bytes());
    xxh3_64(bytes)
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// Whether a name is hidden, temporary, created by a package manager, or contains characters that are not allowed.
fn is_passing(name: &str) -> bool {
    const ENDINGS: [&str; 8] = ["swp", "swo", "swx", "tmp", "part", "partial", "crdownload", "download"];
    match name.as_bytes() {
        [b'.', ..] | [b'~', b'$', ..] | [.., b'~'] | [b'#', .., b'#'] | b"4913" | b"node_modules" => true,
        bytes => {
            bytes.iter().any(|byte| byte.is_ascii_control() || *byte == b'\\')
                || ending(name).is_some_and(|ending| ENDINGS.contains(&ending))
        }
    }
}

/// Whether the options include text files with this name.
fn is_wanted(name: &str, options: &WalkOptions) -> bool {
    const NO_TEXTS: [&str; 38] = [
        "7z", "a", "avi", "bin", "bmp", "bz2", "class", "db", "dll", "docx", "dylib", "exe", "flac", "gif", "gz",
        "heic", "ico", "jpeg", "jpg", "m4a", "mkv", "mov", "mp3", "mp4", "o", "odt", "ogg", "pdf", "png", "pptx", "so",
        "sqlite", "tar", "wav", "webp", "xlsx", "zip", "zst",
    ];
    let is = |known: &str| ending(name).is_some_and(|ending| known.eq_ignore_ascii_case(ending));
    match options.endings.as_slice() {
        [] => ending(name) == Some("md") || !NO_TEXTS.iter().any(|known| is(known)),
        wanted => wanted.iter().any(|known| is(known)),
    }
}

/// The part after the last dot.
fn ending(name: &str) -> Option<&str> {
    let dot = name.bytes().rposition(|byte| byte == b'.')?;
    name.get(dot + 1..)
}
