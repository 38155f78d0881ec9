//! A fresh home, a project, the plugin with the real program in it, and the client on top.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::endpoint::{Asked, Endpoint};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// Variables that keep the client off the network, except for the model's address.
pub(crate) const OFFLINE: [(&str, &str); 5] = [
    ("ANTHROPIC_API_KEY", "dummy"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
];

/// The client's program, if one was given; says so if not.
pub(crate) fn client() -> Option<PathBuf> {
    named("TESSERA_E2E_CLAUDE")
}

/// An older client's program, if one was given.
pub(crate) fn old_client() -> Option<PathBuf> {
    named("TESSERA_E2E_CLAUDE_OLD")
}

#[expect(clippy::disallowed_methods, reason = "the tests are asked for by a variable")]
pub(crate) fn named(variable: &str) -> Option<PathBuf> {
    let program = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    if program.is_none() {
        eprintln!("left out: {variable} is not set; `.ci/client` and `.ci/release` set it");
    }
    program
}

/// Where a session takes place.
pub(crate) struct Stage {
    pub(crate) dir: TempDir,
    pub(crate) endpoint: Endpoint,
    client: PathBuf,
    with_plugin: bool,
    pub(crate) variables: Vec<(String, String)>,
}

/// What one run of the client gave.
#[derive(Debug)]
pub(crate) struct Run {
    /// The client's own report.
    pub(crate) report: Value,
    /// What the model was asked, request by request.
    pub(crate) asked: Vec<Asked>,
}

impl Run {
    pub(crate) fn session(&self) -> &str {
        self.report["session_id"].as_str().unwrap()
    }

    /// The memories that hooks put before the model in its first request.
    pub(crate) fn injected(&self) -> Vec<String> {
        self.asked.first().map(Asked::injected).unwrap_or_default()
    }
}

impl Stage {
    pub(crate) fn new(client: PathBuf) -> Self {
        let stage = Self {
            dir: tempfile::tempdir().unwrap(),
            endpoint: Endpoint::start(),
            client,
            with_plugin: true,
            variables: Vec::new(),
        };
        for name in ["home", "project", "tmp", "other"] {
            fs::create_dir_all(stage.at(name)).unwrap();
        }
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin"), &stage.at("plugin"));
        // As a release archive has it: the program itself stands where the launcher does.
        fs::remove_file(stage.program()).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_tessera"), stage.program()).unwrap();
        stage
    }

    pub(crate) fn without_plugin(mut self) -> Self {
        self.with_plugin = false;
        self
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.at("plugin/bin/tessera")
    }

    /// The full name of a tool of ours in the client.
    pub(crate) fn tool(&self, name: &str) -> String {
        if self.with_plugin { format!("mcp__plugin_tessera_tessera__{name}") } else { format!("mcp__tessera__{name}") }
    }

    fn environment(&self, command: &mut Command) {
        command.env_clear().current_dir(self.at("project"));
        for (name, value) in [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", self.at("home").display().to_string()),
            ("TMPDIR", self.at("tmp").display().to_string()),
            ("LANG", "C.UTF-8".into()),
            ("TERM", "dumb".into()),
            ("TESSERA_HOME", self.at("store").display().to_string()),
            ("ANTHROPIC_BASE_URL", self.endpoint.address.clone()),
        ] {
            command.env(name, value);
        }
        command.envs(OFFLINE).envs(self.variables.iter().cloned());
    }

    /// Runs our program.
    pub(crate) fn tessera(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(self.program());
        self.environment(&mut command);
        let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.tessera(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Every stored text that recall still answers with.
    pub(crate) fn current(&self, query: &str) -> Vec<String> {
        let recall = self.json(&["recall", query]);
        recall["details"].as_array().unwrap().iter().map(|row| row["content"].as_str().unwrap().to_owned()).collect()
    }

    fn client_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.client);
        self.environment(&mut command);
        command.args(arguments);
        if self.with_plugin {
            command.arg("--plugin-dir").arg(self.at("plugin"));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the client without waiting for it.
    pub(crate) fn start(&self, prompt: &str) -> Child {
        self.client_command(&["-p", prompt, "--output-format", "json"]).spawn().unwrap()
    }

    /// Has the client answer a prompt.
    pub(crate) fn prompt(&self, prompt: &str, arguments: &[&str]) -> Run {
        self.endpoint.take();
        let arguments = [&["-p", prompt, "--output-format", "json"], arguments].concat();
        let output = self.client_command(&arguments).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let report = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("{error}: {stdout} {}", String::from_utf8_lossy(&output.stderr)));
        Run { report, asked: self.endpoint.take() }
    }

    /// Has the client answer a prompt, and returns all messages that it prints.
    pub(crate) fn messages(&self, prompt: &str, arguments: &[&str]) -> String {
        let arguments = [&["-p", prompt, "--output-format", "stream-json", "--verbose"], arguments].concat();
        let output = self.client_command(&arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs a command of the client that asks no model.
    pub(crate) fn client_says(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(&self.client);
        self.environment(&mut command);
        let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    /// Waits until the worker has emptied the queue.
    pub(crate) fn learned(&self) {
        let queue = self.at("store/queue");
        until("the queue is empty and the worker gone", || {
            fs::read_dir(&queue).is_ok_and(|jobs| jobs.count() == 0) && self.processes().is_empty()
        });
        if let Ok(faults) = fs::read_to_string(self.at("store/hooks.log")) {
            eprintln!("--- hooks.log:\n{faults}");
        }
    }

    /// Processes of ours, and of the client where it was started for this stage.
    pub(crate) fn processes(&self) -> Vec<String> {
        let ours = self.dir.path().to_str().unwrap().to_owned();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
            let is_ours = |file: &str| {
                fs::read(entry.path().join(file)).is_ok_and(|text| String::from_utf8_lossy(&text).contains(&ours))
            };
            let state = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let is_zombie = state.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'));
            if !is_zombie && (is_ours("cmdline") || is_ours("environ")) {
                let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                found.push(String::from_utf8_lossy(&line).replace('\0', " "));
            }
        }
        found
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "not in time: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
