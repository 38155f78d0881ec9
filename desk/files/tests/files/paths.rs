//! How paths are spelled: section 3 of the specification but for links.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tessera_files::{Expected, FileError, RelativePath, Tree};

use crate::room::{Room, every_command};

fn refused(spelled: &str) -> String {
    RelativePath::parse(spelled, "memories").unwrap_err().to_string()
}

fn relative(spelled: &str) -> String {
    RelativePath::parse(spelled, "memories").unwrap().relative().to_owned()
}

#[test]
fn spec_3_01_a_path_begins_with_the_folders_name() {
    for path in
        ["/etc/passwd", "", "/", "user/x.md", "~/memories", "/Memories/x", "//memories/x", " /memories", "./memories"]
    {
        assert_eq!(refused(path), format!("Path must start with /memories, got: {path}"));
    }
    assert_eq!(relative("memories/user/preferences.md"), "user/preferences.md");
    assert_eq!(relative("memories"), "");
    let path = RelativePath::parse("memories/a.md", "memories").unwrap();
    assert_eq!((path.spelled(), path.full().as_str()), ("memories/a.md", "/memories/a.md"));
    assert_eq!(RelativePath::parse("/notes/a.md", "notes").unwrap().relative(), "a.md");
    assert_eq!(
        RelativePath::parse("/memories/a.md", "notes").unwrap_err().to_string(),
        "Path must start with /notes, got: /memories/a.md"
    );
}

#[test]
fn spec_3_02_the_folders_name_is_a_whole_name() {
    for path in ["/memoriesX/y", "/memories.txt", "/memories-old/a", "memoriesX", "/memories\\a"] {
        assert!(refused(path).starts_with("Path must start with /memories, got: "), "{path}");
    }
}

#[test]
fn spec_3_03_what_leads_out_is_refused_in_every_command() {
    let room = Room::new();
    room.put("inside.txt", "inside");
    let before = room.everything();
    for path in
        ["/memories/../../../etc/passwd", "/memories/../outside/secret.txt", "/memories/a/../../x", "memories/.."]
    {
        for command in every_command(path) {
            let expected = format!("Path {path} would escape /memories directory");
            assert_eq!(room.run(&command).unwrap_err(), expected, "{command}");
        }
    }
    assert_eq!(room.everything(), before);
}

#[test]
fn spec_3_04_climbs_are_refused_in_every_disguise() {
    for path in [
        "/memories/%2e%2e/x",
        "/memories/%2E%2e%2Fx",
        "/memories/..%2fx",
        "/memories/%252e%252e%252fx",
        "/memories/%25252e%25252e/x",
        "/memories/..\\x",
        "/memories/..%5cx",
        "/memories/a/..\\..\\x",
        "/memories/\u{ff0e}\u{ff0e}/x",
        "/memories/\u{2025}/x",
        "/memories/..\u{ff0f}x",
        "/memories/.. /x",
        "/memories/..%20/x",
    ] {
        let said = refused(path);
        assert!(
            said.contains("would escape /memories directory") || said.contains("ends in a dot or a space"),
            "{said}"
        );
    }
    // One that stays within is refused too; the folder itself may be named so.
    assert_eq!(refused("/memories/d/../a.txt"), "Path /memories/d/../a.txt is not valid: it contains `..`");
    assert_eq!(relative("/memories/d/.."), "");
    for path in ["/memories/a%2fb", "/memories/a%00", "/memories/%c0%ae%c0%ae/x", "/memories/a%5cb", "/memories/a%0ab"]
    {
        assert!(refused(path).contains("is not valid: "), "{path}");
    }
    let deep = format!("/memories/%{}2e", "25".repeat(20));
    assert!(refused(&deep).contains("encoded more than once"));
    assert_eq!(relative("/memories/100%.md"), "100%.md");
    assert_eq!(relative("/memories/50%25 off.md"), "50%25 off.md");
    assert_eq!(relative("/memories/wait….md"), "wait….md");
}

#[test]
fn spec_3_06_dots_and_slashes_normalise_and_names_of_other_systems_are_refused() {
    assert_eq!(relative("/memories/./a//b/."), "a/b");
    assert_eq!(relative("/memories/a/b/"), "a/b");
    for (path, why) in [
        ("/memories/a\0b", "control character"),
        ("/memories/a\nb", "control character"),
        ("/memories/a\u{7f}", "control character"),
        ("/memories/a\u{202e}b", "control character"),
        ("/memories/C:/x", "colon"),
        ("/memories/a.txt:stream", "colon"),
        ("/memories/\\\\?\\x", "backslash"),
        ("/memories/CON", "device"),
        ("/memories/d/nul.txt", "device"),
        ("/memories/Com1.log", "device"),
        ("/memories/lpt³", "device"),
        ("/memories/aux /x", "ends in a dot or a space"),
        ("/memories/a.", "ends in a dot or a space"),
        ("/memories/.../x", "ends in a dot or a space"),
        ("/memories/a ", "ends in a dot or a space"),
        ("/memories/.tessera-1-1.tmp", "reserved for Tessera's temporary files"),
        ("/memories/.git/hooks/pre-commit", "begins with a dot"),
        ("/memories/d/.GIT/config", "begins with a dot"),
        ("/memories/HEAD", "a name that Git uses"),
        ("/memories/d/config", "may run a file with this name"),
    ] {
        assert!(refused(path).contains(why), "{path}: {}", refused(path));
    }
    let is_hidden = |path| RelativePath::found(path, "memories").unwrap().is_hidden();
    assert_eq!([is_hidden("a/.b"), is_hidden(".a/b"), is_hidden("a.b")], [true, true, false]);
    for path in ["/memories/console.md", "/memories/COM10", "/memories/./a.b", "/memories/a b", "/memories/~"] {
        RelativePath::parse(path, "memories").unwrap();
    }
}

