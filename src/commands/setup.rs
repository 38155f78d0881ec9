//! `setup` and `uninstall`: clients' settings, shown as a diff before anything is changed.

use std::io::{IsTerminal, Write};
use std::path::Path;

use tessera_engine::screen::dropped;
use tessera_engine::store::Home;

use anyhow::Context as _;
use serde_json::json;
use tessera_setup::{Client, Level, Plan, apply, uninstall_plan};

use super::Context;
use crate::cli::{Setup, SetupClient};
use crate::exit::UserError;
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
        apply(&plan, client, &home)?;
        output::note(&format!("{} is set up; start it anew. `tessera uninstall` takes it back.", client.as_str()));
    }
    report(context, &plan, made)
}

/// Takes everything back, and the store too with `purge`.
pub(super) fn uninstall(context: &Context, purge: bool, dry_run: bool, yes: bool) -> anyhow::Result<()> {
    let home = config::home(context.home.clone())?;
    let plan = uninstall_plan(&home)?;
    if purge {
        output::note(&format!("{} is removed with every memory in it.", home.dir().display()));
        tell_files(&home);
    }
    let question = if purge { "Make these changes and remove the store?" } else { "Make these changes?" };
    let made = if plan.is_empty() && purge {
        !dry_run && agreed(yes, question)?
    } else {
        confirmed(context, &plan, dry_run, yes, question)?
    };
    if made || (plan.is_empty() && !dry_run) {
        plan.take_back(&home)?;
    }
    if made && purge {
        remove_store(&home)?;
    }
    report(context, &plan, made)
}

/// Says which files a person may have written go with the store.
fn tell_files(home: &Home) {
    let (files, bytes) = beneath(&home.memories());
    if files > 0 {
        output::note(&format!(
            "{files} files in {} go with it, {bytes} bytes, your own too: copy what you want to keep.",
            home.memories().display()
        ));
    }
    let (deleted, _) = beneath(&home.deleted_files());
    if deleted > 0 {
        output::note(&format!("{deleted} files that were deleted can be restored no more."));
    }
    output::note("Folders that `tessera files add` made known stay as they are.");
}

/// How many files are in a directory and in those in it, and their bytes. No link is followed.
fn beneath(dir: &Path) -> (u64, u64) {
    let (mut sum, mut dirs) = ((0, 0), vec![dir.to_owned()]);
    // A link in its place is removed, and not what it leads to.
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

/// Shows a plan and asks. False when nothing is to be done.
fn confirmed(context: &Context, plan: &Plan, dry_run: bool, yes: bool, question: &str) -> anyhow::Result<bool> {
    if plan.is_empty() {
        output::note("nothing to change");
        return Ok(false);
    }
    if context.json {
        output::note(&plan.diff());
    } else {
        // A client's settings may hold keys of others.
        output::text(&dropped(&plan.diff()))?;
    }
    if dry_run {
        return Ok(false);
    }
    agreed(yes, question)
}

pub(super) fn agreed(yes: bool, question: &str) -> anyhow::Result<bool> {
    agreed_or(yes, question, "nobody to ask; look at the change above and pass --yes")
}

/// The same with what is said where nobody can be asked.
pub(super) fn agreed_or(yes: bool, question: &str, nobody: &str) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(UserError(nobody.to_owned()).into());
    }
    write!(std::io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn report(context: &Context, plan: &Plan, made: bool) -> anyhow::Result<()> {
    if context.json {
        let files: Vec<_> = plan.edits.iter().map(|edit| &edit.path).collect();
        return output::json(&json!({ "files": files, "changed": made }));
    }
    Ok(())
}

/// Removes what is ours in the store's directory, and the directory when nothing else is in it.
fn remove_store(home: &Home) -> anyhow::Result<()> {
    for path in home.ours() {
        let is_dir = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        let removed = if is_dir { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        removed.with_context(|| path.display().to_string())?;
    }
    // It stays when something of others is in it.
    let _ = std::fs::remove_dir(home.dir());
    Ok(())
}
