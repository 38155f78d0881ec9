//! `import claude-memory-mcp|memory-mcp|basic-memory`, `import list`, `import --detect`, `import --undo`: previews,
//! imports and removes the data of other memory systems.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use indicatif::ProgressBar;
use tessera_desk::older::{Found, Scratch, Source, System};
use tessera_desk::use_cases::{HasImported, ImportSource, Imports, Preview, PreviewImport, TakenOver, UndoImport};
use tessera_engine::domain::{Scope, Trust};
use tessera_engine::screen::dropped;
use tessera_engine::store::{Import, ImportAs, RowStatus, Undone};

use super::{Access, Context, embedding};
use crate::cli::{OlderArguments, Whose};
use crate::shapes::{Detected, DetectedData, ImportUndone, ImportedRows, Imports as AllImports, Remark, SkippedRow};
use crate::{config, output};

/// Maximum number of skipped or changed rows that are listed.
const MOST_TOLD: usize = 20;

/// Rows that are not in the store yet.
const NEW: [RowStatus; 2] = [RowStatus::New, RowStatus::NewDeleted];
/// The notice that existing memories keep their project.
const SCOPE: &str = "--scope applies to new memories only; existing ones keep their scope";

/// The notice that imported memories are unverified, because the user did not confirm that they are their own.
const FOREIGN: &str = "imported memories are unverified: recall returns them when you ask, and never adds them to prompts \
    automatically. If they are your own, answer no and add --mine to the command";

/// Imports the data of a system, after a preview and a confirmation.
pub(super) fn run(context: &Context, system: System, args: &OlderArguments) -> anyhow::Result<ExitCode> {
    let path = match &args.path {
        Some(path) => path.clone(),
        None => config::older_places().usual(system)?,
    };
    let source = Source::open(system, &path, &config::older_places().home)?;
    let whose = whose(args);
    let preview = look(context, &source, whose, args)?;
    if args.scope != Scope::Global && preview.statuses.keys().any(|status| !NEW.contains(status)) {
        output::note(SCOPE);
    }
    let is_idle = preview.is_idle();
    if !context.json {
        told(&source, &preview, true)?;
    }
    if args.dry_run || is_idle {
        if preview.unknown > 0 && !args.dry_run {
            take(context, &source, whose, args, preview.rows)?;
        }
        if context.json {
            output::json(&as_json(&source, whose, &preview, None))?;
        } else if is_idle {
            output::say("There is nothing to import.")?;
        }
        return Ok(code(&preview));
    }
    if whose == ImportAs::Foreign && !args.whose.foreign {
        output::note(FOREIGN);
    }
    if !args.yes && context.json && !std::io::stdin().is_terminal() {
        output::json(&as_json(&source, whose, &preview, None))?;
    }
    if !super::agreed(args.yes, "Import these memories?")? {
        output::say("Nothing was imported.")?;
        return Ok(code(&preview));
    }
    let taken = take(context, &source, whose, args, preview.rows)?;
    report(context, &source, whose, &taken)?;
    embedding::make_waiting_after(context);
    Ok(code(&taken.done))
}

