//! `files`: manages indexed folders. `memory-tool`: runs one command of the memory tool.
//!
//! Also shows the progress of a long sync.

use std::io::Read;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use tessera_desk::Caller;
use tessera_desk::folders::{
    AddFolder, ClearUnread, FileCommand, FolderState, Folders, LeftOut, RemoveFolder, Unread, UnreadFile, left_out,
    refresh_thoroughly,
};
use tessera_engine::Store;
use tessera_engine::domain::{Origin, TokenBudget, Trust};
use tessera_engine::store::Usage;

use super::{Access, Context, caller, embedding};
use crate::cli::{AddArguments, FilesTask};
use crate::exit::UserError;
use crate::shapes::{Cleared, FolderAdded, FolderRemoved, MemoryToolReply, Scanned, UnreadFiles};
use crate::{config, output};

/// Maximum bytes of a command.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// How long a scan waits for another one.
const PATIENCE: Duration = Duration::from_secs(30);
/// The default age: files that nobody has read or changed for this number of days are listed.
const USUAL_DAYS: u32 = 90;

/// Adds, lists and removes folders.
pub(super) fn run(context: &Context, task: FilesTask) -> anyhow::Result<()> {
    match task {
        FilesTask::Add(args) => add(context, args),
        FilesTask::List => list(context),
        FilesTask::Remove { name } => {
            let removed = context.perform_here(Access::Change, RemoveFolder { name: name.clone() })?;
            if context.json {
                return output::json(&FolderRemoved { name, files: removed });
            }
            output::say(&format!(
                "Recall no longer searches {} of the folder {name}. The files stay where they are.",
                output::files(removed)
            ))
        }
        FilesTask::Scan => scan(context),
        FilesTask::Unread { days, clear: false, .. } => unread(context, days.unwrap_or(USUAL_DAYS)),
        FilesTask::Unread { days, yes, .. } => clear_unread(context, days.unwrap_or(USUAL_DAYS), yes),
    }
}

fn add(context: &Context, args: AddArguments) -> anyhow::Result<()> {
    let AddArguments { dir, name, scope, trust, writable, sync } = args;
    let asks = AddFolder { dir, name, scope, trust, is_writable: writable, is_told: sync };
    let (folder, _) = context.perform_here(Access::Add, asks)?;
    if context.json {
        let FolderState { name, dir, files, left_out, .. } = folder;
        output::json(&FolderAdded { name, dir, files, left_out })?;
    } else {
        output::say(&format!(
            "Recall now searches {} of {}; their paths begin with /{}/.",
            output::files(folder.files),
            folder.dir.display(),
            folder.name
        ))?;
        tell_left_out(&folder.left_out)?;
    }
    embedding::make_waiting_after(context);
    Ok(())
}

fn list(context: &Context) -> anyhow::Result<()> {
    let folders = context.perform_here(Access::Read, Folders)?;
    if context.json {
        return output::json(&serde_json::to_value(&folders)?);
    }
    if folders.is_empty() {
        output::note("no folders are indexed yet; `tessera files add DIR` adds a folder");
        return Ok(());
    }
    output::text(&output::table(&["folder", "files", "scope", "rules", "where"], folders.iter().map(row).collect()))?;
    folders.iter().try_for_each(|folder| tell_left_out(&folder.left_out))
}

/// Prints which files of a folder are skipped, one line per reason.
fn tell_left_out(left: &[LeftOut]) -> anyhow::Result<()> {
    left.iter().try_for_each(|left| output::say(&left_out_line(left)))
}

/// The number of files skipped for one reason, with the first paths.
pub(super) fn left_out_line(left: &LeftOut) -> String {
    let LeftOut { why, files, some } = left;
    let more = files.saturating_sub(some.len());
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    output::shown(&format!("{files} skipped ({}): {}{more}", why.as_str(), some.join(", ")))
}

fn row(folder: &FolderState) -> Vec<String> {
    let trust = (folder.trust != Trust::User).then(|| format!("trust {}", folder.trust.as_str()));
    let writable = Some(if folder.is_writable { "writable" } else { "read-only" }.to_owned());
    let told = folder.is_told.then(|| "synced".to_owned());
    let rules: Vec<String> = [writable, told, trust].into_iter().flatten().collect();
    let away = folder.away.as_ref().map(|why| format!("\n  not available: {why}")).unwrap_or_default();
    vec![
        folder.name.clone(),
        folder.files.to_string(),
        folder.scope.to_string(),
        rules.join(", "),
        format!("{}{away}", folder.dir.display()),
    ]
}

fn scan(context: &Context) -> anyhow::Result<()> {
    context.refuse_missing_home()?;
    let mut store = context.open(Usage::Write)?;
    let done = refresh_thoroughly(&mut store, PATIENCE)?;
    let left: Vec<LeftOut> = {
        let folders = store.folders()?;
        let left = folders.iter().map(|folder| left_out(&store, folder)).collect::<Result<Vec<_>, _>>()?;
        left.into_iter().flatten().collect()
    };
    let states = context.perform_here(Access::Read, Folders)?.into_iter();
    let not_available: Vec<String> =
        states.filter_map(|folder| Some(format!("{} is not available: {}", folder.name, folder.away?))).collect();
    if context.json {
        return output::json(&Scanned {
            taken: done.taken,
            moved: done.moved,
            gone: done.gone,
            written: done.laid_out,
            busy: done.is_busy,
            not_available,
            left_out: left,
        });
    }
    let (taken, moved, gone, written) = (done.taken, done.moved, done.gone, done.laid_out);
    output::say(&format!("{taken} new or changed, {moved} renamed, {gone} deleted, {written} written"))?;
    if done.is_busy {
        output::note("another process is scanning the folders, so this scan did nothing");
    }
    not_available.iter().for_each(|problem| output::note(&output::shown(problem)));
    tell_left_out(&left)
}

