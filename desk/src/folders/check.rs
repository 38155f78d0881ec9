//! Compares files with the index, and finds credentials in files.

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

/// The maximum number of listed files with a problem.
const MOST_NAMED: usize = 10;

/// The result of the comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct FilesChecked {
    /// Files that were compared.
    pub files: usize,
    /// Their parts.
    pub parts: usize,
    /// The paths of files that differ, with the difference; only the first ones.
    pub wrong: Vec<(FilePath, &'static str)>,
    /// All that do not agree.
    pub wrong_count: usize,
    /// Sections and relations of files that are not indexed.
    pub astray: u64,
    /// Unreadable folders, with the reason.
    pub away: Vec<(String, String)>,
    /// Files that are not stored and not synced, because they contain a credential or are too large.
    pub not_kept: usize,
    /// Skipped files, by folder and reason.
    pub left_out: Vec<LeftOut>,
}

/// Compares every file with the index; with `repair`, reads differing files again.
///
/// # Errors
/// Returns an error if the store cannot be read or written.
pub fn check(store: &mut Store, repair: bool) -> Result<FilesChecked, StoreError> {
    // Changes since the last scan are not errors.
    refresh(store)?;
    let (checked, mut wrong) = compared(store)?;
    if !repair || (checked.wrong.is_empty() && checked.astray == 0) {
        return Ok(checked);
    }
    let because = Actor { reason: Some("has a row without a file".to_owned()), ..Actor::default() };
    wrong.extend(store.drop_astray(&because)?);
    store.mistrust_files(&wrong)?;
    refresh(store)?;
    Ok(compared(store)?.0)
}

/// The result of the comparison, and all differences.
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

/// Reports every known file with its problem. Skips folders that are not available.
fn each_file(store: &Store, mut each: impl FnMut(&FilePath, Option<&'static str>, &FileRow)) -> Result<(), StoreError> {
    for folder in store.folders()? {
        let Ok(tree) = Tree::open(&folder.dir, &folder.name) else { continue };
        for row in store.files_in(&folder.name)? {
            let problem = match bytes_of(&tree, &folder, &row.path) {
                Ok(bytes) => problem_of(store, &row, &bytes)?,
                Err(FileError::NotFound { .. } | FileError::Gone { .. }) => {
                    Some("does not exist, but is still indexed")
                }
                // It cannot be read now, so its known state stays.
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
        return Ok(Some("differs from the index"));
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Ok(Some("is not text, although the index contains it"));
    };
    for part in store.parts_of(row.id)? {
        let Some(memory) = store.get(MemoryRef::Id(part.id))?.filter(|memory| memory.deleted.is_none()) else {
            return Ok(Some("contains a section that recall cannot find"));
        };
        let Some(said) = text.get(part.span.clone()) else {
            return Ok(Some("has an indexed section that is not completely inside the file"));
        };
        // With a credential in the file, the row differs on purpose.
        let is_same = memory.content == said || !row.is_kept;
        if !is_same {
            return Ok(Some("contains a section whose text differs from the indexed text"));
        }
        if memory.file.as_ref().map(|file| &file.path) != Some(&row.path) {
            return Ok(Some("contains a section that is indexed under the path of another file"));
        }
    }
    Ok(None)
}

/// Finds credentials in hand-written files: their places, never their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CredentialsInFiles;

/// A line with a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CredentialInFile {
    /// The file: its path in a folder, or the name of a copy below the home directory.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The kinds of credentials in the line, and how many there are of each kind.
    pub kinds: BTreeMap<String, u64>,
}

impl UseCase for CredentialsInFiles {
    type Outcome = Vec<CredentialInFile>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<CredentialInFile>, StoreError> {
        let mut found = Vec::new();
        for folder in store.folders()? {
            let Ok(tree) = Tree::open(&folder.dir, &folder.name) else { continue };
            // A file that is stored completely contains no credential.
            for row in store.files_in(&folder.name)?.into_iter().filter(|row| !row.is_kept) {
                let Ok(bytes) = bytes_of(&tree, &folder, &row.path) else { continue };
                let Ok(text) = String::from_utf8(bytes) else { continue };
                found.extend(found_in(row.path.as_str(), &text));
            }
        }
        // Copies of deleted files are checked too.
        let kept = store.home().deleted_files();
        let mut copies: Vec<_> = std::fs::read_dir(&kept).into_iter().flatten().flatten().collect();
        copies.sort_by_key(std::fs::DirEntry::file_name);
        for copy in copies {
            let name = copy.path().strip_prefix(store.home().dir()).map(|name| name.display().to_string());
            if let (Ok(text), Ok(name)) = (read_small(&copy.path()), name) {
                // The first line contains the file's path.
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
