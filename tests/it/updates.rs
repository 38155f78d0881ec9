//! A newer memory comes before the older one that it updates. The older one is marked wherever it is shown.

use serde_json::{Value, json};

use crate::support::{Client, World};

const PORTS: [&str; 3] = [
    "The checkout service listens on port 7070",
    "The checkout service now listens on port 7171",
    "The checkout service listens on port 7272",
];
const QUESTION: &str = "which port does the checkout service use?";

/// The IDs in a reply, each with the ID of the newer memory.
fn rows(reply: &Value) -> Vec<(u64, Option<u64>)> {
    let row = |row: &Value| (row["id"].as_u64().unwrap(), row["older"].as_u64());
    reply["details"].as_array().unwrap().iter().map(row).collect()
}

fn recalled(world: &World) -> Vec<(u64, Option<u64>)> {
    rows(&world.json(&["recall", QUESTION]))
}

#[test]
fn a_chain_of_changes_answers_with_its_last_memory() {
    let world = World::new();
    for text in PORTS {
        world.remember(text);
    }
    // The second text says that it replaces the first one. The third one only states another value.
    assert_eq!(recalled(&world), [(3, None), (2, Some(3))]);
    let text = world.run(&["recall", QUESTION]).stdout;
    assert!(
        text.contains("#2 ") && text.contains(" (older, see #3) The checkout service now listens on port 7171"),
        "{text}"
    );
    world.assert_healthy();
}

#[test]
fn an_explicit_phrase_supersedes_and_the_reply_names_the_command_that_undoes_it() {
    let world = World::new();
    world.remember(PORTS[0]);
    let told = world.run(&["remember", PORTS[1]]).stdout;
    assert!(told.contains("#1 is now superseded") && told.contains("tessera link 2 supersedes 1 --remove"), "{told}");
    assert_eq!(recalled(&world), [(2, None)]);
    assert_eq!(world.json(&["get", "1"])["superseded_by"], 2);
    assert!(world.run(&["history", "1"]).stdout.contains("superseded by #2"));
    assert_eq!(world.run(&["link", "2", "supersedes", "1", "--remove"]).code, Some(0));
    assert_eq!(recalled(&world).len(), 2);
    // A memory of another project stays, and so does one that the user trusts more.
    world.remember("The gateway listens on port 8490");
    let elsewhere = world.run(&["remember", "--scope", "acme/depot", "The gateway now listens on port 8491"]).stdout;
    assert!(!elsewhere.contains("superseded"), "{elsewhere}");
    let mut client = Client::start(&world);
    let told =
        client.ok("memory_store", json!({ "content": "The gateway now listens on port 8492", "scope": "global" }));
    assert!(told.contains("#3 is now marked as older") && !told.contains("superseded"), "{told}");
    assert!(client.close().success());
    world.assert_healthy();
}

#[test]
fn an_older_memory_is_marked_everywhere_and_undo_restores_the_order() {
    let world = World::new();
    world.remember(PORTS[0]);
    let told = world.run(&["remember", PORTS[2]]).stdout;
    assert!(told.contains("#1 is now marked as older") && told.contains("tessera link 2 updates 1 --remove"), "{told}");
    assert!(world.run(&["get", "1"]).stdout.contains("older, see #2"));
    assert_eq!(world.json(&["get", "1"])["older"], 2);
    assert!(world.run(&["history", "1"]).stdout.contains("#1 is older, see #2"));
    assert_eq!(world.json(&["list"])["memories"][1]["older"], 2);
    assert!(world.run(&["list"]).stdout.contains("(older, see #2)"));
    assert_eq!(world.run(&["link", "2", "updates", "1", "--remove"]).code, Some(0));
    assert_eq!(world.json(&["get", "1"]).get("older"), None);
    assert!(recalled(&world).iter().all(|(_, newer)| newer.is_none()));
    let circle = world.run(&["link", "2", "updates", "2"]);
    assert_ne!(circle.code, Some(0));
    world.assert_healthy();
}

#[test]
fn a_model_learns_the_call_that_reverts_an_update() {
    let world = World::new();
    world.remember(PORTS[0]);
    let mut client = Client::start(&world);
    let told = client.ok("memory_store", json!({ "content": PORTS[1], "scope": "global" }));
    assert!(told.contains("memory_link(id: 2, type: \"updates\", to: 1, remove: true)"), "{told}");
    let listed = client.ok("memory_list", json!({}));
    assert!(listed.contains("(older, see #2)"), "{listed}");
    let got = client.ok("memory_get", json!({ "ids": ["1"] }));
    assert!(got.contains("(older, see #2)"), "{got}");
    client.ok("memory_link", json!({ "id": "2", "type": "updates", "to": "1", "remove": true }));
    let got = client.ok("memory_get", json!({ "ids": ["1"] }));
    assert!(!got.contains("older"), "{got}");
    assert!(client.close().success());
}

#[test]
fn an_import_is_compared_in_the_background() {
    let world = World::new();
    let lines: String = PORTS[..2].iter().map(|text| format!("{}\n", json!({ "content": text }))).collect();
    assert_eq!(world.run_with_stdin(&["import", "-"], lines.as_bytes()).code, Some(0));
    assert_eq!(recalled(&world), [(2, None), (1, Some(2))]);
}

#[test]
fn the_opposite_preference_and_a_return_come_first() {
    let world = World::new();
    for text in ["I prefer pnpm over npm", "I prefer npm over pnpm", "I prefer pnpm over npm"] {
        world.remember(text);
    }
    let found = rows(&world.json(&["recall", "pnpm or npm?"]));
    assert_eq!(found, [(3, None)]);
}
