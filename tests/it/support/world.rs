//! A home directory, and the binary run in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary home; it goes away with the test.
pub(crate) struct World {
    dir: TempDir,
}

/// A program that does not outlive its test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended, as it should.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What one run printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.path("user")).unwrap();
        world
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The program. For tests of another package it is the one that was built beside that package's own.
    pub(crate) fn binary() -> &'static Path {
        static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
            if let Some(own) = option_env!("CARGO_BIN_EXE_tessera") {
                return PathBuf::from(own);
            }
            let beside = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("tessera");
            assert!(beside.is_file(), "{}: was not built; run `cargo test --workspace`", beside.display());
            beside
        });
        &BINARY
    }

    /// A program with this world's environment.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("TESSERA_HOME", self.home())
            .env("HOME", self.path("user"))
            // A person's own directory is no project: what is stored from there belongs everywhere.
            .current_dir(self.path("user"))
            .env("TESSERA_NOW", "2026-11-20T12:00:00Z")
            // What a hook does is tested; how long it may take, only where the test says so.
            .env("TESSERA_HOOKS_DEADLINE_MS", "60000")
            .env("TZ", "UTC")
            .env("NO_COLOR", "1");
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(Self::binary()).args(args).output().unwrap().into()
    }

    pub(crate) fn run_with_stdin(&self, args: &[&str], stdin: &[u8]) -> Ran {
        use std::io::Write;
        let mut command = self.command(Self::binary());
        let mut child =
            command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that does not want its input may have gone.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        child.wait_with_output().unwrap().into()
    }

    /// Runs, expects success, and reads the one JSON value on stdout.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[args, &["--json"]].concat());
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {}", ran.stdout))
    }

    pub(crate) fn remember(&self, text: &str) -> Value {
        self.json(&["remember", text])
    }

    /// The IDs of the details of a recall.
    pub(crate) fn found(&self, query: &str) -> Vec<u64> {
        self.found_with(query, &[])
    }

    /// The IDs of the details of a recall with options.
    pub(crate) fn found_with(&self, query: &str, options: &[&str]) -> Vec<u64> {
        let recall = self.json(&[&["recall", query], options].concat());
        recall["details"].as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect()
    }

    /// Every stored text.
    pub(crate) fn contents(&self) -> Vec<String> {
        let ran = self.run(&["export"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let content = |line: &str| serde_json::from_str::<Value>(line).unwrap()["content"].as_str().unwrap().to_owned();
        ran.stdout.lines().map(content).collect()
    }

    pub(crate) fn assert_healthy(&self) {
        let ran = self.run(&["doctor", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!ran.stdout.contains("\"bad\""), "{}", ran.stdout);
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }
}

/// True when a program can be run here; says so when a test is left out for want of it.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        crate::skip::left_out(program, "it is not installed");
    }
    found
}

/// Waits for the end of a program. One that has none within a minute is ended, and said to have none.
pub(crate) fn ended(mut child: Child) -> Option<Ran> {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_mins(1) {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(child.wait_with_output().unwrap().into())
}
