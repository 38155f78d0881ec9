//! What a subagent receives for its task.

use serde_json::{Value, json};

use crate::support::World;
use crate::support::hooks::{asked, event, faults, hook};

const FACT: &str = "The nightly batch of the ledger runs at three";
const TASK: &str = "Find out when the nightly batch of the ledger runs, and report the time.";

/// The reply to the call that starts a subagent.
fn started(world: &World, session: &str, input: Value, variables: &[(&str, &str)]) -> Value {
    let event = event(world, "PreToolUse", session, json!({ "tool_name": "Agent", "tool_input": input }));
    let ran = hook(world, event.to_string().as_bytes(), variables);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap_or_default()
}

fn task(text: &str) -> Value {
    json!({ "description": "find a time", "prompt": text, "subagent_type": "general-purpose", "later_field": [1] })
}

#[test]
fn a_task_gets_its_memories_within_the_budget_and_keeps_its_other_fields() {
    let world = World::new();
    world.remember(FACT);
    for n in 0..30 {
        world.remember(&format!("The nightly batch of the ledger writes report {n} to the archive of the ledger"));
    }
    let reply = started(&world, "s", task(TASK), &[]);
    let output = reply["hookSpecificOutput"].as_object().unwrap();
    assert_eq!(
        output.keys().collect::<Vec<_>>(),
        ["hookEventName", "updatedInput"],
        "the client decides about the call"
    );
    let updated = &output["updatedInput"];
    let mut unchanged = updated.clone();
    unchanged["prompt"] = json!(TASK);
    assert_eq!(unchanged, task(TASK));
    let prompt = updated["prompt"].as_str().unwrap();
    assert!(prompt.starts_with(&format!("{TASK}\n\n<memories>")) && prompt.contains(FACT), "{prompt}");
    let log = world.json(&["log"]);
    let delivered = &log[0];
    assert!(delivered["to_subagent"] == true && delivered["tokens"].as_u64().unwrap() <= 200, "{delivered}");
}

#[test]
fn nothing_that_the_parent_has_is_repeated_and_the_parent_still_gets_what_a_subagent_got() {
    let world = World::new();
    world.remember(FACT);
    assert!(started(&world, "s", task(TASK), &[])["hookSpecificOutput"]["updatedInput"].is_object());
    assert!(started(&world, "s", task(TASK), &[])["hookSpecificOutput"].is_object(), "another subagent needs it too");
    assert!(asked(&world, "s", "when does the nightly batch of the ledger run?").is_some());
    assert_eq!(started(&world, "s", task(TASK), &[]), Value::Null, "the parent has it now");
}

#[test]
fn unrelated_tasks_odd_calls_and_switched_off_recall_change_nothing() {
    let world = World::new();
    assert_eq!(started(&world, "s", task(TASK), &[]), Value::Null, "there is no store");
    world.remember(FACT);
    for input in [
        task("Rename the function foo to bar in all files of the parser."),
        task(""),
        task("ok"),
        json!({}),
        json!(null),
        json!([TASK]),
        json!({ "prompt": [{ "type": "text", "text": TASK }] }),
        json!({ "prompt": 7 }),
        task(&"x ".repeat(40_000)),
        task("\u{202e}\0🎉"),
    ] {
        assert_eq!(
            started(&world, "s", input.clone(), &[]),
            Value::Null,
            "{}",
            &input.to_string()[..40.min(input.to_string().len())]
        );
    }
    for off in ["TESSERA_HOOKS_SUBAGENTS", "TESSERA_HOOKS_RECALL"] {
        assert_eq!(started(&world, "s", task(TASK), &[(off, "off")]), Value::Null, "{off}");
    }
    let small = started(&world, "s", task(TASK), &[("TESSERA_HOOKS_SUBAGENT_TOKENS", "64")]);
    assert!(small.is_null() || small["hookSpecificOutput"]["updatedInput"]["prompt"].is_string());
    assert_eq!(faults(&world), Vec::<String>::new());
}