#[test]
fn spec_3_06_a_persons_file_may_have_a_name_that_no_new_one_may() {
    let room = Room::new();
    let name = "/memories/Meeting 10:30/aux.md";
    assert!(room.view(name).unwrap_err().contains("colon"));
    assert!(room.create(name, "x").unwrap_err().contains("colon"));
    room.put("Meeting 10:30/aux.md", "agenda");
    assert!(room.view("/memories").unwrap().contains(name));
    assert!(room.view(name).unwrap().ends_with("agenda"));
    room.replace(name, "agenda", "notes").unwrap();
    assert!(room.create("/memories/Meeting 10:30/b.md", "x").unwrap_err().contains("colon"));
    assert!(room.rename(name, "/memories/c:d.md").unwrap_err().contains("colon"));
    room.rename(name, "/memories/meeting.md").unwrap();
    assert_eq!(room.text("meeting.md"), "notes");
    room.put(".git/config", "kept");
    assert!(room.view("/memories/.git/config").unwrap_err().contains("begins with a dot"));
    assert!(room.delete("/memories/.git").unwrap_err().contains("begins with a dot"));
}

#[test]
fn spec_3_08_a_refused_path_is_said_back_fit_to_be_read() {
    assert_eq!(refused("/etc\u{1b}[31m\n"), "Path must start with /memories, got: /etc\\u{1b}[31m\\u{a}");
    assert!(refused(&format!("/etc/{}", "x".repeat(100_000))).len() < 300);
    let room = Room::new();
    room.put("locked/a.txt", "a");
    fs::set_permissions(room.at("locked"), fs::Permissions::from_mode(0o000)).unwrap();
    // `run` looks for the path of this machine in what is said; whoever may do anything sees the file.
    let _ = room.view("/memories/locked/a.txt");
    let _ = room.create("/memories/locked/b.txt", "b");
    fs::set_permissions(room.at("locked"), fs::Permissions::from_mode(0o700)).unwrap();
    let gone = Tree::open(&room.home.path().join("nowhere"), "memories").unwrap_err().to_string();
    assert_eq!(gone, "The folder /memories cannot be opened: entity not found");
}

#[test]
fn spec_3_09_a_folder_may_have_any_place_and_two_never_meet() {
    let one = Room::new();
    let other = Room::new();
    one.create("/memories/a.txt", "one").unwrap();
    assert!(other.view("/memories/a.txt").is_err());
    let notes = Tree::create(&one.home.path().join("somewhere/else"), "notes").unwrap();
    assert!(notes.path("/memories/a.txt").is_err());
    assert_ne!(notes.identity().unwrap(), one.tree.identity().unwrap());
}

#[test]
fn a_folder_that_was_replaced_is_noticed() {
    let room = Room::new();
    assert!(room.tree.is_current());
    fs::rename(room.at(""), room.home.path().join("away")).unwrap();
    assert!(!room.tree.is_current());
    fs::create_dir(room.at("")).unwrap();
    assert!(!room.tree.is_current());
}

/// Whatever asks for a write, also under a name that was found on the disk or came from a server.
#[test]
fn nothing_is_written_under_a_name_that_programs_run() {
    let room = Room::new();
    for name in ["HEAD", "config", "objects/k", ".git/config", ".claude/settings.json", "a/.envrc", "CLAUDE.md"] {
        let path = RelativePath::found(name, "memories").unwrap();
        let wrote = room.tree.write(&path, b"x", Expected::Absent).unwrap_err();
        assert!(matches!(wrote, FileError::Name { .. }), "{name}: {wrote}");
        room.put("plain.md", "x");
        let plain = RelativePath::found("plain.md", "memories").unwrap();
        assert!(matches!(room.tree.rename(&plain, &path).unwrap_err(), FileError::Name { .. }), "{name}");
        assert!(room.create(&format!("/memories/{name}"), "x").is_err(), "{name}");
        assert!(!room.at(name).exists(), "{name}");
    }
    assert!(!room.at("a").exists() && !room.at("objects").exists(), "no directory was made for a refused file");
}

#[test]
fn what_was_found_is_named_as_it_is_and_stays_beneath() {
    let path = RelativePath::found("Meeting 10:30/aux.md", "notes").unwrap();
    assert_eq!((path.spelled(), path.relative()), ("/notes/Meeting 10:30/aux.md", "Meeting 10:30/aux.md"));
    for hostile in ["../x", "a/../x", "/x", "a//b", "a/", "a\0", "./a"] {
        assert!(RelativePath::found(hostile, "notes").is_err(), "{hostile}");
    }
}
