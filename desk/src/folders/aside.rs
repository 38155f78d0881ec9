//! Copies of deleted files. Tessera copies a file only if no memory contains its complete text, because the file could
//! not be restored otherwise. A new copy of a file replaces the older copy for the same path and memory. A copy
//! disappears when the file is restored or deleted permanently.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tessera_engine::Store;
use tessera_engine::domain::{FilePath, Memory, MemoryRef, MemoryUuid};
use tessera_engine::screen::findings;
use tessera_engine::store::{StoreError, TakenFile, WithoutValues, make_private_dir, replace, says_all_of_file};
use tessera_files::{FileError, RelativePath, Tree};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::read::{failed, refused};

/// The maximum size of a copy; the user must delete larger files.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The prefix of all copies of a file. It does not reveal the path.
fn name_of(path: &FilePath) -> String {
    format!("{:032x}", xxh3_128(path.as_str().as_bytes()))
}

/// The path of the copy of a file. Pass the text of the file's memory, or `None` if it has none.
fn place(store: &Store, path: &FilePath, content: Option<&str>) -> PathBuf {
    let of_text = content.map(|content| format!("-{:016x}", xxh3_64(content.as_bytes()))).unwrap_or_default();
    store.home().deleted_files().join(name_of(path) + &of_text)
}

/// The first line of a copy, as JSON. The file follows.
#[derive(Debug, Serialize, schemars::JsonSchema, Deserialize)]
struct Head {
    /// The earlier path of the file.
    path: FilePath,
    /// The memory of the file, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryUuid>,
    /// The secrets of the file; the copy contains placeholders for them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    secrets: BTreeSet<String>,
}

/// Copies a file, unless its memory contains all of it.
///
/// # Errors
/// Returns an error if the file cannot be copied. If copying fails, the caller must not delete the file.
pub(super) fn keep(store: &mut Store, tree: &Tree, path: &FilePath, inside: &RelativePath) -> Result<(), StoreError> {
    let memory = store.file_memory(path)?.map(|id| store.get(MemoryRef::Id(id))).transpose()?.flatten();
    let (id, content) = memory.map(|memory| (memory.id, memory.content)).unzip();
    // A text with a placeholder-like passage could not be distinguished from a redacted one.
    let says_all = content.as_deref().is_some_and(says_all_of_file);
    if says_all && store.file_at(path)?.is_some_and(|file| file.is_kept) {
        return Ok(());
    }
    let read = match tree.read(inside, MOST_BYTES) {
        Ok(read) => read,
        // Nothing of it could be restored.
        Err(
            FileError::NotFound { .. }
            | FileError::Gone { .. }
            | FileError::Link { .. }
            | FileError::Unsupported { .. },
        ) => {
            return Ok(());
        }
        Err(FileError::TooLarge { .. }) => {
            return Err(refused(path, "is too large to keep a copy of; delete it yourself"));
        }
        Err(error) => return Err(failed(path, &error)),
    };
    let (secrets, bytes) = without_values(store, path, id, read.bytes)?;
    let place = place(store, path, content.as_deref());
    let head = serde_json::to_vec(&Head { path: path.clone(), memory: id, secrets }).unwrap_or_default();
    let copy = [head.as_slice(), b"\n", &bytes].concat();
    let kept = make_private_dir(&store.home().deleted_files()).and_then(|()| replace(&place, &copy));
    if let Err(source) = kept {
        return Err(StoreError::File { path: place, source });
    }
    // An earlier copy is deleted after this one is durable.
    let_go_but(store, path, id, Some(&place));
    Ok(())
}

