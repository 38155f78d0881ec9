//! What a person sees on a terminal of 80 columns, in colour; and that a pipe gets what it always got.

use unicode_width::UnicodeWidthStr;

use crate::support::World;
use crate::support::hooks::asked;
use crate::support::terminal::{COLUMNS, on_terminal, plain};

fn world() -> World {
    let world = World::new();
    let notes = [
        "We chose PostgreSQL 16 with logical replication for the billing service, and nobody may change that without a word",
        "The ledger service listens on port 9417",
        "部署在周二进行，因为那一天所有人都在办公室里，可以马上回滚，而且客户大多不在线上，不会注意到",
    ];
    for note in notes {
        world.json(&[
            "remember",
            note,
            "--scope",
            "github.com/acme/a-project-with-a-rather-long-name",
            "--tags",
            "ops,db",
        ]);
    }
    world.json(&[
        "update",
        "2",
        "--content",
        "The ledger service listens on port 9418",
        "--reason",
        "it moved to another port",
    ]);
    asked(&world, "s1", "which port does the ledger service listen on?");
    world
}

#[test]
fn tables_fit_the_terminal_and_their_columns_stand_under_their_heads() {
    let world = world();
    for (args, heads) in [
        (&["list"][..], &["memory", "created", "scope", "summary"][..]),
        (&["stats"], &["what", "how much"]),
        (&["history", "2"], &["rev", "change", "by", "before"]),
        (&["usage"], &["day", "events", "extractors"]),
        (&["recall", "which port does the ledger service listen on?", "--explain"], &["id", "tokens", "score"]),
    ] {
        let raw = on_terminal(&world, args);
        assert!(raw.contains("\u{1b}[1m"), "in colour: {args:?}: {raw}");
        let text = plain(&raw);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{fffd}'), "{args:?}: {text}");
        let table: Vec<&str> = text.lines().skip_while(|line| !line.trim_start().starts_with(heads[0])).collect();
        for line in &table {
            assert!(line.width() <= usize::from(COLUMNS), "{args:?}: {} columns: {line}\n{text}", line.width());
        }
        let head = table.first().unwrap_or_else(|| panic!("{args:?}: {text}"));
        assert!(heads.iter().all(|name| head.contains(name)), "{args:?}: {text}");
        // Where a column begins in the head, something begins in the first row, and nothing stands just before it.
        let first = table[1];
        let starts = |line: &str, name: &str| line.split(name).next().unwrap().width();
        for name in heads.iter().take(2) {
            let at = starts(head, name);
            let cell: Vec<char> = first.chars().skip(at.saturating_sub(1)).take(2).collect();
            assert!(cell.len() == 2 && cell[0] == ' ' && cell[1] != ' ', "{args:?}: {name} at {at}\n{text}");
        }
    }
}

#[test]
fn settings_are_a_list_that_fits() {
    let world = world();
    world.run(&["settings", "set", "learn.extractor", "off"]);
    let text = plain(&on_terminal(&world, &["settings"]));
    assert!(text.lines().all(|line| line.width() <= usize::from(COLUMNS)), "{text}");
    let piped = world.run(&["settings"]).stdout;
    for name in
        ["learn.extractor = off (config.toml)", "CLAUDE_PLUGIN_OPTION_RECALL_TOKENS", "MEMORY_DB_PATH", "sync.key"]
    {
        assert!(text.contains(name), "{name}: {text}");
    }
    assert!(piped.starts_with(" key") && piped.contains("CLAUDE_PLUGIN_OPTION_RECALL_TOKENS"), "{piped}");
}

#[test]
fn nothing_of_a_long_text_is_lost_by_wrapping() {
    let world = world();
    let text = plain(&on_terminal(&world, &["list"]));
    let joined: String = text.split_whitespace().collect();
    let listed = world.json(&["list"]);
    for memory in listed["memories"].as_array().unwrap() {
        let words = memory["summary"].as_str().unwrap().split_whitespace();
        for word in words.filter(|word| word.is_ascii()) {
            assert!(joined.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn one_memory_is_shown_with_its_labels_in_a_column() {
    let world = world();
    let raw = on_terminal(&world, &["get", "2"]);
    assert!(raw.contains("\u{1b}[2mcategory"), "in colour: {raw}");
    let text = plain(&raw);
    let labels: Vec<&str> = text.lines().skip(1).take_while(|line| !line.starts_with("The ledger")).collect();
    assert!(labels.len() > 6, "{text}");
    for line in labels {
        let (label, value) = line.split_at(12);
        assert!(label.ends_with(' ') && !value.starts_with(' '), "{line:?}\n{text}");
    }
    let doctor = plain(&on_terminal(&world, &["doctor"]));
    assert!(doctor.lines().all(|line| line.split_at(7).0.ends_with(' ')), "{doctor}");
}

#[test]
fn a_pipe_gets_no_colour_and_no_wrapping() {
    let world = world();
    let listed = world.command(World::binary()).env_remove("NO_COLOR").arg("list").output().unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    assert!(!text.contains('\u{1b}') && !text.contains('\u{2500}'), "{text}");
    assert_eq!(text.lines().count(), 4, "a head and a line for each memory: {text}");
    let summary = world.json(&["get", "1"])["summary"].as_str().unwrap().to_owned();
    assert!(text.lines().any(|line| line.trim_end().ends_with(&summary)), "{text}");
}
