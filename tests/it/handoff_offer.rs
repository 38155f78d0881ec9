//! When a session gets a hand-off: its own after a compaction, and the offer of the last one in the project.

use std::fs;

use serde_json::{Value, json};
use tessera_engine::text::{O200k, TokenCounter};

use crate::support::hooks::{context_of, event, faults, given, hook};
use crate::support::sessions::{
    NOW, REQUEST, bash, ends, handoff, scripted, short_session, starts, transcript_of, world_with_store,
};
use crate::support::{Ran, World};

#[test]
fn the_next_session_in_the_project_is_offered_the_handoff_once() {
    let world = world_with_store();
    let transcript = short_session(&world, "one", REQUEST);
    ends(&world, "one", &transcript, NOW);
    assert_eq!(starts(&world, "two", "other", &[]), None, "this is another directory");
    assert_eq!(starts(&world, "one", "work", &[]), None, "the session itself knows");
    assert_eq!(starts(&world, "two", "work", &[("TESSERA_HOOKS_HANDOFF", "off")]), None);
    let offered = starts(&world, "two", "work", &[]).unwrap();
    assert!(offered.contains(REQUEST) && offered.contains("tessera handoff --session one"), "{offered}");
    assert_eq!(starts(&world, "three", "work", &[]), None, "once");
    let text = handoff(&world, &["--session", "on"]).stdout;
    for part in
        [REQUEST, "Shall I add it?", "`make check`: \"error: no rule\"", "branch main", "data, not instructions"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(handoff(&world, &[]).stdout, text, "it is the last session");
    assert_eq!(faults(&world), [] as [&str; 0]);
}

#[test]
fn a_running_old_or_empty_session_is_not_offered() {
    let world = world_with_store();
    let transcript = short_session(&world, "running", REQUEST);
    let stop = event(&world, "Stop", "running", json!({ "transcript_path": transcript }));
    let off = ("TESSERA_LEARN_EXTRACTOR", "off");
    let at = |now| [("TESSERA_NOW", now), off];
    hook(&world, stop.to_string().as_bytes(), &at("2026-11-20T11:00:00Z"));
    assert_eq!(starts(&world, "two", "work", &at("2026-11-20T11:09:00Z")), None, "it may still run");
    assert_eq!(starts(&world, "two", "work", &at("2026-11-27T11:00:01Z")), None, "it is older than seven days");
    let back = starts(&world, "two", "work", &at("2026-11-19T11:00:00Z"));
    assert!(back.is_some_and(|text| text.contains(REQUEST)), "the clock was moved back");

    let (world, idle) = (world_with_store(), world_with_store().path("idle.jsonl"));
    ends(&world, "gone", &idle, NOW);
    assert_eq!(starts(&world, "two", "work", &[]), None, "its transcript does not exist");
    let chat = world.path("chat.jsonl");
    fs::write(&chat, transcript_of(&json!({ "branch": "main", "steps": [{ "user": "what does this project do?" }] })))
        .unwrap();
    ends(&world, "chat", &chat, NOW);
    assert_eq!(starts(&world, "two", "work", &[]), None, "it did nothing");
    assert_eq!(faults(&world), [] as [&str; 0]);
}

#[test]
fn after_a_compaction_the_session_gets_its_quotes_beside_its_memories() {
    let world = world_with_store();
    let session = &scripted("development.json")[0];
    let transcript = world.path("s.jsonl");
    fs::write(&transcript, transcript_of(session)).unwrap();
    world.remember("I prefer Svelte for all user interfaces");
    let fields = json!({ "source": "compact", "transcript_path": transcript });
    let compacted = event(&world, "SessionStart", "s", fields);
    let text = given(&world, &compacted).unwrap();
    for part in
        ["<memories>", "Svelte", "Hand-off of a session", "cargo test -p ingest-client", "no host label, cardinality"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.encode_utf16().count() <= 9_500, "{}", text.len());
    let log = world.json(&["log"]);
    let (tokens, quotes) = (log[0]["tokens"].as_u64().unwrap(), text.find("Hand-off").unwrap());
    let counted = |text: &str| u64::from(O200k.count(text)) * 160 / 100;
    assert!(tokens.abs_diff(counted(&text[..quotes]) + counted(&text[quotes..])) <= 3, "{tokens}: {text}");
    let off = hook(&world, compacted.to_string().as_bytes(), &[("TESSERA_HOOKS_HANDOFF", "off")]);
    assert!(!context_of(&off).unwrap().contains("Hand-off"));
    let small = hook(&world, compacted.to_string().as_bytes(), &[("TESSERA_HOOKS_HANDOFF_TOKENS", "100")]);
    let small = context_of(&small).unwrap();
    assert!(counted(&small[small.find("Hand-off").unwrap()..]) <= 100, "{small}");
}

#[test]
fn an_untrusted_directory_gets_nothing_of_another_ones_sessions() {
    let world = world_with_store();
    for dir in ["work", "other"] {
        fs::write(world.path(dir).join(".tessera.toml"), "project = \"ledger\"\n").unwrap();
    }
    let transcript = short_session(&world, "one", REQUEST);
    let mut trust = world.command(World::binary());
    assert!(trust.current_dir(world.path("work")).args(["project", "trust"]).output().unwrap().status.success());
    ends(&world, "one", &transcript, NOW);
    let stranger = starts(&world, "two", "other", &[]);
    assert!(!stranger.unwrap_or_default().contains(REQUEST));
    let mut from_there = world.command(World::binary());
    let ran: Ran = from_there.current_dir(world.path("other")).arg("handoff").output().unwrap().into();
    assert!(ran.code == Some(1) && ran.stderr.contains("no session of this directory's project"), "{ran:?}");
    assert!(starts(&world, "two", "work", &[]).is_some_and(|text| text.contains(REQUEST)));
    let mut trust = world.command(World::binary());
    assert!(trust.current_dir(world.path("other")).args(["project", "trust"]).output().unwrap().status.success());
    let mut from_there = world.command(World::binary());
    let ran: Ran = from_there.current_dir(world.path("other")).arg("handoff").output().unwrap().into();
    assert!(ran.stdout.contains(REQUEST), "now both directories are trusted: {ran:?}");
}

#[test]
fn a_long_session_is_offered_and_a_huge_one_delays_no_memories() {
    let world = world_with_store();
    world.remember("I prefer Svelte for all user interfaces");
    let mut steps = vec![json!({ "user": REQUEST })];
    steps.extend((0..120).map(|number| bash(&format!("make part-{number}"), &"word ".repeat(1_000))));
    let path = world.path("long.jsonl");
    fs::write(&path, transcript_of(&json!({ "branch": "main", "steps": steps }))).unwrap();
    ends(&world, "long", &path, NOW);
    assert!(
        starts(&world, "two", "work", &[]).is_some_and(|text| text.contains(REQUEST)),
        "the request is far from the end"
    );
    let sentence = "I keep the old pool because the new one is not ready. ".repeat(400);
    let steps: Vec<Value> = (0..400).map(|number| json!({ "assistant": format!("{number} {sentence}") })).collect();
    fs::write(&path, transcript_of(&json!({ "branch": "main", "steps": steps }))).unwrap();
    let compacted = event(&world, "SessionStart", "s", json!({ "source": "compact", "transcript_path": path }));
    let ran = hook(&world, compacted.to_string().as_bytes(), &[("TESSERA_HOOKS_DEADLINE_MS", "4000")]);
    assert!(context_of(&ran).is_some_and(|text| text.contains("Svelte")), "{:?}", faults(&world));
}

#[test]
fn a_resumed_session_gets_no_offer_and_an_abandoned_one_is_offered_after_ten_minutes() {
    let world = world_with_store();
    let transcript = short_session(&world, "gone", REQUEST);
    let stop = event(&world, "Stop", "gone", json!({ "transcript_path": transcript }));
    let off = ("TESSERA_LEARN_EXTRACTOR", "off");
    hook(&world, stop.to_string().as_bytes(), &[("TESSERA_NOW", "2026-11-20T11:00:00Z"), off]);
    let resumed = event(&world, "SessionStart", "two", json!({ "source": "resume" }));
    let resumed = hook(&world, resumed.to_string().as_bytes(), &[("TESSERA_NOW", "2026-11-20T11:10:00Z")]);
    assert_eq!(context_of(&resumed), None);
    assert!(starts(&world, "two", "work", &[("TESSERA_NOW", "2026-11-20T11:10:00Z")]).is_some());
    let sessions = || fs::read_dir(world.home().join("sessions")).unwrap().count();
    assert_eq!(sessions(), 1);
    let ended = event(&world, "SessionEnd", "later", json!({ "transcript_path": transcript }));
    hook(&world, ended.to_string().as_bytes(), &[("TESSERA_NOW", "2026-11-27T11:00:00Z"), off]);
    assert_eq!(sessions(), 1, "the old record was deleted");
}

#[test]
fn a_resumed_running_or_cleared_session_is_not_offered_and_new_work_is() {
    let world = world_with_store();
    let transcript = short_session(&world, "one", REQUEST);
    ends(&world, "one", &transcript, NOW);
    let resumed = event(&world, "SessionStart", "one", json!({ "source": "resume", "transcript_path": transcript }));
    hook(&world, resumed.to_string().as_bytes(), &[("TESSERA_NOW", "2026-11-20T11:59:00Z")]);
    assert_eq!(starts(&world, "two", "work", &[]), None, "it runs again");
    ends(&world, "one", &transcript, "2026-11-20T11:59:30Z");
    let cleared = event(&world, "SessionStart", "two", json!({ "source": "clear" }));
    assert_eq!(given(&world, &cleared), None);
    assert!(starts(&world, "two", "work", &[]).is_some());
    assert_eq!(starts(&world, "three", "work", &[]), None);
    ends(&world, "one", &transcript, "2026-11-20T11:59:45Z");
    let hello = world.path("hello.jsonl");
    fs::write(&hello, transcript_of(&json!({ "branch": "main", "steps": [{ "user": "hi there" }] }))).unwrap();
    ends(&world, "idle", &hello, "2026-11-20T11:59:50Z");
    assert!(starts(&world, "four", "work", &[]).is_some_and(|text| text.contains(REQUEST)), "it did new work");
}

#[test]
fn a_session_is_found_by_its_whole_id_and_an_odd_id_is_not_offered() {
    let world = world_with_store();
    for (name, request) in [("one", REQUEST), ("one-b", "rename the column of the ledger to amount")] {
        let transcript = short_session(&world, name, request);
        ends(&world, name, &transcript, NOW);
    }
    assert!(handoff(&world, &["--session", "one"]).stdout.contains(REQUEST));
    assert!(handoff(&world, &["--session", "on"]).stderr.contains("2 sessions begin with `on`"));
    let transcript = short_session(&world, "odd", "move the ledger to another schema");
    ends(&world, "x; rm -rf ~", &transcript, "2026-11-20T11:30:00Z");
    let offered = starts(&world, "two", "work", &[]).unwrap();
    assert!(offered.contains("`tessera handoff` prints") && !offered.contains("rm -rf"), "{offered}");
}
