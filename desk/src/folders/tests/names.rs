//! Names and texts of every kind: what can be known is, what cannot is left out, and nothing stops the rest.

use std::fs;

use super::{World, list};

#[test]
fn names_in_any_script_are_known_and_those_that_no_path_can_say_left_out() {
    let mut world = World::new();
    let known =
        ["café.md", "cafe\u{301}.md", "🚀 plan.md", "שלום.md", "用户/笔记.md", "a b'c\".md", "Note.md", "note.md"];
    for name in known {
        world.write(name, list(&[&format!("says {}", name.len())]));
    }
    for name in ["line\nbreak.md", "tab\there.md", "bell\u{7}.md"] {
        world.write(name, list(&["the unsayable"]));
    }
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt;
        let odd = world.path("").join(std::ffi::OsStr::from_bytes(b"\xff\xfe.md"));
        fs::write(odd, list(&["the unsayable"])).unwrap();
    }
    world.look();
    let mut expected: Vec<String> = known.iter().map(|&name| name.to_owned()).collect();
    expected.sort();
    // Where a file system takes two of them for one name, it is known once.
    if cfg!(target_os = "linux") {
        assert_eq!(world.files(), expected);
    }
    for name in known {
        assert_eq!(world.says(name), [format!("says {}", name.len())], "{name}");
    }
    assert_eq!(world.look(), super::Refreshed::default());
}

#[test]
fn what_is_hidden_or_installed_is_left_out_and_deep_directories_are_not() {
    let mut world = World::new();
    for hidden in [".git/x.md", ".obsidian/app.md", "node_modules/p/README.md", ".hidden.md", "a/.trash/b.md"] {
        world.write(hidden, list(&["out of sight"]));
    }
    let deep = (0..40).map(|n| format!("d{n}")).collect::<Vec<_>>().join("/") + "/x.md";
    world.write(&deep, list(&["down here"]));
    world.look();
    assert_eq!(world.files(), std::slice::from_ref(&deep));
    assert_eq!(world.says(&deep), ["down here"]);
}

#[test]
fn line_ends_marks_and_what_is_no_text() {
    let mut world = World::new();
    world.write("crlf.md", "# T\r\n\r\n- [fact] one line\r\n- [fact] another\r\n");
    world.write("bom.md", "\u{feff}---\ntitle: Marked\n---\n- [fact] behind a mark\n");
    world.write("latin.md", b"- [fact] caf\xe9\n");
    world.write("nul.md", b"- [fact] a\0b\n");
    world.write("picture.png", b"\x89PNG");
    world.write("empty.md", "");
    world.write("blank.md", "  \n\n");
    world.look();
    assert_eq!(world.says("crlf.md"), ["another", "one line"]);
    assert_eq!(world.says("bom.md"), ["behind a mark"]);
    for none in ["latin.md", "nul.md", "picture.png"] {
        assert!(!world.files().contains(&none.to_owned()), "{none}");
    }
    assert!(world.says("empty.md").is_empty() && world.says("blank.md").is_empty());
    // What was no text becomes one, and the other way round.
    world.write("latin.md", "- [fact] café\n");
    world.write("crlf.md", b"\xff\xfe\x00");
    world.look();
    assert_eq!((world.says("latin.md"), world.says("crlf.md")), (vec!["café".to_owned()], Vec::new()));
    assert!(!world.files().contains(&"crlf.md".to_owned()));
}

#[test]
fn a_file_that_grows_too_large_leaves_recall_and_comes_back_as_itself() {
    let mut world = World::new();
    world.write("a.md", list(&["small enough"]));
    world.look();
    let before = world.ids("a.md");
    world.write("a.md", list(&["small enough"]) + &"x".repeat(1024 * 1024 + 1));
    assert_eq!(world.look().gone, 1);
    world.write("a.md", list(&["small enough"]));
    world.look();
    assert_eq!(world.ids("a.md"), before);
}

#[test]
fn a_file_that_no_memory_can_hold_is_known_though_a_place_is_longer_than_its_credential() {
    let mut world = World::new();
    let facts: Vec<String> = (0..4_000).map(|n| format!("fact {n}")).collect();
    let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
    world.write("a.md", format!("The database password is Xy7kQ9mB2z.\n\n{}", list(&facts)));
    assert_eq!(world.look().taken, 1);
    let says = world.says("a.md");
    assert!(says.iter().any(|text| text == "fact 3999") && says.iter().all(|text| !text.contains("Xy7kQ9mB2z")));
}
