//! Times as people write them: in options, and in questions.

use serde_json::Value;

use crate::support::World;

/// Notes of a week, each with its time.
const WEEK: [(&str, &str); 5] = [
    ("2026-11-06T09:00:00Z", "We decided to keep Postgres for the ledger"),
    ("2026-11-09T10:00:00Z", "The import job needs 4 GB of memory"),
    ("2026-11-11T11:00:00Z", "We chose Caddy as the proxy of staging"),
    ("2026-11-15T12:00:00Z", "The label printer jams on long addresses"),
    ("2026-11-19T13:00:00Z", "Backups go to the second region from now on"),
];

/// A store with these notes. The questions are asked on Friday, 20 November.
fn week() -> World {
    let world = World::new();
    for (at, text) in WEEK {
        world.json(&["remember", "--created", at, text]);
    }
    world
}

/// The IDs of a reply, in the shown order.
fn ids(reply: &Value) -> Vec<u64> {
    let rows = |field: &str| reply[field].as_array().unwrap().clone();
    rows("details").iter().chain(&rows("index")).map(|row| row["id"].as_u64().unwrap()).collect()
}

#[test]
fn questions_about_time_select_and_order_by_time() {
    let world = week();
    for (question, expected) in [
        ("what did I note on Sunday?", &[4][..]),
        ("what did we decide last week?", &[2, 3, 4]),
        ("what changed recently?", &[5, 4, 3, 2, 1]),
        ("latest decisions", &[5, 4, 3, 2, 1]),
        ("my two latest notes", &[5, 4]),
        ("what is new since Friday?", &[5, 4]),
        ("everything noted before 7 November", &[1]),
        ("Was haben wir letzte Woche entschieden?", &[2, 3, 4]),
        ("¿Qué anoté ayer?", &[5]),
        ("what did I write down about the printer last week?", &[4]),
        ("what did I note today?", &[]),
    ] {
        assert_eq!(ids(&world.json(&["recall", question])), expected, "{question}");
    }
    // A date in another question only raises the memories of that date.
    assert_eq!(ids(&world.json(&["recall", "which proxy did staging get in October?"])), [3]);
    let reply = world.run(&["recall", "what did we decide last week?"]).stdout;
    assert!(reply.contains("in order of time") && reply.contains("[2026-11-15]"), "{reply}");
}

#[test]
fn options_accept_times_as_people_write_them() {
    let world = week();
    let listed = |args: &[&str]| -> Vec<u64> {
        let listing = world.json(&[&["list"], args].concat());
        let mut ids: Vec<u64> =
            listing["memories"].as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(listed(&["--since", "last week"]), [2, 3, 4, 5]);
    assert_eq!(listed(&["--since", "5d"]), [4, 5]);
    assert_eq!(listed(&["--since", "seit 11. November", "--until", "Sonntag"]), [3, 4]);
    assert_eq!(listed(&["--until", "2026-11-09"]), [1, 2]);
    assert_eq!(listed(&["--until", "2026-11-09T10:00:00Z"]), [1]);
    let stored = world.json(&["remember", "The freeze ends", "--created", "yesterday", "--expires", "end of March"]);
    let shown = world.json(&["get", &stored["id"].to_string()]);
    assert_eq!(
        (&shown["created"], &shown["expires_at"]),
        (&"2026-11-19T00:00:00Z".into(), &"2027-04-01T00:00:00Z".into())
    );
}

#[test]
fn a_wrong_time_is_refused_with_the_problem_and_the_fix() {
    let world = World::new();
    for (args, problem) in [
        (&["list", "--since", "31.02.2026"][..], "names a day that does not exist"),
        (&["recall", "x", "--until", "05/06/2026"], "may be day/month or month/day"),
        (&["unanswered", "--since", "last"], "is not complete"),
        (&["remember", "x", "--created", "soonish"], "is not a time"),
        (&["remember", "x", "--expires", "soonish"], "is not a time"),
        (&["list", "--since", "before Friday"], "has no beginning"),
        (&["list", "--until", "since Friday"], "has no end"),
    ] {
        let ran = world.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.contains(problem) && ran.stderr.contains("use "), "{}", ran.stderr);
    }
    assert!(!world.home().join("tessera.db").exists());
}

#[test]
fn the_labelled_times_are_understood() {
    let world = World::new();
    let set = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/times/times.json");
    let answers = world.json(&["eval", "time", set]);
    let answers = answers["answers"].as_array().unwrap();
    let wrong: Vec<&Value> = answers.iter().filter(|answer| answer["is_right"] == false).collect();
    assert_eq!(answers.len(), 490);
    // `S36` is French for a week, 今日头条 is the name of a product, and 最近 alone is too common a word.
    assert!(wrong.len() <= 3, "{wrong:#?}");
}
