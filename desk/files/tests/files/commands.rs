//! What a command is made of: section 1 of the specification.

use serde_json::json;
use tessera_files::{COMMANDS, Command};

use crate::room::Room;

fn refused(command: serde_json::Value) -> String {
    Command::from_json(&command).unwrap_err().to_string()
}

#[test]
fn spec_1_02_every_command_reads_its_parameters() {
    let line = |line| Command::Insert { path: "p".into(), insert_line: line, insert_text: "t".into() };
    let insert = |number| json!({"command": "insert", "path": "p", "insert_line": number, "insert_text": "t"});
    assert_eq!(Command::from_json(&insert(json!(3))).unwrap(), line(3));
    assert_eq!(Command::from_json(&insert(json!("3"))).unwrap(), line(3));
    assert_eq!(Command::from_json(&insert(json!(3.0))).unwrap(), line(3));
    assert_eq!(refused(insert(json!(3.5))), "insert_line: must be a whole number");
    assert_eq!(refused(insert(json!("many"))), "insert_line: must be a whole number");
    let view = json!({"command": "view", "path": "p", "view_range": ["2", -1]});
    assert_eq!(Command::from_json(&view).unwrap(), Command::View { path: "p".into(), view_range: Some((2, -1)) });
    let view = json!({"command": "view", "path": "p", "view_range": "[2, 4]"});
    assert_eq!(Command::from_json(&view).unwrap(), Command::View { path: "p".into(), view_range: Some((2, 4)) });
    assert_eq!(COMMANDS.len(), 6);
}

#[test]
fn spec_1_03_rename_needs_no_path() {
    let command = Command::from_json(&json!({"command": "rename", "old_path": "a", "new_path": "b"})).unwrap();
    assert_eq!(command.paths(), ["a", "b"]);
    assert!(command.writes());
}

#[test]
fn spec_1_04_a_path_beside_the_two_of_rename_is_not_looked_at() {
    let room = Room::new();
    room.put("a.txt", "a");
    let command = json!({"command": "rename", "path": "/etc/passwd", "old_path": "/memories/a.txt", "new_path": "/memories/b.txt"});
    assert_eq!(room.run(&command).unwrap(), "Successfully renamed /memories/a.txt to /memories/b.txt");
}

#[test]
fn spec_1_05_what_is_missing_is_named() {
    assert_eq!(refused(json!({})), "command: is missing");
    assert_eq!(refused(json!("view")), "command: is missing");
    for command in ["view", "create", "str_replace", "insert", "delete"] {
        assert_eq!(refused(json!({"command": command})), "path: is missing");
        assert_eq!(refused(json!({"command": command, "path": null})), "path: is missing");
        assert_eq!(refused(json!({"command": command, "path": 7})), "path: must be a string");
    }
    assert_eq!(refused(json!({"command": "create", "path": "p"})), "file_text: is missing");
    assert_eq!(refused(json!({"command": "str_replace", "path": "p"})), "old_str: is missing");
    assert_eq!(refused(json!({"command": "insert", "path": "p", "insert_text": "t"})), "insert_line: is missing");
    assert_eq!(refused(json!({"command": "insert", "path": "p", "insert_line": 1})), "insert_text: is missing");
    assert_eq!(refused(json!({"command": "rename"})), "old_path: is missing");
    assert_eq!(refused(json!({"command": "rename", "old_path": "a"})), "new_path: is missing");
    let left_out = Command::from_json(&json!({"command": "str_replace", "path": "p", "old_str": "a"})).unwrap();
    assert_eq!(left_out, Command::StrReplace { path: "p".into(), old_str: "a".into(), new_str: String::new() });
}

#[test]
fn spec_1_06_an_unknown_command_names_the_six() {
    let said = refused(json!({"command": "frobnicate"}));
    assert!(said.starts_with("Unknown command: frobnicate"), "{said}");
    assert!(COMMANDS.iter().all(|command| said.contains(command)), "{said}");
}

#[test]
fn spec_1_07_a_range_of_other_than_two_numbers_is_an_error() {
    for range in [json!([1]), json!([1, 2, 3]), json!([1, "x"]), json!(7), json!("x"), json!([1, -2])] {
        let said = refused(json!({"command": "view", "path": "p", "view_range": range}));
        assert!(said.starts_with("view_range: must be two line numbers"), "{said}");
    }
    for range in [json!(null), json!([])] {
        let none = Command::from_json(&json!({"command": "view", "path": "p", "view_range": range})).unwrap();
        assert_eq!(none, Command::View { path: "p".into(), view_range: None });
    }
}

#[test]
fn spec_1_09_a_reply_can_be_cut_and_says_where_to_go_on() {
    let room = Room::new();
    room.put("long.txt", (1..=500).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n"));
    let prepared = room.prepare(&json!({"command": "view", "path": "/memories/long.txt"})).unwrap();
    assert_eq!(prepared.reply.rows.len(), 500);
    let cut = prepared.reply.first(10, 0);
    assert!(cut.ends_with("    10\tline 10\n[490 more lines, 11 to 500: continue with view_range [11, 500]]"), "{cut}");
    let next = json!({"command": "view", "path": "/memories/long.txt", "view_range": [11, 500]});
    assert_eq!(room.prepare(&next).unwrap().reply.rows.first().unwrap(), "    11\tline 11");
}

#[test]
fn texts_that_come_in_can_be_changed_before_they_do() {
    let mut command = Command::from_json(&json!({"command": "create", "path": "p", "file_text": "a"})).unwrap();
    for text in command.texts_mut() {
        text.push('!');
    }
    assert_eq!(command, Command::Create { path: "p".into(), file_text: "a!".into() });
    let count = |command: serde_json::Value| Command::from_json(&command).unwrap().texts_mut().len();
    assert_eq!(count(json!({"command": "str_replace", "path": "p", "old_str": "a", "new_str": "b"})), 1);
    assert_eq!(count(json!({"command": "insert", "path": "p", "insert_line": 1, "insert_text": "b"})), 1);
    assert_eq!(count(json!({"command": "delete", "path": "p"})), 0);
}
