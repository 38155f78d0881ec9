//! The memory tool through its two faces, and what stands in its files through the verbs of memories.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use tessera_hooks::{NOTE_TOOLS, SERVERS};

use crate::support::hooks::{event, hook};
use crate::support::{Client, World};

const ON: [(&str, &str); 1] = [("TESSERA_MEMORY_FILES", "on")];

const PREFERENCES: &str = "---\ntitle: Preferences\ntype: memory\n---\n\n## Observations\n\
                           - [communication] prefers concise responses #style\n- [coding] writes tests first #testing\n\n\
                           ## Relations\n- relates_to [[Review habits]]\n";

/// The command as a program on stdin would give it: its answer, and whether it was refused.
pub(crate) fn told(world: &World, command: &Value) -> (String, bool) {
    let ran = world.run_with_stdin(&["memory-tool"], command.to_string().as_bytes());
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    (ran.stdout.strip_suffix('\n').unwrap().to_owned(), ran.code == Some(1))
}

pub(crate) fn create(path: &str, text: &str) -> Value {
    json!({ "command": "create", "path": path, "file_text": text })
}

fn made(world: &World, path: &str, text: &str) {
    let (said, is_refused) = told(world, &create(path, text));
    assert!(!is_refused, "{said}");
}

/// The number of the memory that says so.
fn number(world: &World, text: &str) -> String {
    let listed = world.json(&["list", "--limit", "200"]);
    let rows = listed["memories"].as_array().unwrap_or_else(|| panic!("{listed}"));
    let row = rows.iter().find(|row| row["content"].as_str().is_some_and(|content| content.contains(text)));
    row.unwrap_or_else(|| panic!("{text}: {listed}"))["id"].to_string()
}

/// Commands one after the other, each with what it answers, and whether it is refused.
fn steps() -> Vec<(Value, String, bool)> {
    let header =
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:";
    let edited = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
    vec![
        (json!({ "command": "view", "path": "/memories" }), format!("{header}\n0B\t/memories"), false),
        (create("/memories/user/p.md", "one\ntwo"), "File created successfully at: /memories/user/p.md".into(), false),
        (create("/memories/user/p.md", ""), "Error: File /memories/user/p.md already exists".into(), true),
        (
            json!({ "command": "view", "path": "/memories/user/p.md" }),
            "Here's the content of /memories/user/p.md with line numbers:\n     1\tone\n     2\ttwo".into(),
            false,
        ),
        (
            json!({ "command": "str_replace", "path": "memories/user/p.md", "old_str": "two", "new_str": "2" }),
            format!("{edited}\n     1\tone\n     2\t2"),
            false,
        ),
        (
            json!({ "command": "str_replace", "path": "/memories/user/p.md", "old_str": "three", "new_str": "" }),
            "No replacement was performed, old_str `three` did not appear verbatim in /memories/user/p.md.".into(),
            true,
        ),
        (
            json!({ "command": "insert", "path": "/memories/user/p.md", "insert_line": 1, "insert_text": "new" }),
            "The file /memories/user/p.md has been edited.".into(),
            false,
        ),
        (
            json!({ "command": "rename", "path": "/memories", "old_path": "/memories/user", "new_path": "/memories/me" }),
            "Successfully renamed /memories/user to /memories/me".into(),
            false,
        ),
        (
            json!({ "command": "delete", "path": "/memories/user" }),
            "Error: The path /memories/user does not exist".into(),
            true,
        ),
        (
            json!({ "command": "view", "path": "/memories/user" }),
            "The path /memories/user does not exist. Please provide a valid path.".into(),
            true,
        ),
        (
            json!({ "command": "view", "path": "/memories/../../etc/passwd" }),
            "Path /memories/../../etc/passwd would escape /memories directory".into(),
            true,
        ),
        (
            json!({ "command": "view", "path": "/etc/passwd" }),
            "Path must start with /memories, got: /etc/passwd".into(),
            true,
        ),
        (
            json!({ "command": "delete", "path": "/memories/" }),
            "Cannot delete the /memories directory itself".into(),
            true,
        ),
        (json!({ "command": "create", "path": "/memories/x" }), "file_text: is missing".into(), true),
        (json!({ "path": "/memories/x" }), "command: is missing".into(), true),
        (json!({ "command": "delete", "path": "/memories/me" }), "Successfully deleted /memories/me".into(), false),
    ]
}

