//! What a directory says of itself is believed unasked only where the person's own doing bears it out.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::hooks::{context_of, event, hook, settled, stop, transcript};
use crate::support::{Client, Ran, World};

const LEDGER: &str = "github.com/acme/ledger";
const ASKED: &str = "when does the ledger nightly batch reconcile against the vault?";

/// A clone: a directory with that origin.
fn clone(world: &World, name: &str, origin: &str) -> PathBuf {
    let dir = world.path(name);
    fs::create_dir_all(dir.join(".git")).unwrap();
    fs::write(dir.join(".git/config"), format!("[remote \"origin\"]\n\turl = {origin}\n")).unwrap();
    dir
}

/// A store with a private note of a project, made in its own clone.
fn with_note(world: &World) -> PathBuf {
    let own = clone(world, "ledger", "git@github.com:acme/ledger.git");
    let note = "the acme ledger nightly batch reconciles against the vault at 03:15 using key slot 7";
    let ran = run_in(world, &own, &["remember", note, "--scope", LEDGER]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    own
}

fn run_in(world: &World, dir: &Path, args: &[&str]) -> Ran {
    world.command(World::binary()).args(args).current_dir(dir).output().unwrap().into()
}

fn payload(dir: &Path, name: &str, session: &str, fields: Value) -> String {
    let mut payload = json!({ "hook_event_name": name, "session_id": session, "cwd": dir });
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    payload.to_string()
}

fn given_in(world: &World, dir: &Path, session: &str) -> Option<String> {
    let prompt = payload(dir, "UserPromptSubmit", session, json!({ "prompt": ASKED }));
    context_of(&hook(world, prompt.as_bytes(), &[]))
}

fn started(world: &World, dir: &Path, session: &str, source: &str) -> Value {
    let start = payload(dir, "SessionStart", session, json!({ "source": source }));
    let ran = hook(world, start.as_bytes(), &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    if ran.stdout.is_empty() { Value::Null } else { serde_json::from_str(&ran.stdout).unwrap() }
}

#[test]
fn a_repository_that_says_it_is_another_gets_nothing_unasked() {
    let world = World::new();
    let own = with_note(&world);
    assert!(given_in(&world, &own, "own").unwrap().contains("03:15"), "the first note made there confirms");
    assert!(given_in(&world, &own.join(".git"), "below").is_some());
    let named = world.path("named");
    fs::create_dir_all(&named).unwrap();
    fs::write(named.join(".tessera.toml"), format!("project = \"{LEDGER}\"\n")).unwrap();
    let cloned = clone(&world, "cloned", "https://evil@github.com/acme/ledger");
    let pointing = world.path("pointing");
    fs::create_dir_all(&pointing).unwrap();
    fs::write(pointing.join(".git"), format!("gitdir: {}\n", own.join(".git").display())).unwrap();
    let wish = ["remember", "I prefer terse commit messages", "--category", "preference"];
    assert_eq!(run_in(&world, &own, &wish).code, Some(0));
    let decided = ["remember", "We decided: the vault stays", "--category", "decisions", "--scope", LEDGER];
    assert_eq!(run_in(&world, &own, &decided).code, Some(0));
    for (number, dir) in [&named, &cloned, &pointing].into_iter().enumerate() {
        let session = format!("s{number}");
        assert_eq!(given_in(&world, dir, &session), None, "{dir:?}");
        let brief = started(&world, dir, &session, "startup");
        let text = brief["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(text.contains("terse") && !text.contains("vault"), "{text}");
        let notice = brief["systemMessage"].as_str().unwrap();
        assert!(notice.contains(LEDGER) && notice.contains("tessera project trust"), "{notice}");
        assert!(!notice.contains('\n') && !notice.contains("03:15"), "{notice}");
        let again = started(&world, dir, &format!("t{number}"), "startup");
        assert!(again["systemMessage"].is_null(), "said once: {again}");
        // Whoever asks is answered.
        let asked = run_in(&world, dir, &["recall", ASKED, "--project", LEDGER]);
        assert!(asked.stdout.contains("03:15"), "{asked:?}");
        let shown = run_in(&world, dir, &["project"]);
        assert!(shown.code == Some(0) && shown.stdout.contains("The directory is not trusted"), "{shown:?}");
        assert!(run_in(&world, dir, &["doctor"]).stdout.contains("tessera project trust"));
    }
    let brief = started(&world, &own, "own2", "startup");
    assert!(brief["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("vault"), "{brief}");
}

#[test]
fn a_clone_is_believed_once_the_person_says_so_and_no_longer_when_they_take_it_back() {
    let world = World::new();
    with_note(&world);
    let clone = clone(&world, "again", "https://github.com/acme/ledger.git");
    assert_eq!(given_in(&world, &clone, "a"), None);
    assert_eq!(run_in(&world, &clone, &["project", "trust"]).code, Some(0));
    assert!(given_in(&world, &clone, "b").unwrap().contains("03:15"));
    let shown: Value = serde_json::from_str(&run_in(&world, &clone, &["project", "--json"]).stdout).unwrap();
    assert_eq!((&shown["project"], &shown["believed"]), (&json!(LEDGER), &json!(true)));
    let listed: Value = serde_json::from_str(&world.run(&["project", "list", "--json"]).stdout).unwrap();
    let how: Vec<&str> = listed.as_array().unwrap().iter().map(|place| place["how"].as_str().unwrap()).collect();
    assert_eq!(how, ["told", "made"], "{listed}");
    // Another claim from the same place is another question.
    fs::write(clone.join(".tessera.toml"), "project = \"github.com/acme/payroll\"\n").unwrap();
    let payroll = ["remember", "the acme payroll nightly batch reconciles against the vault at noon", "--scope"];
    assert_eq!(world.run(&[&payroll[..], &["github.com/acme/payroll"]].concat()).code, Some(0));
    assert_eq!(given_in(&world, &clone, "c"), None);
    fs::remove_file(clone.join(".tessera.toml")).unwrap();
    let path = clone.to_str().unwrap();
    assert_eq!(world.run(&["project", "forget", path]).code, Some(0));
    assert_eq!(given_in(&world, &clone, "d"), None);
    let wrong = world.run(&["project", "trust", "/nowhere/at/all"]);
    assert!(wrong.code == Some(1) && wrong.stderr.contains("/nowhere/at/all"), "{wrong:?}");
}

#[test]
fn a_compaction_gives_back_nothing_of_a_project_that_is_not_believed_any_more() {
    let world = World::new();
    let own = with_note(&world);
    assert!(given_in(&world, &own, "s").is_some());
    hook(&world, payload(&own, "PreCompact", "s", json!({ "trigger": "auto" })).as_bytes(), &[]);
    assert_eq!(run_in(&world, &own, &["project", "forget"]).code, Some(0));
    let compacted = started(&world, &own, "s", "compact");
    assert!(!compacted.to_string().contains("03:15"), "{compacted}");
}

#[test]
fn what_is_made_through_a_client_or_learned_there_confirms_too() {
    let world = World::new();
    with_note(&world);
    let clones = ["by-tool", "by-turn"].map(|name| clone(&world, name, "https://github.com/acme/ledger.git"));
    let project = [("CLAUDE_PROJECT_DIR", clones[0].to_str().unwrap())];
    let mut client = Client::start_with(&world, &project);
    assert!(client.ok("memory_recall", json!({ "query": ASKED })).contains("03:15"), "asked for");
    assert_eq!(given_in(&world, &clones[0], "a"), None, "asking confirms nothing");
    client.ok("memory_store", json!({ "content": "The ledger has its own linter", "category": "facts" }));
    assert!(client.close().success());
    assert!(given_in(&world, &clones[0], "b").is_some());

    assert_eq!(given_in(&world, &clones[1], "c"), None);
    let path = world.path("logs/t.jsonl");
    transcript(&path, &[("We decided to use Liquibase for migrations in this project.", "Noted.")]);
    let mut stopped = stop(&world, "c", &path, "Noted.");
    stopped["cwd"] = json!(clones[1]);
    hook(&world, stopped.to_string().as_bytes(), &[]);
    settled(&world);
    assert!(world.contents().iter().any(|text| text.contains("Liquibase")), "{:?}", world.contents());
    assert!(given_in(&world, &clones[1], "d").is_some());
}

#[test]
fn a_directory_without_a_claim_needs_no_word() {
    let world = World::new();
    let plain = world.path("work");
    fs::create_dir_all(&plain).unwrap();
    let scope = plain.to_str().unwrap();
    world.run(&["remember", "the nightly batch of the ledger reconciles against the vault at noon", "--scope", scope]);
    let prompt = event(&world, "UserPromptSubmit", "s", json!({ "prompt": ASKED }));
    assert!(context_of(&hook(&world, prompt.to_string().as_bytes(), &[])).unwrap().contains("noon"));
    assert!(run_in(&world, &plain, &["project"]).stdout.contains("by its path"));
}

#[test]
fn the_same_words_are_the_same_memory_through_a_command_and_a_client() {
    let said = [
        json!({ "content": "The ledger has its own linter" }),
        json!({ "content": "I prefer short functions" }),
        json!({ "content": "Ines writes the release notes", "category": "people" }),
        json!({ "content": "The vault keeps ten key slots", "scope": "elsewhere" }),
        json!({ "content": "The ledger lints by clippy now", "supersedes": "1", "tags": "lint" }),
    ];
    let world = World::new();
    let dir = clone(&world, "ledger", "git@github.com:acme/ledger.git");
    let project = [("CLAUDE_PROJECT_DIR", dir.to_str().unwrap())];
    let mut client = Client::start_with(&world, &project);
    for one in &said {
        client.ok("memory_store", one.clone());
    }
    assert!(client.close().success());
    let by_client = stored(&world);

    let typed = World::new();
    let typed_dir = clone(&typed, "ledger", "git@github.com:acme/ledger.git");
    for one in &said {
        let mut args = vec!["remember", one["content"].as_str().unwrap()];
        for (flag, name) in
            [("--category", "category"), ("--scope", "scope"), ("--supersedes", "supersedes"), ("--tags", "tags")]
        {
            args.extend(one[name].as_str().into_iter().flat_map(|value| [flag, value]));
        }
        assert_eq!(run_in(&typed, &typed_dir, &args).code, Some(0), "{args:?}");
    }
    assert_eq!(stored(&typed), by_client);
    let mut client = Client::start_with(&world, &project);
    let asked = client.ok("memory_recall", json!({ "query": "which linter does the ledger have?" }));
    assert!(client.close().success());
    assert_eq!(run_in(&typed, &typed_dir, &["recall", "which linter does the ledger have?"]).stdout, asked);
    let scopes: Vec<&str> = by_client.iter().map(|memory| memory["scope"].as_str().unwrap()).collect();
    assert_eq!(scopes, [LEDGER, "global", "global", "elsewhere", LEDGER]);
    assert_eq!(by_client[4]["links"][0]["type"], "supersedes");
    // What they say of the directory is the same too.
    for (world, dir) in [(&world, &dir), (&typed, &typed_dir)] {
        let shown: Value = serde_json::from_str(&run_in(world, dir, &["project", "--json"]).stdout).unwrap();
        assert_eq!(shown["believed"], true, "{shown}");
    }
    let told = run_in(&typed, &typed_dir, &["remember", "The ledger is append-only"]).stdout;
    assert!(told.contains(&format!("of {LEDGER}")), "where it was filed is said: {told}");
    let told = run_in(&typed, &typed_dir, &["remember", "I prefer long variable names"]).stdout;
    let fix = format!("kept for all projects; `tessera update 7 --scope {LEDGER}` changes it");
    assert!(told.contains(&fix), "{told}");
}

/// Every memory as it is stored, but for what tells the two ways apart: who said it, and where this world is.
fn stored(world: &World) -> Vec<Value> {
    let export = world.run(&["export"]).stdout;
    let mut memories: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Ids are drawn: links are compared by the place of what they name.
    let ids: Vec<Value> = memories.iter().map(|memory| memory["uuid"].clone()).collect();
    for memory in &mut memories {
        let fields = memory.as_object_mut().unwrap();
        // Vectors come when there is time for them, and number a row anew.
        for name in ["uuid", "client", "origin", "session", "trust", "rev"] {
            fields.remove(name);
        }
        if let Some(cwd) = fields.get_mut("cwd").filter(|cwd| !cwd.is_null()) {
            *cwd = json!(cwd.as_str().unwrap().strip_prefix(world.path("").to_str().unwrap()));
        }
        for link in fields.get_mut("links").and_then(Value::as_array_mut).into_iter().flatten() {
            link["to"] = json!(ids.iter().position(|id| *id == link["to"]));
        }
    }
    memories
}
