//! What is asked for is done or refused in so many words: nobody believes in what does not happen.

use serde_json::{Value, json};

use crate::support::{Client, Ran, World};

#[test]
fn protection_that_does_not_exist_is_refused_and_stores_nothing() {
    let world = World::new();
    world.remember("x marks the spot");
    let mut client = Client::start(&world);
    for arguments in [
        json!({ "content": "my password is hunter22", "force_sensitive": true }),
        json!({ "id": 1, "content": "my password is hunter22", "force_sensitive": "yes" }),
    ] {
        let (told, refused) = client.call("memory_store", arguments);
        assert!(refused && told.contains("force_sensitive") && told.contains("nothing was stored"), "{told}");
    }
    let (told, refused) = client.call("memory_update", json!({ "id": 1, "content": "y", "force_sensitive": true }));
    assert!(refused, "{told}");
    client.ok("memory_store", json!({ "content": "a plain note", "force_sensitive": false }));
    assert!(client.close().success());
    assert_eq!(world.contents(), ["x marks the spot", "a plain note"]);
}

#[test]
fn a_local_store_with_a_key_for_encryption_warns() {
    let world = World::new();
    let mut command = world.command(World::binary());
    let ran: Ran = command.env("MEMORY_ENCRYPTION_KEY", "k").args(["remember", "stored"]).output().unwrap().into();
    assert!(ran.code == Some(0) && ran.stderr.contains("not encrypted"), "{ran:?}");
    let mut command = world.command(World::binary());
    let ran: Ran = command.env("MEMORY_ENCRYPTION_KEY", "k").arg("doctor").output().unwrap().into();
    assert!(ran.code == Some(1) && ran.stdout.contains("not encrypted"), "{ran:?}");
    let quiet = world.run(&["remember", "another"]);
    assert!(quiet.stderr.is_empty(), "{quiet:?}");
}

#[test]
fn an_end_that_was_asked_for_is_kept_and_what_is_not_kept_is_said() {
    let world = World::new();
    let mut client = Client::start(&world);
    let told =
        client.ok("memory_store", json!({ "content": "The freeze ends soon", "ttl_days": 30, "metadata": { "a": 1 } }));
    assert!(told.ends_with("Not kept: metadata."), "{told}");
    client.ok("memory_store", json!({ "content": "The badge is valid", "expires_at": "2027-03-02" }));
    let told = client.ok("memory_update", json!({ "id": 2, "expires_at": "never", "provenance": "x" }));
    assert!(told.ends_with("Not kept: provenance."), "{told}");
    for (arguments, words) in [
        (json!({ "content": "x", "ttl_days": "many" }), "ttl_days: "),
        (json!({ "content": "x", "expires_at": "2001-01-01" }), "expires_at: is over already"),
        (json!({ "id": "mem_abc", "content": "x" }), "id: "),
        (json!({ "content": "x", "expanded_keywords": [[1]] }), "expanded_keywords: "),
    ] {
        let (told, refused) = client.call("memory_store", arguments.clone());
        assert!(refused && told.starts_with(words), "{arguments}: {told}");
    }
    let (told, refused) = client.call("memory_recall", json!({ "query": "x", "token_budget": 0 }));
    assert!(refused && told.starts_with("token_budget: "), "{told}");
    assert!(client.close().success());
    assert!(expiry(&world, "1").as_str().unwrap().starts_with("2026-12-20"));
    assert_eq!(expiry(&world, "2"), Value::Null);
    world.json(&["remember", "The office moves", "--expires", "2d"]);
    assert!(expiry(&world, "3").as_str().unwrap().starts_with("2026-11-22"));
    world.json(&["update", "3", "--expires", "2027-01-01"]);
    assert!(expiry(&world, "3").as_str().unwrap().starts_with("2027-01-01"));
    assert_eq!(world.run(&["remember", "x", "--expires", "2001-01-01"]).code, Some(2));
    assert_eq!(world.run(&["remember", "x", "--expires", "soon"]).code, Some(2));
    assert_eq!(world.contents().len(), 3);
}

/// By the name in JSON before and after it was renamed.
fn expiry(world: &World, id: &str) -> Value {
    let memory = world.json(&["get", id]);
    let either = ["expires_at", "expires"].map(|name| memory[name].clone());
    either.into_iter().find(|time| !time.is_null()).unwrap_or_default()
}

#[test]
fn an_address_without_tls_stops_the_team_server_and_not_the_memory() {
    let world = World::new();
    world.remember("x marks the spot");
    let variables = [("TESSERA_SERVER", "http://team.example.org"), ("TESSERA_API_KEY", "0123456789abcdef")];
    let mut client = Client::start_with(&world, &variables);
    assert!(client.ok("memory_recall", json!({ "query": "what marks the spot" })).contains("x marks"));
    let count = client.ok("memory_count", json!({}));
    assert!(count.contains("not in use") && count.contains("not https"), "{count}");
    let (told, refused) = client.call("memory_share", json!({ "id": 1, "shared_with": "bob" }));
    assert!(refused && told.contains("needs a team server"), "{told}");
    assert!(client.close().success());
    let mut command = world.command(World::binary());
    let ran: Ran = command.envs(variables).arg("doctor").output().unwrap().into();
    assert!(ran.code == Some(1) && ran.stdout.contains("not https"), "{ran:?}");
    let mut command = world.command(World::binary());
    let ran: Ran = command.envs(variables).args(["sync", "now"]).output().unwrap().into();
    assert!(ran.code == Some(3) && ran.stderr.contains("not https"), "{ran:?}");
}