#[test]
fn both_faces_answer_each_command_with_the_very_words() {
    let (world, other) = (World::new(), World::new());
    let mut client = Client::start(&world);
    for (command, text, is_refused) in steps() {
        assert_eq!(client.call("memory", command.clone()), (text.clone(), is_refused), "{command}");
        assert_eq!(told(&other, &command), (text, is_refused), "{command}");
    }
    let (unknown, is_refused) = client.call("memory", json!({ "command": "frobnicate" }));
    assert!(is_refused && unknown.starts_with("Unknown command: frobnicate"), "{unknown}");
    for name in ["view", "create", "str_replace", "insert", "delete", "rename"] {
        assert!(unknown.contains(name), "{unknown}");
    }
    client.close();
}

#[test]
fn the_tool_is_listed_where_the_setting_says_so_and_callable_everywhere() {
    let listed = |client: &mut Client| {
        let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
        tools.as_array().unwrap().iter().find(|tool| tool["name"] == "memory").cloned()
    };
    let world = World::new();
    let mut off = Client::start(&world);
    assert_eq!(listed(&mut off), None);
    off.ok("memory", create("/memories/a.md", "- [fact] the gate is on birch\n"));
    off.close();
    let mut on = Client::start_with(&world, &ON);
    let tool = listed(&mut on).unwrap();
    assert_eq!(tool["annotations"]["destructiveHint"], true);
    assert_eq!(tool["inputSchema"]["required"], json!(["command"]));
    let properties: BTreeSet<&str> =
        tool["inputSchema"]["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let wanted =
        "command path file_text view_range old_str new_str insert_line insert_text old_path new_path max_tokens";
    assert_eq!(properties, wanted.split(' ').collect());
    assert!(tool["description"].as_str().unwrap().contains("All operations are inside /memories"));
    on.close();
    assert_eq!(world.run(&["settings", "set", "memory_files", "on"]).code, Some(0));
    assert_ne!(world.run(&["settings", "set", "memory_files", "perhaps"]).code, Some(0));
    let mut set = Client::start(&world);
    assert!(listed(&mut set).is_some());
    set.close();
}

#[test]
fn the_protocol_and_the_persons_own_line_are_told_where_the_tool_is_offered() {
    let world = World::new();
    let told = |variables: &[(&str, &str)]| {
        let mut client = Client::start_with(&world, variables);
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
        let told = client.request("initialize", hello)["result"]["instructions"].as_str().unwrap().to_owned();
        client.close();
        told
    };
    assert!(!told(&[]).contains("ASSUME INTERRUPTION"));
    let on = told(&ON);
    assert!(on.contains("ASSUME INTERRUPTION") && on.contains("view /memories") && on.len() <= 2000, "{}", on.len());
    let about = told(&[ON[0], ("TESSERA_FILES_TOPIC", "the checkout of the shop")]);
    assert!(about.contains("Only write information relevant to the checkout of the shop") && about.len() <= 2000);
    let mut client = Client::start(&world);
    let guide = client.request("prompts/get", json!({ "name": "memory_guide" }));
    let guide = guide["result"]["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
    for part in [
        "memory_recall",
        "## Protocol",
        "ASSUME INTERRUPTION",
        "## Conventions",
        "user/",
        "projects/",
        "sessions/",
        "patterns/",
        "title: Preferences",
        "- [communication]",
        "relates_to [[",
        "search_notes",
        "build_context",
        "recent_activity",
        "read_note",
        "Preferences of the person",
        "State of a project",
        "Sessions:",
    ] {
        assert!(guide.contains(part), "{part}");
    }
    client.close();
}

#[test]
fn what_the_tool_writes_is_found_at_once_and_is_its_clients() {
    let world = World::new();
    let mut client = Client::start(&world);
    client.ok("memory", create("/memories/user/preferences.md", PREFERENCES));
    let found = client.ok("memory_recall", json!({ "query": "concise responses" }));
    assert!(found.contains("in /memories/user/preferences.md") && found.contains("prefers concise"), "{found}");
    let old = json!({ "command": "str_replace", "path": "/memories/user/preferences.md",
        "old_str": "concise responses", "new_str": "direct, concise responses" });
    client.ok("memory", old);
    assert!(client.ok("memory_recall", json!({ "query": "direct responses" })).contains("prefers direct, concise"));
    let id = number(&world, "direct, concise");
    let history = world.json(&["history", &id]);
    assert_eq!(history.as_array().unwrap().len(), 2, "one memory, changed once: {history}");
    for change in history.as_array().unwrap() {
        assert_eq!((&change["origin"], &change["client"]), (&json!("agent"), &json!("test 1")), "{history}");
    }
    client.ok("memory", json!({ "command": "delete", "path": "/memories/user" }));
    assert_eq!(client.ok("memory_recall", json!({ "query": "direct responses" })), "No memory matches: 8 tokens.\n");
    client.close();
}

#[test]
fn only_what_takes_nothing_away_is_approved_unasked() {
    let world = World::new();
    let decided = |tool: &str, input: Value| {
        let payload = event(&world, "PreToolUse", "s", json!({ "tool_name": tool, "tool_input": input }));
        hook(&world, payload.to_string().as_bytes(), &[]).stdout.contains("allow")
    };
    for server in SERVERS {
        let memory = format!("{server}memory");
        for command in ["view", "create", "str_replace", "insert", "rename"] {
            assert!(decided(&memory, json!({ "command": command, "path": "/memories/a" })), "{command}");
        }
        for input in
            [json!({ "command": "delete" }), json!({ "command": "Create" }), json!({ "command": ["view"] }), json!({})]
        {
            assert!(!decided(&memory, input.clone()), "{input}");
        }
        assert!(NOTE_TOOLS.iter().all(|tool| decided(&format!("{server}{tool}"), json!({ "command": "delete" }))));
    }
    assert!(!decided("mcp__other__memory", json!({ "command": "view" })));
}

#[test]
fn set_up_turns_the_tool_on_and_takes_it_back() {
    for client in ["claude-code", "codex", "vscode"] {
        let world = World::new();
        let config = world.home().join("config.toml");
        fs::create_dir_all(world.home()).unwrap();
        let own = "# mine\n\n[recall]\nmax_tokens = 900\n";
        fs::write(&config, own).unwrap();
        let shown = world.run(&["setup", client, "--memory-files", "--dry-run"]);
        assert!(shown.stdout.contains("+memory_files = \"on\""), "{shown:?}");
        assert_eq!(fs::read_to_string(&config).unwrap(), own);
        assert_eq!(world.run(&["setup", client, "--memory-files", "--yes"]).code, Some(0));
        let settings = fs::read_to_string(&config).unwrap();
        assert!(settings.contains("memory_files = \"on\"") && settings.contains("# mine"), "{settings}");
        let again = world.run(&["setup", client, "--memory-files", "--yes"]);
        assert!(again.stderr.contains("nothing to change"), "{again:?}");
        assert_eq!(world.run(&["uninstall", "--yes"]).code, Some(0));
        assert_eq!(fs::read_to_string(&config).unwrap(), own);
        // Where the person changed it since, only what is ours is taken out.
        assert_eq!(world.run(&["setup", client, "--memory-files", "--yes"]).code, Some(0));
        fs::write(&config, format!("{}\n[hooks]\nauto_approve = false\n", fs::read_to_string(&config).unwrap()))
            .unwrap();
        assert_eq!(world.run(&["uninstall", "--yes"]).code, Some(0));
        let left = fs::read_to_string(&config).unwrap();
        assert!(!left.contains("memory_files") && left.contains("auto_approve") && left.contains("# mine"), "{left}");
    }
    let world = World::new();
    assert_eq!(world.run(&["setup", "cursor", "--memory-files", "--yes"]).code, Some(0));
    assert_eq!(world.run(&["uninstall", "--yes"]).code, Some(0));
    assert!(!world.home().join("config.toml").exists());
}

#[test]
fn a_part_is_changed_forgotten_and_brought_back_in_its_file() {
    let world = World::new();
    made(&world, "/memories/user/preferences.md", PREFERENCES);
    let file = world.home().join("memories/user/preferences.md");
    let (style, tests) = (number(&world, "concise"), number(&world, "tests first"));
    assert_eq!(world.run(&["update", &style, "--content", "prefers short responses #style"]).code, Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), PREFERENCES.replace("concise", "short"));
    assert_eq!(number(&world, "short responses"), style, "it is the same memory");
    for fields in [["--tags", "x"], ["--importance", "0.9"], ["--scope", "a/b"], ["--content", "two\nlines"]] {
        let refused = world.run(&["update", &style, fields[0], fields[1]]);
        assert!(refused.code == Some(1) && refused.stderr.contains("/memories/user/preferences.md "), "{refused:?}");
    }
    assert_eq!(world.run(&["update", &style, "--trust", "user"]).code, Some(0));
    assert_eq!(world.json(&["get", &style])["trust"], "user");

    assert_eq!(world.run(&["forget", &style]).code, Some(0));
    assert!(!fs::read_to_string(&file).unwrap().contains("responses"));
    assert!(world.found("short responses").is_empty());
    let how = world.run(&["restore", &style]);
    assert!(
        how.code == Some(1) && how.stderr.contains("tessera restore /memories/user/preferences.md --before"),
        "{how:?}"
    );
    let changes = world.json(&["history", "/memories/user/preferences.md"]);
    let rev = changes[0]["rev"].to_string();
    assert_eq!(world.run(&["restore", "memories/user/preferences.md", "--before", &rev]).code, Some(0));
    assert!(fs::read_to_string(&file).unwrap().contains("short responses"));
    assert_eq!(world.found("short responses"), [style.parse::<u64>().unwrap()]);

    assert_eq!(world.run(&["forget", &tests, "--hard"]).code, Some(0));
    assert!(!fs::read_to_string(&file).unwrap().contains("tests first"));
    assert_ne!(world.run(&["get", &tests]).code, Some(0));
    let changes = world.json(&["history", "/memories/user/preferences.md"]);
    assert!(!changes.to_string().contains("tests first"), "{changes}");
    let database = fs::read(world.home().join("tessera.db")).unwrap();
    let needle = b"tests first";
    assert!(!database.windows(needle.len()).any(|bytes| bytes == needle), "a word of it is left in the database");
    world.assert_healthy();
}

#[test]
fn a_file_is_forgotten_and_restored_with_its_parts() {
    let world = World::new();
    made(&world, "/memories/user/preferences.md", PREFERENCES);
    let file = world.home().join("memories/user/preferences.md");
    let style = number(&world, "concise");
    // What is no word of the file changes nothing of it.
    world.remember("Another memory");
    assert_eq!(world.run(&["link", &number(&world, "Another"), "see_also", &style]).code, Some(0));
    for name in ["/memories/user/preferences.md", "1"] {
        let gone = world.run(&["forget", name]);
        assert_eq!(gone.code, Some(0), "{gone:?}");
        assert!(!file.exists() && world.found("concise responses").is_empty());
        assert_eq!(world.run(&["restore", name]).code, Some(0));
        assert_eq!(fs::read_to_string(&file).unwrap(), PREFERENCES);
        assert_eq!(world.found("concise responses"), [style.parse::<u64>().unwrap()]);
    }
    // A part whose file is gone comes back with it; so does what the tool deleted.
    assert!(!told(&world, &json!({ "command": "delete", "path": "/memories/user" })).1);
    assert_eq!(world.run(&["restore", &style]).code, Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), PREFERENCES);
    let updated = world.run(&["update", "/memories/user/preferences.md", "--content", "- [fact] the gate is on elm"]);
    assert_eq!(updated.code, Some(0), "{updated:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "- [fact] the gate is on elm");
    let gate: u64 = number(&world, "gate is on elm").parse().unwrap();
    assert!(world.found("gate").contains(&gate));
    assert!(world.run(&["files", "scan"]).stdout.starts_with("0 new or changed, 0 renamed, 0 deleted, 0 written"));

    assert_eq!(world.run(&["forget", "/memories/user/preferences.md", "--hard"]).code, Some(0));
    assert!(!file.exists());
    for text in ["gate is on elm", "concise responses"] {
        let database = fs::read(world.home().join("tessera.db")).unwrap();
        assert!(!database.windows(text.len()).any(|bytes| bytes == text.as_bytes()), "{text}");
    }
    assert_ne!(world.run(&["restore", "/memories/user/preferences.md"]).code, Some(0));
    world.assert_healthy();
}

#[test]
fn a_link_of_a_file_is_nothing_that_is_written_to_it() {
    let world = World::new();
    made(&world, "/memories/a.md", "- [fact] the gate is on birch\n");
    world.remember("Another memory");
    assert_eq!(world.run(&["link", "1", "see_also", &number(&world, "Another")]).code, Some(0));
    world.run(&["files", "scan"]);
    let scanned = world.run(&["files", "scan"]);
    assert!(scanned.stdout.starts_with("0 new or changed, 0 renamed, 0 deleted, 0 written"), "{scanned:?}");
}

#[test]
fn a_file_that_no_memory_holds_whole_comes_back_as_it_was() {
    let world = World::new();
    let token = ["ghp", "_", "Zk3Rw8Qy5Tn1Vb7Mx4Lc9Jd2Hf6Gs0Pa8Ue"].concat();
    let secret = format!("- [fact] the deploy token is {token}\n- [fact] the gate is on birch\n");
    let long = "a line of the long text about oak\n".repeat(2_000);
    let binary = b"\xff\xfe\x00 no text".to_vec();
    let dir = world.home().join("memories/own");
    fs::create_dir_all(&dir).unwrap();
    for (name, bytes) in [("secret.md", secret.as_bytes()), ("long.md", long.as_bytes()), ("picture.bin", &binary)] {
        fs::write(dir.join(name), bytes).unwrap();
    }
    assert_eq!(world.run(&["files", "scan"]).code, Some(0));
    assert!(!told(&world, &json!({ "command": "delete", "path": "/memories/own" })).1);
    assert!(!dir.exists());
    let aside = world.home().join("deleted-files");
    assert_eq!(fs::metadata(&aside).unwrap().permissions().mode() & 0o777, 0o700);
    for kept in fs::read_dir(&aside).unwrap() {
        assert_eq!(kept.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    for (name, bytes) in [("secret.md", secret.as_bytes()), ("long.md", long.as_bytes()), ("picture.bin", &binary)] {
        let ran = world.run(&["restore", &format!("/memories/own/{name}")]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(fs::read(dir.join(name)).unwrap(), bytes, "{name}");
    }
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0, "it goes once it is back");
    // The directory comes back whole.
    assert!(!told(&world, &json!({ "command": "delete", "path": "/memories/own" })).1);
    let ran = world.run(&["restore", "/memories/own"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for (name, bytes) in [("secret.md", secret.as_bytes()), ("long.md", long.as_bytes()), ("picture.bin", &binary)] {
        assert_eq!(fs::read(dir.join(name)).unwrap(), bytes, "{name}");
    }
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
    assert_eq!(world.found("gate").len(), 1);
    // For good is for good.
    assert_eq!(world.run(&["forget", "/memories/own/secret.md"]).code, Some(0));
    assert!(!dir.join("secret.md").exists() && world.found("gate").is_empty());
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 1);
    assert_eq!(world.run(&["forget", "/memories/own/secret.md", "--hard"]).code, Some(0));
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
    assert_ne!(world.run(&["restore", "/memories/own/secret.md"]).code, Some(0));
    // Also of one that is there.
    assert_eq!(world.run(&["forget", "/memories/own/long.md", "--hard"]).code, Some(0));
    assert!(!dir.join("long.md").exists() && world.found("oak").is_empty());
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
    world.assert_healthy();
}

#[test]
fn a_folder_that_is_only_read_is_not_changed_by_any_verb() {
    let world = World::new();
    let notes = world.path("user/notes");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("a.md"), "- [fact] the gate is on birch\n").unwrap();
    assert_eq!(world.run(&["files", "add", notes.to_str().unwrap()]).code, Some(0));
    let gate = number(&world, "gate");
    for args in [
        vec!["update", &gate, "--content", "x"],
        vec!["forget", &gate],
        vec!["forget", &gate, "--hard"],
        vec!["forget", "/notes/a.md"],
        vec!["forget", "/notes/a.md", "--hard"],
        vec!["update", "/notes/a.md", "--content", "x"],
    ] {
        let refused = world.run(&args);
        assert!(refused.code == Some(1) && refused.stderr.contains("read-only"), "{args:?}: {refused:?}");
    }
    assert_eq!(fs::read_to_string(notes.join("a.md")).unwrap(), "- [fact] the gate is on birch\n");
    assert_eq!(world.found("gate").len(), 1);
}

#[test]
fn a_line_of_a_file_comes_with_those_around_it_and_says_where_it_stands() {
    let world = World::new();
    let lines: String =
        (1..=9).map(|line| format!("- [fact] step {line} of the launch is on birch {line}\n")).collect();
    made(&world, "/memories/launch.md", &format!("# Launch\n\n## Steps\n{lines}"));
    let fifth = number(&world, "step 5");
    let mut client = Client::start(&world);
    let around = client.ok("memory_get", json!({ "ids": [fifth] }));
    for near in 3..=7 {
        assert!(around.contains(&format!("step {near} of")), "{around}");
    }
    assert!(around.contains("in /memories/launch.md, Steps") && !around.contains("step 8 of"), "{around}");
    let tight = client.ok("memory_get", json!({ "ids": [fifth], "max_tokens": 90 }));
    assert!(tight.contains("step 5 of"), "{tight}");
    assert!(tiktoken_rs::o200k_base_singleton().encode_ordinary(&tight).len() <= 90, "{tight}");
    let whole = client.ok("memory_history", json!({ "id": "/memories/launch.md" }));
    assert!(whole.contains("create by agent"), "{whole}");
    client.close();
    assert!(world.run(&["why", &fifth]).stdout.contains("in /memories/launch.md, line 8, under Steps"));
    assert!(world.run(&["get", &fifth]).stdout.contains("/memories/launch.md, line 8, under Steps"));
    let explained = world.run(&["recall", "launch step 5", "--explain"]).stdout;
    assert!(explained.contains(&format!("#{fifth} in /memories/launch.md, line 8, under Steps")), "{explained}");
}

#[test]
fn the_seeds_procedure_runs_from_its_beginning_to_its_end() {
    let world = World::new();
    let path = "memories/user/preferences.md";
    let text = PREFERENCES.replace("\n\n## Relations", "\n\n\n## Relations");
    assert_eq!(text.lines().count(), 12);
    made(&world, path, &text);
    assert!(
        told(&world, &json!({ "command": "view", "path": path }))
            .0
            .contains("     7\t- [communication] prefers concise")
    );
    assert_eq!(world.found("concise responses").len(), 1);
    let replace = json!({ "command": "str_replace", "path": path, "old_str": "concise responses", "new_str": "direct, concise responses" });
    assert!(!told(&world, &replace).1);
    assert_eq!(world.found("direct responses").len(), 1);
    let insert = json!({ "command": "insert", "path": path, "insert_line": 10, "insert_text": "- [tools] edits with helix #editor" });
    assert_eq!(told(&world, &insert).0, format!("The file {path} has been edited."));
    assert_eq!(world.found("which editor, helix?").len(), 1);
    assert_eq!(told(&world, &json!({ "command": "delete", "path": path })).0, format!("Successfully deleted {path}"));
    assert!(world.found("direct responses").is_empty());
}
