//! Whether what was set up works: the program is there, the server answers, the hooks fire.

use std::env::consts::EXE_EXTENSION;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tessera_engine::Store;
use tessera_engine::store::{ReceiptFilter, StoreConfig, StoreError, Usage};

use crate::client::{Client, Level, Places, hooks_file};
use crate::entry::{SERVER, is_our_hook};
use crate::{file, json as settings};
use tessera_desk::log;
use tessera_desk::project::claim_of;

/// How long a server or a hook may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What was looked at.
    pub name: &'static str,
    /// How it is.
    pub verdict: RowVerdict,
    /// In words.
    pub detail: String,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowVerdict {
    /// As it should be, or not set up at all.
    Ok,
    /// Does not work.
    Bad,
}

/// True if the client's own settings run a hook of ours: those of the user, or of the project.
pub fn runs_hooks(places: &Places, project: Option<&Path>) -> bool {
    levels(project).filter_map(|level| hook_program(&level, places)).any(|program| is_installed(&program, places))
}

/// True if the client's own settings start our server: those of the user, or of the project.
pub fn starts_server(places: &Places, project: Option<&Path>) -> bool {
    levels(project).filter_map(|level| server_entry(&level, places)).any(|program| is_installed(&program, places))
}

fn levels(project: Option<&Path>) -> impl Iterator<Item = Level> {
    std::iter::once(Level::User).chain(project.map(|dir| Level::Project(dir.to_owned())))
}

/// True if a program that settings name exists. The settings of a project name it without a directory.
fn is_installed(program: &Path, places: &Places) -> bool {
    if program.components().count() > 1 {
        return program.is_file();
    }
    let mut search = places.search.iter().flat_map(std::env::split_paths);
    search.any(|dir| dir.join(program).with_extension(EXE_EXTENSION).is_file())
}

/// Looks at Claude Code's set-up for this user.
pub fn check(store: &StoreConfig, places: &Places) -> Vec<Row> {
    let row = |name, verdict, detail: String| Row { name, verdict, detail };
    let entry = server_entry(&Level::User, places);
    let hook = hook_program(&Level::User, places);
    let mut rows = Vec::new();
    if entry.is_none() && hook.is_none() {
        let detail = "not set up here; `tessera setup claude-code` does it, unless the plugin is installed".to_owned();
        rows.push(row("claude code", RowVerdict::Ok, detail));
    } else {
        rows.extend(programs(store.home.dir(), entry, hook));
    }
    rows.extend(unbelieved(store, &places.home).map(|detail| row("project", RowVerdict::Ok, detail)));
    rows.push(row("last injection", RowVerdict::Ok, last_injection(store)));
    if let Some(fault) = log::last(&store.home) {
        rows.push(row("last fault", RowVerdict::Ok, fault));
    }
    rows
}

/// The programs that the settings name.
fn programs(home: &Path, entry: Option<PathBuf>, hook: Option<PathBuf>) -> Vec<Row> {
    let row = |name, verdict, detail: String| Row { name, verdict, detail };
    let mut rows = Vec::new();
    for (name, program) in [("server", &entry), ("hook", &hook)] {
        let name = if name == "server" { "mcp server" } else { "hook program" };
        rows.push(match program {
            None => row(name, RowVerdict::Bad, "is not set up; run `tessera setup claude-code` again".into()),
            Some(program) if !program.is_file() => row(
                name,
                RowVerdict::Bad,
                format!("{} is not there; run `tessera setup claude-code` again", program.display()),
            ),
            Some(program) if name == "mcp server" => match server_answers(program, home) {
                Ok(server) => row(name, RowVerdict::Ok, format!("{} answers: {server}", program.display())),
                Err(problem) => row(name, RowVerdict::Bad, format!("{}: {problem}", program.display())),
            },
            Some(program) => match hook_runs(program, home) {
                Ok(()) => row(name, RowVerdict::Ok, format!("{} runs", program.display())),
                Err(problem) => row(name, RowVerdict::Bad, format!("{}: {problem}", program.display())),
            },
        });
    }
    rows
}

fn server_entry(level: &Level, places: &Places) -> Option<PathBuf> {
    let path = Client::ClaudeCode.server_file(level, places).ok()?;
    let settings: Value = parsed(&path)?;
    Some(PathBuf::from(settings.get("mcpServers")?.get(SERVER)?.get("command")?.as_str()?))
}

