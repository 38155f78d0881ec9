//! Files whose names other programs run or obey: no server takes them, and no machine writes them.

use serde_json::{Value, json};

use crate::files::{files, write};
use crate::front::Front;
use crate::server::{TeamServer, exchange};
use crate::support::World;

/// What a hostile server makes of a harmless name.
fn disguised(value: &mut Value) {
    match value {
        Value::String(text) if text == "/memories/first.md" => "/memories/.git/HEAD".clone_into(text),
        Value::String(text) if text == "/memories/second.md" => "/memories/ec/HEAD".clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(disguised),
        Value::Object(fields) => fields.values_mut().for_each(disguised),
        _ => {}
    }
}

#[test]
fn a_server_that_sends_such_names_has_nothing_written() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let laptop = server.machine(&key);
    for name in ["first.md", "second.md", "third.md"] {
        write(&laptop, name, "ref: refs/heads/main\n");
    }
    exchange(&laptop);
    let front = Front::start(&server.url());
    front.rewrite(disguised);
    let desktop = World::new();
    let ran = desktop.run_with_stdin(&["sync", "join", &front.url], key.as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    exchange(&desktop);
    assert_eq!(files(&desktop).into_keys().collect::<Vec<_>>(), ["third.md"]);
    desktop.assert_healthy();
}

#[test]
fn a_server_takes_no_such_name_and_a_machine_sends_none() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let laptop = server.machine(&key);
    // The user's own file of such a name is read, and stays on the machine.
    write(&laptop, "HEAD", "- [note] not a repository\n");
    write(&laptop, "AGENTS.md", "- [rule] run the linter\n");
    write(&laptop, "plain.md", "- [note] sent\n");
    exchange(&laptop);
    let status = laptop.json(&["sync", "status"]);
    assert_eq!((&status["waiting"], &status["refused"]), (&json!(0), &json!(0)), "{status}");
    assert!(status["files_held_back"]["with_refused_name"].as_u64().unwrap() >= 1, "{status}");
    let desktop = server.machine(&key);
    assert_eq!(files(&desktop).into_keys().collect::<Vec<_>>(), ["plain.md"]);
    // Whoever speaks the protocol by hand is refused as well.
    let front = Front::start(&server.url());
    front.rewrite(disguised);
    let hostile = World::new();
    let ran = hostile.run_with_stdin(&["sync", "join", &front.url], key.as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    write(&hostile, "first.md", "ref: refs/heads/main\n");
    drop(hostile.run(&["sync", "now"]));
    let status = hostile.json(&["sync", "status"]);
    assert_eq!(status["refused"], 1, "{status}");
    exchange(&desktop);
    assert_eq!(files(&desktop).into_keys().collect::<Vec<_>>(), ["plain.md"]);
}
