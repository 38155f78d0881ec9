//! What `view` shows: lines 2.1 to 2.18 of the specification.

use std::fs;

use serde_json::json;

use crate::room::Room;

const HEADER: &str =
    "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:";

fn range(room: &Room, range: [i64; 2]) -> String {
    let command = json!({"command": "view", "path": "/memories/a.txt", "view_range": range});
    room.run(&command)
        .unwrap()
        .strip_prefix("Here's the content of /memories/a.txt with line numbers:\n")
        .unwrap()
        .to_owned()
}

#[test]
fn spec_2_01_the_first_line_of_a_directory_is_the_documented_one() {
    let room = Room::new();
    assert_eq!(room.view("/memories").unwrap().lines().next().unwrap(), HEADER);
}

#[test]
fn spec_2_02_rows_are_size_tab_path_and_the_directory_comes_first() {
    let room = Room::new();
    room.put("a.txt", "12345");
    assert_eq!(room.view("/memories").unwrap(), format!("{HEADER}\n5B\t/memories\n5B\t/memories/a.txt"));
}

#[test]
fn spec_2_03_two_levels_are_shown_and_directories_end_in_a_slash() {
    let room = Room::new();
    room.put("d/e/f/deep.txt", "123");
    room.put("d/one.txt", "1");
    let rows = room.view("/memories").unwrap();
    let shown: Vec<&str> = rows.lines().skip(1).collect();
    assert_eq!(shown, ["4B\t/memories", "4B\t/memories/d/", "3B\t/memories/d/e/", "1B\t/memories/d/one.txt"]);
}

#[test]
fn spec_2_04_rows_are_sorted_by_name_depth_first() {
    let room = Room::new();
    for path in ["b/z.txt", "b/a.txt", "a.txt", "c.txt", "B.txt"] {
        room.put(path, "");
    }
    let rows = room.view("/memories").unwrap();
    let shown: Vec<&str> = rows.lines().skip(2).map(|row| row.split_once('\t').unwrap().1).collect();
    let expected = ["B.txt", "a.txt", "b/", "b/a.txt", "b/z.txt", "c.txt"].map(|name| format!("/memories/{name}"));
    assert_eq!(shown, expected);
}

#[test]
fn spec_2_05_hidden_items_and_node_modules_are_left_out_and_none_is_made() {
    let room = Room::new();
    for path in [".hidden", ".d/a", "node_modules/a", "d/.hidden", "d/node_modules/a"] {
        room.put(path, "x");
    }
    assert_eq!(room.view("/memories").unwrap(), format!("{HEADER}\n0B\t/memories\n0B\t/memories/d/"));
    // Other programs run or obey files whose names begin with a dot.
    assert!(room.create("/memories/.config", "seen").unwrap_err().contains("begins with a dot"));
    assert!(!room.at(".config").exists());
}

#[test]
fn spec_2_06_a_directory_has_the_size_of_what_is_in_it() {
    let room = Room::new();
    room.put("d/e/f/g/deep.txt", vec![b'x'; 4096]);
    room.put("d/a.txt", vec![b'x'; 1536]);
    let rows = room.view("/memories").unwrap();
    let shown: Vec<&str> = rows.lines().skip(1).collect();
    let expected = ["5.5K\t/memories", "5.5K\t/memories/d/", "1.5K\t/memories/d/a.txt", "4K\t/memories/d/e/"];
    assert_eq!(shown, expected);
}

#[test]
fn spec_2_06_a_directory_that_is_too_large_is_not_looked_through() {
    let room = Room::new();
    for directory in 0..25 {
        fs::create_dir_all(room.at(&format!("a/b/{directory}"))).unwrap();
        for file in 0..1000 {
            fs::File::create(room.at(&format!("a/b/{directory}/{file}"))).unwrap();
        }
    }
    room.put("z/last.txt", "x");
    let rows = room.view("/memories").unwrap();
    let shown: Vec<&str> = rows.lines().skip(1).collect();
    let expected =
        ["4K\t/memories", "4K\t/memories/a/", "4K\t/memories/a/b/", "1B\t/memories/z/", "1B\t/memories/z/last.txt"];
    assert_eq!(shown, expected);
}

/// Goes through a listing as its last line says, so many rows at a time, and gives all rows.
fn all_rows(room: &Room, path: &str, at_once: usize) -> Vec<String> {
    let (mut rows, mut next) = (Vec::new(), json!(null));
    loop {
        let view = json!({"command": "view", "path": path, "view_range": next});
        let page = room.prepare(&view).unwrap().reply.first(at_once + 1, 0);
        let mut lines: Vec<&str> = page.lines().skip(2).collect();
        let rest = lines.last().copied().filter(|line| line.starts_with('['));
        if rest.is_some() {
            lines.pop();
        }
        rows.extend(lines.into_iter().map(str::to_owned));
        let Some(rest) = rest else { return rows };
        let range = rest.split_once("view_range ").unwrap().1.split_once(']').unwrap().0;
        next = serde_json::from_str(&format!("{range}]")).unwrap();
    }
}

