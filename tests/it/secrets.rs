//! No credential in clear: three hundred of them, through every door, and not a byte of one in any file of the home, nor in
//! what any command says.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::planted::{Planted, Search, planted};
use crate::support::hooks::{event, hook, settled, stop, transcript};
use crate::support::{Client, Ran, World};

/// Everything that was said by commands, tools and hooks.
#[derive(Default)]
struct Said(Vec<(String, String)>);

impl Said {
    fn ran(&mut self, what: &str, ran: Ran) -> Ran {
        self.0.push((format!("{what}: stdout"), ran.stdout.clone()));
        self.0.push((format!("{what}: stderr"), ran.stderr.clone()));
        ran
    }

    fn text(&mut self, what: &str, text: &str) {
        self.0.push((what.to_owned(), text.to_owned()));
    }
}

type Door = fn(&World, &Planted, &mut Said);

/// The doors by which a text becomes, or comes near, a memory. Each gets its share of what is planted.
const DOORS: [(&str, Door); 20] = [
    ("remember", |world, secret, said| {
        drop(said.ran("remember", world.run(&["remember", &secret.sentence(), "--json"])));
    }),
    ("remember from stdin", |world, secret, said| {
        drop(said.ran("remember -", world.run_with_stdin(&["remember", "-"], secret.sentence().as_bytes())));
    }),
    ("keywords", |world, secret, said| {
        let text = format!("Rotation number {} is due in May", secret.number);
        drop(said.ran("--keywords", world.run(&["remember", &text, "--keywords", &secret.sentence()])));
    }),
    ("entities", |world, secret, said| {
        let text = format!("Entity number {} is due in May", secret.number);
        drop(said.ran("--entities", world.run(&["remember", &text, "--entities", &secret.sentence()])));
    }),
    ("tags", |world, secret, said| {
        let text = format!("Tag number {} is due in May", secret.number);
        drop(said.ran("--tag", world.run(&["remember", &text, "--tags", &secret.sentence().replace(',', " ")])));
    }),
    ("session", |world, secret, said| {
        let text = format!("Session number {} is due in May", secret.number);
        drop(said.ran("--session", world.run(&["remember", &text, "--session", &secret.sentence()])));
    }),
    ("scope", |world, secret, said| {
        let text = format!("Scope number {} is due in May", secret.number);
        drop(said.ran("--scope", world.run(&["remember", &text, "--scope", &secret.sentence()])));
    }),
    ("a wrong argument", |world, secret, said| {
        drop(said.ran("a wrong argument", world.run(&["-vv", "remember", "x", "--importance", &secret.sentence()])));
    }),
    ("update", |world, secret, said| {
        let id = world.remember(&format!("Update number {} is due in May", secret.number))["id"].to_string();
        let ran = world.run(&["update", &id, "--content", &secret.sentence(), "--reason", &secret.sentence()]);
        drop(said.ran("update", ran));
    }),
    ("forget reason", |world, secret, said| {
        let id = world.remember(&format!("Forget number {} is due in May", secret.number))["id"].to_string();
        drop(said.ran("forget", world.run(&["forget", &id, "--reason", &secret.sentence()])));
        drop(said.ran("history", world.run(&["history", &id])));
    }),
    ("a question", |world, secret, said| {
        let keeps = world
            .command(World::binary())
            .env("TESSERA_RECALL_KEEP_QUESTIONS", "true")
            .args(["recall", &format!("what is it with {}?", secret.sentence()), "--json"])
            .output()
            .unwrap();
        drop(said.ran("recall", keeps.into()));
    }),
    ("import", |world, secret, said| {
        let line = json!({ "content": secret.sentence(), "key": format!("k{}", secret.number), "tags": short(secret),
            "session": secret.sentence(), "cwd": format!("/w/{}", secret.sentence()), "client": secret.sentence() });
        let wrong = json!({ "content": "x", "importance": secret.sentence(), "shared_by": secret.sentence() });
        let lines = format!("{line}\n{wrong}\n");
        drop(said.ran("import", world.run_with_stdin(&["import", "-", "--mine"], lines.as_bytes())));
    }),
    ("notes of a file", |world, secret, said| {
        let path = world.path("user/CLAUDE.md");
        fs::write(&path, format!("# Notes\n\n- {}\n", secret.sentence())).unwrap();
        drop(said.ran("claude-md", world.run(&["import", "claude-md", path.to_str().unwrap()])));
        fs::remove_file(path).unwrap();
    }),
    ("a project's name", |world, secret, said| {
        let work = world.path(&format!("clone{}", secret.number));
        fs::create_dir_all(work.join(".git")).unwrap();
        let url = format!("[remote \"origin\"]\n\turl = https://ci:{}@git.example/a/b.git\n", secret.value);
        fs::write(work.join(".git/config"), url).unwrap();
        let text = format!("Project number {} is due in May", secret.number);
        let ran = world.command(World::binary()).current_dir(&work).args(["remember", &text]).output().unwrap();
        drop(said.ran("in a clone", ran.into()));
        fs::write(work.join(".tessera.toml"), format!("project = {:?}\n", secret.sentence())).unwrap();
        let mut named = world.command(World::binary());
        named.current_dir(&work).args(["remember", &format!("{text} again")]);
        drop(said.ran("in a named clone", named.output().unwrap().into()));
    }),
    ("a prompt", |world, secret, said| {
        let prompt =
            json!({ "prompt": format!("please remember that {}", secret.sentence()), "session_id": secret.sentence() });
        let payload = event(world, "UserPromptSubmit", "s", prompt);
        drop(said.ran("UserPromptSubmit", hook(world, payload.to_string().as_bytes(), &[])));
        let payload = event(world, "SessionStart", &secret.sentence(), json!({}));
        drop(said.ran("SessionStart", hook(world, payload.to_string().as_bytes(), &[])));
    }),
    ("an ended turn", |world, secret, said| {
        let path = world.path(&format!("logs/{}.jsonl", secret.number));
        let wish = format!("From now on always use port {} for the gateway.\n{}", secret.number, secret.sentence());
        transcript(&path, &[(&wish, &format!("Noted.\n{}", secret.sentence()))]);
        let session = format!("t{} {}", secret.number, secret.sentence());
        let payload = stop(world, &session, &path, &format!("Noted.\n{}", secret.sentence()));
        drop(said.ran("Stop", hook(world, payload.to_string().as_bytes(), &[])));
        let payload = event(world, "PreCompact", &session, json!({ "transcript_path": path.to_str().unwrap() }));
        drop(said.ran("PreCompact", hook(world, payload.to_string().as_bytes(), &[])));
    }),
    ("a hook that is not one", |world, secret, said| {
        drop(said.ran("no JSON", hook(world, secret.sentence().as_bytes(), &[])));
        let payload = json!({ "hook_event_name": secret.sentence(), "session_id": 7, "cwd": secret.sentence() });
        drop(said.ran("no event", hook(world, payload.to_string().as_bytes(), &[])));
    }),
    ("settings", |world, secret, said| {
        drop(said.ran("settings", world.run(&["settings", "set", "recall.semantic", &secret.sentence()])));
    }),
    ("a client's settings", |world, secret, said| {
        let path = world.path("user/.cursor/mcp.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let other = json!({ "mcpServers": { "other": { "command": "x", "env": { "API_KEY": secret.value } } } });
        fs::write(&path, other.to_string()).unwrap();
        drop(said.ran("setup", world.run(&["setup", "cursor", "--yes"])));
        drop(said.ran("uninstall", world.run(&["uninstall", "--yes"])));
        assert!(fs::read_to_string(&path).unwrap().contains(&secret.value), "the person's own settings stay theirs");
    }),
    ("a server's address", |world, secret, said| {
        let address = format!("https://ci:{}@nobody.invalid/", secret.value);
        drop(said.ran("sync join", world.run_with_stdin(&["sync", "join", &address, "--upload", "none"], b"key\n")));
    }),
];

/// A tag is short: what is longer is refused, and says nothing of it.
fn short(secret: &Planted) -> Vec<String> {
    Some(secret.sentence()).filter(|text| text.chars().count() < 60).into_iter().collect()
}

/// The doors of one running MCP server.
fn through_tools(world: &World, secrets: &[Planted], said: &mut Said) {
    let mut client = Client::start(world);
    let kept = client.ok("memory_store", json!({ "content": "The lighthouse keeper is on duty in May" }));
    said.text("memory_store", &kept);
    for secret in secrets {
        let text = secret.sentence();
        let calls = [
            ("memory_store", json!({ "content": text, "tags": [text], "keywords": [text], "session": text })),
            ("memory_store", json!({ "content": "x", "importance": text, "category": text, "scope": text })),
            (
                "memory_update",
                json!({ "id": 1, "content": format!("Keeper {}: {text}", secret.number), "reason": text }),
            ),
            ("memory_recall", json!({ "query": text, "scope": text, "since": text })),
            ("memory_recall", json!({ "query": text })),
            ("memory_get", json!({ "ids": [text] })),
            ("memory_forget", json!({ "ids": ["9999"], "reason": text })),
            ("memory_history", json!({ "id": text })),
            (text.as_str(), json!({})),
        ];
        for (tool, arguments) in calls {
            let reply = client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
            said.text(&format!("tool {}", tool.split(' ').next().unwrap()), &reply.to_string());
        }
        let reply = client.request("prompts/get", json!({ "name": "recall", "arguments": { "topic": text } }));
        said.text("prompt recall", &reply.to_string());
        let reply = client.request("resources/read", json!({ "uri": format!("memory://{text}") }));
        said.text("resource", &reply.to_string());
    }
    assert!(client.close().success());
}

/// Every file of a directory, with the directories in it.
fn files(dir: PathBuf) -> Vec<PathBuf> {
    let (mut dirs, mut found) = (vec![dir], Vec::new());
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { dirs.push(path) } else { found.push(path) }
        }
    }
    found
}

