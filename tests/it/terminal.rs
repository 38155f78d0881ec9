//! Output on terminals of several widths, with and without colours, and through pipes.

use unicode_width::UnicodeWidthStr;

use crate::support::World;
use crate::support::hooks::asked;
use crate::support::terminal::{COLUMNS, on_terminal, plain, run_on_terminal};

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

#[test]
fn recall_is_a_list_for_people_on_a_terminal_and_the_models_reply_in_a_pipe() {
    let world = world();
    world.json(&["remember", "The ledger service now listens on port 9500", "--created", "2026-11-17"]);
    let question = ["recall", "which", "port", "does", "the", "ledger", "service", "use"];
    let raw = on_terminal(&world, &question);
    let text = plain(&raw);
    assert!(!text.contains("<memories>"), "{text}");
    assert!(raw.contains("\u{1b}[1mport\u{1b}[0m"), "a matching word is in bold: {raw}");
    let rows: Vec<&str> = text.lines().collect();
    let at = rows.iter().position(|row| row.starts_with("#4 ")).unwrap_or_else(|| panic!("{text}"));
    assert!(rows[at].contains("The ledger service now listens on port 9500"), "{text}");
    assert_eq!(rows[at + 1].trim(), "3 days ago · all projects · facts · words", "{text}");
    assert!(text.contains("just now · github.com/acme/a-project-with-a-rather-long-name · facts"), "{text}");
    world.json(&["link", "4", "updates", "2"]);
    let text = plain(&on_terminal(&world, &[&question[..], &["--project", "global"]].concat()));
    assert!(text.contains("older: #4 is newer"), "{text}");
    for args in
        [&[&question[..], &["--as-model"]].concat(), &[&question[..], &["--as-model", "--color", "always"]].concat()]
    {
        assert!(on_terminal(&world, args).starts_with("<memories>"), "{args:?}");
    }
    assert!(world.run(&question).stdout.starts_with("<memories>"));
    let nothing = plain(&on_terminal(&world, &["recall", "grandmother's", "apple", "pie"]));
    assert!(nothing.starts_with("No memory matches"), "{nothing}");
}

#[test]
fn all_output_fits_terminals_of_every_width() {
    let world = world();
    let notes = world.path("notes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("harbour.md"), "# Harbour\n\n- [fact] The crane of the third pier is red #ops\n")
        .unwrap();
    world.run(&["files", "add", notes.to_str().unwrap()]);
    world.run(&["remember", "the staging password is hunter2!X9"]);
    let commands: [&[&str]; 27] = [
        &[],
        &["--help"],
        &["help", "remember"],
        &["help", "settings"],
        &["recall", "which", "service", "listens", "on", "a", "port"],
        &["recall", "部署在周二"],
        &["recall", "port", "--explain"],
        &[
            "remember",
            "A long text about the third harbour crane which is painted in a red that everybody can see from afar",
        ],
        &["get", "1", "3"],
        &["list"],
        &["history", "2"],
        &["why", "1"],
        &["log"],
        &["usage"],
        &["status"],
        &["stats"],
        &["doctor"],
        &["settings"],
        &["settings", "get", "files.max_bytes"],
        &["files", "list"],
        &["secret", "list"],
        &["secret", "key"],
        &["project"],
        &["sync", "status"],
        &["recall", "x", "--max-tokens", "abc"],
        &["frobnicate"],
        &["forget", "tabs"],
    ];
    for columns in [60, 80, 120, 200] {
        for args in commands {
            let (raw, _) = run_on_terminal(&world, columns, &[], args);
            let text = plain(&raw);
            for line in text.lines() {
                assert!(
                    line.width() <= usize::from(columns),
                    "{args:?} at {columns}: {} columns: {line}\n{text}",
                    line.width()
                );
            }
        }
    }
}

#[test]
fn colours_follow_the_terminal_the_variables_and_the_option() {
    let world = world();
    let has_colour = |text: &str| text.contains("\u{1b}[");
    let shown = |variables: &[(&str, &str)], args: &[&str]| run_on_terminal(&world, 80, variables, args).0;
    assert!(has_colour(&shown(&[], &["list"])));
    assert!(!has_colour(&shown(&[("NO_COLOR", "1")], &["list"])));
    assert!(!has_colour(&shown(&[], &["list", "--color", "never"])));
    assert!(!has_colour(&shown(&[], &["--color=never", "frobnicate"])));
    assert!(has_colour(&shown(&[], &["frobnicate"])));
    assert!(has_colour(&shown(&[("NO_COLOR", "1")], &["list", "--color", "always"])));
    let piped = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = world.command(World::binary());
        let output = command.env_remove("NO_COLOR").envs(variables.iter().copied()).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!has_colour(&piped(&[], &["get", "1"])));
    assert!(has_colour(&piped(&[("CLICOLOR_FORCE", "1")], &["get", "1"])));
    assert!(has_colour(&piped(&[], &["get", "1", "--color", "always"])));
    assert!(!has_colour(&piped(&[("CLICOLOR_FORCE", "1")], &["get", "1", "--color", "never"])));
    assert!(!has_colour(&piped(&[("CLICOLOR_FORCE", "1")], &["list", "--json"])), "JSON has no colours");
}

#[test]
fn long_output_goes_through_the_users_pager() {
    let world = world();
    for number in 0..40 {
        world.remember(&format!("Harbour note {number} about a crane"));
    }
    let seen = world.path("seen");
    let pager = world.path("pager");
    std::fs::write(&pager, format!("#!/bin/sh\necho \"$1\" > {0}\ncat >> {0}\n", seen.display())).unwrap();
    std::fs::set_permissions(&pager, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let command = format!("{} --quiet", pager.display());
    let variables = [("PAGER", command.as_str())];
    let list = ["list", "--limit", "40"];
    let (text, code) = run_on_terminal(&world, 80, &variables, &list);
    assert_eq!((code, text.contains("Harbour note 39")), (Some(0), false), "{text}");
    let paged = std::fs::read_to_string(&seen).unwrap();
    assert!(paged.starts_with("--quiet\n") && paged.contains("Harbour note 39"), "{paged}");
    std::fs::remove_file(&seen).unwrap();
    for args in [&[&list[..], &["--no-pager"]].concat()[..], &["list", "--limit", "3"]] {
        assert!(run_on_terminal(&world, 80, &variables, args).0.contains("Harbour note 39"), "{args:?}");
    }
    assert!(!seen.exists(), "short output, and --no-pager, use no pager");
    let missing = [("PAGER", "/nowhere/pager")];
    assert!(
        run_on_terminal(&world, 80, &missing, &list).0.contains("Harbour note 39"),
        "without a pager, it is printed"
    );
}
