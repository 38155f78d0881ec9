//! Every command that changes more than one thing, beside others: a server and a writer that were there before, readers, and a
//! server that starts in the middle. Nothing that anybody was told is stored may be missing afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::killed::damage;
use crate::support::{Client, World};

/// The texts that somebody was told are stored.
struct Said<'a> {
    world: &'a World,
    texts: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

impl Said<'_> {
    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Stores by a process for each memory.
    fn write(&self) {
        for n in 0.. {
            if !self.goes_on() {
                return;
            }
            let text = format!("the writer says {n}");
            let ran = self.world.run(&["remember", &text]);
            if ran.code == Some(0) {
                self.texts.lock().unwrap().push(text);
            }
        }
    }

    /// Stores by one server that stays.
    fn serve(&self, name: &str) {
        let mut client = Client::start(self.world);
        for n in 0.. {
            if !self.goes_on() {
                return;
            }
            let text = format!("the server {name} says {n}");
            let (told, is_error) = client.call("memory_store", json!({ "content": text }));
            if !is_error && told.starts_with("Stored") {
                self.texts.lock().unwrap().push(text);
            }
        }
    }

    fn read(&self) {
        while self.goes_on() {
            let ran = self.world.run(&["recall", "what does the harbour say?"]);
            assert!(ran.code != Some(70) && ran.code.is_some(), "{ran:?}");
        }
    }
}

/// Runs a command in the middle of all that. Gives what was acknowledged.
fn amid(world: &World, args: &[&str]) -> Vec<String> {
    let said = Said { world, texts: Mutex::default(), is_over: AtomicBool::new(false) };
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| said.write());
        scope.spawn(|| said.serve("of before"));
        scope.spawn(|| said.read());
        std::thread::sleep(Duration::from_millis(300));
        let command = scope.spawn(|| world.run(args));
        scope.spawn(|| said.serve("of the middle"));
        let ran = command.join().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        said.is_over.store(true, Ordering::Relaxed);
        ran
    });
    assert_eq!(ran.code, Some(0), "{ran:?}");
    world.assert_healthy();
    said.texts.into_inner().unwrap()
}

/// All that was acknowledged is in the store, and in it once.
fn all_there(world: &World, acknowledged: &[String]) {
    let contents = world.contents();
    let there: BTreeSet<&String> = contents.iter().collect();
    assert_eq!(there.len(), contents.len(), "something is there twice");
    assert!(!acknowledged.is_empty());
    for text in acknowledged {
        assert!(there.contains(text), "lost: {text}");
    }
}

fn filled(world: &World) {
    let lines: String = (1..=60).map(|n| format!("{{\"content\":\"note {n} of the harbour\"}}\n")).collect();
    assert_eq!(world.run_with_stdin(&["import", "-"], lines.as_bytes()).code, Some(0));
}

#[test]
fn an_import_a_backup_and_its_undo() {
    let world = World::new();
    filled(&world);
    let lines: String = (1..=700).map(|n| format!("{{\"content\":\"line {n} of the import\"}}\n")).collect();
    let file = world.path("user/lines.jsonl");
    fs::write(&file, lines).unwrap();
    let said = amid(&world, &["import", file.to_str().unwrap()]);
    all_there(&world, &said);
    assert_eq!(world.contents().iter().filter(|text| text.starts_with("line ")).count(), 700);
    let more = amid(&world, &["backup"]);
    all_there(&world, &[said, more].concat());
    let more = amid(&world, &["import", "--undo", "2", "--yes"]);
    all_there(&world, &more);
    assert!(!world.contents().iter().any(|text| text.starts_with("line ")));
}

#[test]
fn another_key_and_permanent_deletion() {
    let world = World::new();
    filled(&world);
    world.remember("the password of birch is hunter5!X9q");
    all_there(&world, &amid(&world, &["secret", "rotate-key"]));
    let shown = world.run(&["secret", "show", "61"]);
    assert!(shown.stdout.contains("hunter5!X9q"), "{shown:?}");
    all_there(&world, &amid(&world, &["forget", "--hard", "--yes", "1", "2", "3"]));
    assert!(!world.contents().iter().any(|text| text == "note 2 of the harbour"));
}

#[test]
fn a_folder_of_files() {
    let world = World::new();
    filled(&world);
    let dir = world.path("user/notes");
    fs::create_dir(&dir).unwrap();
    for n in 0..200 {
        fs::write(dir.join(format!("{n}.md")), format!("# Quay {n}\n\nThe crane of quay {n} is green.\n")).unwrap();
    }
    all_there(&world, &amid(&world, &["files", "add", dir.to_str().unwrap()]));
    let listed = world.run(&["files", "list"]).stdout;
    assert!(listed.contains("notes") && listed.contains("200"), "{listed}");
}

#[test]
fn a_repair_of_a_damaged_store() {
    let world = World::new();
    filled(&world);
    // A server has it open before anything is damaged, and goes on in the store that was salvaged.
    let mut server = Client::start(&world);
    server.ok("memory_store", json!({ "content": "said before the damage" }));
    damage(&world);
    let said = amid(&world, &["doctor", "--repair", "--yes"]);
    let (told, is_error) = server.call("memory_store", json!({ "content": "said after the repair" }));
    assert!(!is_error && told.starts_with("Stored"), "{told}");
    let after = ["said before the damage", "said after the repair", "note 60 of the harbour"].map(str::to_owned);
    all_there(&world, &[said, after.to_vec()].concat());
}

#[test]
fn a_restored_backup() {
    let world = World::new();
    filled(&world);
    let backup = world.path("user/b.db");
    assert_eq!(world.run(&["backup", backup.to_str().unwrap()]).code, Some(0));
    let said = amid(&world, &["restore-backup", backup.to_str().unwrap(), "--yes"]);
    // What was said before it is in the copy that was kept of it.
    let mut there: BTreeSet<String> = world.contents().into_iter().collect();
    for entry in fs::read_dir(world.home().join("backups")).unwrap() {
        let copy = rusqlite::Connection::open(entry.unwrap().path()).unwrap();
        let mut statement = copy.prepare("SELECT content FROM memories").unwrap();
        let texts = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        there.extend(texts.map(Result::unwrap));
    }
    assert!(!said.is_empty());
    for text in said {
        assert!(there.contains(&text), "lost: {text}");
    }
}
