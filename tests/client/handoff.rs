//! What a session leaves for the next one, what its subagents found, and the plugin beside the settings.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::endpoint::Answer;
use crate::stage::{Stage, client, old_client};

const COMMAND: &str = "make check-ledger";

/// A session in which a command fails, and which ends with a question.
fn working_session(stage: &Stage) -> String {
    stage.tessera(&["remember", "I prefer Svelte over React for new front ends"]);
    stage.endpoint.script(|asked| {
        if asked.is_tool_result() {
            return Answer::text("There is no makefile. Shall I write one?");
        }
        Answer::call("Bash", json!({ "command": COMMAND, "description": "Check" }))
    });
    let run = stage.prompt("please check the ledger of this project", &["--allowedTools", "Bash"]);
    stage.learned();
    run.session().to_owned()
}

fn next_session_is_offered_what_the_last_one_did(stage: &Stage) {
    let session = working_session(stage);
    stage.endpoint.script(|_| Answer::text("done"));
    let next = stage.prompt("hello there, good morning", &[]);
    let seen = next.asked[0].everything();
    assert!(seen.contains(&format!("tessera handoff --session {session}")), "{seen}");
    assert!(seen.contains("please check the ledger of this project"), "{seen}");
    let third = stage.prompt("hello there, good evening", &[]);
    assert!(!third.asked[0].everything().contains("tessera handoff"), "once");
    let text = stage.tessera(&["handoff", "--session", &session]);
    for part in ["please check the ledger", COMMAND, "Commands that failed", "Shall I write one?"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    stage.endpoint.script(|_| Answer::text("<summary>They talked of this and that.</summary>"));
    stage.prompt("/compact", &["--resume", &session]);
    stage.endpoint.script(|_| Answer::text("done"));
    let after = stage.prompt("hello again, thanks", &["--resume", &session]);
    let seen = after.asked[0].everything();
    assert!(seen.contains("Commands that failed:") && seen.contains(COMMAND), "{seen}");
}

#[test]
fn a_session_hands_off_to_the_next_one_and_to_itself_after_a_compaction() {
    let Some(client) = client() else { return };
    next_session_is_offered_what_the_last_one_did(&Stage::new(client));
}

#[test]
fn an_older_client_hands_off_too() {
    let Some(client) = old_client() else { return };
    next_session_is_offered_what_the_last_one_did(&Stage::new(client));
}

#[test]
fn the_finding_of_a_subagent_waits_for_review() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client);
    stage.tessera(&["remember", "I prefer Svelte over React for new front ends"]);
    let mut has_started = false;
    stage.endpoint.script(move |asked| {
        if asked.everything().contains("SUBTASK") && !asked.is_tool_result() && has_started {
            return Answer::text("- The nightly batch of the ledger always runs at three, from deploy/cron.d/ledger.");
        }
        if std::mem::replace(&mut has_started, true) || asked.is_tool_result() {
            return Answer::text("done");
        }
        let input =
            json!({ "description": "a time", "prompt": "SUBTASK: find the time", "subagent_type": "general-purpose" });
        Answer::call("Task", input)
    });
    stage.prompt("please carry on with the other thing", &[]);
    stage.learned();
    let waiting = stage.tessera(&["review", "list"]);
    assert!(waiting.contains("nightly batch of the ledger"), "{waiting}");
    assert!(stage.current("when does the nightly batch of the ledger run?").is_empty(), "it is not a memory");
}

#[test]
fn a_plugin_without_its_program_reports_it_once_with_the_command() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client);
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/bin/tessera"), stage.program()).unwrap();
    fs::write(stage.at("Cargo.toml"), "[package]\nname = \"tessera-memory\"\n").unwrap();
    stage.endpoint.script(|_| Answer::text("done"));
    let shown = stage.messages("hello there", &[]);
    let command = format!("cargo install --locked --path '{}'", stage.at("").canonicalize().unwrap().display());
    assert!(shown.contains(&format!("the tessera program is not; run: {command}")), "{shown}");
    let session = shown.split("\"session_id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let again = stage.messages("hello again", &["--resume", &session]);
    assert!(again.contains("done") && !again.contains("the tessera program is not"), "{again}");
}

#[test]
fn an_installed_plugin_and_the_settings_act_once_together() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client).without_plugin();
    let dir = stage.at("home/.local/bin");
    fs::create_dir_all(&dir).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_tessera"), dir.join("tessera")).unwrap();
    stage.client_says(&["plugin", "marketplace", "add", env!("CARGO_MANIFEST_DIR")]);
    stage.client_says(&["plugin", "install", "tessera@tessera"]);
    let settings = stage.at("home/.claude/settings.json");
    let before = fs::read(&settings).unwrap();
    stage.tessera(&["remember", "The exporter listens on port 9417"]);
    stage.endpoint.script(|_| Answer::text("done"));
    let question = "on which port does the exporter listen?";
    let given = || stage.prompt(question, &[]).injected().join("").matches("9417").count();
    assert_eq!(given(), 1, "the plugin acts");
    let doctor = stage.tessera(&["doctor"]);
    assert!(doctor.contains("tessera@tessera is enabled, and runs tessera"), "{doctor}");
    stage.tessera(&["setup", "claude-code", "--yes"]);
    assert_eq!(given(), 1, "only the settings act");
    let doctor = stage.tessera(&["doctor"]);
    assert!(doctor.contains("the hooks and server of your settings act"), "{doctor}");
    stage.tessera(&["uninstall", "--yes"]);
    assert_eq!(fs::read(&settings).unwrap(), before);
    assert_eq!(given(), 1, "the plugin acts again");
}
