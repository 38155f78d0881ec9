//! Files that are changed and brought back by verbs of memories: nothing that stands on disk is lost for it, and what is
//! said of it is true.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Client, Ran, World};

/// A file of the folder that is always there, written by hand and read.
fn written(world: &World, inside: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = world.home().join("memories").join(inside);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    scanned(world);
    path
}

fn scanned(world: &World) {
    let ran = world.run(&["files", "scan"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

fn told(world: &World, command: &Value) {
    let ran = world.run_with_stdin(&["memory-tool"], command.to_string().as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

fn number(world: &World, text: &str) -> String {
    let listed = world.json(&["list", "--limit", "200"]);
    let rows = listed["memories"].as_array().unwrap();
    let row = rows.iter().find(|row| row["content"].as_str().is_some_and(|content| content.contains(text)));
    row.unwrap_or_else(|| panic!("{text}: {listed}"))["id"].to_string()
}

/// The change of a file that came last.
fn last_change(world: &World, path: &str) -> String {
    world.json(&["history", path])[0]["rev"].to_string()
}

fn refused(ran: &Ran, words: &str) {
    assert!(ran.code == Some(1) && ran.stderr.contains(words), "{words}: {ran:?}");
}

fn long() -> String {
    (0..2_000).map(|n| format!("line {n} of the long text about oak\n")).collect()
}

fn token() -> String {
    ["ghp", "_", "Zk3Rw8Qy5Tn1Vb7Mx4Lc9Jd2Hf6Gs0Pa8Ue"].concat()
}

#[test]
fn no_text_that_lacks_some_is_written_over_a_file() {
    let world = World::new();
    let secret = format!("- [fact] the token is {}\n", token());
    for (path, text) in [("long.md", long()), ("secret.md", secret)] {
        let name = format!("/memories/{path}");
        // What is there is kept nowhere else.
        let file = written(&world, path, "- [fact] the gate is on birch\n");
        written(&world, path, &text);
        let rev = last_change(&world, &name);
        refused(&world.run(&["restore", &name, "--before", &rev]), "is not stored completely");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        // What it said is not known whole.
        written(&world, path, "- [fact] the gate is on elm\n");
        let rev = last_change(&world, &name);
        refused(&world.run(&["restore", &name, "--before", &rev]), "would be incomplete");
        assert_eq!(fs::read_to_string(&file).unwrap(), "- [fact] the gate is on elm\n");
        // Nor when it is removed by hand.
        written(&world, path, &text);
        fs::remove_file(&file).unwrap();
        scanned(&world);
        refused(&world.run(&["restore", &name]), "would be incomplete");
        scanned(&world);
        assert!(!file.exists(), "nothing waits to be written");
    }
    world.assert_healthy();
}

#[test]
fn a_copy_kept_of_an_older_text_is_not_brought_back_for_a_newer_one() {
    let world = World::new();
    let file = written(&world, "a.md", long());
    told(&world, &json!({ "command": "delete", "path": "/memories/a.md" }));
    for text in ["small and new\n", "small and newer\n"] {
        told(&world, &json!({ "command": "create", "path": "/memories/a.md", "file_text": text }));
        told(&world, &json!({ "command": "delete", "path": "/memories/a.md" }));
        let ran = world.run(&["restore", "/memories/a.md"]);
        assert!(ran.code == Some(0) && fs::read_to_string(&file).unwrap() == text, "{ran:?}");
        fs::remove_file(&file).unwrap();
        scanned(&world);
    }
    // Two that read alike without what is dropped from them are two.
    let secret = |end: &str| format!("- [fact] the token is {}\n", token().replace("Ue", end));
    let file = written(&world, "b.md", secret("Ab"));
    told(&world, &json!({ "command": "delete", "path": "/memories/b.md" }));
    written(&world, "b.md", secret("Cd"));
    fs::remove_file(&file).unwrap();
    scanned(&world);
    refused(&world.run(&["restore", "/memories/b.md"]), "would be incomplete");
}

#[test]
fn a_file_is_not_brought_back_onto_another() {
    let world = World::new();
    written(&world, "g.md", "- [fact] the gate is on birch\n");
    written(&world, "n.md", "- [fact] bread at six\n");
    let gate = number(&world, "gate is on birch");
    told(&world, &json!({ "command": "delete", "path": "/memories/g.md" }));
    told(&world, &json!({ "command": "rename", "old_path": "/memories/n.md", "new_path": "/memories/g.md" }));
    let dir = world.home().join("memories");
    let names = || -> Vec<String> {
        let entries = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names
    };
    refused(&world.run(&["restore", &gate]), "another file");
    assert_eq!(
        (names(), fs::read_to_string(dir.join("g.md")).unwrap()),
        (vec!["g.md".into()], "- [fact] bread at six\n".into())
    );
    fs::rename(dir.join("g.md"), dir.join("h.md")).unwrap();
    world.run(&["list"]);
    assert_eq!(names(), ["h.md"], "nothing is written that nobody asked for");
    assert_eq!(world.run(&["restore", &gate]).code, Some(0));
    assert_eq!(names(), ["g.md", "h.md"]);

    // Bytes that are no text are somebody's too.
    fs::write(dir.join("g.md"), b"caf\xe9").unwrap();
    scanned(&world);
    refused(&world.run(&["restore", "/memories/g.md"]), "another file");
    fs::remove_file(dir.join("g.md")).unwrap();
    world.run(&["list"]);
    assert_eq!(names(), ["h.md"]);
}

#[test]
fn a_part_that_shares_its_line_goes_alone() {
    let world = World::new();
    let sentences = (0..60).map(|n| format!("Sentence {n} tells of the road through the valley number {n}."));
    let text = sentences.collect::<Vec<_>>().join(" ") + "\n";
    let file = written(&world, "prose.md", &text);
    let listed = world.json(&["list", "--limit", "200"]);
    let parts = listed["memories"].as_array().unwrap();
    assert!(parts.len() >= 3, "{listed}");
    let said: Vec<String> = parts.iter().map(|part| part["content"].as_str().unwrap().to_owned()).collect();
    let (gone, number) = (&said[1], parts[1]["id"].to_string());
    let ran = world.run(&["forget", &number]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let left = fs::read_to_string(&file).unwrap();
    assert!(!left.contains(gone.as_str()));
    for other in said.iter().filter(|other| *other != gone) {
        assert!(left.contains(other.as_str()), "{other}: {left}");
    }
    // It says how it comes back, and that is so.
    let how = ran.stdout.split('`').nth(1).unwrap_or_else(|| panic!("{ran:?}")).to_owned();
    let how: Vec<&str> = how.split(' ').skip(1).collect();
    assert_eq!(world.run(&how).code, Some(0), "{how:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let listed = world.json(&["get", &number]);
    assert!(listed["deleted"].is_null() && listed["content"] == gone.as_str(), "{listed}");
}

#[test]
fn a_part_is_changed_to_what_the_file_then_says_or_not_at_all() {
    let world = World::new();
    let paragraph = |word: &str| format!("{}.", [word; 120].join(" "));
    let text = format!(
        "{}\n\n{}\n\n{}\n\n## Later\n\n- [fact] tea at four\n- [fact] bread at six\n",
        paragraph("oak"),
        paragraph("birch"),
        paragraph("elm")
    );
    let file = written(&world, "p.md", &text);
    let birch = number(&world, "birch");
    for new in ["short", "```", "# x", "<!--", "tea\n\n- [fact] at five"] {
        refused(&world.run(&["update", &birch, "--content", new]), "edit the file");
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{new}");
    }
    // What it says of other notes is its own.
    let linked = paragraph("birch") + " See [[Oak]].";
    for new in [&linked, &paragraph("birch")] {
        assert_eq!(world.run(&["update", &birch, "--content", new]).code, Some(0));
        assert_eq!(world.json(&["get", &birch])["content"], new.as_str());
    }
    // Two of the same words could not be told apart.
    refused(&world.run(&["update", &number(&world, "tea at four"), "--content", "bread at six"]), "edit the file");
    let longer = paragraph("rowan");
    assert_eq!(world.run(&["update", &birch, "--content", &longer]).code, Some(0));
    assert_eq!(world.json(&["get", &birch])["content"], longer);
    assert_eq!(fs::read_to_string(&file).unwrap(), text.replace(&paragraph("birch"), &longer));
}

#[test]
fn a_part_that_was_removed_before_its_file_is_not_said_to_be_back() {
    let world = World::new();
    let file = written(&world, "a.md", "- [fact] tea at four\n- [fact] bread at six\n");
    let tea = number(&world, "tea at four");
    assert_eq!(world.run(&["forget", &tea]).code, Some(0));
    assert_eq!(world.run(&["forget", "/memories/a.md"]).code, Some(0));
    refused(&world.run(&["restore", &tea]), "tessera restore /memories/a.md");
    assert!(!file.exists());
    assert_eq!(world.run(&["restore", "/memories/a.md"]).code, Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), "- [fact] bread at six\n");
}

#[test]
fn a_deleted_directory_comes_back_with_its_files() {
    let world = World::new();
    written(&world, "d/before.md", "- [fact] rain on monday\n");
    let dir = world.home().join("memories/d");
    fs::remove_file(dir.join("before.md")).unwrap();
    // An hour before the others: what goes at one time went together.
    let ran =
        world.command(World::binary()).env("TESSERA_NOW", "2026-11-20T11:00:00Z").args(["files", "scan"]).output();
    assert!(ran.unwrap().status.success());
    written(&world, "d/a.md", "- [fact] tea at four\n");
    written(&world, "d/deep/b.md", long());
    written(&world, "dx.md", "- [fact] bread at six\n");
    told(&world, &json!({ "command": "delete", "path": "/memories/d" }));
    let ran = world.run(&["restore", "/memories/d"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "Restored /memories/d/a.md\nRestored /memories/d/deep/b.md\n")
    );
    assert_eq!(fs::read_to_string(dir.join("deep/b.md")).unwrap(), long());
    assert!(!dir.join("before.md").exists(), "it was no longer in it");
    refused(&world.run(&["restore", "/memories/nowhere"]), "no deleted file had this path");
}

#[test]
fn a_file_is_told_and_written_as_it_is() {
    let world = World::new();
    written(&world, "long.md", long());
    let file = written(&world, "a.md", "- [fact] tea at four\n");
    assert!(world.run(&["get", "/memories/long.md"]).stdout.contains("the file is not stored completely"));
    assert!(!world.run(&["get", "/memories/a.md"]).stdout.contains("the file is not stored completely"));
    let text = "- [fact] tea at five\n- [fact] bread at six\n";
    let ran = world.run_with_stdin(&["update", "/memories/a.md", "--content", "-"], text.as_bytes());
    assert!(ran.code == Some(0) && fs::read_to_string(&file).unwrap() == text, "{ran:?}");
    let ran = world.run_with_stdin(&["update", &number(&world, "tea at five"), "--content", "-"], b"tea at six\n");
    assert!(ran.code == Some(0), "{ran:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text.replace("five", "six"));
}

#[test]
fn a_client_that_forgets_a_line_of_a_file_is_told_how_it_comes_back() {
    let world = World::new();
    let text = "- [fact] the gate is on birch\n- [fact] the well is by the oak\n";
    let path = written(&world, "places.md", text);
    let (gate, well) = (number(&world, "gate"), number(&world, "well"));
    let other = world.remember("an ordinary memory of the mill")["id"].to_string();
    let mut client = Client::start(&world);
    let plain = client.ok("memory_forget", json!({ "ids": [other] }));
    assert!(plain.starts_with("Forgot 1 (they can be restored)") && !plain.contains("memory_restore"), "{plain}");
    let told = client.ok("memory_forget", json!({ "ids": [gate, well] }));
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
    let (_, call) = told.split_once("memory_restore with ids ").unwrap();
    assert!(!call.contains("memory_restore"), "once a file: {told}");
    let (ids, rest) = call.split_once(" and before ").unwrap();
    let before: u64 = rest.split(' ').next().unwrap().parse().unwrap();
    client.ok("memory_restore", json!({ "ids": [ids], "before": before }));
    client.close();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!((number(&world, "gate"), number(&world, "well")), (gate, well), "they are who they were");
}

#[test]
fn several_memories_come_back_at_once_and_an_earlier_text_alone() {
    let world = World::new();
    for text in ["The crane is yellow", "The pier is long"] {
        world.remember(text);
    }
    assert_eq!(world.run(&["forget", "1", "2"]).code, Some(0));
    let refused = world.run(&["restore", "1", "2", "--before", "1"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("`--before` accepts one memory"), "{refused:?}");
    assert!(world.contents().is_empty());
    assert_eq!(world.run(&["restore", "1", "2"]).code, Some(0));
    assert_eq!(world.contents().len(), 2);
}
