//! Spellings and races that try to lead out of the folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tessera_files::{Limits, RelativePath, Tree};

use crate::room::{OUTSIDE, Room, every_command};

const CLIMBS: [&str; 26] = [
    "..",
    "../..",
    "..\\",
    "..\\..",
    "%2e%2e",
    "%2E%2E",
    "%252e%252e",
    "%25252e%25252e",
    ".%2e",
    "%2e.",
    "..%2f",
    "..%5c",
    "..%252f",
    "..%c0%af",
    "%c0%ae%c0%ae",
    "..%00",
    "..;",
    "....//",
    ".../",
    "\u{ff0e}\u{ff0e}",
    "\u{2025}",
    "\u{2024}\u{2024}",
    "..\u{ff0f}",
    ".. ",
    "..\u{ff3c}",
    "..%e2%80%8b",
];
const BEGINNINGS: [&str; 14] = [
    "/memories/",
    "memories/",
    "/memories/a/",
    "/memories/./",
    "/memories//",
    "/memories/d/",
    "/memories",
    "/memoriesX/",
    "/",
    "",
    "//memories/",
    "file:///memories/",
    "C:/memories/",
    "\\\\?\\memories\\",
];
const ENDS: [&str; 10] = [
    "/outside/secret.txt",
    "/secret.txt",
    "/../outside/secret.txt",
    "\\outside\\secret.txt",
    "%2foutside%2fsecret.txt",
    "outside/secret.txt",
    "/etc/passwd",
    "",
    "/",
    "/../../../../../../etc/passwd",
];

/// Every command on a spelling; nothing outside is read or written, and what is said is fit to be read.
fn attack(room: &Room, spelled: &str) {
    for command in every_command(spelled) {
        let (Ok(said) | Err(said)) = room.run(&command);
        assert!(!said.contains(OUTSIDE), "{command} read what is outside");
        assert!(!said.contains("root:x:0:0"), "{command} read what is outside");
    }
    assert_eq!(fs::read_to_string(room.outside().join("secret.txt")).unwrap(), OUTSIDE);
    let mut names: Vec<_> = fs::read_dir(room.home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["memories", "outside"], "{spelled:?}");
    assert_eq!(fs::read_dir(room.outside()).unwrap().count(), 1);
}

/// The folder's own links lead out, so that whatever is let through has somewhere to go.
fn trapped() -> Room {
    let room = Room::new();
    room.put("inside.txt", "inside");
    room.put("d/a.txt", "a");
    symlink(room.outside(), room.at("link")).unwrap();
    room
}

#[test]
fn spec_3_04_no_combination_of_disguises_leads_out() {
    let room = trapped();
    let mut count = 0;
    for beginning in BEGINNINGS {
        for climb in CLIMBS {
            for end in ENDS {
                let spelled = format!("{beginning}{climb}{end}");
                if let Ok(path) = RelativePath::parse(&spelled, "memories") {
                    assert!(path.names().all(|name| !matches!(name, "." | "..")), "{spelled:?}");
                    assert!(path.names().all(|name| !name.contains(['/', '\\', '\0'])), "{spelled:?}");
                }
                // All are read; every seventh is tried on the disk with all commands.
                if count % 7 == 0 {
                    attack(&room, &spelled);
                }
                count += 1;
            }
        }
    }
    assert_eq!(count, 3640);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spec_3_05_no_generated_spelling_leads_out(
        beginning in select(&BEGINNINGS[..]),
        parts in prop::collection::vec(
            prop_oneof![
                select(&CLIMBS[..]).prop_map(str::to_owned),
                select(vec!["link", "link/secret.txt", "d", "a.txt", "outside", "secret.txt", ".", "", "CON", "a:b", "\0", "~"])
                    .prop_map(str::to_owned),
                "\\PC{0,6}",
            ],
            1..6,
        ),
        between in select(vec!["/", "//", "\\", "%2f", "/./"]),
    ) {
        attack(&trapped(), &format!("{beginning}{}", parts.join(between)));
    }

    #[test]
    fn no_spelling_makes_a_name_that_is_not_beneath(spelled in "(/memories)?(/|\\PC|[%.\\\\0-9a-f]){0,40}") {
        if let Ok(path) = RelativePath::parse(&spelled, "memories") {
            prop_assert!(path.names().all(|name| !matches!(name, "." | "..") && !name.contains(['\\', '\0', ':'])));
            let again = RelativePath::parse(&path.full(), "memories").unwrap();
            prop_assert_eq!(again.relative(), path.relative());
        }
    }
}

