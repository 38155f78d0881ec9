//! Input as it comes in real life: cut characters, broken lines, comments in settings, homes that are named by half.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::hooks::{asked, event, faults, hook};
use crate::support::{Client, World};

/// What a client gets for a line that it sent.
fn answer(client: &mut Client, line: &str) -> Value {
    client.send_line(line);
    client.receive().unwrap()
}

#[test]
fn the_server_answers_every_line_that_asks_for_an_answer() {
    let world = World::new();
    let mut client = Client::start(&world);
    for (line, code) in [
        ("no JSON", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":7", -32700),
        (r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"memory_count","arguments":[1]}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":9,"method":"tools/call"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"arguments":{}}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":11}"#, -32600),
    ] {
        let told = answer(&mut client, line);
        assert_eq!(told["error"]["code"], code, "{line}: {told}");
        assert!(told["error"]["message"].as_str().is_some_and(|text| text.len() > 20), "{told}");
    }
    let cut = r#"{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"memory_store","arguments":{"content":"I like tabs \ud83d"}}}"#;
    let told = answer(&mut client, cut);
    assert!(told["result"]["isError"] != true && told["id"] == 12, "{told}");
    assert_eq!(world.contents(), ["I like tabs \u{fffd}"]);
    assert!(client.ok("memory_count", json!({})).contains('1'), "and it goes on");
}

#[test]
fn ids_are_distinct_and_bounded_and_lists_are_lists() {
    let world = World::new();
    let mut client = Client::start(&world);
    client.ok("memory_store", json!({ "content": "The bus is NATS", "keywords": "[\"bus\", \"events\"]" }));
    assert_eq!(world.json(&["get", "1"])["keywords"], json!(["bus", "events"]));
    let told = client.ok("memory_get", json!({ "ids": [1, 1, 1] }));
    assert!(told.contains("1 found") || !told.contains("3 found"), "{told}");
    let many: Vec<u32> = (1..=201).collect();
    let (told, is_error) = client.call("memory_forget", json!({ "ids": many }));
    assert!(is_error && told.contains("more than 200"), "{told}");
    world.remember("The queue is Kafka");
    let (told, is_error) = client.call("memory_link", json!({ "id": [1, 2], "type": "see_also", "to": "2" }));
    assert!(is_error && told.contains("names 2"), "{told}");
}

#[test]
fn a_hook_reads_a_character_that_was_cut() {
    let world = World::new();
    world.remember("The staging database listens on port 5433");
    let mut payload = event(&world, "UserPromptSubmit", "s", json!({})).to_string();
    let prompt = r#","prompt":"which port does the staging database listen on? \ud83d"}"#;
    payload.truncate(payload.len() - 1);
    let ran = hook(&world, (payload + prompt).as_bytes(), &[]);
    assert!(ran.stdout.contains("5433"), "{ran:?}");
    assert!(faults(&world).is_empty());
}

#[test]
fn a_comment_behind_a_value_is_no_part_of_it() {
    let world = World::new();
    world.remember("The staging database listens on port 5433");
    let settings = "[hooks]\ndeadline_ms = 900 # comment\nrecall = true # yes\nrecall_tokens = 0x1F4 # hex\n";
    fs::write(world.home().join("config.toml"), settings).unwrap();
    let given = asked(&world, "s", "which port does the staging database listen on?");
    assert!(given.is_some_and(|text| text.contains("5433")), "{:?}", faults(&world));
    let listed = world.run(&["settings"]).stdout;
    assert!(!listed.contains("# yes"), "{listed}");
}