/// Where credentials stand in the files of the home.
fn residue(world: &World, search: &Search<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for file in files(world.home()) {
        let bytes = fs::read(&file).unwrap();
        let name = file.strip_prefix(world.home()).unwrap().display().to_string();
        found.extend(search.found_in(&bytes).into_iter().map(|secret| format!("{name}: {secret}")));
    }
    found
}

#[test]
fn three_hundred_secrets_go_through_every_door_and_rest_nowhere_in_clear() {
    let world = World::new();
    let mut said = Said::default();
    world.remember("The lighthouse stands on birch street");
    let secrets = planted(300, 7);
    let (by_tool, by_door) = secrets.split_at(60);
    for (at, secret) in by_door.iter().enumerate() {
        let (_, door) = DOORS[at % DOORS.len()];
        door(&world, secret, &mut said);
    }
    through_tools(&world, by_tool, &mut said);
    settled(&world);
    for command in [
        &["list"][..],
        &["export"],
        &["log"],
        &["usage"],
        &["unanswered"],
        &["stats"],
        &["doctor"],
        &["backup"],
        &["sync", "dead"],
        &["secret", "list"],
        &["secret", "uses"],
        &["secret", "scan"],
        &["-vv", "recall", "password"],
    ] {
        drop(said.ran(&command.join(" "), world.run(command)));
    }
    let search = Search::of(&secrets);
    let mut found = residue(&world, &search);
    for (what, text) in &said.0 {
        let hits = search.found_in(text.as_bytes());
        found.extend(hits.into_iter().map(|secret| format!("{what} said {secret}")));
    }
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
    // What became part of a memory is given back to its owner.
    let listed = world.json(&["secret", "list"]);
    let names: Vec<&str> =
        listed["secrets"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let shown: Vec<Value> = names.iter().map(|name| world.json(&["secret", "show", name])).collect();
    let values: Vec<&str> = shown
        .iter()
        .flat_map(|reply| reply["secrets"].as_array().unwrap())
        .map(|one| one["value"].as_str().unwrap())
        .collect();
    let stores = ["remember", "remember from stdin", "keywords", "entities", "update", "import", "notes of a file"];
    // A key of many lines is no keyword, and is refused as one.
    let is_word = |door: &str| matches!(door, "keywords" | "entities");
    let stored = by_door.iter().enumerate().filter(|(at, secret)| {
        let door = DOORS[at % DOORS.len()].0;
        stores.contains(&door) && !(is_word(door) && secret.kind == "private key")
    });
    let lost: Vec<String> = stored
        .map(|(_, secret)| secret)
        .chain(by_tool)
        .filter(|secret| !values.iter().any(|value| value.contains(&secret.value) || secret.value.contains(value)))
        .map(ToString::to_string)
        .collect();
    assert!(lost.is_empty(), "{} lost: {}", lost.len(), lost.join("\n"));
    let scan = world.run(&["secret", "scan"]);
    assert_eq!(scan.code, Some(0), "{}", scan.stdout);
}

#[test]
fn what_is_searched_for_is_found_where_it_stands_in_clear_and_is_taken_out_by_command() {
    let world = World::new();
    let secrets = planted(48, 11);
    let search = Search::of(&secrets);
    for secret in &secrets {
        world.remember(&format!("Number {} is due in May", secret.number));
    }
    assert_eq!(residue(&world, &search), Vec::<String>::new());
    // As a program of before wrote them, that looked for nothing.
    let database = rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    for (short_id, secret) in (1..).zip(&secrets) {
        let text = secret.sentence();
        let update = "UPDATE memories SET content = ?2, summary = ?2 WHERE short_id = ?1";
        assert_eq!(database.execute(update, rusqlite::params![short_id, text]).unwrap(), 1);
        let history = "UPDATE history SET reason = ?2, before = ?3 WHERE rev = ?1";
        let before = json!({ "content": text, "keywords": [secret.value] }).to_string();
        database.execute(history, rusqlite::params![short_id, format!("it was {}", secret.value), before]).unwrap();
    }
    drop(database);
    fs::write(world.home().join("hooks.log"), format!("one {}\n", secrets[0].value)).unwrap();
    fs::write(world.home().join("old.jsonl"), json!({ "content": secrets[1].sentence() }).to_string()).unwrap();
    assert_eq!(world.run(&["backup"]).code, Some(0));
    let seen: Vec<String> = residue(&world, &search);
    for secret in &secrets {
        assert!(seen.iter().any(|place| place.ends_with(&secret.to_string())), "is not searched for: {secret}");
    }
    let looked = world.run(&["secret", "scan"]);
    assert_eq!(looked.code, Some(1), "{looked:?}");
    assert!(search.found_in(looked.stdout.as_bytes()).is_empty(), "a scan shows no value: {}", looked.stdout);
    let fixed = world.run(&["secret", "scan", "--fix", "--yes", "--json"]);
    assert_eq!(fixed.code, Some(0), "{fixed:?}");
    assert_eq!(residue(&world, &search), Vec::<String>::new());
    for (short_id, secret) in (1..).zip(&secrets) {
        let shown = world.json(&["secret", "show", &format!("#{short_id}")]);
        assert_eq!(shown["content"], secret.sentence(), "{secret}");
    }
    assert_eq!(world.run(&["secret", "scan"]).code, Some(0));
    world.assert_healthy();
}
