//! What changes files: lines 2.20 to 2.75 of the specification.

use std::fs;

use serde_json::json;
use tessera_files::{Change, Limits, RelativePath};

use crate::room::Room;

#[test]
fn spec_2_20_create_says_where() {
    let room = Room::new();
    let said = room.create("/memories//user/a.txt", "a").unwrap();
    assert_eq!(said, "File created successfully at: /memories//user/a.txt");
    assert_eq!(room.text("user/a.txt"), "a");
}

#[cfg(unix)]
#[test]
fn spec_2_21_files_and_parents_are_their_owners_and_hold_every_byte() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new();
    for (path, text) in [("a/b/c.txt", "x\r\ny"), ("empty", ""), ("zero.txt", "a\0b"), ("end.txt", "a\n\n")] {
        room.create(&format!("/memories/{path}"), text).unwrap();
        assert_eq!(room.text(path), text);
    }
    let mode = |path| fs::metadata(room.at(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("a"), mode("a/b"), mode("a/b/c.txt")), (0o700, 0o700, 0o600));
}

#[test]
fn spec_2_22_what_is_there_is_not_written_over_unless_that_is_set() {
    let mut room = Room::new();
    room.put("d/a.txt", "old");
    for path in ["/memories/d/a.txt", "/memories/d", "/memories", "/memories/"] {
        assert_eq!(room.create(path, "new").unwrap_err(), format!("Error: File {path} already exists"));
    }
    assert_eq!(room.text("d/a.txt"), "old");
    room.limits = Limits { overwrite: true, ..Limits::USUAL };
    let prepared =
        room.prepare(&json!({"command": "create", "path": "/memories/d/a.txt", "file_text": "new"})).unwrap();
    assert!(
        matches!(&prepared.changes[..], [Change::Write { before: Some(_), before_text: Some(text), .. }] if text == "old")
    );
    let done = prepared.commit(&room.tree).unwrap();
    assert_eq!(done.reply.text(), "File created successfully at: /memories/d/a.txt");
    assert_eq!(room.text("d/a.txt"), "new");
    assert_eq!(room.create("/memories/d", "new").unwrap_err(), "Error: File /memories/d already exists");
}

#[test]
fn spec_2_23_a_file_is_no_parent() {
    let room = Room::new();
    room.put("a.txt", "a");
    let said = room.create("/memories/a.txt/b", "b").unwrap_err();
    assert_eq!(said, "Error: Cannot create /memories/a.txt/b: a.txt is not a directory");
    assert!(room.create("/memories/a.txt/b/c/d", "b").unwrap_err().contains("a.txt is not a directory"));
    assert!(room.rename("/memories/a.txt", "/memories/a.txt/b").unwrap_err().contains("is not a directory"));
    assert_eq!(room.text("a.txt"), "a");
}

#[test]
fn spec_2_24_names_that_no_system_takes_are_refused_by_name() {
    let room = Room::new();
    let long = format!("/memories/{}", "x".repeat(256));
    assert!(room.create(&long, "").unwrap_err().ends_with("is not valid: a component is too long"));
    let longer = format!("/memories/{}", "x/".repeat(3000));
    assert!(room.create(&longer, "").unwrap_err().ends_with("is not valid: it is too long"));
    assert!(room.create("/memories/a\0b", "").unwrap_err().ends_with("it contains a control character"));
    room.create(&format!("/memories/{}", "x".repeat(255)), "fits").unwrap();
}

#[test]
fn spec_2_25_names_of_any_script_work_and_twins_are_told_of() {
    let room = Room::new();
    room.create("/memories/\u{e9} 用户.md", "one").unwrap();
    let said = room.create("/memories/e\u{301} 用户.md", "two").unwrap_err();
    assert!(said.contains("already exists as \u{e9} 用户.md"), "{said}");
    assert!(room.create("/memories/\u{c9} 用户.MD", "two").unwrap_err().contains("already exists"));
    room.create("/memories/User/a.md", "a").unwrap();
    assert!(room.create("/memories/user/b.md", "b").unwrap_err().contains("already exists as User"));
    assert!(room.rename("/memories/User/a.md", "/memories/USER/a.md").unwrap_err().contains("already exists"));
    assert!(room.rename("/memories/User/a.md", "/memories/\u{c9} 用户.md").unwrap_err().contains("already exists"));
    assert_eq!(room.text("\u{e9} 用户.md"), "one");
}

