//! `sync`: joins a team server, and shows the state of sync.

use std::io::{BufRead, IsTerminal};
use std::time::Duration;

use anyhow::Context as _;
use tessera_desk::folders::refresh;
use tessera_desk::sync::{Remote, exchange, exchange_or_join};
use tessera_engine::Store;
use tessera_engine::store::{SyncStatus, Upload, Usage};

use super::files::watched;
use super::{Context, embedding};
use crate::cli::{SyncTask, UploadChoice};
use crate::config::Used;
use crate::config_file::ConfigFile;
use crate::exit::UserError;
use crate::shapes::{Done, Joined, Status, SyncedNow};
use crate::{config, output};

/// The error if a configured server is switched off.
const LEFT: &str =
    "a server is configured, but the setting sync.mode is off (`tessera settings unset sync.mode` switches it on)";
/// How long `sync status` waits for a server.
const PATIENT: Duration = Duration::from_secs(3);

/// Performs one action.
pub(super) fn run(context: &Context, task: SyncTask) -> anyhow::Result<()> {
    match task {
        SyncTask::Join { url, upload } => join(context, url, upload),
        SyncTask::Leave => {
            let mut store = context.open_existing()?;
            let had_server = store.server()?.is_some();
            store.leave()?;
            forget_server(context)?;
            done(
                context,
                if had_server {
                    "This machine no longer syncs. Your memories are still here; memories that others shared are deleted here."
                } else {
                    "This machine did not sync. The setting sync.mode is now off, so no server is used."
                },
            )
        }
        SyncTask::Status => status(context),
        SyncTask::Now => now(context),
        SyncTask::Dead { retry } => dead(context, retry),
    }
}

fn join(context: &Context, url: Option<String>, upload: Option<UploadChoice>) -> anyhow::Result<()> {
    let home = config::home(context.home.clone())?;
    let mut file = ConfigFile::read(&home)?;
    let url = url.or_else(|| config::team_address(&file));
    let url =
        url.ok_or_else(|| UserError("no team server is configured; add its address: `tessera sync join URL`".into()))?;
    let key = match config::team_key_for(&file, &url) {
        Some(key) => key,
        None => read_key()?,
    };
    let remote = Remote::new(&url, key.as_str())?;
    let user = runtime()?.block_on(remote.user())?;
    let mut store = context.open(Usage::Write)?;
    // Files that were edited by hand are indexed first, so that the question counts them.
    refresh(&mut store)?;
    let held = store.stats()?.memories;
    if store.server()?.is_some() {
        store.join(remote.address(), &user, Upload::All)?;
        decide_on_kept(&mut store, upload)?;
    } else {
        let upload = match upload {
            _ if held == 0 => Upload::All,
            Some(UploadChoice::All) => Upload::All,
            Some(UploadChoice::Nothing) => Upload::Nothing,
            None => ask(held)?,
        };
        store.join(remote.address(), &user, upload)?;
    }
    file.set("sync.server", Some(remote.address()))?;
    file.set("sync.key", Some(&key))?;
    if config::is_switched_off(&file)? {
        file.set("sync.mode", None)?;
    }
    file.write()?;
    let exchanged = watched(context, || Ok(runtime()?.block_on(exchange(store, &remote))?));
    let exchanged = exchanged.with_context(|| {
        format!("joined {} as {user}, but the first sync failed (`tessera sync now` repeats it)", remote.address())
    })?;
    let (sent, received) = (exchanged.sent, exchanged.received);
    if context.json {
        output::json(&Joined { user, server: remote.address().to_owned(), sent, received })?;
    } else {
        output::say(&format!("Joined {} as {user}: {sent} changes sent, {received} received.", remote.address()))?;
    }
    embedding::make_waiting_after(context);
    Ok(())
}

