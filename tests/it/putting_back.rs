//! The way back from a backup, and files that no command replaces unasked.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::support::terminal::start_on_terminal;
use crate::support::{Client, World};

fn texts(world: &World) -> Vec<String> {
    let mut texts = world.contents();
    texts.sort();
    texts
}

#[test]
fn a_backup_takes_the_place_of_the_store_and_running_sessions_go_on() {
    let world = World::new();
    world.remember("The cache lives on birch");
    let backup = world.path("old.db");
    let backup = backup.to_str().unwrap();
    world.json(&["backup", backup]);
    world.remember("Written after the backup");
    let mut client = Client::start(&world);
    assert!(client.ok("memory_recall", json!({ "query": "what was written after?" })).contains("Written after"));
    let asked = world.run(&["restore-backup", backup]);
    assert!(asked.code == Some(1) && asked.stderr.contains("--yes"), "{asked:?}");
    assert_eq!(texts(&world).len(), 2, "nobody agreed");
    let done = world.json(&["restore-backup", backup, "--yes"]);
    assert_eq!((&done["memories"], &done["missing_keys"]), (&json!(1), &json!([])), "{done}");
    assert_eq!(texts(&world), ["The cache lives on birch"]);
    // A session that has the store open sees the content of the backup, and what it stores is kept.
    assert!(!client.ok("memory_recall", json!({ "query": "what was written after?" })).contains("Written after"));
    let stored = client.ok("memory_store", json!({ "content": "Said by the running session" }));
    assert!(stored.contains("#3"), "no number is given twice: {stored}");
    assert!(client.close().success());
    assert_eq!(texts(&world), ["Said by the running session", "The cache lives on birch"]);
    world.assert_healthy();
    // The content of before can be restored as well.
    let aside = done["kept_aside"].as_str().unwrap();
    world.json(&["restore-backup", aside, "--yes"]);
    assert_eq!(texts(&world), ["The cache lives on birch", "Written after the backup"]);
}

/// The texts in a database of ours.
fn texts_in(database: &Path) -> Vec<String> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut read = connection.prepare("SELECT content FROM memories").unwrap();
    read.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn what_is_acknowledged_while_a_backup_comes_back_is_in_the_store_or_in_what_was_kept() {
    let world = World::new();
    world.remember("The cache lives on birch");
    let backup = world.path("old.db");
    let backup = backup.to_str().unwrap();
    world.json(&["backup", backup]);
    let is_over = AtomicBool::new(false);
    let written = thread::scope(|scope| {
        let writer = |of: u32| {
            let (world, is_over) = (&world, &is_over);
            scope.spawn(move || {
                let mut written = Vec::new();
                for number in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let text = format!("Note {number} of writer {of}");
                    if world.run(&["remember", &text]).code == Some(0) {
                        written.push(text);
                    }
                }
                written
            })
        };
        let writers = [writer(1), writer(2)];
        for _ in 0..8 {
            world.json(&["restore-backup", backup, "--yes"]);
        }
        is_over.store(true, Ordering::Relaxed);
        writers.map(|writer| writer.join().unwrap()).concat()
    });
    let kept = fs::read_dir(world.home().join("backups")).unwrap().map(|entry| entry.unwrap().path());
    let mut there = texts_in(&world.home().join("tessera.db"));
    kept.for_each(|database| there.extend(texts_in(&database)));
    for text in &written {
        assert!(there.contains(text), "{text} of {}", written.len());
    }
    world.assert_healthy();
}

#[test]
fn what_was_only_forgotten_is_kept_and_an_empty_file_is_no_backup() {
    let world = World::new();
    let empty = world.path("empty.db");
    for bytes in ["", "\n"] {
        fs::write(&empty, bytes).unwrap();
        let refused = world.run(&["restore-backup", empty.to_str().unwrap(), "--yes"]);
        assert!(refused.code != Some(0) && !refused.stdout.contains("restored"), "{refused:?}");
    }
    let backup = world.path("old.db");
    let backup = backup.to_str().unwrap();
    world.remember("The cache lives on birch");
    world.json(&["backup", backup]);
    world.remember("Only forgotten");
    world.json(&["forget", "1", "2"]);
    let done = world.json(&["restore-backup", backup, "--yes"]);
    let aside = done["kept_aside"].as_str().unwrap();
    world.json(&["restore-backup", aside, "--yes"]);
    assert_eq!(world.run(&["restore", "2"]).code, Some(0));
    assert_eq!(texts(&world), ["Only forgotten"]);
}

