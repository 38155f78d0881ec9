//! Files that stand in a folder and that recall does not know, and why: whoever adds a folder is told what of it is not there.

use std::collections::BTreeMap;

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::FilePath;
use tessera_engine::store::{Folder, StoreError};
use tessera_files::{Entry, RelativePath, Tree, Unfit};
use tessera_tables::names;

use super::look::{joined, options};
use super::read::{MOST_BYTES, seen};
use super::refresh::holds_token;

/// Files that are named for each reason, at most.
const MOST_NAMED: usize = 3;
/// Letters that are shown of a name that looks like a credential: enough to find it, too few to use it.
const SHOWN: usize = 4;
/// The longest ending of a name that is shown behind such a one.
const MOST_OF_ENDING: usize = 4;

names! {
/// Why a file is not known.
#[derive(PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// Its path looks like a credential, and a path is shown wherever its file is.
    Credential = "whose path looks like a credential",
    /// It is not UTF-8, or holds a NUL.
    NoText = "that are no text: not UTF-8, or with a NUL",
    /// It has more bytes than are read for what a file says.
    TooLarge = "larger than 1 MiB",
    /// It cannot be read; below `/memories` also a file that has a second name.
    Unreadable = "that cannot be read, or have a second name (a hard link)",
    /// It is known as it was before, and cannot be read now; below `/memories` also a file that has a second name.
    AsBefore = "that are known as they were, and now cannot be read, or have a second name (a hard link)",
    /// Its path is longer than paths may be.
    PathTooLong = "whose path is too long",
    /// It was not read yet.
    NotYet = "that were not read yet",
    /// It is a link, or a device: none is followed.
    NoFile = "that are links or devices",
    /// Its name is not UTF-8, so that no path can say it.
    OddName = "whose name is not UTF-8; rename them",
    /// Its name says that it is a picture, an archive, a program.
    NoTextByName = "that are no text by their name",
}
}

/// Files of a folder that are not known for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The reason.
    pub why: Because,
    /// How many.
    pub files: usize,
    /// The paths of the first of them. Of a name that looks like a credential they show the beginning.
    pub some: Vec<String>,
}

/// What of a folder is not known, a reason after the other; nothing of one that is away.
///
/// # Errors
/// When the store cannot be read.
pub fn left_out(store: &Store, folder: &Folder) -> Result<Vec<LeftOut>, StoreError> {
    Ok(found(store, folder)?.1)
}

/// The files of all folders that could be known and are not, though nothing keeps them out: their directories are to be
/// compared again, however they look.
///
/// # Errors
/// When the store cannot be read or written.
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

/// Directories in which a file is that is not read yet, and all that is left out.
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
    // What cannot be looked at as a whole is told as away.
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

/// Why a file that a look found is not known.
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

/// A path of which names that look like a credential are shown by their beginning.
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
}
