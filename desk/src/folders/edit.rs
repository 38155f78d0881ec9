//! Changes sections by their IDs. Each change is written to the file of the section.

use std::collections::BTreeMap;
use std::ops::Range;

use tessera_engine::Store;
use tessera_engine::compose::read_note;
use tessera_engine::domain::{FilePath, MemoryRef};
use tessera_engine::store::{PartRow, StoreError};
use tessera_files::Expected;
use tessera_markdown::{Note, Part, Target};
use xxhash_rust::xxh3::xxh3_64;

use super::place::Place;
use super::read::{MOST_BYTES, held_to_write, refused};
use super::refresh::refresh_held;
use crate::caller::Caller;

/// Replaces the text of a section.
///
/// # Errors
/// Returns an error if the folder is read-only, the file changed, or the new text would not be one section.
pub fn update_part(store: &mut Store, caller: &Caller, part: MemoryRef, text: &str) -> Result<(), StoreError> {
    let _held = held_to_write(store)?;
    refresh_held(store)?;
    let (path, row) = place_of(store, part)?;
    if row.is_observation && text.trim().contains('\n') {
        return Err(refused(
            &path,
            "contains this memory as one line of a list; use a text without line breaks, or edit the file",
        ));
    }
    let (screened, secrets) = store.screened_for_file(text.trim(), row.file)?;
    rewrite(store, caller, &path, &row, secrets, |file| {
        let text = with_words(file, &row.span, &screened).ok_or_else(|| changed_just_now(&path))?;
        if !is_change_of_one(&path, file, &text, (&row, &screened)) {
            return Err(refused(
                &path,
                "this text would not be exactly one section, or would change other sections; edit the file instead",
            ));
        }
        Ok(text)
    })
}

/// A text with some words replaced.
fn with_words(file: &str, span: &Range<usize>, words: &str) -> Option<String> {
    let (before, after) = (file.get(..span.start)?, file.get(span.end..)?);
    Some(format!("{before}{words}{after}"))
}

/// True if the changed file has the same sections except for this one, which has exactly the new text.
fn is_change_of_one(path: &FilePath, before: &str, now: &str, (row, words): (&PartRow, &str)) -> bool {
    let (note_before, note_now) = (read_note(path, before), read_note(path, now));
    let Some(at) = note_before.parts.iter().position(|part| part.text == row.span) else { return false };
    let is_as_it_was = |(n, (was, is)): (usize, (&Part, &Part))| {
        let is_alike = was.kind == is.kind && was.headings == is.headings && was.category == is.category;
        let said = now.get(is.text.clone());
        // Two sections with equal text could not be distinguished.
        let says =
            if n == at { said == Some(words) } else { said == before.get(was.text.clone()) && said != Some(words) };
        is_alike && says
    };
    let elsewhere = |note: &Note| -> Vec<(String, Target)> {
        let others = note.relations.iter().filter(|relation| relation.part != Some(at));
        others.map(|relation| (relation.kind.clone(), relation.target.clone())).collect()
    };
    note_before.parts.len() == note_now.parts.len()
        && elsewhere(&note_before) == elsewhere(&note_now)
        && note_before.parts.iter().zip(&note_now.parts).enumerate().all(is_as_it_was)
}

/// Removes the lines of sections from their files.
///
/// # Errors
/// As [`update_part`].
pub fn forget_parts(store: &mut Store, caller: &Caller, parts: &[MemoryRef]) -> Result<(), StoreError> {
    let _held = held_to_write(store)?;
    refresh_held(store)?;
    let mut by_file: BTreeMap<FilePath, Vec<PartRow>> = BTreeMap::new();
    for part in parts {
        let (path, row) = place_of(store, *part)?;
        Place::writable(store, &path)?;
        by_file.entry(path).or_default().push(row);
    }
    for (path, rows) in by_file {
        let Some(first) = rows.first() else { continue };
        let mut stay = store.parts_of(first.file)?;
        stay.retain(|row| !rows.iter().any(|taken| taken.id == row.id));
        rewrite(store, caller, &path, first, Vec::new(), |file| {
            without_parts(file, &rows, &stay).ok_or_else(|| changed_just_now(&path))
        })?;
    }
    Ok(())
}

/// A text without the lines of some sections. If a section that stays is on the same line, only the deleted section's
/// words are removed.
fn without_parts(file: &str, rows: &[PartRow], stay: &[PartRow]) -> Option<String> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in file.split_inclusive('\n') {
        lines.push(at..at + line.len());
        at += line.len();
    }
    let shares = |row: &PartRow| stay.iter().any(|other| other.lines.0 <= row.lines.1 && row.lines.0 <= other.lines.1);
    let whole_lines = |row: &PartRow| -> Option<Range<usize>> {
        let line = |number: u32| lines.get((number as usize).checked_sub(1)?);
        Some(line(row.lines.0)?.start..line(row.lines.1)?.end)
    };
    let spans = rows.iter().map(|row| if shares(row) { Some(row.span.clone()) } else { whole_lines(row) });
    let mut spans: Vec<Range<usize>> = spans.collect::<Option<_>>()?;
    spans.sort_by_key(|span| span.start);
    let (mut left, mut at) = (String::new(), 0);
    for span in spans.into_iter().filter(|span| !span.is_empty()) {
        left.push_str(file.get(at..span.start.max(at))?);
        at = span.end.max(at);
        // Also removes the space after the words, if one remains before them.
        if left.ends_with(' ') && file.get(at..)?.starts_with(' ') {
            at += 1;
        }
    }
    left.push_str(file.get(at..)?);
    Some(left)
}

fn changed_just_now(path: &FilePath) -> StoreError {
    refused(path, "was changed just now; try again")
}

fn place_of(store: &Store, part: MemoryRef) -> Result<(FilePath, PartRow), StoreError> {
    let memory = store.get(part)?.ok_or(StoreError::NotFound(part))?;
    let row = store.part(memory.id)?;
    let path = memory.file.map(|file| file.path);
    path.zip(row).ok_or(StoreError::Conflict { memory: part, problem: "is not in a file any more" })
}

fn rewrite(
    store: &mut Store,
    caller: &Caller,
    path: &FilePath,
    row: &PartRow,
    secrets: Vec<tessera_engine::screen::Secret>,
    changed: impl FnOnce(&str) -> Result<String, StoreError>,
) -> Result<(), StoreError> {
    let place = Place::writable(store, path)?;
    let read = place.tree.read(&place.inside, MOST_BYTES).map_err(|error| place.failed(&error))?;
    let expected = Expected::Seen(read.seen());
    let known = store.file_at(path)?.map(|file| file.stamp.hash);
    if known != Some(xxh3_64(&read.bytes)) {
        return Err(changed_just_now(path));
    }
    let text = read.text(&place.inside).map_err(|error| place.failed(&error))?;
    let text = changed(&text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(refused(path, "would be too large to be indexed"));
    }
    place.intend(store, text.as_bytes(), (row.file, secrets), &caller.actor(None))?;
    let file = place.write(text.into_bytes(), expected).map_err(|error| place.failed(&error))?;
    let file = file.ok_or_else(|| refused(path, "is not text any more"))?;
    store.take_files(&[file])?;
    Ok(())
}
