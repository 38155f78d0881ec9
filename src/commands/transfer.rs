//! `import` and `export`: JSON lines, and Markdown notes.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use tessera_desk::folders::ExportNotes;
use tessera_desk::older::places::{belongs_to, of_line};
use tessera_desk::use_cases::{Export, Import};
use tessera_engine::domain::Trust;
use tessera_engine::store::{ImportAs, ImportProgress, ImportRun};

use super::overwrite::may_write;
use super::{Access, Context, embedding};
use crate::exit::UserError;
use crate::output;
use crate::shapes::{Exported, Imported, NotesExported, RejectedLine};

/// The bytes read from the beginning of a file to recognise its format.
const PEEKED: usize = 64 * 1024;
/// The remark about memories from others.
const FOREIGN: &str = "imported memories are unverified: recall returns them when you ask, and never adds them to prompts \
    automatically. If all imported memories are your own, run `tessera update --imported --trust user`";

/// Stores every new line. Exits with 1 if lines were rejected.
pub(super) fn import(context: &Context, file: &Path, is_mine: bool) -> anyhow::Result<ExitCode> {
    let (mut input, size): (Box<dyn BufRead>, u64) = if file == Path::new("-") {
        (Box::new(BufReader::new(std::io::stdin())), 0)
    } else {
        let opened = File::open(file).map_err(|error| unopened(file, error))?;
        if opened.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            let problem = format!("{} is a directory; use a file of JSON lines, or - for stdin", file.display());
            return Err(UserError(problem).into());
        }
        #[cfg(unix)]
        if opened.metadata().is_ok_and(|metadata| std::os::unix::fs::FileTypeExt::is_char_device(&metadata.file_type()))
        {
            return Err(UserError(format!("{} is a device; use a file of JSON lines", file.display())).into());
        }
        let size = opened.metadata().map_or(0, |metadata| metadata.len());
        (Box::new(BufReader::with_capacity(PEEKED, opened)), size)
    };
    refuse_older(file, input.fill_buf()?)?;
    let bar = bar(size);
    let whose = if is_mine { ImportAs::Own } else { ImportAs::Foreign };
    let mut progress = |at: ImportProgress| bar.set_position(at.bytes);
    let source = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let source = if file == Path::new("-") { "-".to_owned() } else { source.display().to_string() };
    let import = Import { input: &mut *input, run: ImportRun::new("lines", &source, whose), progress: &mut progress };
    let report = context.perform(Access::Add, import)?;
    bar.finish_and_clear();
    if context.json {
        let rejected =
            report.rejected.iter().map(|(line, problem)| RejectedLine { line: *line, problem: problem.clone() });
        let trust = if is_mine { Trust::User } else { Trust::Foreign };
        output::json(&Imported {
            stored: report.stored,
            skipped: report.skipped,
            owner_trust: report.owner_trust,
            rejected: rejected.collect(),
            differing: report.differing,
            purged: report.purged,
            trust,
            set_aside: report.aside,
            written_by_others: report.theirs,
        })?;
    } else {
        let counts =
            format!("{} stored, {} already there, {} rejected", report.stored, report.skipped, report.rejected.len());
        output::say(&counts)?;
        if report.owner_trust > 0 {
            output::say(&format!("{} existing memories are now marked as yours", report.owner_trust))?;
        }
        if let Some(first) = report.differing.first() {
            let count = report.differing.len();
            output::note(&format!(
                "{count} lines have the UUID of an existing memory but another text, and were skipped (the first is line {first}); to change a memory, use `tessera update ID`"
            ));
        }
        if report.purged > 0 {
            output::note(&format!("{} were permanently deleted here and were not imported again", report.purged));
        }
        if report.theirs > 0 {
            output::note(&format!(
                "{} lines name another author, so they are not added to prompts automatically; `tessera update ID --trust user` marks a memory as yours",
                report.theirs
            ));
        }
        told_aside(report.aside)?;
        if !is_mine && report.stored > 0 {
            output::note(FOREIGN);
        }
        report.rejected.iter().for_each(|(line, problem)| output::note(&format!("line {line}: {problem}")));
    }
    embedding::make_waiting_after(context);
    Ok(if report.rejected.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Describes a file that cannot be opened. A word without a dot may be meant as the name of another system.
fn unopened(file: &Path, error: std::io::Error) -> anyhow::Error {
    let name = file.display();
    if name.to_string().contains("://") {
        return UserError(format!("`{name}` is an address; download the file first, and import the file")).into();
    }
    let is_word = file.components().count() == 1 && file.extension().is_none();
    if error.kind() != std::io::ErrorKind::NotFound || !is_word {
        return anyhow::Error::from(error).context(name.to_string());
    }
    let systems = "claude-memory-mcp, memory-mcp, basic-memory and claude-md";
    UserError(format!("`{name}` is neither a file nor a system that Tessera can import from ({systems})")).into()
}

/// Recognises rows of another system, and names the command that imports them. Rows of another system that are imported
/// as JSON lines would be rejected, or their trust would be lower.
fn refuse_older(file: &Path, first: &[u8]) -> Result<(), UserError> {
    let is_stdin = file == Path::new("-");
    let system = if is_stdin { of_line(first) } else { belongs_to(file, first) };
    let Some(system) = system else { return refuse_other(file, first) };
    let name = if is_stdin { "FILE".to_owned() } else { file.display().to_string() };
    let saved = if is_stdin { "; save them to a file first" } else { "" };
    let (title, file) = (system.title(), file.display());
    Err(UserError(format!(
        "{file}: contains memories of {title}; import them with `tessera import {system} {name}`{saved}"
    )))
}

/// Finds out which program created an SQLite database, by a table or column that only this program uses.
fn program_of(first: &[u8]) -> Option<&'static str> {
    const PROGRAMS: [(&[u8], &str); 5] = [
        (b"sdk_sessions", "claude-mem"),
        (b"sync_chunks", "engram"),
        (b"memory_embeddings", "mcp-memory-service"),
        (b"old_memory", "mem0"),
        (b"search_index", "basic-memory (`tessera import basic-memory FOLDER` imports the folder of notes)"),
    ];
    let holds = |name: &[u8]| first.windows(name.len()).any(|window| window == name);
    PROGRAMS.into_iter().find(|(name, _)| holds(name)).map(|(_, program)| program)
}