/// Uploads memories that were kept local when the store joined the server, or keeps them local permanently. Asks only
/// at a terminal, because a script may join again just to replace the key.
fn decide_on_kept(store: &mut Store, upload: Option<UploadChoice>) -> anyhow::Result<()> {
    let undecided = store.sync_status()?.undecided;
    let upload = match upload {
        Some(UploadChoice::All) => Upload::All,
        Some(UploadChoice::Nothing) => Upload::Nothing,
        None if undecided > 0 && std::io::stdin().is_terminal() => ask(undecided)?,
        None => return Ok(()),
    };
    match upload {
        Upload::All => drop(store.send_kept()?),
        _ => store.keep_here()?,
    }
    Ok(())
}

/// Reads the key from a person or a pipe. The key is never a command-line argument, because other users of the machine
/// can see arguments.
fn read_key() -> anyhow::Result<String> {
    if std::io::stdin().is_terminal() {
        output::question("The key of the team server:");
    }
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let key = line.trim();
    if key.is_empty() {
        return Err(UserError("the key is missing; set TESSERA_API_KEY, or send the key through stdin".into()).into());
    }
    Ok(key.to_owned())
}

/// Asks before existing memories are uploaded.
fn ask(held: u64) -> anyhow::Result<Upload> {
    if !std::io::stdin().is_terminal() {
        let problem = format!(
            "this store already has {}: with --upload all, they are sent to the server; with --upload nothing, they stay \
            on this machine only",
            output::memories(held)
        );
        return Err(UserError(problem).into());
    }
    output::question(&format!(
        "This store already has {}. Send them to the server? If not, they stay on this machine only. [y/N]",
        output::memories(held)
    ));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let is_yes = matches!(line.trim().to_lowercase().as_str(), "y" | "yes");
    Ok(if is_yes { Upload::All } else { Upload::Nothing })
}

/// Removes the server from the settings. While sync is on, environment variables would make the store join again.
fn forget_server(context: &Context) -> anyhow::Result<()> {
    let mut file = ConfigFile::read(&config::home(context.home.clone())?)?;
    file.set("sync.server", None)?;
    file.set("sync.key", None)?;
    file.set("sync.mode", Some("off"))?;
    file.write()
}

fn now(context: &Context) -> anyhow::Result<()> {
    let (remote, _) = server(context)?;
    let store = context.open(Usage::Write)?;
    // A store without a server joins the configured one by itself, as it does in `tessera mcp`.
    let exchanged = watched(context, || Ok(runtime()?.block_on(exchange_or_join(store, remote))?))?;
    let (sent, received, refused) = (exchanged.sent, exchanged.received, exchanged.refused);
    if context.json {
        output::json(&SyncedNow { sent, received, refused })?;
    } else {
        let tail =
            if refused > 0 { format!(", {refused} rejected; `tessera sync dead` lists them") } else { String::new() };
        output::say(&format!("{sent} changes sent, {received} received{tail}"))?;
    }
    embedding::make_waiting_after(context);
    Ok(())
}

/// The configured server, and how it is used.
pub(super) fn server(context: &Context) -> anyhow::Result<(Remote, Used)> {
    if let Some(team) = config::team(context.home.clone())? {
        return Ok(team);
    }
    let why = if config::is_left(context.home.clone())? { LEFT } else { "no team server is configured" };
    Err(UserError(format!("{why}; run `tessera sync join URL`")).into())
}