/// Returns the bytes of a file with placeholders for its secrets, and encrypts these secrets for the file's memory.
fn without_values(
    store: &mut Store,
    path: &FilePath,
    id: Option<MemoryUuid>,
    bytes: Vec<u8>,
) -> Result<(BTreeSet<String>, Vec<u8>), StoreError> {
    let text = String::from_utf8_lossy(&bytes);
    if findings(&text).is_empty() {
        return Ok((BTreeSet::new(), bytes));
    }
    let without = match (id, text) {
        (Some(id), Cow::Borrowed(text)) => store.take_values_out(id, text)?,
        _ => None,
    };
    let problem =
        "contains a credential that cannot be encrypted, so the file could not be restored later; delete it yourself";
    let without = without.ok_or_else(|| refused(path, problem))?;
    Ok((without.names, without.text.into_bytes()))
}

/// Returns the copy of a deleted file, by its path and the text of its memory.
pub(super) fn kept(
    store: &Store,
    path: &FilePath,
    memory: Option<&Memory>,
    content: Option<&str>,
) -> Result<Option<Vec<u8>>, StoreError> {
    let place = place(store, path, content);
    let copy = match std::fs::read(&place) {
        Ok(copy) => copy,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StoreError::File { path: place, source }),
    };
    let Some((head, bytes)) = parts(&copy) else { return Ok(None) };
    match (memory, String::from_utf8(bytes.to_vec())) {
        (Some(memory), Ok(text)) if !head.secrets.is_empty() => {
            let whole = store.put_values_back(memory.id, &WithoutValues { text, names: head.secrets })?;
            Ok(Some(whole.as_bytes().to_vec()))
        }
        _ => Ok(Some(bytes.to_vec())),
    }
}

/// Returns the paths below a directory that have a copy but no memory, sorted.
pub(super) fn kept_below(store: &Store, directory: &FilePath) -> Vec<FilePath> {
    let Ok(kept) = std::fs::read_dir(store.home().deleted_files()) else { return Vec::new() };
    let beginning = format!("{}/", directory.as_str().trim_end_matches('/'));
    let no_memory = |copy: &std::fs::DirEntry| !copy.file_name().to_string_lossy().contains('-');
    let mut paths: Vec<FilePath> = kept
        .flatten()
        .filter(no_memory)
        .filter_map(|copy| Some(head_of(&copy.path())?.path))
        .filter(|path| path.as_str().starts_with(&beginning))
        .collect();
    paths.sort();
    paths
}

/// Reads only the head of a copy, and not the file's content after it.
fn head_of(copy: &Path) -> Option<Head> {
    let mut line = Vec::new();
    BufReader::new(std::fs::File::open(copy).ok()?).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

fn parts(copy: &[u8]) -> Option<(Head, &[u8])> {
    let end = copy.iter().position(|byte| *byte == b'\n')?;
    let head = serde_json::from_slice(copy.get(..end)?).ok()?;
    Some((head, copy.get(end + 1..)?))
}

/// If a deleted file exists again with the same text, deletes its copy, because the secrets in the file may have
/// changed.
pub(super) fn outdo(store: &Store, taken: &[TakenFile]) -> Result<(), StoreError> {
    if !store.home().deleted_files().is_dir() {
        return Ok(());
    }
    for file in taken {
        if let Some(memory) = store.get(MemoryRef::Id(file.id))? {
            // There is hardly ever one.
            let _ = std::fs::remove_file(place(store, &file.path, Some(&memory.content)));
        }
    }
    Ok(())
}

/// Deletes the copies of a file that belong to a memory, or those without a memory. Copies for other memories stay.
pub(super) fn let_go(store: &Store, path: &FilePath, memory: Option<MemoryUuid>) {
    let_go_but(store, path, memory, None);
}

fn let_go_but(store: &Store, path: &FilePath, memory: Option<MemoryUuid>, stays: Option<&Path>) {
    // The directory may not exist.
    let Ok(kept) = std::fs::read_dir(store.home().deleted_files()) else { return };
    let name = name_of(path);
    let copies = kept.flatten().filter(|copy| copy.file_name().to_string_lossy().starts_with(&name));
    for copy in copies.map(|copy| copy.path()).filter(|copy| Some(copy.as_path()) != stays) {
        if head_of(&copy).is_some_and(|head| head.memory == memory) {
            let _ = std::fs::remove_file(copy);
        }
    }
}
