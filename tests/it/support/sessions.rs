//! Scripted sessions of Claude Code: their transcripts, their ends, and the starts of later ones.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::hooks::{context_of, event, hook};
use super::{Ran, World};

/// Rows of a transcript as Claude Code writes them.
pub(crate) fn transcript_of(session: &Value) -> String {
    let steps = session["steps"].as_array().unwrap();
    let mut lines = Vec::new();
    let mut row = |kind: &str, content: Value| {
        let number = lines.len();
        let at = format!("2026-11-20T10:{:02}:{:02}Z", number / 60, number % 60);
        let message = json!({ "role": kind, "content": content });
        lines.push(
            json!({ "type": kind, "uuid": format!("r{number}"), "timestamp": at, "gitBranch": session["branch"],
                    "isSidechain": false, "message": message })
            .to_string(),
        );
    };
    for (number, step) in steps.iter().enumerate() {
        if let Some(text) = step["user"].as_str() {
            row("user", json!(text));
        } else if let Some(text) = step["assistant"].as_str() {
            row("assistant", json!([{ "type": "text", "text": text }]));
        } else {
            let id = format!("call{number}");
            row("assistant", json!([{ "type": "tool_use", "id": id, "name": step["tool"], "input": step["input"] }]));
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": step["result"], "is_error": step["is_error"] });
            row("user", json!([result]));
        }
    }
    lines.join("\n") + "\n"
}

pub(crate) fn handoff(world: &World, args: &[&str]) -> Ran {
    let mut command = world.command(World::binary());
    command.current_dir(world.path("work")).arg("handoff").args(args).output().unwrap().into()
}

pub(crate) fn shown(world: &World, args: &[&str]) -> Value {
    let ran = handoff(world, &[args, &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// A session that did some work. Each call is another session.
pub(crate) fn short_session(world: &World, name: &str, request: &str) -> PathBuf {
    let session = json!({ "branch": "main", "files": {}, "steps": [
        { "user": request },
        { "tool": "Bash", "input": { "command": "make check" }, "result": "Exit code 2\nerror: no rule", "is_error": true },
        { "assistant": "The target is missing. Shall I add it?" },
    ] });
    let path = world.path(&format!("{name}.jsonl"));
    fs::write(&path, transcript_of(&session)).unwrap();
    path
}

pub(crate) fn ends(world: &World, name: &str, transcript: &Path, now: &str) {
    for kind in ["Stop", "SessionEnd"] {
        let ended = event(world, kind, name, json!({ "transcript_path": transcript }));
        let ran =
            hook(world, ended.to_string().as_bytes(), &[("TESSERA_NOW", now), ("TESSERA_LEARN_EXTRACTOR", "off")]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    }
}

/// What a new session receives at its start.
pub(crate) fn starts(world: &World, name: &str, cwd: &str, variables: &[(&str, &str)]) -> Option<String> {
    let mut started = event(world, "SessionStart", name, json!({ "source": "startup" }));
    started["cwd"] = json!(world.path(cwd));
    context_of(&hook(world, started.to_string().as_bytes(), variables))
}

pub(crate) const REQUEST: &str = "add a check target to the makefile of the ledger";
pub(crate) const NOW: &str = "2026-11-20T11:00:00Z";

pub(crate) fn world_with_store() -> World {
    let world = World::new();
    fs::create_dir_all(world.path("work")).unwrap();
    fs::create_dir_all(world.path("other")).unwrap();
    world.json(&["remember", "The ledger is written in Go", "--scope", "elsewhere"]);
    world
}

pub(crate) fn bash(command: &str, result: &str) -> Value {
    json!({ "tool": "Bash", "input": { "command": command }, "result": result, "is_error": result.starts_with("Exit code") })
}

/// The sessions of a fixture.
pub(crate) fn scripted(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/handoff").join(name);
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}