fn hook_program(level: &Level, places: &Places) -> Option<PathBuf> {
    let settings = parsed(&hooks_file(level, places))?;
    let groups = settings.get("hooks")?.get("UserPromptSubmit")?.as_array()?.clone();
    let hooks = groups.iter().filter_map(|group| group.get("hooks")?.as_array()).flatten();
    let ours = hooks.into_iter().find(|hook| is_our_hook(hook))?;
    Some(PathBuf::from(ours.get("command")?.as_str()?))
}

fn parsed(path: &Path) -> Option<Value> {
    let bytes = file::read(path).ok()??;
    settings::value_of(&bytes)
}

fn command(program: &Path, argument: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg(argument).env("TESSERA_HOME", home).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Shakes hands with a server and gives its name and version.
fn server_answers(program: &Path, home: &Path) -> Result<String, String> {
    let mut child = command(program, "mcp", home).spawn().map_err(|error| error.to_string())?;
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "tessera doctor", "version": "1" } } });
    let answer = first_line(&mut child, &format!("{hello}\n"));
    // Its stdin is closed: it ends by itself; if not, it is ended.
    let _ = child.kill();
    let _ = child.wait();
    let reply: Value = serde_json::from_str(&answer?).map_err(|_| "does not speak MCP".to_owned())?;
    let info = reply.get("result").and_then(|result| result.get("serverInfo")).ok_or("does not speak MCP")?;
    let text = |name: &str| info.get(name).and_then(Value::as_str).unwrap_or("?");
    Ok(format!("{} {}", text("name"), text("version")))
}

fn hook_runs(program: &Path, home: &Path) -> Result<(), String> {
    let mut child = command(program, "hook", home).spawn().map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // An event that asks for nothing.
        let _ = stdin.write_all(b"{\"hook_event_name\":\"Notification\"}");
    }
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || drop(sender.send(child.wait_with_output())));
    let output = receiver.recv_timeout(PATIENCE).map_err(|_| "does not end".to_owned())?;
    let output = output.map_err(|error| error.to_string())?;
    match (output.status.success(), output.stdout.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => Err("says something where it should say nothing".into()),
        (false, _) => Err(format!("ends with {}", output.status)),
    }
}

fn first_line(child: &mut Child, question: &str) -> Result<String, String> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("has no pipes".into());
    };
    stdin.write_all(question.as_bytes()).map_err(|error| error.to_string())?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line).map(|_| line);
        // The doctor may have stopped waiting.
        let _ = sender.send(read);
    });
    let line = receiver.recv_timeout(PATIENCE).map_err(|_| "does not answer".to_owned())?;
    line.map_err(|error| error.to_string())
}

/// Opens the store to look, and never to change it.
fn opened(config: &StoreConfig) -> Result<Store, StoreError> {
    Store::open(StoreConfig { usage: Usage::ReadOnce, ..config.clone() })
}

/// What to know of the current directory, if it says that it is a project that it is not known to be.
fn unbelieved(config: &StoreConfig, user_home: &Path) -> Option<String> {
    let claim = claim_of(&std::env::current_dir().ok()?, Some(user_home));
    if claim.is_its_own() || !Store::is_there(&config.home) {
        return None;
    }
    let is_believed = opened(config).and_then(|store| claim.is_believed(&store));
    let words = "is not confirmed to be here; `tessera project trust` does it";
    matches!(is_believed, Ok(false)).then(|| format!("{} {words}", claim.scope))
}

fn last_injection(config: &StoreConfig) -> String {
    if !Store::is_there(&config.home) {
        return "none: there is no store yet".into();
    }
    let receipts = opened(config).and_then(|store| store.receipts(&ReceiptFilter::default()));
    let receipts = match receipts {
        Ok(receipts) => receipts,
        Err(error) => return format!("cannot be read: {error}"),
    };
    let seen = receipts
        .last()
        .map_or_else(|| "no event yet".to_owned(), |last| format!("last event {} at {}", last.event, last.at));
    match receipts.iter().rev().find(|receipt| !receipt.given.is_empty()) {
        None => format!("none; {seen}"),
        Some(given) => {
            let count = given.given.len();
            format!(
                "{count} memories, {} tokens, {} ms, at {}; {seen}",
                given.tokens,
                given.took_micros / 1000,
                given.at
            )
        }
    }
}
