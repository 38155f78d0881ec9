//! Checks a setup: the program exists, the server answers, the hooks run.

use std::env::consts::EXE_EXTENSION;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tessera_desk::log;
use tessera_desk::project::claim_of;
use tessera_engine::Store;
use tessera_engine::store::{DeliveryFilter, StoreConfig, StoreError, Usage};

use crate::client::{Client, Level, Places, hooks_file};
use crate::entry::{SERVER, is_our_hook};
use crate::json::parsed;
use crate::plan;
use crate::plugin::{self, Plugin};

/// The maximum time for an answer from a server or a hook.
const PATIENCE: Duration = Duration::from_secs(5);

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The checked item.
    pub name: &'static str,
    /// How it is.
    pub verdict: RowVerdict,
    /// In words.
    pub detail: String,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowVerdict {
    /// The checked item works, or is not configured at all.
    Ok,
    /// Does not work.
    Bad,
}

/// True if the client's own settings (user or project) run our hook.
pub fn runs_hooks(places: &Places, project: Option<&Path>) -> bool {
    levels(project).filter_map(|level| hook_entry(&level, places)).any(|entry| is_installed(&entry.program, places))
}

/// True if the client's own settings (user or project) start our server.
pub fn starts_server(places: &Places, project: Option<&Path>) -> bool {
    levels(project).filter_map(|level| server_entry(&level, places)).any(|entry| is_installed(&entry.program, places))
}

/// The clients whose own settings for this user contain Tessera.
pub fn connected(places: &Places) -> Vec<Client> {
    let has_entry = |client: &&Client| {
        let path = client.server_file(&Level::User, places).ok()?;
        let bytes = plan::read(&path).ok()??;
        client.taken_out(&path, &bytes).ok()?
    };
    Client::ALL.iter().filter(|client| has_entry(client).is_some()).copied().collect()
}

fn levels(project: Option<&Path>) -> impl Iterator<Item = Level> {
    std::iter::once(Level::User).chain(project.map(|dir| Level::Project(dir.to_owned())))
}

/// True if the program in a client's settings exists. Project settings contain the program's name without its
/// directory.
fn is_installed(program: &Path, places: &Places) -> bool {
    if program.components().count() > 1 {
        return program.is_file();
    }
    let mut search = places.search.iter().flat_map(std::env::split_paths);
    search.any(|dir| dir.join(program).with_extension(EXE_EXTENSION).is_file())
}

/// Checks Claude Code's setup for this user.
pub fn check(store: &StoreConfig, places: &Places) -> Vec<Row> {
    let row = |name, verdict, detail: String| Row { name, verdict, detail };
    let entry = server_entry(&Level::User, places);
    let hook = hook_entry(&Level::User, places);
    let mut rows = Vec::new();
    let plugin = plugin::enabled(places);
    let is_set_up = entry.is_some() || hook.is_some();
    if is_set_up {
        rows.extend(programs(store.home.dir(), places, entry, hook));
    } else if plugin.is_none() {
        let detail = "neither the settings nor a plugin run Tessera; run `tessera setup claude-code`".to_owned();
        rows.push(row("claude code", RowVerdict::Ok, detail));
    }
    rows.extend(plugin.map(|plugin| plugin_row(&plugin, places)));
    rows.extend(unbelieved(store, &places.home).map(|detail| row("project", RowVerdict::Ok, detail)));
    rows.push(row("last injection", RowVerdict::Ok, last_injection(store)));
    if let Some(fault) = log::last(&store.home) {
        rows.push(row("last fault", RowVerdict::Ok, fault));
    }
    rows
}

/// Reports the plugin, and which parts of it the user's settings replace.
fn plugin_row(plugin: &Plugin, places: &Places) -> Row {
    let row = |verdict, detail| Row { name: "plugin", verdict, detail };
    let name = &plugin.name;
    let replaced = match (runs_hooks(places, None), starts_server(places, None)) {
        (true, true) => Some("hooks and server"),
        (true, false) => Some("hooks"),
        (false, true) => Some("server"),
        (false, false) => None,
    };
    if let Some(replaced) = replaced {
        let detail = format!(
            "{name} is enabled, but the {replaced} of your settings act instead of its own; to keep one of both, run `claude \
            plugin uninstall {name}` or `tessera uninstall`"
        );
        return row(RowVerdict::Ok, detail);
    }
    let Some(program) = &plugin.program else {
        return row(RowVerdict::Bad, format!("{name} is enabled, but its files do not exist; install it again"));
    };
    match version_of(program) {
        Ok(version) => row(RowVerdict::Ok, format!("{name} is enabled, and runs {version}")),
        Err(problem) => row(RowVerdict::Bad, format!("{name} is enabled, but {}: {problem}", program.display())),
    }
}

/// The version that a program prints.
fn version_of(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().map_err(|error| error.to_string())?;
    let output = finished(child)?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !version.is_empty() {
        return Ok(version);
    }
    Err("does not find the program `tessera`; a new session of Claude Code shows the command that installs it"
        .to_owned())
}

/// The output of a program that ends soon.
fn finished(child: Child) -> Result<Output, String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || drop(sender.send(child.wait_with_output())));
    let output = receiver.recv_timeout(PATIENCE).map_err(|_| "does not exit".to_owned())?;
    output.map_err(|error| error.to_string())
}

