//! Skipped files in watched folders, with reasons.
//!
//! Also reads a folder's state: its directories, with their texts and digests.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::FilePath;
use tessera_engine::screen::{findings, is_clean};
use tessera_engine::store::{Folder, StoreError};
use tessera_files::{Entry, FileError, RelativePath, Stamp, Tree, Unfit, WalkOptions};
use tessera_tables::names;

use super::read::{MOST_BYTES, seen};

/// The maximum number of listed files per reason.
const MOST_NAMED: usize = 3;
/// How many characters of a name that looks like a credential are shown: enough to find the file, but too few to use
/// the credential.
const SHOWN: usize = 4;
/// The maximum length of a file extension that is shown after such a name.
const MOST_OF_ENDING: usize = 4;

names! {
/// Why a file is skipped, in words for a list.
#[derive(PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// Its path looks like a credential, and paths are visible.
    Credential = "path looks like a credential",
    /// It is not UTF-8, or contains a NUL.
    NoText = "not text: not UTF-8, or contains NUL",
    /// It is too large to index.
    TooLarge = "larger than 1 MiB",
    /// It cannot be read. In `/memories`, a file with several hard links is skipped for this reason too.
    Unreadable = "unreadable, or a hard link",
    /// It was indexed before and cannot be read now. In `/memories`, a file with several hard links is skipped for this
    /// reason too.
    AsBefore = "recall still returns the earlier text, because the file is now unreadable or a hard link",
    /// Its path is too long.
    PathTooLong = "path is too long",
    /// It was not read yet.
    NotYet = "not read yet",
    /// The entry is a link or a device. Tessera does not follow links or open devices.
    NoFile = "a symbolic link or a device",
    /// The name is not UTF-8, so no path can contain it.
    OddName = "name is not UTF-8; rename the file",
    /// Its name belongs to a picture, an archive or a program.
    NoTextByName = "not text, according to the file extension",
}
}

/// The files of a folder that are skipped for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// The reason.
    pub why: Because,
    /// How many.
    pub files: usize,
    /// The first paths. A name that looks like a credential is shortened.
    pub some: Vec<String>,
}

/// The skipped files of a folder, by reason; empty if the folder is not available.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn left_out(store: &Store, folder: &Folder) -> Result<Vec<LeftOut>, StoreError> {
    Ok(found(store, folder)?.1)
}

/// If a directory contains a file that should be indexed but is not, marks the directory for comparison.
///
/// # Errors
/// Returns an error if the store cannot be read or written.
pub(super) fn doubt_what_is_not_known(store: &mut Store) -> Result<bool, StoreError> {
    let mut is_any = false;
    for folder in store.folders()? {
        let (directories, _) = found(store, &folder)?;
        is_any |= !directories.is_empty();
        let doubted: Vec<(String, Option<u64>)> = directories.into_iter().map(|path| (path, Some(0))).collect();
        store.note_digests(&folder.name, &doubted)?;
    }
    Ok(is_any)
}

/// Directories with an unread file, and all skipped files.
fn found(store: &Store, folder: &Folder) -> Result<(Vec<String>, Vec<LeftOut>), StoreError> {
    let Ok(tree) = Tree::open(&folder.dir, &folder.name) else { return Ok(Default::default()) };
    let known: Vec<String> =
        store.files_in(&folder.name)?.into_iter().map(|row| row.path.inside().to_owned()).collect();
    let is_known = |path: &str| known.binary_search_by(|known| known.as_str().cmp(path)).is_ok();
    let mut left: BTreeMap<Because, LeftOut> = BTreeMap::new();
    let mut unread = Vec::new();
    let mut note = |path: &str, why: Because| {
        let of = left.entry(why).or_insert_with(|| LeftOut { why, files: 0, some: Vec::new() });
        of.files += 1;
        if of.some.len() < MOST_NAMED {
            of.some.push(format!("/{}/{}", folder.name, shown(path)));
        }
    };
    // A folder that cannot be read is reported as not available.
    let _ = tree.walk(&options(), &mut |entry| match entry {
        Entry::Directory { path: directory, files, .. } => {
            for file in files {
                let path = joined(directory, &file.name);
                if !is_known(&path) {
                    let why = reason(&tree, folder, &path);
                    if why == Because::NotYet && unread.last().is_none_or(|last| last != directory) {
                        unread.push(directory.to_owned());
                    }
                    note(&path, why);
                }
            }
        }
        Entry::UnreadableFile { path } => {
            note(path, if is_known(path) { Because::AsBefore } else { Because::Unreadable });
        }
        Entry::UnreadableDirectory { path } => note(&format!("{path}/"), Because::Unreadable),
        Entry::Unfit { path, why } => note(
            path,
            match why {
                Unfit::Name => Because::NoTextByName,
                Unfit::TooLarge => Because::TooLarge,
                Unfit::NoFile => Because::NoFile,
                Unfit::OddName => Because::OddName,
            },
        ),
    });
    Ok((unread, left.into_values().collect()))
}

