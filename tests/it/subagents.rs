//! What a subagent receives for its task.

use serde_json::{Value, json};

use crate::support::World;
use crate::support::hooks::{asked, event, faults, hook, settled};

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

const REPORT: &str = "I read the deployment scripts.\n\n- **The nightly batch of the ledger always runs at three, from deploy/cron.d/ledger.**\n- Done.";

/// Ends a subagent with a report.
fn reports(world: &World, agent: &str, report: &str, variables: &[(&str, &str)]) {
    let fields = json!({ "agent_id": agent, "agent_type": "Explore", "transcript_path": world.path("s.jsonl"),
                         "agent_transcript_path": world.path("a.jsonl"), "last_assistant_message": report });
    let ran = hook(world, event(world, "SubagentStop", "s", fields).to_string().as_bytes(), variables);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "output would continue the turn of the subagent");
    settled(world);
}

fn waiting(world: &World) -> Vec<String> {
    let listed = world.json(&["review"]);
    let lines = listed["proposals"].as_array().unwrap().iter().filter_map(|row| row["line"]["content"].as_str());
    lines.map(str::to_owned).collect()
}

#[test]
fn the_findings_of_subagents_wait_for_review_once_and_are_never_injected() {
    let world = World::new();
    world.remember("The ledger is written in Go");
    reports(&world, "a1", REPORT, &[]);
    reports(&world, "a2", REPORT, &[]);
    assert_eq!(waiting(&world), ["The nightly batch of the ledger always runs at three, from deploy/cron.d/ledger."]);
    let prompt =
        event(&world, "UserPromptSubmit", "s", json!({ "prompt": "when does the nightly batch of the ledger run?" }));
    let shown = hook(&world, prompt.to_string().as_bytes(), &[]).stdout;
    assert!(shown.contains("1 line waits") && !shown.contains("at three"), "{shown}");
    let line = world.json(&["review"])["proposals"][0].clone();
    assert!(line["line"]["tags"].to_string().contains("subagent"), "{line}");
    world.run(&["review", "drop", line["id"].as_str().unwrap()]);
    reports(&world, "a3", REPORT, &[]);
    assert_eq!(waiting(&world), [] as [&str; 0], "a dropped line is not proposed again");
    assert_eq!(world.contents().len(), 1);
    assert_eq!(faults(&world), [] as [&str; 0]);
}

#[test]
fn odd_reports_and_switched_off_learning_propose_nothing() {
    let world = World::new();
    world.remember("The ledger is written in Go");
    for variable in [("TESSERA_LEARN_REVIEW", "off"), ("TESSERA_LEARN_EXTRACTOR", "off")] {
        reports(&world, "a1", REPORT, &[variable]);
    }
    let secret = format!("- The staging database always accepts the password {}-{}.", "Tr4vel", "92xQ!7pL");
    for report in ["", "\0", "?", "I searched and found nothing.", &secret, &"x ".repeat(100_000)] {
        reports(&world, "a1", report, &[]);
    }
    reports(&world, &"a".repeat(4_000), REPORT, &[]);
    let fields = json!({ "last_assistant_message": REPORT, "transcript_path": 7 });
    hook(&world, event(&world, "SubagentStop", "s", fields).to_string().as_bytes(), &[]);
    settled(&world);
    assert_eq!(waiting(&world), [] as [&str; 0]);
    assert_eq!(faults(&world), [] as [&str; 0]);
}