#[test]
fn spec_1_09_every_entry_of_a_large_directory_can_be_reached() {
    let room = Room::new();
    for file in 0..90 {
        room.put(&format!("f{file:02}.md"), "x");
        room.put(&format!("d{}/g{file:02}.md", file % 12), "x");
    }
    let view = |range: serde_json::Value| {
        room.prepare(&json!({"command": "view", "path": "/memories", "view_range": range})).unwrap().reply
    };
    let whole = view(json!(null)).text();
    let all: Vec<&str> = whole.lines().skip(2).collect();
    assert_eq!(all.len(), 90 + 90 + 12);
    for at_once in [1, 7, 50, 191, 192] {
        assert_eq!(all_rows(&room, "/memories", at_once), all, "{at_once}");
    }
    let first = view(json!(null)).naming(2).first(11, 0);
    let end = "[182 more entries, 11 to 192: continue with view_range [11, 192]; or view /memories/d1/ (8 entries), \
               /memories/d10/ (7 entries), or one of 9 more directories]";
    assert_eq!(first.lines().last().unwrap(), end);
    // A range that ends before the last entry says so, and one beyond it is empty.
    let some = view(json!([100, 101])).text();
    assert_eq!(some.lines().skip(2).collect::<Vec<_>>()[..2], all[99..101]);
    let end = "[91 more entries, 102 to 192: continue with view_range [102, 192]; or view /memories/d9/ (7 entries)]";
    assert!(some.ends_with(end), "{some}");
    assert_eq!(view(json!([193, -1])).text().lines().count(), 2);
    assert_eq!(view(json!([5, 3])).text().lines().count(), 3, "its own row, and the line that says how to go on");
}

#[test]
fn spec_1_09_names_that_are_not_looked_at_first_are_looked_at_later() {
    let room = Room::new();
    for file in 0..20_010 {
        fs::File::create(room.at(&format!("{file:05}"))).unwrap();
    }
    let first = room.view("/memories").unwrap();
    let end = "[10 more entries, from 20001 on: continue with view_range [20001, -1]]";
    assert_eq!(first.lines().last().unwrap(), end);
    let view = json!({"command": "view", "path": "/memories", "view_range": [20_001, -1]});
    let next = room.prepare(&view).unwrap().reply.text();
    let rows: Vec<&str> = next.lines().skip(2).collect();
    assert_eq!((rows.len(), rows[0], rows[9]), (10, "0B\t/memories/20000", "0B\t/memories/20009"));
}

