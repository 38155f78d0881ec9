//! What is asked for is done or refused in so many words: nobody believes in what does not happen.

use serde_json::{Value, json};

use crate::support::{Client, Ran, World};

#[test]
fn a_text_that_is_said_to_be_a_secret_is_sealed_whole_and_given_back_on_purpose() {
    let world = World::new();
    world.remember("x marks the spot");
    let mut client = Client::start(&world);
    let sealed = [
        ("memory_store", json!({ "content": "Kestrel nine", "force_sensitive": true, "category": "facts" })),
        ("memory_store", json!({ "id": 1, "content": "Kestrel ten", "force_sensitive": "yes" })),
        (
            "memory_update",
            json!({ "id": 1, "content": "Kestrel six", "force_sensitive": true, "summary": "Door code" }),
        ),
    ];
    for (tool, arguments) in sealed {
        let told = client.ok(tool, arguments);
        assert!(told.contains("Redacted [secret s") && told.contains("secret_get s"), "{told}");
        assert!(!told.contains("Kestrel"), "{told}");
    }
    let (told, refused) = client.call("memory_update", json!({ "id": 1, "force_sensitive": true }));
    assert!(refused && told.starts_with("content: "), "{told}");
    client.ok("memory_store", json!({ "content": "a plain note", "force_sensitive": false }));
    let [changed, stored, plain] = world.contents().try_into().unwrap();
    assert!(stored.starts_with("Sensitive note (facts): [secret s") && changed.starts_with("Door code: [secret s"));
    assert_eq!(plain, "a plain note");
    // By its place, its name, its memory as a number and as an ID.
    let place = changed.split_once(": ").unwrap().1.to_owned();
    let name = place.split([' ', ':']).nth(1).unwrap().to_owned();
    for id in [json!(place), json!(name)] {
        assert_eq!(client.ok("secret_get", json!({ "id": id })), "Kestrel six");
    }
    for id in [json!(1), json!("#1")] {
        let told = client.ok("secret_get", json!({ "id": id }));
        assert_eq!(told, "Door code: Kestrel six");
    }
    let (told, refused) = client.call("secret_get", json!({ "id": "s0000" }));
    assert!(refused && told.starts_with("there is no secret s0000"), "{told}");
    assert!(client.close().success());
    let uses = world.json(&["secret", "uses", &name]);
    assert_eq!(uses["uses"].as_array().unwrap().len(), 4);
    assert!(uses["uses"][0]["origin"] == "agent" && uses["uses"][0]["client"].as_str().is_some(), "{uses}");
}

#[test]
fn a_credential_is_set_aside_at_every_door_and_given_back_to_the_person() {
    let world = World::new();
    let stored = world.json(&["remember", "the staging password is hunter2!X9"]);
    let secret = &stored["secrets"][0];
    let name = secret["name"].as_str().unwrap();
    assert_eq!((secret["kind"].as_str(), secret["place"].as_str().unwrap().contains(name)), (Some("password"), true));
    assert_eq!(world.run(&["secret", "show", name]).stdout, "hunter2!X9\n");
    let whole = world.json(&["secret", "show", "#1"]);
    assert_eq!(whole["content"], "the staging password is hunter2!X9");
    let told = world.run(&["remember", "a note: my vpn password is Tr0ub4dor&3xy"]).stdout;
    assert!(told.contains("Redacted [secret s") && told.contains("secret.key") && !told.contains("Tr0"), "{told}");
    assert_eq!(world.json(&["secret", "list"])["secrets"].as_array().unwrap().len(), 2);
    assert_eq!(world.json(&["secret", "rotate-key"])["sealed_anew"], 2);
    assert_eq!(world.run(&["secret", "show", name]).stdout, "hunter2!X9\n");
    assert!(world.run(&["secret", "key"]).stdout.contains("not protect against programs that run under your account"));
    // What is written out names places, and is taken in again as it is.
    let lines = world.run(&["export"]).stdout;
    assert!(lines.contains(&format!("[secret {name}: password]")) && !lines.contains("hunter2"), "{lines}");
    assert_eq!(world.run(&["secret", "forget", name]).code, Some(0));
    let gone = world.run(&["secret", "show", name]);
    assert!(gone.code == Some(1) && gone.stderr.contains("was deleted on"), "{gone:?}");
    assert!(world.contents()[0].contains(name), "the text keeps its place");
}

