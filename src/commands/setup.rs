//! `setup` and `uninstall` change the settings of clients. They show a diff and ask first.
//!
//! Also contains the checks of `doctor` for this machine.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tessera_desk::chain::installed::Installed;
use tessera_desk::chain::spool::SpoolContent;
use tessera_desk::chain::{installed, spool};
use tessera_desk::sync::{Remote, SyncError};
use tessera_engine::Store;
use tessera_engine::domain::Timestamp;
use tessera_engine::screen::dropped;
use tessera_engine::store::{Home, StoreConfig};
use tessera_setup::{Client, Level, Owner, Plan, Row, RowVerdict, apply, uninstall_plan};

use super::{Context, import_source};
use crate::cli::{Setup, SetupClient};
use crate::config_file::ConfigFile;
use crate::shapes::SettingsPlan;
use crate::{config, output};

/// Connects a client.
pub(super) fn run(context: &Context, args: &Setup) -> anyhow::Result<()> {
    let client = match args.client {
        SetupClient::ClaudeCode => Client::ClaudeCode,
        SetupClient::ClaudeDesktop => Client::ClaudeDesktop,
        SetupClient::Cursor => Client::Cursor,
        SetupClient::Codex => Client::Codex,
        SetupClient::Gemini => Client::Gemini,
        SetupClient::Vscode => Client::VsCode,
    };
    let level = if args.project {
        Level::Project(std::env::current_dir().context("the current directory")?)
    } else {
        Level::User
    };
    let home = config::home(context.home.clone())?;
    let mut plan = client.plan(&level, &config::places(context.home.as_deref())?)?;
    if args.memory_files {
        plan.offer_memory_files(&home)?;
    }
    let made = confirmed(context, &plan, args.dry_run, args.yes, "Make these changes?")?;
    if made {
        home.make().with_context(|| home.dir().display().to_string())?;
        apply(&plan, Owner::Client(client), &home)?;
        output::note(&format!(
            "{} is configured. Restart it to apply the change. Undo it with `tessera uninstall`.",
            client.as_str()
        ));
    }
    report(context, &plan, made)
}

/// Reverts all changes of `setup`; with `purge`, also deletes the store.
pub(super) fn uninstall(context: &Context, purge: bool, dry_run: bool, yes: bool) -> anyhow::Result<()> {
    let home = config::home(context.home.clone())?;
    let plan = uninstall_plan(&home)?;
    if purge {
        output::note(&format!("This deletes {} with all memories.", home.dir().display()));
        tell_files(&home);
    }
    let question = if purge { "Make these changes and delete the store?" } else { "Make these changes?" };
    let made = if plan.is_empty() && purge {
        !dry_run && super::agreed(yes, question)?
    } else {
        confirmed(context, &plan, dry_run, yes, question)?
    };
    if made || (plan.is_empty() && !dry_run) {
        plan.take_back(&home)?;
    }
    if made && purge {
        remove_store(&home)?;
    }
    if made && let Ok(places) = config::places(None) {
        output::note(&format!(
            "The program stays at {}. Delete it the way you installed it.",
            places.program.display()
        ));
    }
    report(context, &plan, made)
}

/// Lists the files in the store's directory that a person may have written.
fn tell_files(home: &Home) {
    let (files, bytes) = beneath(&home.memories());
    if files > 0 {
        output::note(&format!(
            "This also deletes {files} files in {} ({bytes} bytes), your own included; copy what you want to keep.",
            home.memories().display()
        ));
    }
    let (deleted, _) = beneath(&home.deleted_files());
    if deleted > 0 {
        output::note(&format!("{deleted} deleted files can no longer be restored."));
    }
    output::note("Watched folders outside the home directory are not changed.");
}

/// The number of files and bytes below a directory. Symbolic links are not followed.
fn beneath(dir: &Path) -> (u64, u64) {
    let (mut sum, mut dirs) = ((0, 0), vec![dir.to_owned()]);
    // A link is removed, but not its target.
    dirs.retain(|dir| !dir.is_symlink());
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => dirs.push(entry.path()),
                Ok(metadata) => sum = (sum.0 + 1, sum.1 + metadata.len()),
                Err(_) => sum.0 += 1,
            }
        }
    }
    sum
}

/// Shows a plan and asks. False if there is nothing to do.
pub(super) fn confirmed(
    context: &Context,
    plan: &Plan,
    dry_run: bool,
    yes: bool,
    question: &str,
) -> anyhow::Result<bool> {
    if plan.is_empty() {
        output::note("There is nothing to change.");
        return Ok(false);
    }
    if context.json {
        output::note(&plan.diff());
    } else {
        // A client's settings may contain keys of other programs.
        output::text(&dropped(&plan.diff()))?;
    }
    if dry_run {
        return Ok(false);
    }
    let made = super::agreed(yes, question)?;
    if !made {
        output::note("Nothing was changed.");
    }
    Ok(made)
}

pub(super) fn report(context: &Context, plan: &Plan, made: bool) -> anyhow::Result<()> {
    if context.json {
        let files: Vec<_> = plan.edits.iter().map(|edit| edit.path.clone()).collect();
        return output::json(&SettingsPlan { files, changed: made });
    }
    Ok(())
}

