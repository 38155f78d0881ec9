//! One file per command: parse, call the library, print.

mod browse;
pub(crate) mod candidates;
mod client_notes;
mod completions;
mod demo;
mod editor;
mod embedding;
mod eval;
mod explain;
mod files;
mod forget;
mod handoff;
pub(crate) mod hook;
mod import_source;
mod learn;
mod list;
mod maintenance;
mod manual;
mod matches;
mod mcp;
mod notes;
mod overwrite;
mod plugin;
mod plugin_test;
mod project;
mod questions;
mod readable;
mod recall;
mod remember;
mod residue;
mod restore;
mod review;
mod secret;
mod serve;
mod settings;
mod setup;
mod show;
mod status;
mod statusline;
mod sync;
mod team;
mod transfer;
mod unanswered;
mod undo;

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::Context as _;
use serde::Serialize;
use tessera_desk::chain::spool;
use tessera_desk::folders::{ChangeWait, ExportNotes};
use tessera_desk::older::System;
use tessera_desk::sync::SyncError;
use tessera_desk::team::{Done, Team, directly};
use tessera_desk::use_cases::{Meant, Named};
use tessera_desk::{Caller, Desk, Project, SharedStore, UseCase};
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, MemoryRef, Origin};
use tessera_engine::store::Usage;

use crate::cli::{Cli, Command, ExportArguments, Ids, ImportArguments, ImportKind};
use crate::exit::{UsageError, UserError};
use crate::{config, output};

/// How a command uses the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Reads once. Also works in a read-only directory.
    Read,
    /// The command adds data, and creates the store if it does not exist.
    Add,
    /// Changes the content, and never creates a store.
    Change,
}

/// The context of every command.
struct Context {
    json: bool,
    home: Option<std::path::PathBuf>,
}

impl Context {
    fn open(&self, usage: Usage) -> anyhow::Result<Store> {
        if usage == Usage::ReadOnce {
            self.refuse_missing()?;
        }
        Ok(Store::open(config::store(self.home.clone(), usage)?)?)
    }

    /// Opens the store for a change, without creating it.
    fn open_existing(&self) -> anyhow::Result<Store> {
        self.refuse_missing()?;
        self.open(Usage::Write)
    }

