//! Files that nobody was given for long, by the real program: listed with what is known of their reading, deleted where
//! somebody says so, and never silently.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Client, Ran, World};

/// Runs on a day of 2026.
fn on(world: &World, day: &str, args: &[&str]) -> Ran {
    let mut command = world.command(World::binary());
    command.env("TESSERA_NOW", format!("2026-{day}T12:00:00Z")).args(args).output().unwrap().into()
}

fn unread(world: &World, day: &str, days: &str) -> Value {
    let ran = on(world, day, &["files", "unread", "--days", days, "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

fn paths(told: &Value) -> Vec<&str> {
    told["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

fn tool(world: &World, day: &str, command: &Value) {
    let text = command.to_string();
    let mut program = world.command(World::binary());
    program.env("TESSERA_NOW", format!("2026-{day}T12:00:00Z")).arg("memory-tool");
    program.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = program.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

fn made(world: &World, day: &str, name: &str, text: &str) {
    tool(world, day, &json!({ "command": "create", "path": format!("/memories/{name}"), "file_text": text }));
}

/// Five files, made on the first of January.
fn world() -> World {
    let world = World::new();
    for (name, text) in [
        ("kettle.md", "- [fact] the kettle is blue\n"),
        ("lamp.md", "- [fact] the lamp is green\n"),
        ("clock.md", "- [fact] the clock strikes at nine\n"),
        ("d/gate.md", "- [fact] the gate is on birch street\n"),
        ("well.md", "- [fact] the well is by the oak\n"),
    ] {
        made(&world, "01-01", name, text);
    }
    world
}

#[test]
fn what_is_shown_recalled_and_got_is_read_and_what_is_edited_is_not_old() {
    let world = world();
    let all =
        ["/memories/clock.md", "/memories/d/gate.md", "/memories/kettle.md", "/memories/lamp.md", "/memories/well.md"];
    assert_eq!(paths(&unread(&world, "03-01", "30")), all);
    assert_eq!(paths(&unread(&world, "01-20", "30")), Vec::<&str>::new(), "they are not as old as that");
    assert!(on(&world, "03-01", &["recall", "lamp"]).stdout.contains("lamp is green"));
    tool(&world, "03-02", &json!({ "command": "view", "path": "/memories/kettle.md", "view_range": [1, 1] }));
    tool(&world, "03-09", &json!({ "command": "view", "path": "/memories" }));
    assert_eq!(on(&world, "03-03", &["get", "/memories/d/gate.md"]).code, Some(0));
    let edit = json!({ "command": "str_replace", "path": "/memories/clock.md", "old_str": "nine", "new_str": "ten" });
    tool(&world, "03-04", &edit);
    assert!(on(&world, "03-05", &["note", "read", "/memories/well.md"]).stdout.contains("oak"));
    assert_eq!(paths(&unread(&world, "03-10", "30")), Vec::<&str>::new());
    let told = unread(&world, "04-30", "30");
    let order =
        ["/memories/lamp.md", "/memories/kettle.md", "/memories/d/gate.md", "/memories/clock.md", "/memories/well.md"];
    assert_eq!(paths(&told), order, "oldest first");
    let first = json!({
        "path": order[0], "last_read": "2026-03-01T12:00:00Z", "changed": "2026-01-01T12:00:00Z", "bytes": 27,
        "is_writable": true, "is_told": false,
    });
    assert_eq!(told["files"][0], first);
    assert_eq!((&told["files"][3]["last_read"], &told["days"]), (&Value::Null, &json!(30)));
    let shown = on(&world, "04-30", &["files", "unread", "--days", "57"]).stdout;
    assert_eq!(shown.lines().count(), 5, "{shown}");
    assert!(shown.contains("clock.md   never       2026-03-04"), "{shown}");
    // What waits in the log and what is in the rows is the same, and nothing of it is a change of a file.
    let database = rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    for n in 0..300 {
        if n % 100 == 0 {
            on(&world, "04-01", &["remember", &format!("note {n} of something else")]);
        }
        tool(&world, "04-01", &json!({ "command": "view", "path": "/memories/kettle.md" }));
    }
    on(&world, "04-01", &["remember", "one more of something else"]);
    let waits: u64 = database.query_row("SELECT count(*) FROM changed_files", [], |row| row.get(0)).unwrap();
    let uses: u64 = database
        .query_row("SELECT access_count FROM memories WHERE is_file = 1 AND file LIKE '%kettle.md'", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert!(waits == 0 && uses > 200, "{waits} wait, {uses} uses");
    assert_eq!(unread(&world, "04-30", "0")["files"][4]["last_read"], "2026-04-01T12:00:00Z");
    world.assert_healthy();
}

#[test]
fn a_client_that_views_and_gets_has_read() {
    let world = world();
    let mut client = Client::start(&world);
    client.ok("memory", json!({ "command": "view", "path": "/memories/kettle.md" }));
    client.ok("memory_get", json!({ "ids": [world.found("lamp")[0].to_string()] }));
    client.ok("read_note", json!({ "identifier": "well" }));
    client.request("resources/read", json!({ "uri": "memory://clock" }));
    drop(client);
    assert_eq!(paths(&unread(&world, "11-21", "30")), ["/memories/d/gate.md"]);
}

#[test]
fn nothing_is_cleared_unasked_and_what_is_cleared_comes_back() {
    let world = world();
    tool(&world, "03-01", &json!({ "command": "view", "path": "/memories/kettle.md" }));
    let notes = world.path("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("mine.md"), "- [fact] the mill is on elm street\n").unwrap();
    on(&world, "01-01", &["files", "add", notes.to_str().unwrap()]);
    // Neither without --days, nor without anybody to ask.
    assert_eq!(on(&world, "03-10", &["files", "unread", "--clear", "--yes"]).code, Some(2));
    let asked = on(&world, "03-10", &["files", "unread", "--days", "30", "--clear"]);
    assert!(asked.code == Some(1) && asked.stderr.contains("add --yes"), "{asked:?}");
    assert!(asked.stdout.contains("/memories/lamp.md") && world.home().join("memories/lamp.md").is_file(), "{asked:?}");
    let cleared = on(&world, "03-10", &["files", "unread", "--days", "30", "--clear", "--yes"]);
    assert_eq!(cleared.code, Some(0), "{cleared:?}");
    assert!(cleared.stdout.contains("/notes/mine.md") && cleared.stderr.contains("1 file stays"), "{cleared:?}");
    assert!(cleared.stdout.ends_with("Deleted 4 files. `tessera restore PATH` restores a file.\n"), "{cleared:?}");
    let is_there = |name: &str| world.home().join("memories").join(name).is_file();
    assert_eq!(
        ["kettle.md", "lamp.md", "clock.md", "d/gate.md", "well.md"].map(is_there),
        [true, false, false, false, false]
    );
    assert!(notes.join("mine.md").is_file(), "its folder is only read");
    assert!(!on(&world, "03-10", &["recall", "lamp"]).stdout.contains("green"));
    let history = on(&world, "03-11", &["history", "/memories/lamp.md"]);
    assert!(history.stdout.contains("not used for 30 days"), "{history:?}");
    assert_eq!(on(&world, "03-11", &["restore", "/memories/lamp.md"]).code, Some(0));
    let lamp = fs::read_to_string(world.home().join("memories/lamp.md")).unwrap();
    assert_eq!(lamp, "- [fact] the lamp is green\n");
    assert_eq!(paths(&unread(&world, "03-12", "30")), ["/notes/mine.md"], "what was brought back is not old");
    let json = on(&world, "06-10", &["files", "unread", "--days", "30", "--clear", "--yes", "--json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["cleared"], json!(["/memories/kettle.md", "/memories/lamp.md"]));
    let none = on(&world, "06-10", &["files", "unread", "--days", "300"]);
    assert!(
        none.stdout.is_empty() && none.stderr.contains("no indexed file was left unread and unchanged"),
        "{none:?}"
    );
}

#[test]
fn a_file_with_a_credential_is_cleared_with_a_copy() {
    let world = world();
    let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
    let text = format!("- [fact] the forge is at birch, token {token}\n");
    let forge = world.home().join("memories/forge.md");
    fs::write(&forge, &text).unwrap();
    on(&world, "01-01", &["files", "scan"]);
    let cleared = on(&world, "03-10", &["files", "unread", "--days", "30", "--clear", "--yes"]);
    assert!(cleared.code == Some(0) && !Path::is_file(&forge), "{cleared:?}");
    assert_eq!(on(&world, "03-11", &["restore", "/memories/forge.md"]).code, Some(0));
    assert_eq!(fs::read_to_string(&forge).unwrap(), text);
}