pub(super) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn status(context: &Context) -> anyhow::Result<()> {
    // Before the first sync there may be no store, so the server's answer is the only information.
    if !context.json
        && !config::home(context.home.clone())?.holds_store()
        && let Ok(Some((remote, _))) = config::team(context.home.clone())
    {
        return not_joined_yet(&remote, 0);
    }
    let mut store = context.open(Usage::ReadOnce)?;
    let (status, files) = (store.sync_status()?, store.files_held_back()?);
    let team = config::team(context.home.clone());
    if let Err(problem) = &team {
        output::note(&format!("the team server is not used: {problem}"));
    }
    if context.json {
        let failing_changes = store.failing_changes()?;
        return output::json(&Status { status, files_held_back: files, failing_changes });
    }
    if let (None, Ok(Some((remote, _)))) = (&status.server, &team) {
        return not_joined_yet(remote, store.stats()?.memories);
    }
    let SyncStatus { server, waiting, failing, refused, conflicts, shared_with_me, private, undecided } = status;
    let Some(server) = server else {
        let why = if config::is_left(context.home.clone())? { LEFT } else { "no team server is configured" };
        return output::say(&format!(
            "The memories stay on this machine: {why}. `tessera sync join URL` joins a server."
        ));
    };
    let count = |name: &str, count: u64| vec![name.to_owned(), count.to_string()];
    let mut rows = vec![
        vec!["server".to_owned(), server.url],
        vec!["user".to_owned(), server.user],
        count("changes to send", waiting),
        count("changes that failed on the server", failing),
        count("changes rejected (tessera sync dead)", refused),
        count("conflicts", conflicts),
        count("shared with you", shared_with_me),
        count("local only", private - undecided),
    ];
    rows.extend(
        store.failing_changes()?.into_iter().map(|change| vec![format!("failing: {}", change.short_id), change.why]),
    );
    if undecided > 0 {
        rows.push(count("local only, stored before joining (sync join --upload all sends them)", undecided));
    }
    let reasons = [
        ("files with a credential, local only", files.with_credential),
        ("files too large to send, local only", files.too_large),
        ("files in folders that were added without --sync", files.in_untold_folder),
        ("files that other programs execute or read as instructions, local only", files.with_refused_name),
        ("files in folders that this machine does not have", files.without_folder),
    ];
    rows.extend(reasons.into_iter().filter(|(_, number)| *number > 0).map(|(name, number)| count(name, number)));
    let now = config::clock()?.now();
    let reached = server.reached.map_or_else(|| "never".to_owned(), |time| output::age(time, now));
    rows.push(vec!["last exchange".to_owned(), reached]);
    if let Some(problem) = server.problem {
        rows.push(vec!["problem since then".to_owned(), problem]);
    }
    output::text(&output::table(&["what", ""], rows))
}

/// Asks the server whether it accepts the key, before the first sync.
fn not_joined_yet(remote: &Remote, held: u64) -> anyhow::Result<()> {
    let asked = runtime()?.block_on(async { tokio::time::timeout(PATIENT, remote.user()).await });
    let said = match asked {
        Ok(Ok(user)) => format!("the server accepts the key of {user}"),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the server does not answer".to_owned(),
    };
    let address = remote.address();
    if held > 0 && !remote.is_chosen() {
        return output::say(&format!(
            "the server address {address} comes from an environment variable, but this store has not joined the server: {said}. This store already has {held} memories, so run `tessera sync join {address}`, which asks whether to send them."
        ));
    }
    let kept = match held {
        0 => String::new(),
        held => format!(
            " This store already has {held} memories; only those that the server also has are synced. `tessera sync \
            join --upload all` sends all."
        ),
    };
    output::say(&format!(
        "{address} is configured, but not joined yet: {said}. The first sync (`tessera mcp`, `tessera sync now`) \
        joins it.{kept}"
    ))
}

fn dead(context: &Context, retry: bool) -> anyhow::Result<()> {
    let mut store = context.open_existing()?;
    if retry {
        let count = store.retry_refused()?;
        let text = match count {
            0 => "There are no rejected changes to send again.".to_owned(),
            count => format!("{} will be sent at the next sync.", output::counted(count, "change", "changes")),
        };
        return done(context, &text);
    }
    let refused = store.refused_changes()?;
    if context.json {
        return output::json(&refused);
    }
    if refused.is_empty() {
        return output::say("There are no rejected changes.");
    }
    let row =
        |change: tessera_engine::store::RefusedChange| vec![change.short_id.to_string(), change.summary, change.why];
    let rows = refused.into_iter().map(row).collect();
    output::text(&output::table(&["id", "memory", "why"], rows))
}

fn done(context: &Context, text: &str) -> anyhow::Result<()> {
    context.print(&Done { done: text.to_owned() }, || text)
}