#[test]
fn spec_2_30_an_edit_shows_two_lines_around_it() {
    let room = Room::new();
    room.put("a.txt", "1\n2\n3\nold\n5\n6\n7");
    let said = room.replace("/memories/a.txt", "old", "new").unwrap();
    let expected = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     \
                    2\t2\n     3\t3\n     4\tnew\n     5\t5\n     6\t6";
    assert_eq!(said, expected);
}

#[test]
fn spec_2_31_the_snippet_holds_all_of_what_is_new() {
    let room = Room::new();
    room.put("a.txt", "1\n2\n3\nold\n5\n6\n7");
    let said = room.replace("/memories/a.txt", "old", "a\nb\nc\nd\ne").unwrap();
    assert!(said.contains("\n     2\t2\n     3\t3\n     4\ta\n"), "{said}");
    assert!(said.ends_with("     8\te\n     9\t5\n    10\t6"), "{said}");
}

#[test]
fn spec_2_32_and_2_33_no_file_and_a_directory_are_said_alike() {
    let room = Room::new();
    room.put("d/a.txt", "a");
    for path in ["/memories/nothing", "/memories/d", "/memories", "/memories/x/y"] {
        let expected = format!("Error: The path {path} does not exist. Please provide a valid path.");
        assert_eq!(room.replace(path, "a", "b").unwrap_err(), expected);
    }
}

#[test]
fn spec_2_34_a_text_that_is_not_there_is_said_verbatim() {
    let room = Room::new();
    room.put("a.txt", "Hello");
    let expected = "No replacement was performed, old_str `hello` did not appear verbatim in /memories/a.txt.";
    assert_eq!(room.replace("/memories/a.txt", "hello", "x").unwrap_err(), expected);
}

#[test]
fn spec_2_34_a_long_text_is_not_said_back_whole() {
    let room = Room::new();
    room.put("a.txt", "Hello");
    let said = room.replace("/memories/a.txt", &"é".repeat(1_000_000), "x").unwrap_err();
    assert!(said.len() < 5000 && said.contains("é…` did not appear"), "{} bytes", said.len());
}

#[test]
fn spec_2_35_a_text_that_is_there_twice_is_told_with_its_lines() {
    let room = Room::new();
    room.put("a.txt", "Hello\nMiddle\nHello");
    let expected = "No replacement was performed. Multiple occurrences of old_str `Hello` in lines: 1, 3. Please ensure it \
                    is unique";
    assert_eq!(room.replace("/memories/a.txt", "Hello", "x").unwrap_err(), expected);
    assert_eq!(room.text("a.txt"), "Hello\nMiddle\nHello");
}

#[test]
fn spec_2_36_each_place_has_a_number_up_to_a_hundred() {
    let room = Room::new();
    room.put("a.txt", "xx\n\nxx xx");
    assert!(room.replace("/memories/a.txt", "xx", "y").unwrap_err().contains("in lines: 1, 3, 3."));
    room.put("many.txt", "é".repeat(5632));
    let said = room.replace("/memories/many.txt", "éé", "y").unwrap_err();
    assert!(said.contains(&format!("in lines: {}, …. Please", vec!["1"; 100].join(", "))), "{said}");
}

#[test]
fn spec_2_37_the_empty_text_is_an_error() {
    let room = Room::new();
    room.put("a.txt", "a");
    assert!(room.replace("/memories/a.txt", "", "x").unwrap_err().starts_with("No replacement was performed"));
    room.put("empty.txt", "");
    assert!(room.replace("/memories/empty.txt", "", "x").unwrap_err().starts_with("No replacement was performed"));
}

#[test]
fn spec_2_38_one_place_is_replaced_and_never_all() {
    let room = Room::new();
    room.put("a.txt", "a b a");
    room.replace("/memories/a.txt", "a", "x").unwrap_err();
    room.replace("/memories/a.txt", "b", "a").unwrap();
    assert_eq!(room.text("a.txt"), "a a a");
}