#[test]
fn a_setting_is_checked_by_what_is_written_and_text_of_digits_stays_text() {
    let world = World::new();
    world.remember("something");
    for (key, value) in
        [("sync.mode", "offf"), ("sync.interval", "0"), ("sync.server", "notaurl"), ("hooks.recall_tokens", "abc")]
    {
        let mut command = world.command(World::binary());
        command.env("TESSERA_HOOKS_RECALL_TOKENS", "500").args(["settings", "set", key, value]);
        let ran = command.output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{key}: {ran:?}");
    }
    assert_eq!(world.run(&["settings", "set", "sync.key", "000123"]).code, Some(0));
    let file = world.home().join("config.toml");
    assert!(fs::read_to_string(&file).unwrap().contains("key = \"000123\""));
    fs::write(&file, "hooks = { recall = \"off\" }\n").unwrap();
    assert_eq!(world.run(&["settings", "set", "hooks.recall", "on"]).code, Some(0));
    assert!(fs::read_to_string(&file).unwrap().contains("recall = \"on\""));
}

#[test]
fn where_the_settings_cannot_be_read_nothing_with_a_credential_is_stored() {
    let world = World::new();
    world.remember("something");
    fs::write(world.home().join("config.toml"), "[secrets]\nmode = \"refuse\"\nbroken = \n").unwrap();
    let ran = world.run(&["remember", "the password of birch is hunter5!X9q"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("config.toml"), "{ran:?}");
    let ran = world.run(&["remember", "The crane is green"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("until then, texts with credentials are not stored"), "{ran:?}");
}

#[test]
fn doctor_tells_of_a_bad_setting_and_of_everything_else() {
    let world = World::new();
    world.remember("something");
    fs::write(world.home().join("config.toml"), "[hooks]\ndeadline_ms = \"soon\"\n").unwrap();
    let ran = world.run(&["doctor"]);
    assert!(ran.code == Some(1) && ran.stdout.contains("deadline_ms") && ran.stdout.contains("not damaged"), "{ran:?}");
}

#[test]
fn a_home_is_one_place_however_it_is_named() {
    let world = World::new();
    let at = |home: &str, dir: &Path, args: &[&str]| {
        let mut command = world.command(World::binary());
        command.env("TESSERA_HOME", home).current_dir(dir).args(args);
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    let user = world.path("user");
    fs::create_dir(user.join("deep")).unwrap();
    at("~/store", &user.join("deep"), &["remember", "The crane is green"]);
    assert!(user.join("store/tessera.db").is_file() && !user.join("deep/~").exists());
    assert!(at("~/store", &user, &["export"]).contains("crane"));
    assert!(at("store", &user, &["export"]).contains("crane"));
    let told = at("store", &user, &["settings", "set", "hooks.recall", "on"]);
    assert!(told.contains(user.join("store/config.toml").to_str().unwrap()), "{told}");
}

#[test]
fn the_memory_tool_shows_no_credential_of_a_file_that_somebody_wrote() {
    let world = World::new();
    let mut client = Client::start_with(&world, &[("TESSERA_MEMORY_FILES", "on")]);
    client.ok("memory", json!({ "command": "create", "path": "/memories/a.md", "file_text": "one\n" }));
    let file = world.home().join("memories/hosts.md");
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----";
    fs::write(&file, format!("# Hosts\n\nthe password of birch is hunter5!X9q\n\n{key}\nthe end\n")).unwrap();
    let view = client.ok("memory", json!({ "command": "view", "path": "/memories/hosts.md" }));
    for secret in ["hunter5", "MIIEvQ"] {
        assert!(!view.contains(secret), "{view}");
    }
    assert!(view.contains("     8\tthe end"), "{view}");
    let part = client.ok("memory", json!({ "command": "view", "path": "/memories/hosts.md", "view_range": [6, 6] }));
    assert!(!part.contains("MIIEvQ"), "{part}");
    let edit = json!({ "command": "str_replace", "path": "/memories/hosts.md", "old_str": "# Hosts", "new_str": "# All hosts" });
    let (told, _) = client.call("memory", edit);
    assert!(!told.contains("hunter5"), "{told}");
}

#[test]
fn a_recall_waits_for_nobody_who_waits_for_files() {
    let world = World::new();
    world.remember("The staging database listens on port 5433");
    let mut client = Client::start_with(&world, &[("TESSERA_MEMORY_FILES", "on")]);
    client.ok("memory", json!({ "command": "create", "path": "/memories/a.md", "file_text": "one\n" }));
    // Another process reads folders for long.
    let lock = fs::OpenOptions::new().write(true).create(true).truncate(false).open(world.home().join("files.lock"));
    let lock = lock.unwrap();
    lock.lock().unwrap();
    let create = json!({ "name": "memory", "arguments": { "command": "create", "path": "/memories/b.md", "file_text": "two\n" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": create }));
    let recall =
        json!({ "name": "memory_recall", "arguments": { "query": "which port does the staging database listen on?" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 901, "method": "tools/call", "params": recall }));
    let first = client.receive().unwrap();
    assert!(first["id"] == 901 && first.to_string().contains("5433"), "{first}");
    drop(lock);
    assert_eq!(client.receive().unwrap()["id"], 900);
}

#[test]
fn the_copy_of_a_deleted_file_shows_no_credential_and_several_are_forgotten_or_none() {
    let world = World::new();
    let mut client = Client::start_with(&world, &[("TESSERA_MEMORY_FILES", "on")]);
    client.ok("memory", json!({ "command": "create", "path": "/memories/a.md", "file_text": "one\n" }));
    let hosts = "# Hosts\n\nthe password of birch is hunter5!X9q, say hunter5!X9q twice\n";
    fs::write(world.home().join("memories/hosts.md"), hosts).unwrap();
    client.ok("memory", json!({ "command": "delete", "path": "/memories/hosts.md" }));
    let copies: Vec<_> = fs::read_dir(world.home().join("deleted-files")).unwrap().map(Result::unwrap).collect();
    assert_eq!(copies.len(), 1);
    assert!(!fs::read_to_string(copies[0].path()).unwrap().contains("hunter5"));
    let ran = world.run(&["secret", "scan"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("No secrets in clear text"), "{ran:?}");
    assert_eq!(world.run(&["restore", "/memories/hosts.md"]).code, Some(0));
    assert_eq!(fs::read_to_string(world.home().join("memories/hosts.md")).unwrap(), hosts);

    let plain = world.remember("The crane is green")["id"].to_string();
    let dir = world.path("user/notes");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("s.md"), "# Quay\n\nThe quay is long.\n").unwrap();
    assert_eq!(world.run(&["files", "add", dir.to_str().unwrap()]).code, Some(0));
    let ran = world.run(&["forget", &plain, "/notes/s.md"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(world.contents().contains(&"The crane is green".to_owned()), "{ran:?}");
}

#[test]
fn a_client_that_leaves_out_the_word_hook_blocks_no_prompt() {
    let world = World::new();
    let ran = world.run_with_stdin(&[], b"{}");
    assert!(ran.code == Some(1) && ran.stderr.contains("Usage"), "{ran:?}");
    for args in [&["--json", "hook", "--x"][..], &["-v", "hook", "a", "b"]] {
        assert_eq!(world.run_with_stdin(args, b"{}").code, Some(0), "{args:?}");
    }
}

#[test]
fn yesterday_is_the_users_day() {
    let world = World::new();
    for (text, created) in [
        ("The gate was painted with the green paint", "2026-11-24T06:00:00Z"),
        ("The gate was painted with the blue paint", "2026-11-24T20:00:00Z"),
    ] {
        assert_eq!(world.run(&["remember", text, "--created", created]).code, Some(0));
    }
    let mut recall = world.command(World::binary());
    recall.env("TZ", "America/Los_Angeles").env("TESSERA_NOW", "2026-11-25T03:00:00Z");
    recall.args(["recall", "--json", "which gate was painted yesterday?"]);
    let reply: Value = serde_json::from_slice(&recall.output().unwrap().stdout).unwrap();
    assert!(reply["details"][0]["content"].as_str().unwrap().contains("green"), "{reply}");
}