#[cfg(unix)]
#[test]
fn spec_2_07_the_folder_is_made_for_its_owner_and_is_empty_at_first() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new();
    assert_eq!(room.view("/memories").unwrap(), format!("{HEADER}\n0B\t/memories"));
    assert_eq!(fs::metadata(room.at("")).unwrap().permissions().mode() & 0o777, 0o700);
    let nested = room.home.path().join("not/there/yet");
    tessera_files::Tree::create(&nested, "memories").unwrap();
    assert_eq!(fs::metadata(nested.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn spec_2_08_a_slash_at_the_end_changes_nothing() {
    let room = Room::new();
    room.put("d/a.txt", "1");
    let rows = room.view("/memories/").unwrap();
    assert!(!rows.contains("//"), "{rows}");
    assert_eq!(
        rows.lines().skip(1).collect::<Vec<_>>(),
        ["1B\t/memories", "1B\t/memories/d/", "1B\t/memories/d/a.txt"]
    );
    assert!(room.view("/memories/d/").unwrap().ends_with("1B\t/memories/d/a.txt"));
}

#[cfg(unix)]
#[test]
fn spec_2_09_what_leads_nowhere_or_out_is_not_listed() {
    use std::os::unix::fs::symlink;
    let room = Room::new();
    room.put("sub/notes.txt", "hello");
    symlink("sub/notes.txt", room.at("inside")).unwrap();
    symlink("nowhere", room.at("broken")).unwrap();
    symlink(room.outside(), room.at("outside")).unwrap();
    symlink(room.outside().join("secret.txt"), room.at("outside_file")).unwrap();
    symlink("../../outside", room.at("sub/outside")).unwrap();
    let rows = room.view("/memories").unwrap();
    let shown: Vec<&str> = rows.lines().skip(2).map(|row| row.split_once('\t').unwrap().1).collect();
    assert_eq!(shown, ["/memories/inside", "/memories/sub/", "/memories/sub/notes.txt"]);
}

#[test]
fn spec_2_10_a_file_is_shown_with_numbers_in_six_columns() {
    let room = Room::new();
    room.put("a.txt", "one\ntwo");
    let expected = "Here's the content of /memories/a.txt with line numbers:\n     1\tone\n     2\ttwo";
    assert_eq!(room.view("/memories/a.txt").unwrap(), expected);
}

#[test]
fn spec_2_11_a_newline_at_the_end_is_an_empty_last_row() {
    let room = Room::new();
    room.put("a.txt", "one\ntwo\nthree\n");
    assert!(room.view("/memories/a.txt").unwrap().ends_with("     3\tthree\n     4\t"));
    room.put("empty.txt", "");
    assert!(room.view("/memories/empty.txt").unwrap().ends_with(":\n     1\t"));
}

#[test]
fn spec_2_12_a_range_is_of_the_files_own_numbers() {
    let room = Room::new();
    room.put("a.txt", "1\n2\n3\n4");
    assert_eq!(range(&room, [2, 3]), "     2\t2\n     3\t3");
    assert_eq!(range(&room, [3, -1]), "     3\t3\n     4\t4");
    assert_eq!(range(&room, [-7, 1]), "     1\t1");
    assert_eq!(range(&room, [0, 99]).lines().count(), 4);
    for beyond in [[3, 2], [5, 9], [i64::MAX, -1], [1, 0]] {
        assert_eq!(range(&room, beyond), "");
    }
}

#[test]
fn spec_2_13_more_lines_than_have_numbers_are_an_error() {
    let room = Room::new();
    let said = room.create("/memories/huge.txt", &vec!["line"; 1_000_000].join("\n")).unwrap();
    assert_eq!(said, "File created successfully at: /memories/huge.txt");
    let said = room.view("/memories/huge.txt").unwrap_err();
    assert_eq!(said, "File /memories/huge.txt exceeds maximum line limit of 999,999 lines.");
    room.put("most.txt", vec!["l"; 999_999].join("\n"));
    assert!(room.view("/memories/most.txt").unwrap().ends_with("999999\tl"));
}

#[test]
fn spec_2_14_what_is_not_there_is_said_as_documented() {
    let room = Room::new();
    room.put("a.txt", "");
    for path in ["/memories/nothing.txt", "/memories/no/where.txt", "/memories/a.txt/b"] {
        let expected = format!("The path {path} does not exist. Please provide a valid path.");
        assert_eq!(room.view(path).unwrap_err(), expected);
    }
}

#[test]
fn spec_2_15_carriage_returns_are_shown_and_kept() {
    let room = Room::new();
    room.put("crlf.txt", "line1\r\nline2\r\n");
    let expected =
        "Here's the content of /memories/crlf.txt with line numbers:\n     1\tline1\r\n     2\tline2\r\n     3\t";
    assert_eq!(room.view("/memories/crlf.txt").unwrap(), expected);
    room.create("/memories/new.txt", "a\r\nb").unwrap();
    assert_eq!(room.text("new.txt"), "a\r\nb");
}

#[test]
fn spec_2_16_bytes_that_are_no_text_are_a_named_error() {
    let room = Room::new();
    room.put("latin.txt", [0x63, 0x61, 0x66, 0xe9]);
    let expected = "The file /memories/latin.txt is not UTF-8 text";
    assert_eq!(room.view("/memories/latin.txt").unwrap_err(), expected);
    assert_eq!(room.replace("/memories/latin.txt", "c", "d").unwrap_err(), expected);
    assert_eq!(room.insert("/memories/latin.txt", 0, "d").unwrap_err(), expected);
    assert_eq!(room.delete("/memories/latin.txt").unwrap(), "Successfully deleted /memories/latin.txt");
}

#[cfg(unix)]
#[test]
fn spec_2_17_neither_file_nor_directory_is_not_opened() {
    let room = Room::new();
    let _socket = std::os::unix::net::UnixListener::bind(room.at("socket")).unwrap();
    let said = room.view("/memories/socket").unwrap_err();
    assert_eq!(said, "Unsupported file type for /memories/socket");
}

#[test]
fn spec_2_18_what_goes_between_looking_and_reading_is_said_to_be_gone() {
    let room = Room::new();
    room.put("a.txt", "a");
    let path = room.tree.path("/memories/a.txt").unwrap();
    let prepared =
        room.prepare(&json!({"command": "insert", "path": "/memories/a.txt", "insert_line": 0, "insert_text": "b"}));
    fs::remove_file(room.at("a.txt")).unwrap();
    let said = prepared.unwrap().commit(&room.tree).unwrap_err();
    let expected = "The file /memories/a.txt no longer exists (may have been deleted or renamed concurrently).";
    assert_eq!(said.to_string(), expected);
    assert!(room.tree.read(&path, 10).is_err() && !room.at("a.txt").exists());
}
