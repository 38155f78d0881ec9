//! Whether files and what is known of them agree, and credentials that stand in files.

use std::collections::BTreeMap;

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{FilePath, MemoryRef};
use tessera_engine::screen::findings;
use tessera_engine::store::{Actor, FileRow, Folder, StoreError};
use tessera_files::{FileError, RelativePath, Tree};
use xxhash_rust::xxh3::xxh3_64;

use super::left::{LeftOut, left_out};
use super::read::MOST_BYTES;
use super::refresh::refresh;
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};
use crate::files::read_small;

/// Files that are named where something is wrong with them, at most.
const MOST_NAMED: usize = 10;

/// How files and what is known of them agree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FilesChecked {
    /// Files that were compared.
    pub files: usize,
    /// Their parts.
    pub parts: usize,
    /// What does not agree, by path; some of them.
    pub wrong: Vec<(FilePath, &'static str)>,
    /// All that do not agree.
    pub wrong_count: usize,
    /// Parts and relations of files that are not known.
    pub astray: u64,
    /// Folders that cannot be read, and why.
    pub away: Vec<(String, String)>,
    /// Files in which a credential stands, or that no memory can hold whole: they are not kept and not synchronised.
    pub not_kept: usize,
    /// Files that stand in folders and are not known, by folder and why.
    pub left_out: Vec<LeftOut>,
}

/// Compares every file with what is known of it; with `repair`, those that do not agree are read again.
///
/// # Errors
/// When the store cannot be read or written.
pub fn check(store: &mut Store, repair: bool) -> Result<FilesChecked, StoreError> {
    // What was changed since the last look is no fault.
    refresh(store)?;
    let (checked, mut wrong) = compared(store)?;
    if !repair || (checked.wrong.is_empty() && checked.astray == 0) {
        return Ok(checked);
    }
    let because = Actor { reason: Some("stood for no file".to_owned()), ..Actor::default() };
    wrong.extend(store.drop_astray(&because)?);
    store.mistrust_files(&wrong)?;
    refresh(store)?;
    Ok(compared(store)?.0)
}

/// How files and what is known of them agree, and all that do not.
fn compared(store: &Store) -> Result<(FilesChecked, Vec<FilePath>), StoreError> {
    let (mut checked, mut wrong) = (FilesChecked::default(), Vec::new());
    each_file(store, |path, problem, row| {
        checked.files += 1;
        checked.not_kept += usize::from(!row.is_kept);
        if let Some(problem) = problem {
            wrong.push(path.clone());
            if checked.wrong.len() < MOST_NAMED {
                checked.wrong.push((path.clone(), problem));
            }
        }
    })?;
    let (parts, relations) = store.files_astray()?;
    checked.astray = parts + relations;
    checked.parts = store.count_parts()?;
    checked.wrong_count = wrong.len();
    for folder in store.folders()? {
        checked.left_out.extend(left_out(store, &folder)?);
        checked.away.extend(folder.away.map(|why| (folder.name, why)));
    }
    Ok((checked, wrong))
}

/// Tells every file that is known, with what is wrong with it. Of a folder that is away nothing can be said.
fn each_file(store: &Store, mut each: impl FnMut(&FilePath, Option<&'static str>, &FileRow)) -> Result<(), StoreError> {
    for folder in store.folders()? {
        let Ok(tree) = Tree::open(&folder.dir, &folder.name) else { continue };
        for row in store.files_in(&folder.name)? {
            let problem = match bytes_of(&tree, &folder, &row.path) {
                Ok(bytes) => problem_of(store, &row, &bytes)?,
                Err(FileError::NotFound { .. } | FileError::Gone { .. }) => {
                    Some("is not there, and known all the same")
                }
                // It cannot be read now: what is known is as true as before.
                Err(_) => None,
            };
            each(&row.path, problem, &row);
        }
    }
    Ok(())
}

fn bytes_of(tree: &Tree, folder: &Folder, path: &FilePath) -> Result<Vec<u8>, FileError> {
    let inside = RelativePath::found(path.inside(), &folder.name)?;
    Ok(tree.read(&inside, MOST_BYTES)?.bytes)
}

fn problem_of(store: &Store, row: &FileRow, bytes: &[u8]) -> Result<Option<&'static str>, StoreError> {
    if xxh3_64(bytes) != row.stamp.hash {
        return Ok(Some("says something else than is known of it"));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(Some("is no text, and known all the same")) };
    for part in store.parts_of(row.id)? {
        let Some(memory) = store.get(MemoryRef::Id(part.id))?.filter(|memory| memory.deleted.is_none()) else {
            return Ok(Some("has a part that is not in recall"));
        };
        let Some(said) = text.get(part.span.clone()) else {
            return Ok(Some("has a part that stands beyond its end"));
        };
        // Where a credential stands in the file, its row says something else on purpose.
        let is_same = memory.content == said || !row.is_kept;
        if !is_same {
            return Ok(Some("has a part that says something else"));
        }
        if memory.file.as_ref().map(|file| &file.path) != Some(&row.path) {
            return Ok(Some("has a part that stands elsewhere by its own word"));
        }
    }
    Ok(None)
}

/// Credentials in files that somebody wrote by hand: where they stand, never what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CredentialsInFiles;

/// A line in which a credential stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CredentialInFile {
    /// The file: its path in a folder, or its name below the home where it is a copy of a deleted one.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// What stands there, with how many of each kind.
    pub kinds: BTreeMap<String, u64>,
}

impl UseCase for CredentialsInFiles {
    type Outcome = Vec<CredentialInFile>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<CredentialInFile>, StoreError> {
        let mut found = Vec::new();
        for folder in store.folders()? {
            let Ok(tree) = Tree::open(&folder.dir, &folder.name) else { continue };
            // Where the memory is the text as it is on disk, nothing was found in it.
            for row in store.files_in(&folder.name)?.into_iter().filter(|row| !row.is_kept) {
                let Ok(bytes) = bytes_of(&tree, &folder, &row.path) else { continue };
                let Ok(text) = String::from_utf8(bytes) else { continue };
                found.extend(found_in(row.path.as_str(), &text));
            }
        }
        // Deleted files are kept as they were, so that they can be brought back.
        let kept = store.home().deleted_files();
        let mut copies: Vec<_> = std::fs::read_dir(&kept).into_iter().flatten().flatten().collect();
        copies.sort_by_key(std::fs::DirEntry::file_name);
        for copy in copies {
            let name = copy.path().strip_prefix(store.home().dir()).map(|name| name.display().to_string());
            if let (Ok(text), Ok(name)) = (read_small(&copy.path()), name) {
                // The first line says where the file was.
                found.extend(found_in(&name, text.split_once('\n').map_or("", |(_, file)| file)));
            }
        }
        Ok(found)
    }
}

fn found_in(path: &str, text: &str) -> Vec<CredentialInFile> {
    let mut lines: BTreeMap<usize, BTreeMap<String, u64>> = BTreeMap::new();
    for finding in findings(text) {
        let line = text.get(..finding.span.start).unwrap_or_default().matches('\n').count() + 1;
        *lines.entry(line).or_default().entry(finding.kind.as_str().to_owned()).or_default() += 1;
    }
    lines.into_iter().map(|(line, kinds)| CredentialInFile { path: path.to_owned(), line, kinds }).collect()
}
