//! Links, hard links, devices and FIFOs: nothing leads out and nothing blocks. Lines 2.63, 3.5 and 3.7.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::Mode;

use crate::room::{OUTSIDE, Room, every_command};

/// All commands on these paths are refused so, and change nothing.
fn all_refused(room: &Room, paths: &[&str], message: &str) {
    room.put("inside.txt", "inside");
    let before = room.everything();
    for path in paths {
        for command in every_command(path) {
            // A link that is deleted goes itself, and one that is in the way of a new file is there.
            let name = command["command"].as_str().unwrap();
            if name == "delete" || (name == "rename" && command["new_path"] == **path) {
                continue;
            }
            let said = room.run(&command).unwrap_err();
            assert!(said.contains(message), "{command}: {said}");
            assert!(!said.contains(OUTSIDE));
        }
    }
    assert_eq!(room.everything(), before);
}

#[test]
fn spec_2_63_a_link_is_deleted_itself_and_never_what_it_leads_to() {
    let room = Room::new();
    symlink(room.outside(), room.at("out")).unwrap();
    symlink(room.outside().join("secret.txt"), room.at("file")).unwrap();
    symlink("nowhere", room.at("broken")).unwrap();
    for name in ["out", "file", "broken"] {
        let path = format!("/memories/{name}");
        assert_eq!(room.delete(&path).unwrap(), format!("Successfully deleted {path}"));
    }
    room.put("d/a.txt", "a");
    symlink(room.outside(), room.at("d/out")).unwrap();
    room.delete("/memories/d").unwrap();
    assert_eq!(fs::read_dir(room.at("")).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(room.outside().join("secret.txt")).unwrap(), OUTSIDE);
}

#[test]
fn spec_3_05_no_link_leads_out_wherever_it_stands() {
    let room = Room::new();
    let sibling = room.home.path().join("memories-evil");
    fs::create_dir(&sibling).unwrap();
    fs::write(sibling.join("secret.txt"), OUTSIDE).unwrap();
    symlink(room.outside(), room.at("absolute")).unwrap();
    symlink("../outside", room.at("relative")).unwrap();
    symlink(&sibling, room.at("sibling")).unwrap();
    symlink(room.outside().join("secret.txt"), room.at("file.txt")).unwrap();
    symlink("absolute", room.at("chain")).unwrap();
    symlink("/proc/self/root", room.at("magic")).unwrap();
    fs::create_dir_all(room.at("file.txt.d/file.txt.d")).unwrap();
    symlink("../../../outside", room.at("file.txt.d/file.txt.d/file.txt.d")).unwrap();
    let paths = [
        "/memories/absolute",
        "/memories/absolute/secret.txt",
        "/memories/absolute/new/file.txt",
        "/memories/relative/secret.txt",
        "/memories/sibling/secret.txt",
        "/memories/file.txt",
        "/memories/chain/secret.txt",
        "/memories/magic/etc/passwd",
        "/memories/file.txt.d/file.txt.d/file.txt.d/secret.txt",
    ];
    all_refused(&room, &paths, "would escape /memories directory");
    let said = room.view("/memories/file.txt").unwrap_err();
    assert_eq!(said, "Path /memories/file.txt would escape /memories directory: file.txt is a symlink");
}

#[test]
fn spec_3_05_a_link_that_stays_within_is_not_followed_either() {
    let room = Room::new();
    room.put("d/a.txt", "outside in name alone");
    symlink("d", room.at("link")).unwrap();
    symlink("d/a.txt", room.at("file.txt")).unwrap();
    symlink("nowhere", room.at("broken")).unwrap();
    symlink("loop", room.at("loop")).unwrap();
    let paths =
        ["/memories/link", "/memories/link/a.txt", "/memories/file.txt", "/memories/broken", "/memories/loop/x"];
    all_refused(&room, &paths, "Unsupported file type for /memories/");
}

#[test]
fn spec_3_05_the_folder_itself_may_be_named_by_a_link() {
    let room = Room::new();
    room.put("a.txt", "a");
    let link = room.home.path().join("link");
    symlink(room.at(""), &link).unwrap();
    let tree = tessera_files::Tree::open(&link, "memories").unwrap();
    assert_eq!(tree.identity().unwrap(), room.tree.identity().unwrap());
    assert_eq!(tree.read(&tree.path("/memories/a.txt").unwrap(), 9).unwrap().bytes, b"a");
}

#[test]
fn spec_3_07_fifos_sockets_and_hard_links_are_never_opened() {
    let room = Room::new();
    room.fifo("fifo");
    let _socket = std::os::unix::net::UnixListener::bind(room.at("socket")).unwrap();
    fs::hard_link(room.outside().join("secret.txt"), room.at("hard.txt")).unwrap();
    room.put("inside.txt", "inside");
    let before = room.everything();
    for path in ["/memories/fifo", "/memories/socket", "/memories/hard.txt"] {
        for command in every_command(path) {
            let said = room.run(&command).unwrap_err();
            let expected = match command["command"].as_str().unwrap() {
                "create" => format!("Error: File {path} already exists"),
                "rename" if command["new_path"] == path => format!("Error: The destination {path} already exists"),
                _ => format!("Unsupported file type for {path}"),
            };
            assert_eq!(said, expected, "{command}");
        }
    }
    assert_eq!(room.everything(), before);
}

#[test]
fn spec_3_07_a_directory_goes_with_what_is_never_opened() {
    let room = Room::new();
    fs::create_dir(room.at("d")).unwrap();
    room.fifo("d/fifo");
    fs::hard_link(room.outside().join("secret.txt"), room.at("d/hard.txt")).unwrap();
    room.delete("/memories/d").unwrap();
    assert!(!room.at("d").exists());
    assert_eq!(fs::read_to_string(room.outside().join("secret.txt")).unwrap(), OUTSIDE);
}

#[test]
fn a_directory_with_a_name_that_no_path_can_say_stays() {
    use std::os::unix::ffi::OsStrExt;
    let room = Room::new();
    room.put("d/deep/a.md", "x");
    let odd = room.at("d/deep").join(std::ffi::OsStr::from_bytes(b"caf\xe9.md"));
    if fs::write(&odd, "x").is_err() {
        // A file system that takes no such name.
        return;
    }
    let said = room.delete("/memories/d").unwrap_err();
    assert_eq!(said, "Error: /memories/d contains deep/caf\u{fffd}.md, whose name is not UTF-8; rename it first");
    assert!(odd.exists() && room.at("d/deep/a.md").exists());
    fs::remove_file(odd).unwrap();
    room.delete("/memories/d").unwrap();
    assert!(!room.at("d").exists());
}

#[test]
fn a_deep_directory_is_deleted_without_holding_it_all_open() {
    let room = Room::new();
    let mut at = rustix::fs::open(room.at(""), rustix::fs::OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..1500 {
        rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = rustix::fs::openat(&at, "d", rustix::fs::OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    assert!(room.view("/memories").unwrap().contains("4K\t/memories/d/"));
    room.delete("/memories/d").unwrap();
    assert_eq!(fs::read_dir(room.at("")).unwrap().count(), 0);
}
