//! Measures the hook for a prompt, from its start to its exit, next to `/bin/true` and a program that only opens
//! SQLite. Also measures the memory of four sessions.
//!
//! Criterion does not compute percentiles of whole processes, so this benchmark prints its own table: wall time p50 and
//! p95, and mean processor time from `getrusage`.

#![expect(clippy::print_stdout, reason = "printing the table is the purpose of a benchmark")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use tessera_benches::{Corpus, Filled, sizes};

/// Rounds per size; each round runs each program once.
const ROUNDS: usize = 400;
/// Prompts per turn. After each turn, the benchmark moves the recorded prompts into tables, as the learning worker
/// does.
const TURN: usize = 10;

fn processor_micros() -> i64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage of children");
    usage.user_time().num_microseconds() + usage.system_time().num_microseconds()
}

#[derive(Default)]
struct Measured {
    wall: Vec<Duration>,
    processor: i64,
    answered: usize,
}

impl Measured {
    fn run(&mut self, command: &mut Command, input: &str) {
        let (before, started) = (processor_micros(), Instant::now());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
        // A program that reads no input may have ended.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("an end");
        self.wall.push(started.elapsed());
        self.processor += processor_micros() - before;
        self.answered += usize::from(!output.stdout.is_empty());
        assert!(output.status.success());
    }

    fn row(&mut self, name: &str) {
        self.wall.sort();
        let at = |percent: usize| {
            let index = (self.wall.len() * percent / 100).min(self.wall.len() - 1);
            self.wall.get(index).map_or(0.0, |wall| wall.as_secs_f64() * 1000.0)
        };
        let processor = self.processor as f64 / 1000.0 / self.wall.len() as f64;
        println!(
            "{name:<28} p50 {:6.2} ms   p95 {:6.2} ms   processor {processor:5.2} ms   answered {}/{}",
            at(50),
            at(95),
            self.answered,
            self.wall.len()
        );
    }
}

fn payload(event: &str, number: usize, prompt: &str) -> String {
    let prompt = prompt.replace(['"', '\\'], " ");
    format!(
        r#"{{"hook_event_name":"{event}","session_id":"s{number}","cwd":"/tmp","source":"startup","prompt":"{prompt}"}}"#
    )
}

fn latency(dir: &Path, size: usize) {
    let notes = Corpus::new(7).notes(size);
    let filled = Filled::with(&notes);
    let home = filled.home();
    // Prompts that repeat the beginning of a note, so recall finds something.
    let known: Vec<String> = notes
        .iter()
        .step_by(size / 50)
        .map(|note| note.text.split_whitespace().take(14).collect::<Vec<_>>().join(" "))
        .collect();
    let queries = Corpus::new(11).queries(50);
    let tessera = dir.join("tessera");
    let hook = || {
        let mut command = Command::new(&tessera);
        command.arg("hook").env("TESSERA_HOME", &home);
        command
    };
    let mut measured: [Measured; 6] = Default::default();
    let [prompt, fitting, start, silent, open, nothing] = &mut measured;
    for round in 0..ROUNDS {
        let query = queries.get(round % queries.len()).expect("a query");
        prompt.run(&mut hook(), &payload("UserPromptSubmit", round, query));
        let fit = known.get(round % known.len()).expect("a beginning");
        fitting.run(&mut hook(), &payload("UserPromptSubmit", ROUNDS + round, fit));
        start.run(&mut hook(), &payload("SessionStart", round, ""));
        silent.run(&mut hook(), &payload("Notification", round, ""));
        open.run(Command::new(dir.join("open_sqlite")).arg(home.join("tessera.db")), "");
        nothing.run(&mut Command::new("/bin/true"), "");
        if round % TURN == TURN - 1 {
            Measured::default().run(&mut hook(), &payload("SessionEnd", round, ""));
        }
    }
    println!("{size} memories");
    for (of, name) in measured.iter_mut().zip([
        "  hook, a prompt",
        "  hook, a prompt that fits",
        "  hook, a session starts",
        "  hook, not our event",
        "  open SQLite alone",
        "  /bin/true",
    ]) {
        of.row(name);
    }
    println!();
}

struct Session {
    child: Child,
}

impl Session {
    fn start(tessera: &Path, home: &Path, query: &str) -> Self {
        let mut command = Command::new(tessera);
        command.arg("mcp").env("TESSERA_HOME", home).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a server");
        let stdin = child.stdin.as_mut().expect("a pipe");
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"memory_recall","arguments":{{"query":"{query}"}}}}}}"#
        );
        stdin.write_all(format!("{hello}\n{ready}\n{call}\n").as_bytes()).expect("written");
        let mut lines = BufReader::new(child.stdout.as_mut().expect("a pipe")).lines();
        let answer = lines.nth(1).expect("two answers").expect("text");
        assert!(answer.contains("\"id\":2"), "{answer}");
        Self { child }
    }

    /// Returns the resident size and the proportional size in KiB. The proportional size divides each shared page among
    /// the processes that share it.
    fn memory(&self) -> (u64, u64) {
        let text = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.child.id())).unwrap_or_default();
        let field = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
        };
        (field("Rss:"), field("Pss:"))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It ends with its client.
        let _ = self.child.wait();
    }
}

fn memory(dir: &Path) {
    let filled = Filled::with(&Corpus::new(7).notes(10_000));
    let queries = Corpus::new(11).queries(4);
    let sessions: Vec<Session> =
        queries.iter().map(|query| Session::start(&dir.join("tessera"), &filled.home(), query)).collect();
    let (resident, shared): (Vec<u64>, Vec<u64>) = sessions.iter().map(Session::memory).unzip();
    let sum = |of: &[u64]| of.iter().sum::<u64>() as f64 / 1024.0;
    println!("RAM of four sessions with 10,000 memories, after one recall each");
    println!(
        "  resident {:.1} MiB in all, shared pages counted each time; {:.1} MiB counted once",
        sum(&resident),
        sum(&shared)
    );
}

fn main() {
    let here = std::env::current_exe().expect("a path");
    let dir = here.parent().and_then(Path::parent).expect("the target directory");
    assert!(
        dir.join("tessera").exists() && dir.join("open_sqlite").exists(),
        "run `cargo build --release --workspace` first"
    );
    sizes().into_iter().for_each(|size| latency(dir, size));
    memory(dir);
}
