//! Several writers, and writers that were killed: lines 2.26, 2.75, 9.5 and 9.6.

use std::fs;
use std::sync::Barrier;
use std::thread;

use serde_json::json;
use tessera_files::{Command, Expected, FileError, Tree, prepare};

use crate::room::Room;

/// A command that is looked through and done while the folder is held.
fn run(tree: &Tree, command: &serde_json::Value) -> Result<String, FileError> {
    let command = Command::from_json(command)?;
    let lock = tree.lock()?;
    let prepared = prepare(tree, &command, &tessera_files::Limits::USUAL)?;
    Ok(prepared.commit_under(tree, &lock)?.reply.text())
}

#[test]
fn spec_2_26_of_two_creates_one_succeeds() {
    let room = Room::new();
    for round in 0..50 {
        let start = Barrier::new(4);
        let made = thread::scope(|scope| {
            let one = |writer: i32| {
                let (room, start) = (&room, &start);
                move || {
                    let tree = Tree::open(&room.at(""), "memories").unwrap();
                    let path = tree.path(&format!("/memories/new {round}/a.txt")).unwrap();
                    start.wait();
                    tree.write(&path, writer.to_string().as_bytes(), Expected::Absent).is_ok()
                }
            };
            let writers: Vec<_> = (0..4).map(|writer| scope.spawn(one(writer))).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).filter(|made| *made).count()
        });
        assert_eq!(made, 1);
    }
}

#[test]
fn spec_2_75_a_rename_replaces_nothing_that_came_meanwhile() {
    let room = Room::new();
    room.put("a.txt", "a");
    let command = json!({"command": "rename", "old_path": "/memories/a.txt", "new_path": "/memories/b.txt"});
    let prepared = room.prepare(&command).unwrap();
    room.put("b.txt", "b");
    let said = prepared.commit(&room.tree).unwrap_err().to_string();
    assert_eq!(said, "Error: The destination /memories/b.txt already exists");
    assert_eq!((room.text("a.txt").as_str(), room.text("b.txt").as_str()), ("a", "b"));
}

#[test]
fn spec_9_05_nothing_is_lost_between_many_writers() {
    const WRITERS: usize = 16;
    const ROUNDS: usize = 25;
    let room = Room::new();
    room.put("log.txt", "");
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let room = &room;
            scope.spawn(move || {
                let tree = Tree::open(&room.at(""), "memories").unwrap();
                for round in 0..ROUNDS {
                    let path = format!("/memories/w{writer}/f{round}.txt");
                    run(&tree, &json!({"command": "create", "path": path, "file_text": path})).unwrap();
                    let line = format!("{writer}-{round}");
                    let insert = json!({"command": "insert", "path": "/memories/log.txt", "insert_line": 0, "insert_text": line});
                    run(&tree, &insert).unwrap();
                }
            });
        }
    });
    let mut lines: Vec<String> = room.text("log.txt").lines().map(str::to_owned).collect();
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), WRITERS * ROUNDS);
    for writer in 0..WRITERS {
        assert_eq!(fs::read_dir(room.at(&format!("w{writer}"))).unwrap().count(), ROUNDS);
    }
}

#[test]
fn spec_9_05_an_edit_of_a_file_that_changed_is_refused() {
    let room = Room::new();
    room.put("a.txt", "one");
    let edit = json!({"command": "str_replace", "path": "/memories/a.txt", "old_str": "one", "new_str": "two"});
    let [first, second] = [room.prepare(&edit).unwrap(), room.prepare(&edit).unwrap()];
    first.commit(&room.tree).unwrap();
    let error = second.commit(&room.tree).unwrap_err();
    assert!(matches!(error, FileError::Changed { .. }) && error.is_passing());
    assert_eq!(room.text("a.txt"), "two");
}

#[test]
fn spec_9_05_bytes_are_compared_where_the_clock_was_set_back() {
    let room = Room::new();
    room.put("a.txt", "one");
    let time = fs::metadata(room.at("a.txt")).unwrap().modified().unwrap();
    let edit = json!({"command": "str_replace", "path": "/memories/a.txt", "old_str": "one", "new_str": "two"});
    let prepared = room.prepare(&edit).unwrap();
    fs::write(room.at("a.txt"), "six").unwrap();
    fs::File::options().write(true).open(room.at("a.txt")).unwrap().set_modified(time).unwrap();
    assert!(matches!(prepared.commit(&room.tree), Err(FileError::Changed { .. })));
    assert_eq!(room.text("a.txt"), "six");
}

#[test]
fn spec_9_05_files_that_came_into_a_directory_are_not_deleted_unnoted() {
    let room = Room::new();
    room.put("d/a.txt", "a");
    let delete = room.prepare(&json!({"command": "delete", "path": "/memories/d"})).unwrap();
    let rename =
        room.prepare(&json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/e"})).unwrap();
    room.put("d/b.txt", "b");
    assert!(matches!(delete.commit(&room.tree), Err(FileError::Changed { .. })));
    assert!(matches!(rename.commit(&room.tree), Err(FileError::Changed { .. })));
    assert_eq!(room.text("d/b.txt"), "b");
}

#[test]
fn spec_9_06_what_killed_writers_left_is_hidden_and_cleared_away() {
    let room = Room::new();
    // No process has this number: it is beyond the greatest one there is.
    room.put("d/.tessera-999999999-0.tmp", "half of a te");
    room.put("d/.tessera-999999999-1.gone/deep/a.txt", "deleted");
    room.put("d/a.txt", "a");
    let running = format!("d/.tessera-{}-77.tmp", std::process::id());
    room.put(&running, "being written");
    assert!(!room.view("/memories/d").unwrap().contains("tessera"));
    room.create("/memories/d/b.txt", "b").unwrap();
    let mut names: Vec<String> =
        fs::read_dir(room.at("d")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, [running.trim_start_matches("d/"), "a.txt", "b.txt"]);
    // After an hour it is nobody's, whatever number it has.
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(room.at(&running)).unwrap().set_modified(old).unwrap();
    room.create("/memories/d/c.txt", "c").unwrap();
    assert!(!room.at(&running).exists());
}

#[test]
fn spec_9_06_a_file_is_old_or_new_for_whoever_reads_meanwhile() {
    let room = Room::new();
    let [old, new] = ["o".repeat(200_000), "n".repeat(300_000)];
    room.put("a.txt", &old);
    let is_done = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let path = room.tree.path("/memories/a.txt").unwrap();
            for round in 0..40 {
                let text = if round % 2 == 0 { &new } else { &old };
                room.tree.write(&path, text.as_bytes(), Expected::Any).unwrap();
            }
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
            let text = room.text("a.txt");
            assert!(text == old || text == new, "{} bytes", text.len());
        }
    });
}
