//! `import claude-md`: imports notes that a client keeps in Markdown files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use tessera_desk::use_cases::{ImportNotes, NoteFile, NotesImported};
use tessera_engine::domain::{Scope, Trust};

use super::import_source::is_mine;
use super::transfer::told_aside;
use super::{Access, Context, embedding};
use crate::cli::Whose;
use crate::exit::UserError;
use crate::shapes::NotesTaken;
use crate::{config, output};

/// Maximum bytes of a file.
const MOST_BYTES: u64 = 1 << 20;
/// Maximum number of files in a directory.
const MOST_FILES: usize = 1_000;
/// The index file of Claude Code's auto-memory, which lists the note files.
const INDEX: &str = "MEMORY.md";
/// The notice that notes by unknown authors are unverified.
const FOREIGN: &str = "imported memories are unverified: recall returns them when you ask, and never adds them to prompts \
    automatically. If they are your own, repeat the command with --mine";

/// Stores the notes of a file or a directory. Existing notes stay unchanged.
pub(super) fn import(context: &Context, path: &Path, whose: Whose, scope: Option<Scope>) -> anyhow::Result<ExitCode> {
    let files = read(path)?;
    let place = path.canonicalize().with_context(|| path.display().to_string())?;
    let dir = if place.is_dir() { Some(place.as_path()) } else { place.parent() };
    let scope = scope.unwrap_or_else(|| dir.map_or(Scope::Global, config::project));
    let is_mine = is_mine(whose, !context.json);
    let read = files.len();
    let import = ImportNotes { files, scope: scope.clone(), is_mine };
    let NotesImported { stored, skipped, owner_trust, aside, rejected } = context.perform(Access::Add, import)?;
    if context.json {
        let trust = if is_mine { Trust::User } else { Trust::Foreign };
        output::json(&NotesTaken {
            stored,
            skipped,
            owner_trust,
            rejected: rejected.clone(),
            scope,
            set_aside: aside,
            trust,
            files: read,
        })?;
    } else {
        output::say(&format!("{stored} stored, {skipped} already there, {} rejected, scope {scope}", rejected.len()))?;
        if owner_trust > 0 {
            output::say(&format!("{owner_trust} existing memories are now marked as yours"))?;
        }
        told_aside(aside as u64)?;
        if !is_mine && stored > 0 && !whose.foreign {
            output::note(FOREIGN);
        }
        rejected.iter().for_each(|problem| output::note(problem));
    }
    embedding::make_waiting_after(context);
    Ok(if rejected.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The files to read: one file and the files that it lists, or all files of a directory.
fn read(path: &Path) -> anyhow::Result<Vec<NoteFile>> {
    let dir = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    if path.is_dir() {
        let files: Vec<NoteFile> = markdown(dir)?.iter().filter_map(|path| text_or_note(path)).collect();
        if files.is_empty() {
            let problem =
                format!("{}: contains no Markdown files; use a directory of notes, or a file", path.display());
            return Err(UserError(problem).into());
        }
        return Ok(files);
    }
    let first = text(path)?;
    if first.name != INDEX {
        return Ok(vec![first]);
    }
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let listed = markdown(dir)?.into_iter().filter(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name != INDEX && ["", "./"].iter().any(|before| first.text.contains(&format!("]({before}{name})")))
    });
    let listed: Vec<NoteFile> = listed.filter_map(|path| text_or_note(&path)).collect();
    Ok(std::iter::once(first).chain(listed).collect())
}

/// The Markdown files of a directory, sorted by name. Symbolic links are not followed, because they may lead anywhere.
fn markdown(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let entry = entry.with_context(|| dir.display().to_string())?;
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_file()) && path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
    files.sort();
    if files.len() > MOST_FILES {
        let problem = format!(
            "{}: contains {} Markdown files; import at most {MOST_FILES} at a time",
            dir.display(),
            files.len()
        );
        return Err(UserError(problem).into());
    }
    Ok(files)
}

/// One file of several. If a note cannot be read, the import reports it and continues with the next note.
fn text_or_note(path: &Path) -> Option<NoteFile> {
    text(path).inspect_err(|error| output::note(&format!("skipped: {error:#}"))).ok()
}

fn text(path: &Path) -> anyhow::Result<NoteFile> {
    let shown = || path.display().to_string();
    let metadata = fs::metadata(path).with_context(shown)?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err(UserError(format!("{}: is not a file, or is larger than 1 MiB", path.display())).into());
    }
    let text = fs::read_to_string(path).with_context(shown)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(NoteFile { name, text })
}