#[test]
fn settings_say_what_becomes_of_a_credential_and_no_key_shows() {
    let world = World::new();
    let with = |variables: &[(&str, &str)], arguments: &[&str]| -> Ran {
        let mut command = world.command(World::binary());
        command.envs(variables.iter().copied()).args(arguments).output().unwrap().into()
    };
    let said = ["remember", "the staging password is hunter2!X9"];
    let refused = with(&[("TESSERA_SECRETS_MODE", "refuse")], &said);
    assert!(refused.code == Some(1) && refused.stderr.contains("the setting secrets.mode is refuse"), "{refused:?}");
    assert!(!refused.stderr.contains("hunter2"));
    let dropped = with(&[("TESSERA_SECRETS_MODE", "drop")], &said);
    assert!(dropped.stdout.contains("did not store its value"), "{dropped:?}");
    assert_eq!(with(&[("TESSERA_SECRETS_MODE", "maybe")], &said).code, Some(3));
    let key = [("MEMORY_ENCRYPTION_KEY", "correct horse")];
    let sealed = with(&key, &["remember", "the vpn password is Tr0ub4dor&3xy"]);
    assert!(sealed.stdout.contains("encrypted its value with the key in TESSERA_SECRET_KEY"), "{sealed:?}");
    assert_eq!(with(&key, &["secret", "show", "2", "--json"]).code, Some(0));
    let missing = world.run(&["secret", "show", "2"]);
    assert!(missing.code == Some(3) && missing.stderr.contains("is encrypted with key"), "{missing:?}");
    // The number of the key that one has to look for is not taken for a credential (N17).
    let number = missing.stderr.split_once("key #").map(|(_, rest)| rest.chars().take(8).collect::<String>());
    assert!(number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit())), "{missing:?}");
    let doctor = world.run(&["doctor"]);
    assert!(doctor.code == Some(1) && doctor.stdout.contains("is missing"), "{doctor:?}");
    for arguments in [["settings", "--json"], ["doctor", "--json"], ["secret", "key"]] {
        let ran = with(&key, &arguments);
        assert!(!ran.stdout.contains("correct horse") && !ran.stderr.contains("correct horse"), "{ran:?}");
    }
    let alone = with(&[("TESSERA_SECRET_KEY_BEFORE", "correct horse")], &["stats"]);
    assert!(alone.code == Some(3) && alone.stderr.contains("TESSERA_SECRET_KEY"), "{alone:?}");
}

/// N15: a key file that never ends, or that nobody writes to, is refused at once.
#[cfg(unix)]
#[test]
fn a_key_that_is_no_file_is_refused_and_keeps_nobody_waiting() {
    for make in [&["mkfifo"][..], &["ln", "-s", "/dev/zero"]] {
        let world = World::new();
        world.remember("The crane is yellow");
        let (program, more) = make.split_first().unwrap();
        let key = world.home().join("secret.key");
        assert!(std::process::Command::new(program).args(more).arg(&key).status().unwrap().success());
        let ran = world.run(&["remember", "the staging password is hunter2!X9"]);
        assert!(ran.code != Some(0) && ran.stderr.contains("secret.key"), "{ran:?}");
        assert_eq!(world.contents(), ["The crane is yellow"]);
    }
}

#[test]
fn an_end_that_was_asked_for_is_kept_with_metadata_and_where_it_was_heard() {
    let world = World::new();
    let mut client = Client::start(&world);
    client.ok("memory_store", json!({ "content": "The freeze ends soon", "ttl_days": 30, "metadata": { "a": 1 } }));
    assert!(client.ok("memory_get", json!({ "ids": [1], "format": "json" })).contains("\"metadata\":{\"a\":1}"));
    client.ok("memory_store", json!({ "content": "The badge is valid", "expires_at": "2027-03-02" }));
    client.ok("memory_update", json!({ "id": 2, "expires_at": "never", "provenance": "x" }));
    let told = client.ok("memory_history", json!({ "id": 2 }));
    assert!(told.contains("why: from x"), "{told}");
    for (arguments, words) in [
        (json!({ "content": "x", "ttl_days": "many" }), "ttl_days: "),
        (json!({ "content": "x", "expires_at": "2001-01-01" }), "expires_at: is in the past"),
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
    assert!(expiry(&world, "3").as_str().unwrap().starts_with("2027-01-02"));
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
    assert!(count.contains("is not used") && count.contains("needs https"), "{count}");
    let (told, refused) = client.call("memory_share", json!({ "id": 1, "shared_with": "bob" }));
    assert!(refused && told.contains("needs a team server") && told.contains("MEMORY_API_KEY"), "{told}");
    assert!(client.close().success());
    let mut command = world.command(World::binary());
    let ran: Ran = command.envs(variables).arg("doctor").output().unwrap().into();
    assert!(ran.code == Some(1) && ran.stdout.contains("needs https"), "{ran:?}");
    let mut command = world.command(World::binary());
    let ran: Ran = command.envs(variables).args(["sync", "now"]).output().unwrap().into();
    assert!(ran.code == Some(3) && ran.stderr.contains("needs https"), "{ran:?}");
}