/// Removes our files from the store's directory, and the directory if it is then empty.
fn remove_store(home: &Home) -> anyhow::Result<()> {
    for path in home.ours() {
        let is_dir = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        let removed = if is_dir { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        removed.with_context(|| path.display().to_string())?;
    }
    // The directory stays if it contains other files.
    let _ = std::fs::remove_dir(home.dir());
    Ok(())
}

/// The doctor's rows about the team server and ineffective settings.
pub(super) fn rows(context: &Context, store: &StoreConfig) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |name, verdict, detail: String| rows.push(Row { name, verdict, detail });
    let file = config::home(context.home.clone()).and_then(|home| ConfigFile::read(&home));
    let checked = file.and_then(|file| {
        config::check(&file)?;
        // Values that a variable overrides are checked too.
        let file = file.alone();
        config::check(&file).map(|()| config::unknown(&file))
    });
    match checked {
        Err(problem) => add("settings", RowVerdict::Bad, problem.to_string()),
        Ok(unknown) if !unknown.is_empty() => {
            add(
                "settings",
                RowVerdict::Bad,
                format!("unknown setting {}; `tessera settings` lists all settings", unknown.join(", ")),
            );
        }
        Ok(_) => {}
    }
    match config::team(context.home.clone()) {
        Ok(None) => {}
        Ok(Some((remote, _))) => match unagreed(store, &remote) {
            Some(problem) => add("team server", RowVerdict::Bad, format!("is not used: {problem}")),
            None => add("team server", RowVerdict::Ok, remote.address().to_owned()),
        },
        Err(problem) => add("team server", RowVerdict::Bad, format!("is not used: {problem}")),
    }
    match config::vault(context.home.clone()) {
        Ok(None) => {}
        Ok(Some(_)) => add("vault", RowVerdict::Ok, "secrets go to the configured vault".into()),
        Err(problem) => add("vault", RowVerdict::Bad, problem.to_string()),
    }
    for offer in import_source::offers(context) {
        rows.push(Row { name: "not imported", verdict: RowVerdict::Ok, detail: import_source::told_offer(&offer) });
    }
    if let Ok(home) = config::home(context.home.clone()) {
        let earlier = config::earlier_store(&home);
        rows.extend(earlier.map(|detail| Row { name: "earlier store", verdict: RowVerdict::Ok, detail }));
        rows.extend(plugins(&home));
    }
    rows
}

/// The reason why a configured server is not used: the store has memories, and nobody agreed to upload them.
fn unagreed(store: &StoreConfig, remote: &Remote) -> Option<SyncError> {
    if remote.is_chosen() {
        return None;
    }
    let mut store = Store::open(store.clone()).ok()?;
    let is_joined = store.sync_status().is_ok_and(|status| status.server.is_some());
    let held = store.stats().map_or(0, |stats| stats.memories + stats.deleted);
    (!is_joined && held > 0).then(|| SyncError::NotAgreed { address: remote.address().to_owned(), held })
}

/// The doctor's rows about plugins; none without plugins.
fn plugins(home: &Home) -> Vec<Row> {
    let row = |verdict, detail: String| Row { name: "plugins", verdict, detail };
    if installed::is_unreadable(home) {
        let detail = format!(
            "{} cannot be read, so plugins are off; move it away, and add the plugins again",
            home.plugin_registry().display()
        );
        return vec![row(RowVerdict::Bad, detail)];
    }
    let known = Installed::read(home, Timestamp::from_micros(0));
    let (mut names, mut rows) = (Vec::new(), Vec::new());
    for (plugin, counted) in known.iter().flat_map(Installed::plugins) {
        let name = &plugin.manifest.name;
        names.push(name.to_string());
        let changed = plugin.body.files().iter().find(|file| file.read().is_err());
        rows.extend(changed.map(|file| {
            let what =
                "has changed since you added it, so Tessera does not run it; check the file, and add the plugin again";
            row(RowVerdict::Bad, format!("{name}: {} {what}", file.path.display()))
        }));
        rows.extend(
            counted.is_off().then(|| row(RowVerdict::Bad, format!("{name} {}", installed::switched_off(name)))),
        );
    }
    if rows.is_empty() && !names.is_empty() {
        rows.push(row(RowVerdict::Ok, names.join(", ")));
    }
    rows.extend(spooled(home));
    let lies = installed::never_added(home, &names);
    rows.extend((!lies.is_empty()).then(|| {
        row(
            RowVerdict::Ok,
            format!("not added, so not called: {}; `tessera plugin add FILE` adds a plugin", lies.join(", ")),
        )
    }));
    rows
}

/// The doctor's rows about events that wait for plugins.
fn spooled(home: &Home) -> Vec<Row> {
    let row = |verdict, detail: String| Row { name: "plugins", verdict, detail };
    let SpoolContent { waiting, strange } = spool::lying(home);
    let mut rows = Vec::new();
    if waiting >= spool::MOST_WAITING {
        let detail = format!(
            "{waiting} events are waiting for plugins in {}, and new events are dropped; is another program using the \
            folder, or is it read-only?",
            home.plugin_spool().display()
        );
        rows.push(row(RowVerdict::Bad, detail));
    } else if waiting > 0 {
        rows.push(row(RowVerdict::Ok, format!("{waiting} events are waiting for plugins")));
    }
    let foreign = |path: &PathBuf| {
        row(RowVerdict::Ok, format!("{} is not a waiting event for plugins, and was left unchanged", path.display()))
    };
    rows.extend(strange.first().map(foreign));
    rows
}
