//! What runs without a permission prompt, and what does not.

use serde_json::json;

use crate::endpoint::Answer;
use crate::stage::{Stage, client};

/// Has the model call one tool and repeat what it gave.
fn call(stage: &Stage, tool: &str, input: serde_json::Value) -> serde_json::Value {
    let name = tool.to_owned();
    stage.endpoint.script(move |asked| {
        if asked.is_tool_result() { Answer::text(asked.last()) } else { Answer::call(name.clone(), input.clone()) }
    });
    stage.prompt("go on with the tool", &[]).report
}

#[test]
fn storing_and_recalling_need_no_permission_and_forgetting_does() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client);
    let stored = call(&stage, &stage.tool("memory_store"), json!({ "content": "The staging server is called heron" }));
    assert_eq!(stored["permission_denials"], json!([]), "{stored}");
    assert!(stored["result"].as_str().unwrap().contains("Stored #1"), "{stored}");
    let recalled = call(&stage, &stage.tool("memory_recall"), json!({ "query": "staging server", "max_tokens": 200 }));
    assert!(recalled["result"].as_str().unwrap().contains("heron"), "{recalled}");
    let memory = stage.json(&["get", "1"]);
    assert_eq!(memory["session"], stored["session_id"], "{memory}");
    for (tool, input) in [
        (stage.tool("memory_forget"), json!({ "ids": ["1"], "hard": true })),
        (stage.tool("memory_delete"), json!({ "id": "1" })),
        (stage.tool("secret_get"), json!({ "name": "key" })),
        ("Bash".to_owned(), json!({ "command": "rm -rf store", "description": "x" })),
    ] {
        let report = call(&stage, &tool, input);
        let is_denied = report["permission_denials"].as_array().is_some_and(|denials| !denials.is_empty());
        let is_unknown = report["result"].as_str().unwrap_or("").contains("No such tool");
        assert!(is_denied || is_unknown, "{tool}: {report}");
    }
    assert_eq!(stage.current("staging server").len(), 1);
}

#[test]
fn the_off_switch_leaves_every_decision_to_the_client() {
    let Some(client) = client() else { return };
    let mut stage = Stage::new(client);
    stage.variables.push(("TESSERA_HOOKS_AUTO_APPROVE".into(), "off".into()));
    let report = call(&stage, &stage.tool("memory_store"), json!({ "content": "x y z" }));
    assert_eq!(report["permission_denials"].as_array().map(Vec::len), Some(1), "{report}");
}