/// Commands that reach into a directory, read what is there, write to it and take it away.
fn commands(round: usize) -> Vec<Value> {
    vec![
        json!({"command": "view", "path": "/memories/d/e/secret.txt"}),
        json!({"command": "view", "path": "/memories/d"}),
        json!({"command": "create", "path": format!("/memories/d/e/planted {round}.txt"), "file_text": "planted"}),
        json!({"command": "str_replace", "path": "/memories/d/e/secret.txt", "old_str": "outside", "new_str": "planted"}),
        json!({"command": "insert", "path": "/memories/d/e/secret.txt", "insert_line": 0, "insert_text": "planted"}),
        json!({"command": "rename", "old_path": "/memories/d/e/secret.txt", "new_path": format!("/memories/stolen {round}")}),
        json!({"command": "rename", "old_path": "/memories/bait.txt", "new_path": "/memories/d/e/bait.txt"}),
        json!({"command": "delete", "path": "/memories/d/e"}),
    ]
}

#[test]
fn spec_3_05_a_link_that_is_planted_while_commands_run_leads_nowhere() {
    let room = Room::new();
    fs::create_dir(room.outside().join("e")).unwrap();
    fs::write(room.outside().join("e/secret.txt"), OUTSIDE).unwrap();
    let before = outside(&room);
    symlink(room.outside(), room.at(".link")).unwrap();
    let is_done = AtomicBool::new(false);
    let swaps = AtomicUsize::new(0);
    let mut succeeded = 0;
    let mut round = 0;
    thread::scope(|scope| {
        let _ends = Ends(&is_done);
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                // A real directory with the same names, then the link in its place, as fast as can be.
                fs::create_dir_all(room.at("d/e")).ok();
                fs::write(room.at("d/e/secret.txt"), "inside").ok();
                fs::rename(room.at("d"), room.at(".parked")).ok();
                fs::rename(room.at(".link"), room.at("d")).ok();
                thread::yield_now();
                fs::rename(room.at("d"), room.at(".link")).ok();
                fs::rename(room.at(".parked"), room.at("d")).ok();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let limits = Limits::USUAL;
        // A busy machine may halt either thread anywhere: it goes on until both have had their turns.
        while round < 300 || (round < 20_000 && (swaps.load(Ordering::Relaxed) < 200 || succeeded < 200)) {
            round += 1;
            fs::write(room.at("bait.txt"), "bait").ok();
            for command in commands(round) {
                let command = tessera_files::Command::from_json(&command).unwrap();
                let done = tessera_files::prepare(&room.tree, &command, &limits)
                    .and_then(|prepared| prepared.commit(&room.tree));
                succeeded += usize::from(done.is_ok());
                let (Ok(said) | Err(said)) = done.map(|done| done.reply.text()).map_err(|error| error.to_string());
                assert!(!said.contains(OUTSIDE), "{command:?} read what is outside");
            }
        }
    });
    let swaps = swaps.into_inner();
    println!("{succeeded} of {} commands were done while a directory was swapped {swaps} times", round * 8);
    assert_eq!(outside(&room), before);
    assert!(swaps >= 200 && succeeded >= 200, "{swaps} swaps, {succeeded} commands");
}

#[test]
fn spec_3_05_a_file_that_becomes_a_link_or_a_fifo_is_not_read() {
    let room = Room::new();
    symlink(room.outside().join("secret.txt"), room.at(".link")).unwrap();
    room.fifo(".fifo");
    room.put("a.txt", "inside");
    let before = outside(&room);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ends = Ends(&is_done);
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                for other in [".link", ".fifo"] {
                    fs::rename(room.at("a.txt"), room.at(".file")).ok();
                    fs::rename(room.at(other), room.at("a.txt")).ok();
                    fs::rename(room.at("a.txt"), room.at(other)).ok();
                    fs::rename(room.at(".file"), room.at("a.txt")).ok();
                }
            }
        });
        let tree = Tree::open(&room.at(""), "memories").unwrap();
        let path = tree.path("/memories/a.txt").unwrap();
        let mut read = 0;
        let mut tried = 0;
        // A busy machine may halt the other thread anywhere: it goes on until both have had their turns.
        while tried < 5000 || (read == 0 && tried < 5_000_000) {
            tried += 1;
            if let Ok(file) = tree.read(&path, 1000) {
                assert_eq!(file.bytes, b"inside");
                read += 1;
            }
        }
        assert!(read > 0);
    });
    assert_eq!(outside(&room), before);
}

/// Ends the other thread, also where a test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn outside(room: &Room) -> Vec<(String, Option<String>)> {
    room.everything().into_iter().filter(|(name, _)| name.starts_with("outside")).collect()
}