/// The exit code is 1 if a row is skipped, during previews as well as imports, so that scripts can detect it.
fn code(preview: &Preview) -> ExitCode {
    if preview.skipped.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Formats a path for display, and redacts text that looks like a credential.
fn named(path: &Path) -> String {
    output::shown(&dropped(&path.display().to_string()))
}

fn take(
    context: &Context,
    source: &Source,
    whose: ImportAs,
    args: &OlderArguments,
    rows: u64,
) -> anyhow::Result<TakenOver> {
    let bar = if output::is_watched() { ProgressBar::new(rows) } else { ProgressBar::hidden() };
    let mut progress = |rows: u64| bar.set_position(rows);
    let take = ImportSource { source, whose, scope: args.scope.clone(), progress: &mut progress };
    let taken = context.at_desk(Access::Add, |desk| Ok(desk.perform(take)??))?;
    bar.finish_and_clear();
    Ok(taken)
}

/// The trust level: from the arguments, otherwise from the user's answer, otherwise foreign.
fn whose(args: &OlderArguments) -> ImportAs {
    if is_mine(args.whose, !args.yes && !args.dry_run) { ImportAs::Own } else { ImportAs::Foreign }
}

/// True if the notes are the user's own, according to the arguments or the answer at a terminal.
pub(super) fn is_mine(whose: Whose, may_ask: bool) -> bool {
    let Whose { mine, foreign } = whose;
    let is_asked = !mine && !foreign && may_ask && std::io::stdin().is_terminal();
    mine || (is_asked && is_own().unwrap_or(false))
}

fn is_own() -> std::io::Result<bool> {
    let question = "Are these your own notes? If so, they are trusted and may be added to prompts automatically; \
        otherwise recall returns them only when you ask. [y/N] ";
    write!(std::io::stderr(), "{question}")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn look(context: &Context, source: &Source, whose: ImportAs, args: &OlderArguments) -> anyhow::Result<Preview> {
    let preview = PreviewImport { source, whose, scope: args.scope.clone() };
    let work = |context: &Context, access| context.at_local_desk(access, |desk| Ok(desk.perform(preview)??));
    if config::home(context.home.clone())?.holds_store() {
        return work(context, Access::Read);
    }
    // A preview creates no store. It uses an empty temporary one instead.
    let scratch = Scratch::new()?;
    work(&Context { json: context.json, home: Some(scratch.path().join("store")) }, Access::Add)
}

/// For each status, a text with the number of its rows.
fn counted(preview: &Preview, is_before: bool) -> Vec<String> {
    let words = |status: RowStatus| match status {
        RowStatus::New if is_before => "new",
        RowStatus::New => "stored",
        RowStatus::NewDeleted => "deleted in the source, imported as deleted",
        RowStatus::There => "already in the store",
        RowStatus::Vouched => "existing, now marked as yours",
        RowStatus::Changed => "changed in the source, updated in the store",
        RowStatus::Both => "changed in the source and in the store: both texts are kept",
        RowStatus::Deleted => "deleted in the source, deleted in the store too",
        RowStatus::Kept => "deleted in the source, but changed in the store: kept",
        RowStatus::Back => "restored in the source, restored in the store too",
        RowStatus::Forgotten => "deleted in the store, and left deleted",
    };
    preview.statuses.iter().map(|(status, count)| format!("{count} {}", words(*status))).collect()
}

/// Prints what was found or done.
fn told(source: &Source, preview: &Preview, is_before: bool) -> anyhow::Result<()> {
    let system = source.system();
    if is_before {
        output::say(&format!("{} in {}: {} memories", system.title(), named(source.path()), preview.rows))?;
    }
    for line in counted(preview, is_before) {
        output::say(&format!("  {line}"))?;
    }
    for sample in preview.samples.iter().filter(|_| is_before) {
        output::say(&format!("  · {}", output::shown(sample)))?;
    }
    if preview.aside > 0 {
        let what = if is_before {
            "in the texts; the import will redact and encrypt them"
        } else {
            "were redacted and encrypted; `tessera secret list` lists them"
        };
        output::say(&format!("  {} credentials {what}", preview.aside))?;
    }
    if preview.gone_there > 0 {
        let what = "imported earlier no longer exist in the source; they stay in the store";
        output::say(&format!("  {} {what}", preview.gone_there))?;
    }
    if !is_before {
        let left_out = preview.skipped.len();
        return if left_out > 0 { output::say(&format!("  {left_out} skipped")) } else { Ok(()) };
    }
    let skipped = preview.skipped.iter().map(|one| format!("skipped: {}: {}", one.at, one.problem));
    let remarks = preview.remarks.iter().map(|(at, remark)| format!("{at}: {remark}"));
    let told: Vec<String> = skipped.chain(remarks).collect();
    for line in told.iter().take(MOST_TOLD) {
        output::say(&format!("  {}", output::shown(&dropped(line))))?;
    }
    let more = told.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        output::say(&format!("  and {more} more; --json lists all"))?;
    }
    Ok(())
}

fn report(context: &Context, source: &Source, whose: ImportAs, taken: &TakenOver) -> anyhow::Result<()> {
    if context.json {
        return output::json(&as_json(source, whose, &taken.done, Some(taken)));
    }
    told(source, &taken.done, false)?;
    if let Some(n) = taken.number {
        output::note(&format!("`tessera import --undo {n}` reverts the import"));
    }
    Ok(())
}

/// The same as a JSON object.
fn as_json(source: &Source, whose: ImportAs, preview: &Preview, done: Option<&TakenOver>) -> ImportedRows {
    let trust = if whose == ImportAs::Own { Trust::User } else { Trust::Foreign };
    let skipped = preview.skipped.iter().map(|one| SkippedRow { at: one.at.clone(), problem: one.problem.clone() });
    let remark =
        |(at, remark): &(String, String)| Remark { at: dropped(at).into_owned(), remark: dropped(remark).into_owned() };
    ImportedRows {
        system: source.system().as_str().to_owned(),
        source: dropped(&source.path().display().to_string()).into_owned(),
        trust,
        rows: preview.rows,
        statuses: serde_json::json!(preview.statuses),
        samples: preview.samples.clone(),
        skipped: skipped.collect(),
        remarks: preview.remarks.iter().map(remark).collect(),
        set_aside: preview.aside,
        gone_there: preview.gone_there,
        applied: done.is_some(),
        import: done.and_then(|done| done.number),
    }
}

/// Lists the imports, latest first.
pub(super) fn list(context: &Context) -> anyhow::Result<()> {
    let imports = context.perform_here(Access::Read, Imports)?;
    if context.json {
        return output::json(&AllImports { imports });
    }
    if imports.is_empty() {
        output::note("there were no imports yet");
        return Ok(());
    }
    let row = |import: &Import| {
        let state = match (&import.undone, &import.ended) {
            (Some(undone), _) => format!("undone {undone}"),
            (None, Some(_)) => format!("{} stored, {} existing ones changed", import.stored, import.touched),
            (None, None) => format!("{} stored before it was interrupted; run it again to continue", import.stored),
        };
        vec![
            import.n.to_string(),
            import.system.clone(),
            import.source.clone(),
            import.whose.clone(),
            import.started.to_string(),
            state,
        ]
    };
    let rows = imports.iter().map(row).collect();
    output::text(&output::table(&["import", "system", "source", "whose", "when", "what"], rows))
}

/// Undoes an import, after a preview and a confirmation.
pub(super) fn undo(context: &Context, n: u32, dry_run: bool, yes: bool) -> anyhow::Result<()> {
    let undoing = context.perform_here(Access::Change, UndoImport { n, is_preview: true })?;
    let is_idle = undoing.forgotten + undoing.as_before == 0;
    if !context.json {
        told_undone(n, &undoing, "would be")?;
    }
    let is_made = !dry_run && !is_idle && super::agreed(yes, "Undo this import?")?;
    let undone = if is_made { context.perform(Access::Change, UndoImport { n, is_preview: false })? } else { undoing };
    if context.json {
        return output::json(&ImportUndone { import: n, applied: is_made, undone });
    }
    if is_made {
        output::say(&format!("Import {n} was undone. To import the same data again, repeat the import."))?;
    } else if !is_idle && !dry_run {
        output::say("Nothing was undone.")?;
    }
    Ok(())
}

fn told_undone(n: u32, undone: &Undone, how: &str) -> anyhow::Result<()> {
    if undone.forgotten + undone.as_before == 0 && undone.kept.is_empty() {
        return output::say(&format!("Import {n} has nothing left to undo."));
    }
    output::say(&format!("Import {n}: {} {how} deleted, and can be restored.", output::memories(undone.forgotten)))?;
    if undone.as_before > 0 {
        output::say(&format!(
            "  {} {how} given their text from before the import.",
            output::memories(undone.as_before)
        ))?;
    }
    if !undone.kept.is_empty() {
        let some: Vec<String> = undone.kept.iter().take(MOST_TOLD).map(ToString::to_string).collect();
        let more = if undone.kept.len() > MOST_TOLD { " …" } else { "" };
        output::say(&format!("  {} stay, because they changed since: {}{more}", undone.kept.len(), some.join(" ")))?;
    }
    Ok(())
}

/// The data of other systems on this machine that was never imported.
pub(super) fn offers(context: &Context) -> Vec<Found> {
    let places = config::older_places();
    if places.there().is_empty() {
        return Vec::new();
    }
    let (found, _) = places.found();
    found.into_iter().filter(|one| !is_imported(context, one)).collect()
}

/// Describes found data and the command that imports it.
pub(super) fn told_offer(found: &Found) -> String {
    let Found { system, path, rows } = found;
    let path = named(path);
    format!("{rows} memories of {} in {path}: run `tessera import {system} {path}`", system.title())
}

/// True if the data was imported. If the store cannot be read, returns false, because offering the same import again is
/// harmless.
fn is_imported(context: &Context, found: &Found) -> bool {
    let asked = HasImported { system: found.system, path: found.path.clone() };
    let has_store = config::home(context.home.clone()).is_ok_and(|home| home.holds_store());
    has_store && context.perform_here(Access::Read, asked).unwrap_or_default()
}

/// Lists found data and the commands that import it.
pub(super) fn detect(context: &Context) -> anyhow::Result<()> {
    let (found, unread) = config::older_places().found();
    let why = |problem| dropped(&format!("{:#}", anyhow::Error::from(problem))).into_owned();
    let unread: Vec<String> = unread.into_iter().map(why).collect();
    let came = |one: &Found| is_imported(context, one);
    if context.json {
        let row = |one: &Found| {
            let Found { system, path, rows } = one;
            let path = dropped(&path.display().to_string()).into_owned();
            DetectedData {
                system: system.as_str().to_owned(),
                title: system.title().to_owned(),
                path,
                rows: *rows,
                imported: came(one),
            }
        };
        return output::json(&Detected { found: found.iter().map(row).collect(), unread });
    }
    for one in &found {
        let again = if came(one) { " (imported before)" } else { "" };
        output::say(&output::shown(&format!("{}{again}", told_offer(one))))?;
    }
    unread.iter().for_each(|problem| output::note(&output::shown(problem)));
    if found.is_empty() && unread.is_empty() {
        output::note("found no data of claude-memory-mcp, memory-mcp or basic-memory in their usual places");
    }
    Ok(())
}