#[test]
fn a_new_machine_begins_with_a_backup_and_its_keys() {
    let (old, bare, whole) = (World::new(), World::new(), World::new());
    old.remember("the staging password is hunter22-Zebra");
    let backup = old.path("with.db");
    let backup = backup.to_str().unwrap();
    assert_eq!(old.json(&["backup", backup])["holds_key"], false);
    let ran = bare.run(&["restore-backup", backup]);
    assert!(ran.code == Some(1) && ran.stderr.contains("TESSERA_SECRET_KEY"), "its key is missing: {ran:?}");
    assert_eq!(bare.contents().len(), 1);
    assert_eq!(old.json(&["backup", backup, "--with-key", "--force"])["holds_key"], true);
    assert_eq!(whole.run(&["restore-backup", backup]).code, Some(0));
    let revealed = whole.run(&["secret", "show", "1"]);
    assert!(revealed.stdout.contains("hunter22-Zebra"), "{revealed:?}");
}

#[test]
fn what_is_no_backup_replaces_nothing() {
    let world = World::new();
    world.remember("stays");
    let other = world.path("other.db");
    fs::write(&other, "no database").unwrap();
    let directory = world.path("directory");
    fs::create_dir(&directory).unwrap();
    for file in [other.to_str().unwrap(), directory.to_str().unwrap(), "nowhere.db"] {
        let ran = world.run(&["restore-backup", file, "--yes"]);
        assert!(ran.code != Some(0) && ran.code != Some(70), "{file}: {ran:?}");
        assert_eq!(texts(&world), ["stays"]);
    }
    world.assert_healthy();
}

#[test]
fn a_backup_comes_back_where_the_store_is_damaged_or_gone() {
    for is_gone in [true, false] {
        let world = World::new();
        world.remember("kept in the backup");
        let backup = world.path("b.db");
        world.json(&["backup", backup.to_str().unwrap()]);
        let database = world.home().join("tessera.db");
        if is_gone {
            fs::remove_file(&database).unwrap();
        } else {
            let mut bytes = fs::read(&database).unwrap();
            bytes[4096..].fill(0xa5);
            fs::write(&database, bytes).unwrap();
        }
        let ran = world.run(&["restore-backup", backup.to_str().unwrap(), "--yes"]);
        assert_eq!(ran.code, Some(0), "{is_gone} {ran:?}");
        assert_eq!(texts(&world), ["kept in the backup"]);
        world.assert_healthy();
    }
}

#[test]
fn no_command_replaces_a_file_or_deletes_permanently_unasked() {
    let world = World::new();
    world.remember("one");
    let thesis = world.path("thesis.txt");
    for command in ["backup", "export"] {
        fs::write(&thesis, "years of work").unwrap();
        let file = thesis.to_str().unwrap();
        let ran = world.run(&[command, file]);
        assert!(ran.code == Some(1) && ran.stderr.contains("--force"), "{command}: {ran:?}");
        assert_eq!(fs::read_to_string(&thesis).unwrap(), "years of work");
        assert_eq!(world.run(&[command, file, "--force"]).code, Some(0), "{command}");
        assert_ne!(fs::read(&thesis).unwrap(), b"years of work");
        let database = world.home().join("tessera.db");
        for (file, why) in [(database.to_str().unwrap(), "file of the store"), ("/tmp", "is a directory")] {
            let ran = world.run(&[command, file, "--force"]);
            assert!(ran.code == Some(1) && ran.stderr.contains(why), "{command} {file}: {ran:?}");
        }
    }
    world.assert_healthy();
    let answered = |answer: &[u8]| {
        let (mut child, mut terminal) = start_on_terminal(&world, &["forget", "--hard", "1"]);
        terminal.write_all(answer).unwrap();
        let mut said = Vec::new();
        // The end of a terminal is an error.
        let _ = terminal.read_to_end(&mut said);
        assert!(child.wait().unwrap().success());
        String::from_utf8_lossy(&said).into_owned()
    };
    assert!(answered(b"n\n").contains("Nothing was deleted"));
    assert_eq!(texts(&world), ["one"]);
    assert!(answered(b"y\n").contains("Deleted #1"));
    assert!(texts(&world).is_empty());
}
