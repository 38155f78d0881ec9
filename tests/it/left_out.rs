//! Files of a folder that recall does not know, by the real program: they are told, with the reason, and silence means that
//! there is none.

use std::fs;

use serde_json::{Value, json};

use crate::support::World;

/// A world with a directory of notes, of which five are left out, each for a reason of its own.
fn world() -> (World, String) {
    let world = World::new();
    let notes = world.path("notes");
    fs::create_dir_all(notes.join("sub")).unwrap();
    let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
    fs::write(notes.join("sub").join(format!("{token}.md")), "- [fact] the kettle is blue\n").unwrap();
    fs::write(notes.join("latin.md"), b"caf\xe9 closes at nine\n").unwrap();
    fs::write(notes.join("nul.md"), b"the lamp\0is green\n").unwrap();
    fs::write(notes.join("large.md"), "the clock strikes. ".repeat(60_000)).unwrap();
    fs::write(notes.join("map.png"), b"\x89PNG").unwrap();
    fs::write(notes.join(".hidden"), "no note\n").unwrap();
    (world, token)
}

fn told() -> Value {
    json!([
        { "why": "credential", "files": 1, "some": ["/notes/sub/ghp_….md"] },
        { "why": "no_text", "files": 2, "some": ["/notes/latin.md", "/notes/nul.md"] },
        { "why": "too_large", "files": 1, "some": ["/notes/large.md"] },
        { "why": "no_text_by_name", "files": 1, "some": ["/notes/map.png"] },
    ])
}

#[test]
fn files_that_are_left_out_are_told_with_the_reason_wherever_folders_are() {
    let (world, token) = world();
    let notes = world.path("notes").display().to_string();
    let lines = "1 skipped (path looks like a credential): /notes/sub/ghp_….md\n\
        2 skipped (not text: not UTF-8, or contains NUL): /notes/latin.md, /notes/nul.md\n\
        1 skipped (larger than 1 MiB): /notes/large.md\n\
        1 skipped (not text, according to the file extension): /notes/map.png\n";
    let added = world.run(&["files", "add", &notes]);
    assert_eq!(
        added.stdout,
        format!("Recall now searches 0 files of {notes}; their paths begin with /notes/.\n{lines}")
    );
    assert_eq!(
        world.run(&["files", "scan"]).stdout,
        format!("0 new or changed, 0 renamed, 0 deleted, 0 written\n{lines}")
    );
    assert!(world.run(&["files", "list"]).stdout.ends_with(lines));
    assert_eq!(world.json(&["files", "add", &notes])["left_out"], told());
    assert_eq!(world.json(&["files", "scan"])["left_out"], told());
    assert_eq!(world.json(&["files", "list"])[0]["left_out"], told());
    let doctor = world.run(&["doctor"]);
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
    assert!(doctor.stdout.contains("2 skipped (not text"), "{doctor:?}");
    let shown = [added.stdout, doctor.stdout, world.run(&["files", "list", "--json"]).stdout].concat();
    assert!(!shown.contains(&token[..12]), "{shown}");
}

#[test]
fn silence_means_that_nothing_is_left_out_and_what_is_mended_is_known() {
    let (world, token) = world();
    let notes = world.path("notes");
    world.run(&["files", "add", &notes.display().to_string()]);
    fs::rename(notes.join("sub").join(format!("{token}.md")), notes.join("sub/kettle.md")).unwrap();
    fs::write(notes.join("latin.md"), "café closes at nine\n").unwrap();
    fs::write(notes.join("nul.md"), "the lamp is green\n").unwrap();
    fs::write(notes.join("large.md"), "the clock strikes\n").unwrap();
    fs::remove_file(notes.join("map.png")).unwrap();
    assert_eq!(world.run(&["files", "scan"]).stdout, "4 new or changed, 0 renamed, 0 deleted, 0 written\n");
    let listed = world.json(&["files", "list"]);
    assert_eq!((&listed[0]["files"], &listed[0]["left_out"]), (&json!(4), &json!([])));
    let again = world.run(&["files", "add", &notes.display().to_string()]);
    assert_eq!(
        again.stdout,
        format!("Recall now searches 4 files of {}; their paths begin with /notes/.\n", notes.display())
    );
    for (question, answer) in [("kettle", "blue"), ("café", "nine"), ("lamp", "green"), ("clock", "strikes")] {
        assert!(world.run(&["recall", question]).stdout.contains(answer), "{question}");
    }
}

#[test]
fn many_are_counted_and_the_first_are_named() {
    let world = World::new();
    fs::create_dir(world.path("notes")).unwrap();
    for n in 0..7 {
        fs::write(world.path("notes").join(format!("n{n}.md")), b"\xff").unwrap();
    }
    let added = world.run(&["files", "add", &world.path("notes").display().to_string()]);
    let paths = "/notes/n0.md, /notes/n1.md, /notes/n2.md, and 4 more\n";
    assert!(added.stdout.ends_with(paths), "{added:?}");
}

/// A rule that left a file out may be another one in a later version, and the directory looks as it did.
#[test]
fn a_file_that_no_rule_leaves_out_any_more_is_read() {
    let world = World::new();
    fs::create_dir(world.path("notes")).unwrap();
    fs::write(world.path("notes/a.md"), "- [fact] the kettle is blue\n").unwrap();
    let earlier = std::time::UNIX_EPOCH + std::time::Duration::from_hours(480_000);
    fs::File::options().append(true).open(world.path("notes/a.md")).unwrap().set_modified(earlier).unwrap();
    assert_eq!(world.run(&["files", "add", &world.path("notes").display().to_string()]).code, Some(0));
    // As a version left it that took the file's name for a credential.
    let database = rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    database.execute_batch("DELETE FROM files; DELETE FROM parts; DELETE FROM names").unwrap();
    drop(database);
    let listed = world.json(&["files", "list"]);
    assert_eq!(listed[0]["left_out"], json!([{ "why": "not_yet", "files": 1, "some": ["/notes/a.md"] }]));
    let scan = world.json(&["files", "scan"]);
    assert_eq!((&scan["taken"], &scan["left_out"]), (&json!(1), &json!([])));
    // The same where that version counted its directories otherwise: the next look finds it by itself.
    let database = rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    database
        .execute_batch("DELETE FROM files; DELETE FROM parts; DELETE FROM names; UPDATE directories SET digest = 77")
        .unwrap();
    drop(database);
    assert!(world.run(&["recall", "kettle"]).stdout.contains("blue"));
    assert_eq!(world.json(&["files", "list"])[0]["files"], 1);
}
