//! Killed clients, sessions side by side, and set-up without the plugin.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::endpoint::Answer;
use crate::stage::{Stage, client, until};

#[test]
fn a_client_that_is_killed_loses_nothing_and_leaves_no_process() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client);
    let store = stage.tool("memory_store");
    stage.endpoint.script(move |asked| {
        if asked.is_tool_result() {
            std::thread::sleep(Duration::from_secs(3));
            return Answer::text("done");
        }
        Answer::call(store.clone(), json!({ "content": "The canary memory was stored before the kill" }))
    });
    let mut child = stage.start("store the canary");
    until("the model got the tool's result", || stage.endpoint.count() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    until("no process is left", || stage.processes().is_empty());
    assert_eq!(stage.current("canary"), ["The canary memory was stored before the kill"]);
    assert!(stage.tessera(&["doctor"]).contains("ok"));
}

#[test]
fn two_sessions_at_once_learn_both() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client);
    let children = [
        stage.start("I prefer tabs over spaces in Go code."),
        stage.start("We decided to use PostgreSQL for the ledger because of its constraints."),
    ];
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    stage.learned();
    assert_eq!(stage.json(&["list"])["total_count"], 2, "{}", stage.tessera(&["list"]));
    assert_eq!(stage.processes(), Vec::<String>::new());
}

#[test]
fn set_up_without_the_plugin_works_and_is_taken_back_byte_for_byte() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client).without_plugin();
    let settings = stage.at("home/.claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let odd = "{\n\t\"hooks\" : { \"Stop\": [ {\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]} ] },\n   \"theme\":\"dark\"}";
    fs::write(&settings, odd).unwrap();
    stage.tessera(&["setup", "claude-code", "--yes"]);
    assert!(stage.client_says(&["mcp", "list"]).contains("Connected"));
    let stored = stage.tool("memory_store");
    stage.endpoint.script(move |asked| {
        if asked.is_tool_result() {
            return Answer::text(asked.last());
        }
        Answer::call(stored.clone(), json!({ "content": "The exporter listens on port 9417" }))
    });
    let run = stage.prompt("store it", &[]);
    assert_eq!(run.report["permission_denials"], json!([]), "{}", run.report);
    stage.endpoint.script(|_| Answer::text("done"));
    let asked = stage.prompt("on which port does the exporter listen?", &[]);
    assert!(asked.injected().join("").contains("9417"), "{:?}", asked.injected());
    let doctor = stage.tessera(&["doctor"]);
    assert!(doctor.contains("answers: tessera") && doctor.contains("last recall"), "{doctor}");
    stage.tessera(&["uninstall", "--yes"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), odd);
    let rest = fs::read_to_string(stage.at("home/.claude.json")).unwrap_or_default();
    assert!(!rest.contains("tessera\""), "{rest}");
    let after = stage.prompt("on which port does the exporter listen?", &[]);
    assert_eq!(after.injected(), Vec::<String>::new());
}