/// Runs what the settings say.
fn programs(home: &Path, places: &Places, server: Option<Entry>, hook: Option<Entry>) -> Vec<Row> {
    type Try = fn(&Entry) -> Result<String, String>;
    let tries: [(&'static str, Option<Entry>, Try); 2] =
        [("mcp server", server, server_answers), ("hook program", hook, hook_runs)];
    let row = |(name, entry, run): (&'static str, Option<Entry>, Try)| {
        let bad = |detail: String| Row { name, verdict: RowVerdict::Bad, detail };
        let Some(entry) = entry else { return bad("is not configured; run `tessera setup claude-code` again".into()) };
        let program = entry.program.display();
        if !is_installed(&entry.program, places) {
            return bad(format!("{program} does not exist; run `tessera setup claude-code` again"));
        }
        match run(&entry) {
            Ok(said) => {
                Row { name, verdict: RowVerdict::Ok, detail: format!("{program} {said}{}", entry.other_store(home)) }
            }
            Err(problem) => bad(format!("{program}: {problem}")),
        }
    };
    tries.into_iter().map(row).collect()
}

/// How a client runs us.
struct Entry {
    program: PathBuf,
    args: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Entry {
    fn of(said: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let args = said.get("args").and_then(Value::as_array).into_iter().flatten();
        let variables = said.get("env").and_then(Value::as_object).into_iter().flatten();
        Some(Self {
            program: said.get("command")?.as_str()?.into(),
            args: args.filter_map(text).collect(),
            variables: variables.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect(),
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// Reports that the client uses another store.
    fn other_store(&self, home: &Path) -> String {
        let after = self.args.iter().skip_while(|word| *word != "--home").nth(1).map(String::as_str);
        let joined = self.args.iter().find_map(|word| word.strip_prefix("--home="));
        let variable = self.variables.iter().find(|(name, _)| name == "TESSERA_HOME").map(|(_, value)| value.as_str());
        let named = after.or(joined).or(variable).filter(|named| Path::new(named) != home);
        named.map(|named| format!("; it uses the store in {named}, not {}", home.display())).unwrap_or_default()
    }
}

fn server_entry(level: &Level, places: &Places) -> Option<Entry> {
    let path = Client::ClaudeCode.server_file(level, places).ok()?;
    Entry::of(parsed(&path)?.get("mcpServers")?.get(SERVER)?)
}

fn hook_entry(level: &Level, places: &Places) -> Option<Entry> {
    let settings = parsed(&hooks_file(level, places))?;
    let groups = settings.get("hooks")?.get("UserPromptSubmit")?.as_array()?;
    let mut hooks = groups.iter().filter_map(|group| group.get("hooks")?.as_array()).flatten();
    Entry::of(hooks.find(|hook| is_our_hook(hook))?)
}

/// Connects to a server; returns its name and version.
fn server_answers(entry: &Entry) -> Result<String, String> {
    let mut child = entry.command().spawn().map_err(|error| error.to_string())?;
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "tessera doctor", "version": "1" } } });
    let answer = first_line(&mut child, &format!("{hello}\n"));
    // With stdin closed it should end by itself; otherwise it is killed.
    let _ = child.kill();
    let _ = child.wait();
    let reply: Value = serde_json::from_str(&answer?).map_err(|_| "does not speak MCP".to_owned())?;
    let info = reply.get("result").and_then(|result| result.get("serverInfo")).ok_or("does not speak MCP")?;
    let text = |name: &str| info.get(name).and_then(Value::as_str).unwrap_or("?");
    Ok(format!("answers: {} {}", text("name"), text("version")))
}

fn hook_runs(entry: &Entry) -> Result<String, String> {
    let mut child = entry.command().spawn().map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // An event that requests nothing.
        let _ = stdin.write_all(b"{\"hook_event_name\":\"Notification\"}");
    }
    let output = finished(child)?;
    match (output.status.success(), output.stdout.is_empty()) {
        (true, true) => Ok("runs".to_owned()),
        (true, false) => Err("prints output, although none is expected".into()),
        (false, _) => Err(format!("exits with {}", output.status)),
    }
}

fn first_line(child: &mut Child, question: &str) -> Result<String, String> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("its input and output cannot be connected".into());
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

/// Opens the store read-only.
fn opened(config: &StoreConfig) -> Result<Store, StoreError> {
    Store::open(StoreConfig { usage: Usage::ReadOnce, ..config.clone() })
}

/// A warning if the current directory names a project but is not trusted.
fn unbelieved(config: &StoreConfig, user_home: &Path) -> Option<String> {
    let claim = claim_of(&std::env::current_dir().ok()?, Some(user_home));
    if claim.is_its_own() || !Store::is_there(&config.home) {
        return None;
    }
    let is_believed = opened(config).and_then(|store| claim.is_believed(&store));
    let words = "is the project of this directory, which is not trusted; run `tessera project trust` here";
    matches!(is_believed, Ok(false)).then(|| format!("{} {words}", claim.scope))
}

fn last_injection(config: &StoreConfig) -> String {
    if !Store::is_there(&config.home) {
        return "no store yet".into();
    }
    let deliveries = opened(config).and_then(|store| store.deliveries(&DeliveryFilter::default()));
    let deliveries = match deliveries {
        Ok(deliveries) => deliveries,
        Err(error) => return format!("cannot be read: {error}"),
    };
    let seen = deliveries
        .last()
        .map_or_else(|| "no event yet".to_owned(), |last| format!("last event {} at {}", last.event, last.at));
    match deliveries.iter().rev().find(|delivery| !delivery.given.is_empty()) {
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