fn unread(context: &Context, days: u32) -> anyhow::Result<()> {
    let files = context.perform_here(Access::Read, Unread { days })?;
    if context.json {
        return output::json(&UnreadFiles { days, files });
    }
    tell_unread(&files, days)
}

fn tell_unread(files: &[UnreadFile], days: u32) -> anyhow::Result<()> {
    if files.is_empty() {
        output::note(&format!("no indexed file was left unread and unchanged for {days} days"));
        return Ok(());
    }
    let row = |file: &UnreadFile| {
        vec![
            file.path.to_string(),
            file.last_read.map_or_else(|| "never".to_owned(), |read| read.date().to_string()),
            file.changed.date().to_string(),
            file.bytes.to_string(),
            if file.is_writable { "" } else { "read-only" }.to_owned(),
        ]
    };
    output::text(&output::table(&["file", "last read", "changed", "bytes", ""], files.iter().map(row).collect()))
}

/// Shows the unread files, asks, and deletes them.
fn clear_unread(context: &Context, days: u32, yes: bool) -> anyhow::Result<()> {
    context.at_local_desk(Access::Change, |desk| {
        let files = desk.perform(Unread { days })?;
        if !context.json {
            tell_unread(&files, days)?;
        }
        let (theirs, stay): (Vec<&UnreadFile>, Vec<&UnreadFile>) = files.iter().partition(|file| file.is_writable);
        if !stay.is_empty() {
            let verb = if stay.len() == 1 { "stays" } else { "stay" };
            output::note(&format!("{} {verb}, because the folder is read-only", output::files(stay.len())));
        }
        if theirs.iter().any(|file| file.is_told) {
            output::note(
                "files of synced folders are also deleted on your other machines; this machine does not know which files were read or changed there",
            );
        }
        let question =
            format!("Delete {}? `tessera restore PATH` restores a file.", output::files(theirs.len()));
        let gone = if theirs.is_empty() || !super::agreed(yes, &question)? {
            if !theirs.is_empty() && !context.json {
                output::say("Nothing was deleted.")?;
            }
            Vec::new()
        } else {
            desk.perform(ClearUnread { days, paths: theirs.iter().map(|file| file.path.clone()).collect() })?
        };
        if context.json {
            return output::json(&Cleared { unread: UnreadFiles { days, files }, cleared: gone });
        }
        if !gone.is_empty() {
            output::say(&format!("Deleted {}. `tessera restore PATH` restores a file.", output::files(gone.len())))?;
        }
        Ok(())
    })
}

/// Runs one command of the memory tool: a JSON object on stdin, the answer on stdout. If the command fails, the exit
/// code is 1; `--json` prints an object with `is_error`.
pub(super) fn tool(context: &Context) -> anyhow::Result<ExitCode> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes)?;
    let command: Value = serde_json::from_slice(&bytes).map_err(|error| {
        UserError(format!(
            "stdin: is not valid JSON: {error}; pass one command, such as \
            {{\"command\":\"view\",\"path\":\"/memories\"}}"
        ))
    })?;
    let mut rules = config::file_rules(context.home.clone())?;
    if let Some(asked) = command.get("max_tokens") {
        // A value that is not a number is reported as out of range.
        let asked = asked.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).unwrap_or_default();
        rules.max_tokens = TokenBudget::try_from(asked)?.get();
    }
    let asks = FileCommand { command, rules };
    // The user of the memory tool is a model, even if a person runs the command.
    let caller = Caller { origin: Origin::Agent, ..caller() };
    let reply = context.at_local_desk_as(&caller, Access::Add, |desk| {
        let reply = desk.perform(asks)?;
        desk.embed();
        Ok(reply)
    })?;
    if context.json {
        output::json(&MemoryToolReply { content: reply.text.clone(), is_error: reply.is_error })?;
    } else {
        output::text(&format!("{}\n", reply.text))?;
    }
    Ok(if reply.is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// How often the progress is checked.
const LOOK: Duration = Duration::from_millis(400);
/// How often progress is reported without a terminal.
const TELL: Duration = Duration::from_secs(15);

/// Runs a sync. During the sync, stderr shows how many changes remain and how many memories are stored. The numbers
/// come from the store, which a sync updates page by page.
pub(super) fn watched<T>(context: &Context, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let (done, is_done) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || show(context, &is_done));
        let result = work();
        drop(done);
        result
    })
}

fn show(context: &Context, is_done: &Receiver<()>) {
    let is_over = |wait| !matches!(is_done.recv_timeout(wait), Err(RecvTimeoutError::Timeout));
    // Most syncs end before there is progress to show.
    if is_over(LOOK) {
        return;
    }
    let Ok(config) = config::store(context.home.clone(), Usage::ReadOnce) else { return };
    let Ok(mut store) = Store::open(config) else { return };
    let bar = bar();
    let mut told = Instant::now();
    loop {
        if let Some(text) = progress(&mut store) {
            if !bar.is_hidden() {
                bar.set_message(text);
            } else if told.elapsed() >= TELL {
                told = Instant::now();
                output::note(&text);
            }
        }
        bar.tick();
        if is_over(LOOK) {
            return bar.finish_and_clear();
        }
    }
}

fn progress(store: &mut Store) -> Option<String> {
    let (waiting, here) = (store.sync_status().ok()?.waiting, store.stats().ok()?.memories);
    Some(format!("{waiting} changes to send, {here} memories on this machine"))
}

fn bar() -> ProgressBar {
    if !output::is_watched() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{spinner} {elapsed} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}