/// Why a found file is skipped.
fn reason(tree: &Tree, folder: &Folder, path: &str) -> Because {
    if holds_token(path) {
        return Because::Credential;
    }
    let Ok(named) = FilePath::new(&folder.name, path) else { return Because::PathTooLong };
    let read = RelativePath::found(path, &folder.name).and_then(|inside| tree.read(&inside, MOST_BYTES));
    match read.map(|read| seen(named, read)) {
        Ok(Some(_)) => Because::NotYet,
        Ok(None) => Because::NoText,
        Err(_) => Because::Unreadable,
    }
}

/// A path in which credential-like names are shortened.
fn shown(path: &str) -> String {
    let name = |name: &str| {
        if !holds_token(name) {
            return name.to_owned();
        }
        let begin: String = name.chars().take(SHOWN).collect();
        let is_short =
            |ending: &&str| ending.len() <= MOST_OF_ENDING && ending.bytes().all(|byte| byte.is_ascii_alphabetic());
        let ending = name.rsplit_once('.').map(|(_, ending)| ending).filter(is_short);
        format!("{begin}…{}", ending.map(|ending| format!(".{ending}")).unwrap_or_default())
    };
    path.split('/').map(name).collect::<Vec<_>>().join("/")
}

/// The version of the rules for skipped files. If it changes, every directory is compared again.
const RULES: u64 = 2;
/// The maximum number of files per folder.
const MOST_FILES: usize = 200_000;

/// A folder as it looks.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) directories: Vec<Directory>,
    /// Directories that were not read completely; their known files stay valid.
    pub(super) unreadable: Vec<String>,
}

/// A directory of a folder.
#[derive(Debug)]
pub(super) struct Directory {
    /// The path below the folder; empty for the folder itself.
    pub(super) path: String,
    pub(super) digest: u64,
    /// The text files in the directory, by path below the folder.
    pub(super) files: Vec<(String, Stamp)>,
    /// Existing files that could not be examined.
    pub(super) unreadable: Vec<String>,
    /// Existing files that are not readable text: too large, or links.
    pub(super) unfit: Vec<String>,
}

