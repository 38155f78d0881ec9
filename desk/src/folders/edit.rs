//! Parts of files, changed by their number: what is changed is the file.

use std::collections::BTreeMap;

use tessera_engine::Store;
use tessera_engine::domain::{FilePath, MemoryRef};
use tessera_engine::store::{Intent, PartRow, StoreError};
use tessera_files::Expected;
use xxhash_rust::xxh3::xxh3_64;

use super::read::{MOST_BYTES, failed, held_to_write, refused, seen, writable};
use super::refresh::refresh_held;
use crate::caller::Caller;

/// Writes another text in the place of a part.
///
/// # Errors
/// When its folder is only read, the file is another one than was read, or the new text would not be one part.
pub fn update_part(store: &mut Store, caller: &Caller, part: MemoryRef, text: &str) -> Result<(), StoreError> {
    let _held = held_to_write(store)?;
    refresh_held(store)?;
    let (path, row) = place_of(store, part)?;
    if row.is_observation && text.trim().contains('\n') {
        return Err(refused(&path, "has it as one line of a list; give one line, or edit the file"));
    }
    let (screened, secrets) = store.screened_for_file(text.trim(), row.file)?;
    rewrite(store, caller, &path, &row, secrets, |file| {
        let (before, after) = (file.get(..row.span.start)?, file.get(row.span.end..)?);
        Some(format!("{before}{screened}{after}"))
    })
}

/// Takes the lines of parts out of their files.
///
/// # Errors
/// As [`update_part`].
pub fn forget_parts(store: &mut Store, caller: &Caller, parts: &[MemoryRef]) -> Result<(), StoreError> {
    let _held = held_to_write(store)?;
    refresh_held(store)?;
    let mut by_file: BTreeMap<FilePath, Vec<PartRow>> = BTreeMap::new();
    for part in parts {
        let (path, row) = place_of(store, *part)?;
        writable(store, &path)?;
        by_file.entry(path).or_default().push(row);
    }
    for (path, rows) in by_file {
        let Some(first) = rows.first() else { continue };
        rewrite(store, caller, &path, first, Vec::new(), |file| {
            let is_taken = |line: u32| rows.iter().any(|row| (row.lines.0..=row.lines.1).contains(&line));
            let lines = (1..).zip(file.split_inclusive('\n')).filter(|(line, _)| !is_taken(*line));
            Some(lines.map(|(_, line)| line).collect())
        })?;
    }
    Ok(())
}

fn place_of(store: &Store, part: MemoryRef) -> Result<(FilePath, PartRow), StoreError> {
    let memory = store.get(part)?.ok_or(StoreError::NotFound(part))?;
    let row = store.part(memory.id)?;
    let path = memory.file.map(|file| file.path);
    path.zip(row).ok_or(StoreError::Conflict { memory: part, problem: "is in no file any more" })
}

fn rewrite(
    store: &mut Store,
    caller: &Caller,
    path: &FilePath,
    row: &PartRow,
    secrets: Vec<tessera_engine::screen::Secret>,
    changed: impl FnOnce(&str) -> Option<String>,
) -> Result<(), StoreError> {
    let (_, tree, inside) = writable(store, path)?;
    let read = tree.read(&inside, MOST_BYTES).map_err(|error| failed(path, &error))?;
    let expected = Expected::Seen(read.seen());
    let known = store.file_at(path)?.map(|file| file.stamp.hash);
    if known != Some(xxh3_64(&read.bytes)) {
        return Err(refused(path, "was changed just now; try again"));
    }
    let text = read.text(&inside).map_err(|error| failed(path, &error))?;
    let text = changed(&text).ok_or_else(|| refused(path, "was changed just now; try again"))?;
    let intent = Intent { path: path.clone(), hash: xxh3_64(text.as_bytes()), memory: row.file, secrets };
    store.intend(&[intent], &caller.actor(None))?;
    tree.write(&inside, text.as_bytes(), expected).map_err(|error| failed(path, &error))?;
    let read = tree.read(&inside, MOST_BYTES).map_err(|error| failed(path, &error))?;
    let file = seen(path.clone(), read).ok_or_else(|| refused(path, "is no text any more"))?;
    store.take_files(&[file])?;
    Ok(())
}