    /// Runs work on the store. In direct mode, syncs with the team server before and after the work.
    fn at_desk<T>(&self, access: Access, work: impl FnOnce(&mut Desk<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
        self.at_desk_as(&caller(), access, work)
    }

    /// The same for another caller.
    fn at_desk_as<T>(
        &self,
        caller: &Caller,
        access: Access,
        work: impl FnOnce(&mut Desk<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let Some(remote) = config::direct_server(self.home.clone()) else {
            return self.at_local_desk_as(caller, access, work);
        };
        if access != Access::Add && self.home.as_ref().is_some_and(|home| !home.is_dir()) {
            self.refuse_missing()?;
        }
        // Without the server, the local memories can still be read. But in direct mode nothing is stored that the
        // server has not accepted.
        let goes_on = |error: &SyncError| match error {
            SyncError::NotJoined | SyncError::NotAgreed { .. } => access == Access::Read,
            SyncError::Remote(error) => access == Access::Read && error.is_transient(),
            _ => false,
        };
        let Done { outcome, not_sent, not_heard } = directly(self.open(Usage::Write)?, remote, caller, goes_on, work)?;
        if access != Access::Read {
            self.settle_vault(self.open(Usage::Write)?);
        }
        if let Some(error) = not_heard {
            output::note(&format!("the memories may be outdated, because the team server could not be read: {error}"));
        }
        if let Some(error) = not_sent {
            output::note(&format!(
                "the change is stored on this machine, but not sent to the team server yet: {error}"
            ));
        }
        outcome
    }

    /// Performs one use case.
    fn perform<V: UseCase>(&self, access: Access, asked: V) -> anyhow::Result<V::Outcome> {
        self.at_desk(access, |desk| Ok(desk.perform(asked)?))
    }

    /// Performs a use case that concerns only this machine.
    fn perform_here<V: UseCase>(&self, access: Access, asked: V) -> anyhow::Result<V::Outcome> {
        self.at_local_desk(access, |desk| Ok(desk.perform(asked)?))
    }

    /// Prints an outcome as JSON or as a line.
    fn print<T: AsRef<str>>(&self, outcome: &impl Serialize, line: impl FnOnce() -> T) -> anyhow::Result<()> {
        if self.json { output::json(outcome) } else { output::say(line().as_ref()) }
    }

    /// Prints an outcome as JSON or as text.
    fn print_text<T: AsRef<str>>(&self, outcome: &impl Serialize, text: impl FnOnce() -> T) -> anyhow::Result<()> {
        if self.json { output::json(outcome) } else { output::page(text().as_ref()) }
    }

    /// Performs work that concerns only this machine.
    fn at_local_desk<T>(
        &self,
        access: Access,
        work: impl FnOnce(&mut Desk<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        self.at_local_desk_as(&caller(), access, work)
    }

    fn at_local_desk_as<T>(
        &self,
        caller: &Caller,
        access: Access,
        work: impl FnOnce(&mut Desk<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut store = match access {
            Access::Read => self.open(Usage::ReadOnce)?,
            Access::Add => self.open(Usage::Write)?,
            Access::Change => self.open_existing()?,
        };
        let outcome = work(&mut Desk::new(&mut store, caller).looking(Some(ChangeWait::Long)));
        // The command has already been answered, so this is only a remark.
        if let Err(error) = spool::work_off(&store, caller.plugins, spool::briefly()) {
            output::note(&format!("plugins receive the event later: {error}"));
        }
        if access != Access::Read {
            self.settle_vault(store);
        }
        outcome
    }

    /// Sends waiting changes to the vault of this machine. If this fails, prints a notice; the changes are sent again
    /// later.
    fn settle_vault(&self, store: Store) {
        let settled = || -> anyhow::Result<()> {
            if !store.has_news_for_vault()? {
                return Ok(());
            }
            if let Some(safe) = config::vault(self.home.clone())? {
                sync::runtime()?.block_on(safe.settle(&SharedStore::new(store)))?;
            }
            Ok(())
        };
        if let Err(error) = settled() {
            output::note(&format!("the secrets stay encrypted in the store until the vault accepts them: {error}"));
        }
    }

    /// Opens the store together with the configured team server.
    fn team(&self, usage: Usage) -> anyhow::Result<Team> {
        let (remote, used) = sync::server(self)?;
        Ok(Team::new(SharedStore::new(self.open(usage)?), remote, used.mode))
    }

    /// `doctor` and `files scan` fail if the home directory does not exist, so a mistyped path creates nothing. `setup`
    /// creates a directory without a store, and such a directory can be checked as well.
    fn refuse_missing_home(&self) -> anyhow::Result<()> {
        if config::home(self.home.clone())?.dir().is_dir() { Ok(()) } else { self.refuse_missing() }
    }

    /// A command that only reads never creates a store, neither in a named directory nor in the default one.
    fn refuse_missing(&self) -> anyhow::Result<()> {
        let home = config::home(self.home.clone())?;
        // A vanished store is reported when it is opened.
        if home.holds_store() || home.marker().exists() {
            return Ok(());
        }
        // A directory that cannot be read may contain a store.
        if let Err(error) = std::fs::read_dir(home.dir())
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(error).with_context(|| format!("cannot open {}", home.dir().display()));
        }
        let older = config::earlier_store(&home).map_or_else(String::new, |known| format!("; {known}"));
        let dir = home.dir().display();
        Err(UserError(format!("{dir} contains no Tessera store; `tessera remember TEXT` creates a store there{older}"))
            .into())
    }
}

/// Returns the caller of the command line: the user, in the project of the working directory.
fn caller() -> Caller {
    let dir = std::env::current_dir().ok();
    let project = dir.and_then(|dir| Project::of(&dir, config::user_home().as_deref()));
    let plugins = config::plugin_rules();
    Caller { project, client: Some("tessera".into()), plugins, ..Caller::new(Origin::User) }
}

/// True for commands that programs run, commands whose output programs read, and commands that list the problems of
/// settings themselves.
fn reports_no_settings(command: &Command) -> bool {
    matches!(
        command,
        Command::Mcp { .. }
            | Command::Hook { .. }
            | Command::Learn
            | Command::Serve { .. }
            | Command::Doctor { .. }
            | Command::Settings { .. }
            | Command::Completions { .. }
            | Command::Man { .. }
            | Command::Status
            | Command::Statusline
            | Command::Version
    )
}

/// Reports a store of an earlier version, before the first memory is stored. A command that reads a store reports this
/// itself.
fn report_earlier_store(context: &Context, command: &Command) {
    let is_first = matches!(command, Command::Remember(_) | Command::Import(_));
    if is_first
        && let Ok(home) = config::home(context.home.clone())
        && !home.holds_store()
        && let Some(known) = config::earlier_store(&home)
    {
        output::note(&known);
    }
}

/// Runs a command. The exit code is 0 unless the command found a problem.
pub(crate) fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let told = serve::Told { json: cli.json, verbose: cli.verbose };
    let context = Context { json: cli.json, home: cli.home };
    let Some(command) = cli.command else { return status::alone(&context) };
    report_earlier_store(&context, &command);
    let is_silent = reports_no_settings(&command);
    let done = carry_out(&context, told, command);
    // Problems of the settings are reported last, unless the command failed because of them.
    if !is_silent
        && let Some(problem) = config::problem_to_report(context.home.clone())
        && done.as_ref().err().is_none_or(|error| error.to_string() != problem)
    {
        output::note(&output::shown(&problem));
    }
    done
}

fn carry_out(context: &Context, told: serve::Told, command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Remember(args) => remember::run(context, args)?,
        Command::Recall(args) => recall::run(context, *args)?,
        Command::Get { ids } => return show::get(context, Ids::all(ids)),
        Command::List(args) => list::run(context, args)?,
        Command::Update(args) => remember::update(context, args)?,
        Command::Browse { words, print } => browse::run(context, &words, print)?,
        Command::Edit { id } => editor::edit(context, id)?,
        Command::Forget(args) => forget::run(context, args)?,
        Command::Undo { id, yes } => undo::run(context, id, yes)?,
        Command::Restore { ids, before } => restore::run(context, Ids::all(ids), before)?,
        Command::History { id } => show::history(context, id)?,
        Command::Link { id, kind, to, remove } => show::run(context, id, &kind, to, remove)?,
        Command::Import(args) => return import(context, args),
        Command::Export(ExportArguments { markdown: Some(dir), parts, force, .. }) => {
            transfer::export_notes(context, ExportNotes { dir, with_parts: parts, force })?;
        }
        Command::Export(ExportArguments { file, force, .. }) => transfer::export(context, file.as_deref(), force)?,
        Command::Status => status::run(context)?,
        Command::Stats => maintenance::stats(context)?,
        Command::Doctor { repair, yes } => {
            return maintenance::doctor(context, repair, yes);
        }
        Command::Backup { file, force, with_key } => {
            maintenance::backup(context, file.as_deref(), force, with_key)?;
        }
        Command::RestoreBackup { file, yes } => return maintenance::restore_backup(context, &file, yes),
        Command::Eval { what } => eval::run(context, what)?,
        Command::Mcp { http } => mcp::run(context, http)?,
        Command::Serve { arguments } => return serve::run(told, arguments),
        Command::Sync(task) => sync::run(context, task)?,
        Command::Share(args) => team::share(context, args, true)?,
        Command::Unshare(args) => team::share(context, args, false)?,
        Command::Shares => team::shares(context)?,
        Command::Accept(offered) => team::answer(context, &offered, true)?,
        Command::Decline(offered) => team::answer(context, &offered, false)?,
        Command::Resolve { id, keep, content } => team::resolve(context, id, keep, content)?,
        Command::Project { task } => project::run(context, task)?,
        Command::Secret(task) => return secret::run(context, task),
        Command::Purged { id } => return residue::purged(context, id),
        Command::Demo => demo::run(context)?,
        Command::Settings { task } => settings::run(context, task)?,
        Command::Hook { event } => return Ok(hook::run(hook::Arguments::parsed(context.home.clone(), event))),
        Command::Learn => learn::run(context)?,
        Command::Log(args) => unanswered::log(context, args)?,
        Command::Statusline => statusline::run(context)?,
        Command::Handoff(args) => handoff::run(context, args)?,
        Command::Why { id } => unanswered::why(context, id)?,
        Command::Files(task) => files::run(context, task)?,
        Command::Plugin(task) => plugin::run(context, task)?,
        Command::Note(task) => notes::run(context, task)?,
        Command::Graph(args) => notes::graph(context, args)?,
        Command::MemoryTool => return files::tool(context),
        Command::Review(args) => return review::run(context, args.task),
        Command::Unanswered(args) => unanswered::run(context, &args)?,
        Command::Usage { days } => unanswered::usage(context, days)?,
        Command::Setup(args) => setup::run(context, &args)?,
        Command::Uninstall { purge, dry_run, yes } => setup::uninstall(context, purge, dry_run, yes)?,
        Command::Completions { task } => completions::run(context, task)?,
        Command::Man { command, all } => manual::run(context, &command, all.as_deref())?,
        Command::Version => output::line(&format!("tessera {}", env!("CARGO_PKG_VERSION")))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Imports data, lists imports, or undoes one.
fn import(context: &Context, args: ImportArguments) -> anyhow::Result<ExitCode> {
    match args {
        ImportArguments { detect: true, .. } => import_source::detect(context)?,
        ImportArguments { undo: Some(n), dry_run, yes, .. } => import_source::undo(context, n, dry_run, yes)?,
        ImportArguments { kind: Some(ImportKind::ClaudeMemoryMcp(older)), .. } => {
            return import_source::run(context, System::ClaudeMemoryMcp, &older);
        }
        ImportArguments { kind: Some(ImportKind::MemoryMcp(older)), .. } => {
            return import_source::run(context, System::MemoryMcp, &older);
        }
        ImportArguments { kind: Some(ImportKind::BasicMemory(older)), .. } => {
            return import_source::run(context, System::BasicMemory, &older);
        }
        ImportArguments { kind: Some(ImportKind::List), .. } => import_source::list(context)?,
        ImportArguments { kind: Some(ImportKind::ClaudeMd { path, whose, scope }), .. } => {
            return client_notes::import(context, &path, whose, scope);
        }
        ImportArguments { file: Some(_), dry_run: true, .. } => {
            let problem = "works only for another system and with --undo";
            let fix = "a file of JSON lines has no preview; `tessera import --undo N` undoes its import";
            return Err(DomainError::invalid("dry_run", problem, fix).into());
        }
        ImportArguments { file, whose, .. } => {
            return transfer::import(context, &file.unwrap_or_else(|| "-".into()), whose.mine);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The one memory that the argument names.
fn meant(desk: &mut Desk<'_>, named: Named) -> anyhow::Result<MemoryRef> {
    let found = desk.perform(Meant { named: vec![named] })?;
    found.into_iter().next().ok_or_else(|| UserError("no name was given".to_owned()).into())
}

/// The words of an argument as one text. `-` reads stdin. Without words, a pipe is read.
fn text_of(words: Vec<String>) -> anyhow::Result<String> {
    let texts = words.iter().filter(|word| word.trim().contains(char::is_whitespace)).count();
    if texts > 1 {
        let problem = "there are several quoted texts; quote them together as one text, or use one command for each";
        return Err(UsageError(problem.to_owned()).into());
    }
    let is_piped = words.is_empty() && !std::io::stdin().is_terminal();
    text_or_stdin(if is_piped { "-".to_owned() } else { words.join(" ") })
}

/// The text of an argument; `-` reads stdin.
fn text_or_stdin(argument: String) -> anyhow::Result<String> {
    let is_stdin = argument == "-";
    let text = all_or_stdin(argument)?;
    Ok(if is_stdin { without_last_newline(text) } else { text })
}

fn without_last_newline(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

/// Returns the argument, or for `-` the text from stdin, including its last newline.
fn all_or_stdin(argument: String) -> anyhow::Result<String> {
    if argument != "-" {
        return Ok(argument);
    }
    if std::io::stdin().is_terminal() {
        output::note("Type the text, then press Ctrl-D on an empty line.");
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(16 * 1024 * 1024).read_to_end(&mut bytes)?;
    let wrong = |error: std::string::FromUtf8Error| {
        UserError(format!("stdin is not UTF-8 at byte {}; convert the text to UTF-8", error.utf8_error().valid_up_to()))
    };
    Ok(String::from_utf8(bytes).map_err(wrong)?)
}

/// Asks for a confirmation. True if the person agrees, or passed `--yes`.
fn agreed(yes: bool, question: &str) -> anyhow::Result<bool> {
    agreed_or(yes, question, "there is no terminal to confirm on; check the change, and add --yes")
}

/// Like `agreed`, but fails with the caller's error message if there is no terminal.
fn agreed_or(yes: bool, question: &str, nobody: &str) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(UserError(nobody.to_owned()).into());
    }
    output::question(&format!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
