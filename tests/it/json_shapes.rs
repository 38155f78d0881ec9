//! The JSON of every command has the shape that its schema in `docs/schemas` describes.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::plugin_kit::{answers, module};
use crate::shapes::conforms;
use crate::support::World;
use crate::support::hooks::{asked, hook, settled, stop, transcript};
use crate::support::older::{v_database, v_stores};

/// The schemas that this test does not check. `api/tests/team/json_shapes.rs` checks those that need a team server. The
/// evaluations take minutes or need data sets, and their schemas are only generated.
const ELSEWHERE: [&str; 15] = [
    "accept",
    "eval-compare",
    "eval-life",
    "eval-locomo",
    "eval-prompts",
    "eval-questions",
    "eval-secrets",
    "eval-time",
    "learn",
    "resolve",
    "secret-fetched",
    "share",
    "shares",
    "sync-join",
    "sync-now",
];

/// A world that compares each output with its schema.
struct Tour {
    world: World,
    seen: RefCell<BTreeSet<String>>,
}

impl Tour {
    fn new() -> Self {
        Self { world: World::new(), seen: RefCell::default() }
    }

    /// Runs a command, and compares its output. The exit code may report findings.
    fn run(&self, schema: &str, args: &[&str]) -> Value {
        let ran = self.world.run(&[args, &["--json"]].concat());
        let value: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {ran:?}"));
        self.has(schema, &value);
        value
    }

    fn has(&self, schema: &str, value: &Value) {
        conforms(schema, value);
        self.seen.borrow_mut().insert(schema.to_owned());
    }

    fn path(&self, name: &str) -> String {
        self.world.path(name).to_str().unwrap().to_owned()
    }
}

fn memories(tour: &Tour) {
    tour.run("remember", &["remember", "I", "prefer", "tabs in Go", "--tags", "go,style", "--metadata", "{\"a\":1}"]);
    tour.run("remember", &["remember", "The exporter listens on port 9417", "--expires", "never"]);
    tour.run("remember", &["remember", "The exporter listens on port 9418 now", "--reason", "it moved"]);
    tour.run("recall", &["recall", "which", "port", "does the exporter use?"]);
    tour.run("recall", &["recall", "exporter port", "--explain"]);
    tour.run("recall", &["recall", "exporter port", "--full"]);
    tour.run("recall", &["recall", "exporter", "--max-tokens", "90"]);
    tour.run("recall", &["recall", "grandmother's apple pie"]);
    tour.run("get", &["get", "2"]);
    let several = tour.world.json(&["get", "1", "2"]);
    several.as_array().unwrap().iter().for_each(|row| tour.has("get", row));
    tour.run("list", &["list", "--limit", "2"]);
    tour.run("update-many", &["update", "1,2", "--importance", "0.7"]);
    tour.run("remember", &["update", "2", "--content", "The exporter listens on port 9419"]);
    tour.run("history", &["history", "2"]);
    tour.run("undo", &["undo", "2"]);
    tour.run("link", &["link", "3", "supersedes", "2"]);
    tour.run("forget", &["forget", "1"]);
    tour.run("restore", &["restore", "1"]);
    tour.run("forget", &["forget", "--matching", "tabs", "--yes"]);
    tour.run("forget", &["forget", "1", "--hard"]);
    tour.run("purged", &["purged", "1"]);
    tour.run("unanswered", &["unanswered"]);
    tour.run("unanswered-clear", &["unanswered", "--clear"]);
    asked(&tour.world, "s1", "which port does the exporter listen on?");
    let path = tour.world.path("logs/s.jsonl");
    transcript(&path, &[("I prefer early returns in Go.", "Noted."), ("I prefer tabs for indentation.", "Noted.")]);
    let ended = stop(&tour.world, "s", &path, "Noted.").to_string();
    hook(&tour.world, ended.as_bytes(), &[("TESSERA_LEARN_REVIEW", "all")]);
    settled(&tour.world);
    let lines = tour.run("review", &["review"]);
    let [one, other] = [0, 1].map(|n| lines["proposals"][n]["id"].as_str().unwrap().to_owned());
    let reviewed = tour.run("review-results", &["review", "accept", &one]);
    assert_eq!(reviewed["results"][0]["done"], "stored");
    tour.run("review-results", &["review", "drop", &other, "bbbbbb"]);
    tour.run("statusline", &["statusline"]);
    tour.run("handoff", &["handoff", "--transcript", path.to_str().unwrap()]);
    tour.run("log", &["log"]);
    tour.run("why", &["why", "3"]);
    tour.run("usage", &["usage"]);
    tour.run("resolve-list", &["resolve"]);
    tour.run("sync-status", &["sync", "status"]);
    tour.run("sync-dead", &["sync", "dead"]);
    tour.run("sync-leave", &["sync", "leave"]);
    tour.run("demo", &["demo"]);
}

