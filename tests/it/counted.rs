//! Files are counted with the rest of the store, and what of them goes when the store is removed is told before, by the real
//! program.

use std::fs;

use serde_json::json;

use crate::support::World;

/// A world with a file of the memory tool's, one by hand, and a folder elsewhere.
fn world() -> World {
    let world = World::new();
    let create = json!({
        "command": "create", "path": "/memories/a.md", "file_text": "- [fact] the kettle is blue\n- [fact] the lamp is green\n"
    });
    world.run_with_stdin(&["memory-tool"], create.to_string().as_bytes());
    fs::create_dir(world.home().join("memories/.git")).unwrap();
    fs::write(world.home().join("memories/.git/config"), "x").unwrap();
    let notes = world.path("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("b.md"), "- [fact] the clock strikes\n").unwrap();
    fs::write(notes.join("c.md"), b"\xff").unwrap();
    assert_eq!(world.run(&["files", "add", notes.to_str().unwrap(), "--writable"]).code, Some(0));
    world
}

#[test]
fn stats_count_folders_files_parts_and_what_is_left_out() {
    let world = world();
    let stats = world.json(&["stats"]);
    let expected = json!({ "folders": 2, "away": 0, "files": 2, "parts": 3, "bytes": 82, "left_out": 1 });
    assert_eq!((&stats["files"], &stats["memories"]), (&expected, &json!(3)));
    let told = world.run(&["stats"]).stdout;
    assert!(told.contains("2 in 2 folders, 3 sections, 1 KiB, 1 skipped"), "{told}");
    assert!(!World::new().run(&["stats"]).stdout.contains("folders"));
}

#[test]
fn an_uninstall_removes_files_only_with_the_store_and_says_so_before() {
    let world = world();
    let (memories, notes) = (world.home().join("memories"), world.path("notes"));
    std::os::unix::fs::symlink(&notes, memories.join("link")).unwrap();
    assert_eq!(world.run(&["uninstall", "--yes"]).code, Some(0));
    assert!(memories.join("a.md").is_file(), "nobody asked for that");
    let says = |ran: &crate::support::Ran| {
        let files = format!("This also deletes 3 files in {} (", memories.display());
        ran.stderr.contains(&files)
            && ran.stderr.contains("your own included")
            && ran.stderr.contains("are not changed")
    };
    let shown = world.run(&["uninstall", "--purge", "--dry-run"]);
    assert!(says(&shown) && memories.join("a.md").is_file(), "{shown:?}");
    let asked = world.run(&["uninstall", "--purge"]);
    assert!(says(&asked) && asked.code == Some(1) && memories.join("a.md").is_file(), "{asked:?}");
    let purged = world.run(&["uninstall", "--purge", "--yes"]);
    assert!(says(&purged) && purged.code == Some(0), "{purged:?}");
    assert!(!world.home().exists());
    assert_eq!(fs::read(notes.join("b.md")).unwrap(), b"- [fact] the clock strikes\n");
    assert_eq!(fs::read_dir(&notes).unwrap().count(), 2, "what is elsewhere is nobody's but its person's");
}