/// Rejects a file that is not JSON lines, and names its format.
fn refuse_other(file: &Path, first: &[u8]) -> Result<(), UserError> {
    const SQLITE: &[u8] = b"SQLite format 3\0";
    /// A text file contains no NUL in this number of bytes at its beginning.
    const BEGINNING: usize = 16;
    /// The position of the application ID in an SQLite database.
    const APPLICATION: std::ops::Range<usize> = 68..72;
    let shown = file.display();
    let text = String::from_utf8_lossy(first);
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let problem = if first.starts_with(SQLITE) && first.get(APPLICATION) == Some(b"TESS") {
        format!("{shown} is a Tessera store; restore it with `tessera restore-backup {shown}`")
    } else if first.starts_with(SQLITE) {
        let whose = program_of(first).map_or("an unknown program".to_owned(), |program| {
            format!("{program}, which Tessera does not import from this file")
        });
        format!("{shown} is an SQLite database of {whose}; `tessera import --detect` lists what Tessera can import")
    } else if first.get(..BEGINNING.min(first.len())).is_some_and(|bytes| bytes.contains(&0)) {
        format!("{shown} is a binary file, or UTF-16; give JSON lines in UTF-8")
    } else if start.starts_with('[') {
        format!("{shown} is one JSON array; write one object per line, for example with `jq -c '.[]' {shown}`")
    } else if start.starts_with('{') && start.lines().next().is_some_and(|line| line.trim() == "{") {
        format!("{shown} is one JSON object on several lines; give one object with `content` per line")
    } else if start.starts_with('{') && start.lines().next().is_some_and(|line| line.contains("\"entityType\"")) {
        format!("{shown} is a server-memory graph, which Tessera does not import; give JSON lines with `content`")
    } else if file.extension().is_some_and(|ending| ending == "md" || ending == "markdown") {
        format!("{shown} is Markdown; `tessera import claude-md {shown}` imports its notes")
    } else {
        return Ok(());
    };
    Err(UserError(problem))
}

/// Reports that credentials were found in imported texts.
pub(super) fn told_aside(count: u64) -> anyhow::Result<()> {
    if count == 0 {
        return Ok(());
    }
    output::say(&format!("redacted {count} credentials in the texts; `tessera secret list` lists the stored ones"))
}

fn bar(size: u64) -> ProgressBar {
    if !output::is_watched() || size == 0 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(size).with_style(style)
}

/// Exports all memories.
pub(super) fn export(context: &Context, file: Option<&Path>, is_forced: bool) -> anyhow::Result<()> {
    let write = |out: &mut dyn Write| context.perform_here(Access::Read, Export { out });
    let Some(file) = file.filter(|file| *file != Path::new("-")) else {
        let mut out = BufWriter::new(std::io::stdout().lock());
        write(&mut out)?;
        out.flush()?;
        return Ok(());
    };
    if !may_write(context, file, is_forced)? {
        return output::say("Nothing was written.");
    }
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut scratch = tempfile::NamedTempFile::new_in(dir).with_context(|| dir.display().to_string())?;
    let mut out = BufWriter::new(scratch.as_file_mut());
    let count = write(&mut out)?;
    out.flush()?;
    drop(out);
    scratch.as_file().sync_all()?;
    scratch.persist(file).map_err(|error| error.error).with_context(|| file.display().to_string())?;
    if context.json {
        return output::json(&Exported { exported: count, file: file.to_owned() });
    }
    output::note(&format!("{} written to {}", output::memories(count), file.display()));
    Ok(())
}

/// Exports all memories as notes into a directory.
pub(super) fn export_notes(context: &Context, asks: ExportNotes) -> anyhow::Result<()> {
    let dir = asks.dir.clone();
    if dir.exists() && !dir.is_dir() {
        return Err(UserError(format!("{} is a file; name a directory for the notes", dir.display())).into());
    }
    let done = context.perform_here(Access::Read, asks)?;
    if context.json {
        return output::json(&NotesExported { done, dir });
    }
    let removed = if done.removed > 0 { format!(", {} removed", done.removed) } else { String::new() };
    output::say(&format!("{} notes in {}: {} written{removed}", done.notes, dir.display(), done.written))?;
    if done.files_left_out > 0 {
        output::note(&format!(
            "skipped {} indexed files; copy them yourself (`tessera files list` shows where they are)",
            done.files_left_out
        ));
    }
    for path in &done.kept {
        output::note(&format!("{path}: was edited, so it was not changed; --force overwrites it"));
    }
    Ok(())
}