fn files(tour: &Tour) {
    let notes = tour.path("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(Path::new(&notes).join("a.md"), "# Harbour\n\n- [fact] The crane is red #ops\n").unwrap();
    fs::write(Path::new(&notes).join("b.bin"), [0, 1, 2]).unwrap();
    tour.run("files-add", &["files", "add", &notes]);
    tour.run("files-list", &["files", "list"]);
    tour.run("files-scan", &["files", "scan"]);
    tour.run("files-unread", &["files", "unread", "--days", "1"]);
    tour.run("files-unread-clear", &["files", "unread", "--days", "1", "--clear", "--yes"]);
    tour.run("note", &["note", "search", "crane"]);
    tour.run("note", &["note", "list"]);
    tour.run("note", &["note", "read", "Harbour"]);
    tour.run("graph", &["graph", "/notes/a.md"]);
    tour.run("files-remove", &["files", "remove", "notes"]);
    let view = br#"{"command":"view","path":"/memories"}"#;
    let ran = tour.world.run_with_stdin(&["memory-tool", "--json"], view);
    tour.has("memory-tool", &serde_json::from_str(&ran.stdout).unwrap());
}

fn data(tour: &Tour) {
    let lines = tour.path("lines.jsonl");
    fs::write(&lines, "{\"content\":\"The mill is on Elm Street\"}\nbroken\n").unwrap();
    tour.run("import", &["import", &lines]);
    let database = tour.world.path("memory.db");
    v_stores(&v_database(&database), 1, "The well is dry");
    tour.run("import-system", &["import", "claude-memory-mcp", database.to_str().unwrap(), "--dry-run"]);
    tour.run("import-system", &["import", "claude-memory-mcp", database.to_str().unwrap(), "--yes"]);
    let number = tour.run("import-list", &["import", "list"])["imports"][0]["n"].to_string();
    tour.run("import-undo", &["import", "--undo", &number, "--yes"]);
    let notes = tour.path("CLAUDE.md");
    fs::write(&notes, "# Rules\n\n- Use tabs in Go files\n").unwrap();
    tour.run("import-claude-md", &["import", "claude-md", &notes]);
    tour.run("import-detect", &["import", "--detect"]);
    tour.run("export", &["export", &tour.path("out.jsonl")]);
    tour.run("export-markdown", &["export", "--markdown", &tour.path("markdown")]);
    let backup = tour.path("backup.db");
    tour.run("backup", &["backup", &backup]);
    tour.run("restore-backup", &["restore-backup", &backup, "--yes"]);
}

fn secrets(tour: &Tour) {
    tour.run("remember", &["remember", "the staging password is hunter2!X9"]);
    let listed = tour.run("secret-list", &["secret", "list"]);
    let name = listed["secrets"][0]["name"].as_str().unwrap().to_owned();
    tour.run("secret-show", &["secret", "show", &name]);
    tour.run("secret-uses", &["secret", "uses"]);
    tour.run("secret-key", &["secret", "key"]);
    tour.run("secret-rotate-key", &["secret", "rotate-key"]);
    tour.run("secret-scan", &["secret", "scan"]);
    let id = tour.run("remember", &["remember", "The lamp of the shed is called purple lantern"])["id"].to_string();
    let hidden = tour.world.run_with_stdin(&["secret", "hide", &id, "--json"], b"purple lantern");
    tour.has("secret-hide", &serde_json::from_str(&hidden.stdout).unwrap());
    tour.run("secret-forget", &["secret", "forget", &name]);
    tour.run("remember", &["remember", "the gate of the warehouse opens with pumpkin soup"]);
    let listed = tour.world.json(&["secret", "list"]);
    let mut names = listed["secrets"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str());
    let probable = names.rfind(|one| *one != name).unwrap().to_owned();
    tour.run("secret-allow", &["secret", "allow", &probable]);
    tour.run("secret-allowed", &["secret", "list", "--allowed"]);
}

fn program(tour: &Tour) {
    tour.run("status", &["status"]);
    tour.run("status", &[]);
    tour.run("stats", &["stats"]);
    tour.run("doctor", &["doctor"]);
    tour.run("settings-set", &["settings", "set", "learn.extractor", "off"]);
    tour.run("settings-get", &["settings", "get", "learn.extractor"]);
    tour.run("settings", &["settings"]);
    tour.run("settings-path", &["settings", "path"]);
    tour.run("setup", &["setup", "cursor", "--dry-run"]);
    tour.run("setup", &["completions", "install", "bash", "--yes"]);
    tour.run("setup", &["uninstall", "--yes"]);
    tour.run("man-all", &["man", "--all", &tour.path("man")]);
    tour.run("project", &["project"]);
    tour.run("project-list", &["project", "list"]);
    let plugin = tour.path("guard.wasm");
    fs::write(&plugin, module(&answers(br#"{"note": "seen"}"#))).unwrap();
    let manifest = tour.path("guard.toml");
    fs::write(&manifest, "name = 'guard'\nevents = ['store.before']\n").unwrap();
    tour.run("plugin-new", &["plugin", "new", "mine", "--language", "sh"]);
    let added = tour.world.run(&["plugin", "add", &manifest, "--yes", "--json", "--command", "true"]);
    tour.has("plugin-add", &serde_json::from_str(&added.stdout).unwrap());
    tour.run("plugin-list", &["plugin", "list"]);
    let tested = tour.world.run(&["plugin", "test", "guard", "--json"]);
    tour.has("plugin-test", &serde_json::from_str(&tested.stdout).unwrap());
    tour.run("plugin-log", &["plugin", "log"]);
    tour.run("plugin-remove", &["plugin", "remove", "guard"]);
}

fn errors(tour: &Tour) {
    for (args, kind, code) in [
        (&["get", "999"][..], "not_found", 1),
        (&["nope"], "usage", 2),
        (&["list", "--limit", "all"], "usage", 2),
        (&["recall", "x", "--max-tokens", "3"], "usage", 2),
        (&["import", "/nowhere.jsonl"], "failed", 1),
        (&["settings", "set", "hooks.recall", "banana"], "usage", 2),
        (&["sync"], "usage", 2),
    ] {
        let ran = tour.world.run(&[args, &["--json"]].concat());
        assert!(ran.stdout.is_empty(), "{args:?}: {ran:?}");
        let value: Value =
            serde_json::from_str(&ran.stderr).unwrap_or_else(|error| panic!("{args:?}: {error}: {ran:?}"));
        tour.has("error", &value);
        assert_eq!((&value["error"]["kind"], ran.code), (&json!(kind), Some(code)), "{args:?}: {value}");
        assert_eq!(value["error"]["exit_code"], code, "{args:?}");
    }
    let named = tour.world.run(&["list", "--limit", "all", "--json"]).stderr;
    assert!(named.contains("\"argument\":\"--limit\""), "{named}");
    // Remarks on stderr are JSON too.
    fs::write(tour.world.home().join("config.toml"), "[hooks]\nrecal = 'off'\n").unwrap();
    let ran = tour.world.run(&["list", "--json"]);
    assert!(ran.stderr.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["note"].is_string()), "{ran:?}");
}

#[test]
fn the_json_of_every_command_has_the_shape_of_its_schema() {
    let tour = Tour::new();
    memories(&tour);
    files(&tour);
    data(&tour);
    secrets(&tour);
    program(&tour);
    errors(&tour);
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    let names = fs::read_dir(dir).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.strip_suffix(".json").map(str::to_owned)
    });
    let seen = tour.seen.borrow();
    let left: Vec<String> = names.filter(|name| !seen.contains(name) && !ELSEWHERE.contains(&name.as_str())).collect();
    assert!(left.is_empty(), "not checked: {left:?}");
}
