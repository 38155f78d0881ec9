//! Files that were deleted: what of them comes back, what goes for good, and what took their place.

use std::fs;

use serde_json::json;

use crate::memory_tool::told;
use crate::support::World;

/// A path may be taken by another file after a deletion.
#[test]
fn forgetting_a_deleted_file_touches_no_file_that_took_its_path() {
    let token = ["ghp", "_", "Zk3Rw8Qy5Tn1Vb7Mx4Lc9Jd2Hf6Gs0Pa8Ue"].concat();
    let world = World::new();
    let dir = world.home().join("memories");
    fs::create_dir_all(&dir).unwrap();
    let secret = format!("- [fact] the deploy token of the gate is {token}\n");
    fs::write(dir.join("x.md"), "- [fact] the quay is long\n").unwrap();
    fs::write(dir.join("y.md"), &secret).unwrap();
    assert_eq!(world.run(&["files", "scan"]).code, Some(0));
    let first = world.json(&["get", "/memories/x.md"])["memories"][0]["id"].to_string();
    assert!(!told(&world, &json!({ "command": "delete", "path": "/memories/x.md" })).1);
    let rename = json!({ "command": "rename", "old_path": "/memories/y.md", "new_path": "/memories/x.md" });
    assert!(!told(&world, &rename).1);
    for erase in [&["forget", &first][..], &["forget", "-y", "--hard", &first]] {
        world.run(erase);
        assert_eq!(fs::read_to_string(dir.join("x.md")).unwrap(), secret, "{erase:?}");
    }
    assert_eq!(world.found("gate").len(), 1);
    world.assert_healthy();
}

#[test]
fn what_no_memory_stands_for_comes_back_whatever_its_name_and_can_be_deleted_for_good() {
    let world = World::new();
    let dir = world.home().join("memories/own");
    fs::create_dir_all(&dir).unwrap();
    for (name, bytes) in
        [("picture.bin", &b"\xff\x00 one"[..]), (".hidden", b"two"), ("note.md", b"- [fact] the gate is red\n")]
    {
        fs::write(dir.join(name), bytes).unwrap();
    }
    assert_eq!(world.run(&["files", "scan"]).code, Some(0));
    let aside = world.home().join("deleted-files");
    let delete = || assert!(!told(&world, &json!({ "command": "delete", "path": "/memories/own" })).1);
    delete();
    let ran = world.run(&["restore", "/memories/own"]);
    assert!(ran.code == Some(0) && fs::read_dir(&dir).unwrap().count() == 3, "{ran:?}");
    delete();
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 2);
    let ran = world.run(&["forget", "--hard", "-y", "/memories/own"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("/memories/own/picture.bin permanently"), "{ran:?}");
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
}

#[test]
fn a_file_with_a_second_name_is_read_and_not_written() {
    let world = World::new();
    let dir = world.path("user/notes");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("a.md"), "# Quay\n\nThe crane of the quay is green.\n").unwrap();
    fs::hard_link(dir.join("a.md"), world.path("user/backup.md")).unwrap();
    assert_eq!(world.run(&["files", "add", "--writable", dir.to_str().unwrap()]).code, Some(0));
    assert_eq!(world.found("crane quay").len(), 1);
    let ran = world.run(&["forget", "--hard", "-y", "/notes/a.md"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("hard link"), "{ran:?}");
    let ran = world.run(&["update", "/notes/a.md", "--content", "# Quay\n\nNone.\n"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("hard link"), "{ran:?}");
    assert_eq!(world.found("crane quay").len(), 1);
    fs::remove_file(world.path("user/backup.md")).unwrap();
    assert_eq!(world.run(&["forget", "/notes/a.md"]).code, Some(0));
    assert!(!dir.join("a.md").exists());
}
