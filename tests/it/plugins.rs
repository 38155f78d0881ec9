//! Plugins by the real program: what they are asked, what they may do, who is told.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::plugin_kit::{answers, module};
use crate::support::hooks::{asked, event, faults, given, hook, settled, stop, transcript};
use crate::support::{Client, World};

const STORE: &str = "events = ['store.before']";

fn tags_of(world: &World, short_id: u32) -> Value {
    world.json(&["get", &short_id.to_string()])["tags"].clone()
}

/// Answers with tags.
fn tags() -> Vec<u8> {
    module(&answers(br#"{"change": {"tags": ["harbour"]}, "note": "tagged one"}"#))
}

#[test]
fn a_plugin_is_called_once_it_was_added_and_what_it_changes_is_told() {
    let world = World::new();
    fs::create_dir_all(world.home().join("plugins")).unwrap();
    fs::write(world.home().join("plugins/tagger.wasm"), tags()).unwrap();
    world.remember("The crane is yellow");
    assert!(world.run(&["doctor"]).stdout.contains("not added, so not called: tagger.wasm"));
    let file = world.path("tagger.wasm");
    fs::write(&file, tags()).unwrap();
    fs::write(world.path("tagger.toml"), format!("name = 'tagger'\nversion = '2'\n{STORE}\nchange = ['tags']"))
        .unwrap();
    let shown = world.run(&["plugin", "add", file.to_str().unwrap()]);
    assert_eq!(shown.code, Some(1), "{shown:?}");
    for said in ["tagger 2", "sha256", "may change tags", "--yes"] {
        assert!(shown.stderr.contains(said), "{said}: {shown:?}");
    }
    assert_eq!(world.json(&["plugin", "list"]), json!([]));
    assert_eq!(world.run(&["plugin", "add", file.to_str().unwrap(), "--yes"]).code, Some(0));
    world.remember("The pier is long");
    assert_eq!(tags_of(&world, 2), json!(["harbour"]));
    let history = world.json(&["history", "2"]);
    assert_eq!(
        (&history[0]["client"], &history[0]["reason"], &history[0]["before"]),
        (&json!("plugin tagger"), &json!("changed tags"), &Value::Null)
    );
    assert_eq!(history[1]["operation"], "create");
    assert!(world.plugin_log("tagger").contains("tagger tagged one"));
    assert_eq!(tags_of(&world, 1), json!([]), "what was there before stays as it is");
    let tested = world.json(&["plugin", "test", "tagger"]);
    assert_eq!(tested[0]["answer"]["change"]["tags"], json!(["harbour"]), "{tested}");
    assert!(tested[0]["fuel"].as_u64().unwrap() > 0);
    assert_eq!(world.run(&["plugin", "remove", "tagger"]).code, Some(0));
    world.remember("The quay is wet");
    assert_eq!(tags_of(&world, 3), json!([]));
    assert_eq!(world.run(&["plugin", "remove", "tagger"]).code, Some(1));
    world.assert_healthy();
}

#[test]
fn a_refusal_is_told_to_whoever_asked_with_the_plugins_name_and_reason() {
    let world = World::new();
    world.remember("The crane is yellow");
    let manifest = "events = ['store.before', 'update.before', 'forget.before', 'recall.before']\nrefuse = true";
    world.add_module("guard", manifest, &module(&answers(br#"{"refuse": "not on a Sunday"}"#)));
    for args in
        [&["remember", "x y z"][..], &["update", "1", "--tags", "a"], &["forget", "1"], &["recall", "which crane?"]]
    {
        let ran = world.run(args);
        assert_eq!(ran.code, Some(1), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("plugin guard refused this: not on a Sunday"), "{ran:?}");
    }
    let mut client = Client::start(&world);
    let reply = client.request("tools/call", json!({ "name": "memory_store", "arguments": { "content": "x y z" } }));
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert!(reply.to_string().contains("plugin guard refused this: not on a Sunday"), "{reply}");
    assert_eq!(world.contents(), ["The crane is yellow"]);
    let talk = world.path("talk.jsonl");
    transcript(&talk, &[("I prefer tabs over spaces in every file", "Noted.")]);
    hook(&world, stop(&world, "s1", &talk, "Noted.").to_string().as_bytes(), &[]);
    settled(&world);
    assert_eq!(world.contents(), ["The crane is yellow"], "{:?}", faults(&world));
    assert!(world.plugin_log("guard").lines().count() >= 6);
    assert_eq!(world.plugin("guard")["state"], "on", "to refuse is no failure");
}

/// What a program wrote into its directory.
fn written(world: &World, name: &str, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(world.home().join("plugins/data").join(name).join(file)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const JOURNAL: &str = "IFS= read -r line; printf '%s\\n' \"$line\" >> seen; echo '{}'";

#[test]
fn afterwards_plugins_are_told_by_whoever_comes_next_and_no_text_waits_for_them() {
    let world = World::new();
    world.add_program("journal", "events = ['store.after', 'recall.after', 'update.after', 'forget.after']", JOURNAL);
    world.remember("The ledger service listens on port 9417");
    world.run(&["update", "1", "--content", "The ledger service listens on port 9418"]);
    let told = |world: &World| -> Vec<String> {
        let seen = written(world, "journal", "seen");
        seen.iter().map(|message| message["event"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(told(&world), ["store", "update"]);
    assert!(asked(&world, "s1", "which port does the ledger service listen on?").unwrap().contains("9418"));
    assert_eq!(told(&world).len(), 2, "a prompt's hook tells nobody");
    let spool: Vec<_> = fs::read_dir(world.home().join("plugins/spool")).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(spool.len(), 1);
    let waits = fs::read_to_string(spool[0].path()).unwrap();
    assert!(!waits.contains("ledger") && !waits.contains("port"), "{waits}");
    hook(&world, event(&world, "SessionEnd", "s1", json!({})).to_string().as_bytes(), &[]);
    settled(&world);
    assert_eq!(told(&world), ["store", "update", "recall"]);
    let seen = written(&world, "journal", "seen");
    assert_eq!((&seen[2]["automatic"], &seen[2]["memories"][0]["id"]), (&json!(true), &json!(1)), "{}", seen[2]);
    assert_eq!(seen[1]["memories"][0]["content"], "The ledger service listens on port 9418");
    world.run(&["forget", "1", "--hard"]);
    let last = written(&world, "journal", "seen").pop().unwrap();
    assert_eq!((&last["event"], &last["hard"], &last["memories"]), (&json!("forget"), &json!(true), &json!([])));
    let mut client = Client::start(&world);
    client.request("tools/call", json!({ "name": "memory_store", "arguments": { "content": "The crane is yellow" } }));
    // A server tells beside its work, whenever that is.
    let started = Instant::now();
    while told(&world).last().unwrap() != "store" {
        assert!(started.elapsed() < Duration::from_mins(1), "{:?}", told(&world));
        client.request("ping", json!({}));
    }
}

#[test]
fn no_plugin_sees_a_credential_and_none_brings_one_into_clear() {
    let world = World::new();
    let value = "hunter2-X9kQ";
    world.add_program("journal", "events = ['store.before', 'store.after', 'recall.before']", JOURNAL);
    // It takes the words away by which the password is known for one.
    let bare = r#"IFS= read -r line; case $line in *'[secret 1: password]'*) echo '{"change": {"content": "the word is [secret 1: password]"}}';; *) echo '{}';; esac"#;
    world.add_program("bare", "events = ['store.before']\nchange = ['content']", bare);
    let stored = world.remember(&format!("The staging password is {value}"));
    assert!(stored.to_string().contains("[secret "), "{stored}");
    world.run(&["recall", &format!("is the staging password {value}?")]);
    let seen = fs::read_to_string(world.home().join("plugins/data/journal/seen")).unwrap();
    assert!(seen.lines().count() >= 3 && !seen.contains(value), "{seen}");
    assert!(world.plugin_log("bare").contains("in clear"), "{}", world.plugin_log("bare"));
    assert!(world.contents()[0].starts_with("The staging password is [secret "), "{:?}", world.contents());
    // One of its own is taken out as any.
    let leaks =
        module(&answers(format!(r#"{{"change": {{"content": "The staging password is {value}"}}}}"#).as_bytes()));
    world.add_module("leaks", "events = ['store.before']\nchange = ['content']", &leaks);
    world.remember("Something else altogether");
    assert!(world.contents().iter().all(|content| !content.contains(value)), "{:?}", world.contents());
    let database = fs::read(world.home().join("tessera.db")).unwrap();
    assert!(!database.windows(value.len()).any(|window| window == value.as_bytes()));
}

#[test]
fn a_file_that_changed_is_not_run_and_the_doctor_says_so() {
    let world = World::new();
    world.add_module("tagger", &format!("{STORE}\nchange = ['tags']"), &tags());
    let program = world.add_program("journal", "events = ['store.after']", JOURNAL);
    fs::write(world.home().join("plugins/tagger.wasm"), module(&answers(b"{}"))).unwrap();
    fs::write(program, "#!/bin/sh\ntouch ran; echo '{}'\n").unwrap();
    world.remember("The crane is yellow");
    assert_eq!(tags_of(&world, 1), json!([]));
    assert!(!world.home().join("plugins/data/journal/ran").exists());
    for name in ["tagger", "journal"] {
        assert_eq!(world.plugin(name)["state"], "changed");
        assert!(world.plugin_log(name).contains("has changed since"), "{}", world.plugin_log(name));
    }
    let doctor = world.run(&["doctor"]);
    assert!(doctor.code == Some(1) && doctor.stdout.contains("tagger.wasm has changed since"), "{doctor:?}");
}

#[test]
fn before_a_prompt_only_those_that_are_fast_are_called() {
    let world = World::new();
    world.remember("The ledger service listens on port 9417");
    let asks = module(&answers(br#"{"change": {"query": "which port does the ledger service listen on?"}}"#));
    let manifest = "events = ['recall.before']\nchange = ['query']";
    let prompt = |session: &str| {
        let payload = event(&world, "UserPromptSubmit", session, json!({ "prompt": "tell me about that thing again" }));
        let ran = hook(&world, payload.to_string().as_bytes(), &[("TESSERA_PLUGINS_PROMPT_MS", "20000")]);
        crate::support::hooks::context_of(&ran)
    };
    world.add_module("slow", manifest, &asks);
    assert_eq!(prompt("s1"), None);
    world.add_module("quick", &format!("{manifest}\nfast = true"), &asks);
    assert!(prompt("s2").unwrap().contains("9417"));
    assert_eq!(world.plugin("quick")["failures"], 0);
    world.add_module(
        "guard",
        "events = ['recall.before']\nrefuse = true\nfast = true",
        &module(&answers(br#"{"refuse": "no"}"#)),
    );
    assert_eq!(prompt("s3"), None, "a prompt that is refused its memories goes on without");
    assert_eq!(given(&world, &event(&world, "SessionStart", "s4", json!({ "source": "startup" }))), None);
}

#[test]
fn a_session_is_told_once_that_a_plugin_is_switched_off() {
    let world = World::new();
    world.remember("The crane is yellow");
    world.add_module(
        "panic",
        "events = ['store.before']",
        &module(r#"(func (export "handle") (param i32 i32) (result i64) unreachable)"#),
    );
    (0..5).for_each(|number| drop(world.remember(&format!("note {number} of the harbour"))));
    let start = |session: &str| {
        let payload = event(&world, "SessionStart", session, json!({ "source": "startup" }));
        hook(&world, payload.to_string().as_bytes(), &[]).stdout
    };
    assert!(start("s1").contains("plugin panic is disabled"));
    assert!(!start("s2").contains("plugin panic"));
}

#[test]
fn nothing_passes_plugins_inside_a_plugin_nor_in_an_import() {
    let world = World::new();
    let again = format!(
        "TESSERA_HOME={} HOME={} {} remember \"said by a plugin $$\" > /dev/null; echo '{{}}'",
        world.home().display(),
        world.path("user").display(),
        World::binary().display()
    );
    world.add_program("echo", "events = ['store.after']", &again);
    world.add_module("guard", "events = ['store.before']\nrefuse = true", &module(&answers(br#"{"refuse": "no"}"#)));
    let lines = world.path("lines.jsonl");
    fs::write(&lines, "{\"content\": \"imported one\"}\n{\"content\": \"imported two\"}\n").unwrap();
    assert_eq!(world.run(&["import", lines.to_str().unwrap()]).code, Some(0));
    assert_eq!(world.contents().len(), 2);
    world.run(&["plugin", "remove", "guard"]);
    world.remember("said by a person");
    let contents = world.contents();
    assert!(
        contents.len() == 4 && contents.iter().any(|content| content.starts_with("said by a plugin")),
        "{contents:?}"
    );
}

#[test]
fn what_cannot_be_a_plugin_is_refused_and_says_why() {
    let world = World::new();
    let dir = world.path("user");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let wasi = wat::parse_str(
        r#"(module (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32))))"#,
    );
    let (empty, text, wasi) = (file("empty.wasm", b""), file("text.wasm", b"hello"), file("wasi.wasm", &wasi.unwrap()));
    let bare = file("bare.wasm", &module(&answers(b"{}")));
    let toml = file("x.toml", b"name = 'x'\nevents = ['store.before']");
    let large = file("large", &vec![0; 2 * 1024 * 1024]);
    let huge = file("huge.wasm", &vec![0; 9 * 1024 * 1024]);
    for (args, said) in [
        (vec!["plugin", "add", &empty, "--yes"], "module: "),
        (vec!["plugin", "add", &text, "--yes"], "module: "),
        (vec!["plugin", "add", &wasi, "--yes"], "imports wasi_snapshot_preview1.fd_write"),
        (vec!["plugin", "add", &bare, "--yes"], "contains no manifest"),
        (vec!["plugin", "add", &huge, "--yes"], "larger than 8 MiB"),
        (vec!["plugin", "add", dir.to_str().unwrap(), "--yes"], "is not a file"),
        (vec!["plugin", "add", "nowhere.wasm", "--yes"], "nowhere.wasm"),
        (vec!["plugin", "add", &toml, "--yes"], "--command PROGRAM"),
        (vec!["plugin", "add", &toml, "--yes", "--command", "no-such-program-here"], "program not found"),
        (
            vec!["plugin", "add", "--name", "x", "--event", "store.after", "--refuse", "--yes", "--command", "sh"],
            "neither",
        ),
        (
            vec!["plugin", "add", "--name", "x", "--event", "recall.before", "--fast", "--yes", "--command", &large],
            "must not exceed 1024 KiB in total",
        ),
        (vec!["plugin", "test", "nothing"], "is neither a plugin nor a file"),
        (vec!["plugin", "test", &text], "module: is not a WASM file; add a program with"),
    ] {
        let ran = world.run(&args);
        assert!(ran.code == Some(1) && ran.stderr.contains(said), "{args:?}: {ran:?}");
    }
    assert_eq!(world.json(&["plugin", "list"]), json!([]));
    world.add_module("fine", STORE, &module(&answers(b"{}")));
    fs::write(world.home().join("plugins/registry.json"), "{\"plugins\": 7}").unwrap();
    world.remember("The crane is yellow");
    assert!(world.run(&["plugin", "list"]).stderr.contains("cannot be read"));
    assert!(world.run(&["doctor"]).stdout.contains("plugins are off"));
    assert_eq!(world.run(&["plugin", "add", &toml, "--yes", "--command", "sh"]).code, Some(1), "nothing is lost");
    assert_eq!(world.run(&["uninstall", "--purge", "--yes"]).code, Some(0));
    assert!(!world.home().exists());
}
