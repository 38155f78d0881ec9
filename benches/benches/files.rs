//! Measures a folder of notes: the time of the first scan, and recall over its files compared with recall over plain
//! memories.
//!
//! Measures whole processes without semantic search, one command after another. Criterion does not compute the ratio of
//! two medians, so this benchmark prints its own table.

#![expect(clippy::print_stdout, reason = "printing the table is the purpose of a benchmark")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use tessera_benches::{Corpus, Filled};
use tessera_engine::domain::Draft;
use tessera_engine::store::Usage;

/// Notes of about two kilobytes each, in a hundred directories.
const FILES: usize = 10_000;
const DIRECTORIES: usize = 100;
/// The number of times that the folder is added to an empty store.
const FIRST: usize = 5;
/// Rounds of recall; each round queries each store once.
const ROUNDS: usize = 120;
/// Questions, in turn.
const QUESTIONS: usize = 12;
/// Rows per transaction of the plain store.
const BATCH: usize = 5_000;

/// Writes the notes; returns each of their sections as a memory.
fn write_notes(vault: &Path) -> Vec<Draft> {
    let mut corpus = Corpus::new(7);
    let mut drafts = Vec::new();
    for number in 0..FILES {
        let title = format!("Note {number}");
        let mut text = format!("---\ntitle: {title}\ntags: [vault]\n---\n\n# {title}\n\n## Observations\n");
        let mut keep = |content: String, category: &str, tags: &[&str], heading: &str| {
            let named = [title.clone(), heading.to_owned()];
            drafts.push(Draft {
                category: category.parse().ok(),
                tags: tags.iter().filter_map(|tag| tag.parse().ok()).collect(),
                keywords: named.to_vec(),
                ..Draft::new(content)
            });
        };
        for category in ["facts", "decisions", "facts", "preferences", "facts", "decisions"] {
            let said = format!("{} #notes", first_words(&corpus.note().text, 18));
            text.push_str(&format!("- [{category}] {said}\n"));
            keep(said, category, &["notes", "vault"], "Observations");
        }
        text.push_str("\n## Details\n\n");
        for _ in 0..2 {
            let said = format!("{} {}.", corpus.note().text, corpus.note().text);
            text.push_str(&format!("{said}\n\n"));
            keep(said, "facts", &["vault"], "Details");
        }
        let others = [(number + 1) % FILES, (number + 977) % FILES];
        let [next, far] = others.map(|other| format!("[[Note {other}]]"));
        text.push_str(&format!("## Relations\n- relates_to {next}\n- depends_on {far}\n"));
        let directory = vault.join(format!("d{:02}", number % DIRECTORIES));
        fs::create_dir_all(&directory).expect("a directory");
        fs::write(directory.join(format!("n{number}.md")), text).expect("a note");
    }
    drafts
}

fn first_words(text: &str, most: usize) -> String {
    text.split_whitespace().take(most).collect::<Vec<_>>().join(" ")
}

/// The wall time and the processor time of a command.
fn run(tessera: &Path, home: &Path, arguments: &[&str]) -> (Duration, Duration) {
    let processor = || {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage of children");
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds()
    };
    let (before, started) = (processor(), Instant::now());
    let mut command = Command::new(tessera);
    command.args(arguments).env("TESSERA_HOME", home).env("TESSERA_RECALL_SEMANTIC", "off");
    assert!(command.stdout(Stdio::null()).status().expect("a process").success());
    let wall = started.elapsed();
    (wall, Duration::from_micros(u64::try_from(processor() - before).unwrap_or(0)))
}

fn at(times: &mut [Duration], percent: usize) -> f64 {
    times.sort();
    let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// Adds the folder to several empty stores, and returns the home directory of the last store.
fn first_index(tessera: &Path, room: &Path, vault: &Path) -> PathBuf {
    let (mut walls, mut processors) = (Vec::new(), Vec::new());
    let home = room.join("files");
    for _ in 0..FIRST {
        // The store may not exist yet.
        let _ = fs::remove_dir_all(&home);
        let (wall, processor) = run(tessera, &home, &["files", "add", &vault.to_string_lossy()]);
        walls.push(wall);
        processors.push(processor);
    }
    let (median, processor) = (at(&mut walls, 50) / 1000.0, at(&mut processors, 50) / 1000.0);
    let rate = FILES as f64 / median;
    println!(
        "indexing {FILES} notes for the first time: {median:.2} s ({rate:.0} notes a second), CPU time {processor:.2} s"
    );
    home
}

fn plain(home: &Path, drafts: &[Draft]) {
    let mut store = Filled::open(home, Usage::Serve);
    for batch in drafts.chunks(BATCH) {
        store.remember_all(batch).expect("the rows are sound");
    }
    store.rebuild_snapshot().expect("a snapshot");
}

fn recall(tessera: &Path, files: &Path, plain: &Path) {
    let questions = Corpus::new(11).queries(QUESTIONS);
    let (mut among_files, mut among_rows) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let question = questions.get(round % QUESTIONS).map(String::as_str).unwrap_or_default();
        among_files.push(run(tessera, files, &["recall", question]).0);
        among_rows.push(run(tessera, plain, &["recall", question]).0);
    }
    let row = |name: &str, times: &mut [Duration]| {
        let p50 = at(times, 50);
        println!("recall, {name:<10} p50 {p50:6.2} ms   p95 {:6.2} ms", at(times, 95));
        p50
    };
    let (files, rows) = (row("files", &mut among_files), row("plain rows", &mut among_rows));
    println!("recall over files takes {:.2} times as long as recall over the same rows", files / rows);
}

fn main() {
    let here = std::env::current_exe().expect("a path");
    let tessera = here.parent().and_then(Path::parent).expect("the target directory").join("tessera");
    assert!(tessera.exists(), "run `cargo build --release` first");
    let room = tempfile::tempdir().expect("a temporary directory");
    let vault = room.path().join("vault");
    let drafts = write_notes(&vault);
    let files = first_index(&tessera, room.path(), &vault);
    let rows = room.path().join("plain");
    plain(&rows, &drafts);
    recall(&tessera, &files, &rows);
}