#[test]
fn spec_2_39_texts_are_literal_and_may_span_lines() {
    let room = Room::new();
    room.put("a.txt", "one\ntwo\r\nthree (.*) $1");
    room.replace("/memories/a.txt", "one\ntwo", "1\n2").unwrap();
    room.replace("/memories/a.txt", "2\nthree", "x").unwrap_err();
    room.replace("/memories/a.txt", "(.*) $1", "$0 \\1").unwrap();
    room.replace("/memories/a.txt", "\r\n", "").unwrap();
    room.run(&json!({"command": "str_replace", "path": "/memories/a.txt", "old_str": "1\n"})).unwrap();
    assert_eq!(room.text("a.txt"), "2three $0 \\1");
}

#[cfg(unix)]
#[test]
fn spec_2_40_an_edit_keeps_the_mode_and_the_end_of_the_file() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let room = Room::new();
    room.put("a.txt", "one\ntwo");
    fs::set_permissions(room.at("a.txt"), fs::Permissions::from_mode(0o664)).unwrap();
    let before = fs::metadata(room.at("a.txt")).unwrap().ino();
    room.replace("/memories/a.txt", "one", "1").unwrap();
    let after = fs::metadata(room.at("a.txt")).unwrap();
    assert_eq!((room.text("a.txt").as_str(), after.permissions().mode() & 0o777), ("1\ntwo", 0o664));
    assert_ne!(before, after.ino(), "another file took its name, so that nobody sees half of it");
    assert_eq!(fs::read_dir(room.at("")).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_file_that_nobody_may_write_is_not_written() {
    use std::os::unix::fs::PermissionsExt;
    let mut room = Room::new();
    room.limits = Limits { overwrite: true, ..Limits::USUAL };
    room.put("a.txt", "kept");
    fs::set_permissions(room.at("a.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    let expected = "Error: /memories/a.txt: permission denied";
    assert_eq!(room.replace("/memories/a.txt", "kept", "x").unwrap_err(), expected);
    assert_eq!(room.insert("/memories/a.txt", 0, "x").unwrap_err(), expected);
    assert_eq!(room.create("/memories/a.txt", "x").unwrap_err(), expected);
    assert_eq!(room.text("a.txt"), "kept");
}

#[test]
fn spec_2_50_to_2_53_lines_are_put_where_they_are_asked_for() {
    let room = Room::new();
    for (text, line, insert, expected) in [
        ("L1\nL2", 1, "new", "L1\nnew\nL2\n"),
        ("L1\nL2", 0, "new", "new\nL1\nL2\n"),
        ("L1\nL2", 2, "new", "L1\nL2\nnew\n"),
        ("L1\nL2\n", 2, "new\n\n", "L1\nL2\nnew\n"),
        ("L1\nL2\n", 1, "a\n\nb\n", "L1\na\n\nb\nL2\n"),
        ("", 0, "new", "new\n"),
        ("\n", 1, "new", "\nnew\n"),
        ("L1", 1, "", "L1\n\n"),
    ] {
        room.put("a.txt", text);
        assert_eq!(room.insert("/memories/a.txt", line, insert).unwrap(), "The file /memories/a.txt has been edited.");
        assert_eq!(room.text("a.txt"), expected, "{text:?} + {insert:?} after {line}");
    }
}

#[test]
fn spec_2_54_an_empty_file_has_no_lines() {
    let room = Room::new();
    room.put("a.txt", "");
    assert!(room.insert("/memories/a.txt", 1, "x").unwrap_err().ends_with("within the range [0, 0]."));
}

#[test]
fn spec_2_55_a_line_that_is_not_there_is_said_with_the_range() {
    let room = Room::new();
    room.put("a.txt", "1\n2\n");
    for line in [3, -1, i64::MAX, i64::MIN] {
        let expected = format!("Error: Invalid `insert_line` parameter: {line}. It should be within the range [0, 2].");
        assert_eq!(room.insert("/memories/a.txt", line, "x").unwrap_err(), expected);
    }
}

#[test]
fn spec_2_56_and_2_57_no_file_and_a_directory_are_said_alike() {
    let room = Room::new();
    room.put("d/a.txt", "a");
    for path in ["/memories/nothing", "/memories/d", "/memories"] {
        let expected = format!("Error: The path {path} does not exist. Please provide a valid path.");
        assert_eq!(room.insert(path, 0, "b").unwrap_err(), expected);
    }
}

#[test]
fn spec_2_58_lines_beside_what_is_new_keep_their_ends() {
    let room = Room::new();
    room.put("a.txt", "line1\r\nline2\r\nline3\r\n");
    room.insert("/memories/a.txt", 1, "Inserted").unwrap();
    assert_eq!(room.text("a.txt"), "line1\r\nInserted\nline2\r\nline3\r\n");
}

#[test]
fn spec_2_60_files_and_directories_are_deleted_with_all_that_is_in_them() {
    let room = Room::new();
    room.put("a.txt", "a");
    room.put("d/e/b.txt", "b");
    room.put("d/.hidden", "c");
    assert_eq!(room.delete("/memories/a.txt").unwrap(), "Successfully deleted /memories/a.txt");
    let prepared = room.prepare(&json!({"command": "delete", "path": "memories/d/"})).unwrap();
    let told: Vec<&str> = prepared
        .changes
        .iter()
        .map(|change| match change {
            Change::Remove { path, .. } => path.relative(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, ["d/.hidden", "d/e/b.txt"]);
    assert_eq!(prepared.commit(&room.tree).unwrap().reply.text(), "Successfully deleted memories/d/");
    assert_eq!(fs::read_dir(room.at("")).unwrap().count(), 0);
}

#[test]
fn spec_2_61_what_is_not_there_cannot_be_deleted() {
    let room = Room::new();
    assert_eq!(room.delete("/memories/a").unwrap_err(), "Error: The path /memories/a does not exist");
    assert_eq!(room.delete("/memories/a/b").unwrap_err(), "Error: The path /memories/a/b does not exist");
}

#[test]
fn spec_2_62_the_folder_itself_stays() {
    let room = Room::new();
    for path in ["/memories", "/memories/", "/memories/.", "/memories/sub/..", "memories", "/memories//"] {
        assert_eq!(room.delete(path).unwrap_err(), "Cannot delete the /memories directory itself");
    }
}

#[test]
fn spec_2_64_an_emptied_directory_stays() {
    let room = Room::new();
    room.put("d/a.txt", "a");
    room.delete("/memories/d/a.txt").unwrap();
    assert!(room.at("d").is_dir());
}

#[test]
fn spec_2_65_what_is_deleted_is_told_before_so_that_it_can_be_kept() {
    let room = Room::new();
    room.put("a.txt", "a");
    let prepared = room.prepare(&json!({"command": "delete", "path": "/memories/a.txt"})).unwrap();
    let [Change::Remove { path, before, hash: Some(_) }] = &prepared.changes[..] else { panic!("{prepared:?}") };
    let read = room.tree.read(path, 100).unwrap();
    assert_eq!((read.bytes.as_slice(), read.stamp), (&b"a"[..], *before));
    fs::write(room.at("a.txt"), "another text").unwrap();
    assert!(prepared.commit(&room.tree).unwrap_err().is_passing());
    assert_eq!(room.text("a.txt"), "another text");
}

#[test]
fn spec_2_70_and_2_71_rename_says_both_and_replaces_nothing() {
    let room = Room::new();
    room.put("a.txt", "a");
    room.put("b.txt", "b");
    let said = room.rename("/memories/a.txt", "memories/c.txt").unwrap();
    assert_eq!(said, "Successfully renamed /memories/a.txt to memories/c.txt");
    let said = room.rename("/memories/a.txt", "/memories/d.txt").unwrap_err();
    assert_eq!(said, "Error: The path /memories/a.txt does not exist");
    for to in ["/memories/b.txt", "/memories/c.txt", "/memories", "/memories/./b.txt"] {
        let expected = format!("Error: The destination {to} already exists");
        assert_eq!(room.rename("/memories/c.txt", to).unwrap_err(), expected);
    }
    assert_eq!((room.text("b.txt").as_str(), room.text("c.txt").as_str()), ("b", "a"));
}

#[test]
fn spec_2_72_directories_move_whole_and_parents_are_made() {
    let room = Room::new();
    room.put("d/e/a.txt", "a");
    room.put("d/b.txt", "b");
    let command = json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/x/y"});
    let prepared = room.prepare(&command).unwrap();
    let told: Vec<String> = prepared
        .changes
        .iter()
        .map(|change| match change {
            Change::Move { from, to, .. } => format!("{} {}", from.relative(), to.relative()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, ["d/b.txt x/y/b.txt", "d/e/a.txt x/y/e/a.txt"]);
    prepared.commit(&room.tree).unwrap();
    assert_eq!((room.text("x/y/b.txt").as_str(), room.text("x/y/e/a.txt").as_str()), ("b", "a"));
    assert!(!room.at("d").exists());
}

#[test]
fn spec_2_73_neither_the_folder_nor_a_directory_into_itself_moves() {
    let room = Room::new();
    room.put("sub/a.txt", "a");
    for path in ["/memories", "/memories/", "/memories/.", "/memories/sub/.."] {
        let said = room.rename(path, "/memories/moved").unwrap_err();
        assert_eq!(said, "Cannot rename the /memories directory itself");
    }
    let expected = "Error: Cannot rename /memories/sub to /memories/sub/in/x: a directory cannot be moved into itself";
    assert_eq!(room.rename("/memories/sub", "/memories/sub/in/x").unwrap_err(), expected);
    room.rename("/memories/sub", "/memories/subin").unwrap();
}

#[test]
fn spec_2_74_a_name_may_change_in_case_alone() {
    let room = Room::new();
    room.put("d/a.txt", "a");
    room.rename("/memories/d/a.txt", "/memories/d/A.txt").unwrap();
    room.rename("/memories/d", "/memories/D").unwrap();
    assert_eq!(room.text("D/A.txt"), "a");
    let names: Vec<_> = fs::read_dir(room.at("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["D"]);
}

#[test]
fn spec_9_01_a_file_has_a_greatest_size() {
    let mut room = Room::new();
    room.limits = Limits { most_bytes: 8, most_read: 20, overwrite: false };
    let expected = "File /memories/a.txt is too large: 9 bytes, at most 8 are allowed";
    assert_eq!(room.create("/memories/a.txt", "123456789").unwrap_err(), expected);
    room.create("/memories/a.txt", "12345678").unwrap();
    assert_eq!(
        room.insert("/memories/a.txt", 0, "").unwrap_err(),
        "File /memories/a.txt is too large: 10 bytes, at most 8 are allowed"
    );
    assert!(room.replace("/memories/a.txt", "1", "11").is_err());
    room.put("b.txt", "x".repeat(21));
    assert_eq!(
        room.view("/memories/b.txt").unwrap_err(),
        "File /memories/b.txt is too large: 21 bytes, at most 20 are allowed"
    );
    room.delete("/memories/b.txt").unwrap();
}

#[test]
fn a_file_takes_another_spelling_with_the_directories_that_it_is_in() {
    let room = Room::new();
    for path in ["work/a.md", "work/b.md", "both/c.md", "Both/d.md"] {
        room.put(path, path);
    }
    let path = |relative: &str| RelativePath::found(relative, "memories").unwrap();
    let respell = |from: &str, to: &str| room.tree.respell(&path(from), &path(to)).unwrap();
    assert!(respell("work/a.md", "Work/A.md") && respell("work/b.md", "Work/b.md"));
    assert!(respell("Work/A.md", "WORK/a.md") && respell("Work/b.md", "WORK/b.md"));
    for (from, to) in [("WORK/a.md", "WORK/a.md"), ("WORK/a.md", "WORK/e.md"), ("WORK/a.md", "a.md")] {
        assert!(!respell(from, to), "{from} is no other spelling of {to}");
    }
    // Where the system tells them apart, and both are there, neither goes.
    let are_two = !room.at("both/d.md").exists();
    assert!(!are_two || !respell("both/c.md", "Both/c.md"));
    assert_eq!((room.text("WORK/a.md"), room.text("WORK/b.md")), ("work/a.md".to_owned(), "work/b.md".to_owned()));
}
