//! Looking through a folder for texts: what is there and in which state, without opening a file. Each directory has a
//! digest, so that one where nothing changed is known without comparing its files.

use std::io;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::FileError;
use crate::path::MOST_DEPTH;
use crate::place::{Facts, Kind, Place};
use crate::stamp::Stamp;
use crate::tree::Tree;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkOptions {
    /// Files with more bytes are left out.
    pub most_bytes: u64,
    /// After so many files the walk ends, and says that it is not complete.
    pub most_files: usize,
    /// What names of texts end in, without the dot and in lower case: `md`. None: whatever is not known to be no text.
    pub endings: Vec<String>,
    /// What digests begin with: whoever takes other files than before for texts gives another number, and finds every
    /// directory changed.
    pub seed: u64,
}

/// Why a walk tells no text of something that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// Its name is one of a picture, an archive, a program.
    Name,
    /// It has more bytes than are asked for.
    TooLarge,
    /// It is a link, a device, or the like.
    NoFile,
    /// Its name is not Unicode: no path can say it.
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

/// What a walk tells, one directory after another, each before those that are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A directory that was read to its end.
    Directory {
        /// Beneath the folder; empty for the folder itself.
        path: &'a str,
        /// Of all names, sizes, times and numbers of its files: equal while nothing in it changes.
        digest: u64,
        /// Its texts, sorted by name. Those in directories within it come with these.
        files: &'a [FoundFile],
    },
    /// A directory that could not be read, or has another file system mounted on it: what is known of its files is as
    /// true as before.
    UnreadableDirectory {
        /// Beneath the folder.
        path: &'a str,
    },
    /// A file that could not be looked at, or is not opened because it has a second name: it is not gone.
    UnreadableFile {
        /// Beneath the folder.
        path: &'a str,
    },
    /// Something that is no text, or too large a one. What is hidden, or of an editor that writes, is not told.
    Unfit {
        /// Beneath the folder.
        path: &'a str,
        /// Why it is none.
        why: Unfit,
    },
}

/// What a walk found in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Walked {
    /// Directories that were read.
    pub directories: usize,
    /// Texts.
    pub files: usize,
    /// Directories and files that could not be read.
    pub unreadable: usize,
    /// Links, devices, files that are no texts, too large or being written: left out.
    pub left_out: usize,
    /// Whether it came to the end: if not, a file that was not told is not gone.
    pub is_complete: bool,
}

impl Tree {
    /// Tells every text of the folder, and every directory and file that could not be read.
    ///
    /// # Errors
    ///
    /// When the folder itself cannot be read: then nothing is known, and nothing is gone.
    pub fn walk(&self, options: &WalkOptions, each: &mut dyn FnMut(Entry<'_>)) -> Result<Walked, FileError> {
        self.walk_for(Wanted::Files, options, each)
    }

    /// The same for who asks only whether anything is other than it was: directories are told without their files.
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

/// What a walk is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Files,
    /// No name is kept, and nothing sorted.
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
            // What was mounted here hides what was in it, which is not gone.
            Ok((_, facts)) if facts.device != self.look.device => self.unreadable_directory(path),
            Ok((inner, _)) => match Listed::of(&inner, self.look, self.options) {
                Ok(listed) => self.directory(&inner, path, listed, depth),
                Err(_) => self.unreadable_directory(path),
            },
            // It went away, or became something else, after its name was read: the next walk tells which.
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
    /// What is no text, where names are wanted.
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
                    // The sum is the same in whatever order the system tells names.
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

    /// The state of a text; what is none is noted.
    fn look(&mut self, place: &Place, name: &str, look: Look, options: &WalkOptions) -> Option<Stamp> {
        let Look { device, wanted, reads_linked } = look;
        let facts = place.facts(name);
        let is_text = is_wanted(name, options);
        match facts {
            // Where the system did not say so before, this may be a directory.
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

/// What stands for the state of one text, made of all that is known of it without opening it.
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

/// Whether a name is hidden, installed by a package manager, an editor's for as long as it writes, or one that no path
/// can say.
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

/// Whether a file of this name may be a text that is wanted.
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

/// What stands behind the last dot.
fn ending(name: &str) -> Option<&str> {
    let dot = name.bytes().rposition(|byte| byte == b'.')?;
    name.get(dot + 1..)
}