impl Look {
    /// Scans a folder.
    ///
    /// # Errors
    /// Returns an error if the folder itself cannot be read.
    pub(super) fn at(tree: &Tree) -> Result<Self, FileError> {
        let mut look = Self::default();
        tree.walk(&options(), &mut |entry| match entry {
            // A directory with such a name is ignored, because its name would be stored.
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

    /// True if it contains no text.
    pub(super) fn is_empty(&self) -> bool {
        self.directories.iter().all(|directory| directory.files.is_empty())
    }

    /// All existing names except directories.
    pub(super) fn present(&self) -> BTreeSet<&str> {
        let files = self.directories.iter().flat_map(|directory| {
            directory.files.iter().map(|(path, _)| path).chain(&directory.unfit).chain(&directory.unreadable)
        });
        files.map(String::as_str).collect()
    }

    /// True for a path that is, or is below, a directory with unknown content.
    pub(super) fn hides(&self, path: &str) -> bool {
        self.unreadable.iter().any(|hidden| is_below(path, hidden))
    }
}

/// Compares a folder with its stored digests; true if nothing has changed.
///
/// # Errors
/// Returns an error if the folder itself cannot be read.
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

/// The directories of a folder; `None` if there are too many.
///
/// # Errors
/// Returns an error if the folder itself cannot be read.
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

/// A path and its parent directories.
pub(super) fn upwards(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(directory, _)| directory))
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path == directory || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

pub(super) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// Ordinary words with which some keys and note names begin.
const PROSE: [&str; 8] = ["api", "key", "keys", "pass", "password", "secret", "token", "tokens"];
/// The minimum length of a name that counts as a credential.
const LEAST_OF_TOKEN: usize = 20;
/// The minimum length if the name begins with an ordinary word.
const LEAST_WITH_WORD: usize = 31;

/// True if a name in the path, or a part of one, looks like a credential by itself. Names of notes consist of words. So
/// `key-value-stores-are-…` is not a credential, although some keys begin like this.
pub(super) fn holds_token(path: &str) -> bool {
    let is_token = |name: &str| {
        let mut found = findings(name).into_iter().filter(|finding| finding.span.start == 0);
        found.any(|finding| name.get(finding.span).is_some_and(is_no_name))
    };
    path.split(['/', ' ']).any(is_token) || pieces(path).any(|piece| !is_clean(piece))
}

/// True for a credential-like text that does not consist of words.
fn is_no_name(token: &str) -> bool {
    let begins_as_prose = pieces(token).next().is_some_and(|first| PROSE.contains(&first));
    // No word is a group of a UUID.
    let is_word = |piece: &&str| {
        piece.len() > 2
            && piece.bytes().all(|letter| letter.is_ascii_lowercase())
            && !piece.bytes().all(|letter| letter.is_ascii_hexdigit())
    };
    let is_of_words = begins_as_prose || pieces(token).skip(1).filter(is_word).count() > 1;
    if is_of_words {
        token.len() >= LEAST_WITH_WORD && pieces(token).any(is_drawn)
    } else {
        token.len() >= LEAST_OF_TOKEN
    }
}

/// The parts between hyphens, dots and similar characters.
fn pieces(name: &str) -> impl Iterator<Item = &str> {
    name.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// True for a part that is not a word, and longer than the last group of a UUID.
fn is_drawn(piece: &str) -> bool {
    const LONGEST_OF_UUID: usize = 12;
    piece.len() > LONGEST_OF_UUID
        && piece.contains(|letter: char| letter.is_ascii_digit())
        && piece.contains(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_name_that_looks_like_a_credential_its_beginning_is_shown() {
        let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
        assert_eq!(shown(&format!("keys/{token}.md")), "keys/ghp_….md");
        assert_eq!(shown(&format!("{token}/notes.md")), "ghp_…/notes.md");
        assert_eq!(shown(&format!("notes on {token}")), "note…");
        assert_eq!(shown("password-rotation-plan.md"), "password-rotation-plan.md");
    }

    #[test]
    fn a_name_is_a_credential_by_its_own_look_alone() {
        let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
        let with_hyphens = format!("key-{}", "8f2b41c09d7e6a5b3c1d0e9f8a7b6c5d");
        let tokens = [token.clone(), format!("a/{token}.md"), format!("notes on {token}.md"), with_hyphens];
        for path in tokens {
            assert!(holds_token(&path), "{path}");
        }
        let uuid = "8f2b41c0-9d7e-4a5b-b3c1-d0e9f8a7b6c5";
        let drawn = "aB3dE5fG7hJ9kL1mN3pQ";
        let slack = format!("xo{}-123456789012-1234567890123-kQzWmXvTgRbNpLsJhDyFcVuK.md", "xb");
        let gitlab = ["pat", "dt"].map(|kind| format!("gl{kind}-{drawn}.md"));
        let of_groups = [format!("pat-na1-{uuid}.md"), format!("HRKU-{uuid}.md"), format!("HRKU-{uuid}"), slack];
        for path in of_groups.iter().chain(&gitlab) {
            assert!(holds_token(path), "{path}");
        }
        let proxy = "the-proxy-listens-on-7433.-key-valuetv-b3d6f.md";
        let slug = "global/a/key-value-aoq-owns-dfja-ce5f5a48.md";
        let long = "key-value-stores-are-slow-bdad65c9-401e-c4da-0263-f101ce5f5a48.md";
        for words in [
            "sk-learn-pipelines-are-slow-bdad65c9-401e-c4da-0263-f101ce5f5a48.md",
            "glpat-rotation-plan-for-runners.md",
        ] {
            assert!(!holds_token(words), "{words}");
        }
        for path in [proxy, slug, long, "a/key-value-65aae7b3.md", "password-rotation-plan.md", "用户/é key 12.md"] {
            assert!(!holds_token(path), "{path}");
        }
    }
}
