//! What the model sees of the memory: the relevant, once, and after a compaction once more.

use crate::endpoint::Answer;
use crate::stage::{Run, Stage, client, old_client};

const SVELTE: &str = "I prefer Svelte over React for new front ends";
const PORT: &str = "The exporter listens on port 9417";

fn stocked(stage: &Stage) {
    stage.tessera(&["remember", SVELTE]);
    stage.tessera(&["remember", PORT]);
    stage.tessera(&["remember", "Grandmother's apple pie needs two pounds of apples"]);
}

/// The injection of the prompt alone; the brief of the session is another.
fn with(run: &Run, text: &str) -> usize {
    run.injected().iter().filter(|block| block.contains(text)).count()
}

fn relevant_memory_is_given_once(stage: &Stage) {
    stocked(stage);
    let first = stage.prompt("which port does the exporter listen on?", &[]);
    assert_eq!(with(&first, PORT), 1, "{:?}", first.injected());
    assert_eq!(with(&first, "apple"), 0, "{:?}", first.injected());
    eprintln!("--- what the model saw of the first prompt:\n{}", first.injected().join("\n---\n"));
    let again = stage.prompt("and on which port was the exporter again?", &["--resume", first.session()]);
    // The first injection is still in the conversation; no second one joined it.
    assert_eq!(with(&again, PORT), 1, "{:?}", again.injected());
    let before = again.injected().len();
    let unrelated = stage.prompt("please write a haiku about the sea at night", &["--resume", first.session()]);
    assert_eq!(unrelated.injected().len(), before, "{:?}", unrelated.injected());
    let log = stage.json(&["log", "--session", first.session()]);
    let given: Vec<bool> = log
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| r["event"] == "UserPromptSubmit")
        .map(|delivery| delivery["tokens"] != 0)
        .collect();
    assert_eq!(given, [true, false, false], "{log}");
}

#[test]
fn a_prompt_gets_the_relevant_memory_once_and_an_unrelated_one_nothing() {
    let Some(client) = client() else { return };
    relevant_memory_is_given_once(&Stage::new(client));
}

#[test]
fn an_older_client_gets_the_same() {
    let Some(client) = old_client() else { return };
    let stage = Stage::new(client);
    relevant_memory_is_given_once(&stage);
    let store = stage.tool("memory_store");
    stage.endpoint.script(move |asked| {
        if asked.is_tool_result() {
            return Answer::text(asked.last());
        }
        Answer::call(store.clone(), serde_json::json!({ "content": "The old client stored this" }))
    });
    let run = stage.prompt("store it", &[]);
    assert_eq!(run.report["permission_denials"], serde_json::json!([]), "{}", run.report);
    assert!(run.report["result"].as_str().unwrap().starts_with("Stored #"), "{}", run.report);
}

#[test]
fn a_new_session_is_told_standing_wishes_and_a_compacted_one_what_it_lost() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client);
    stocked(&stage);
    let first = stage.prompt("hello there, good morning", &[]);
    assert_eq!(with(&first, SVELTE), 1, "the brief: {:?}", first.injected());
    assert_eq!(with(&first, PORT), 0, "a fact is no standing wish");
    let asked = stage.prompt("on which port does the exporter listen?", &["--resume", first.session()]);
    assert_eq!(with(&asked, PORT), 1);
    stage.endpoint.script(|_| Answer::text("<summary>They talked of this and that.</summary>"));
    stage.prompt("/compact", &["--resume", first.session()]);
    stage.endpoint.script(|_| Answer::text("done"));
    let after = stage.prompt("hello again, thanks", &["--resume", first.session()]);
    eprintln!("--- what the model saw after the compaction:\n{}", after.injected().join("\n---\n"));
    assert_eq!(with(&after, PORT), 1, "{:?}", after.injected());
    assert_eq!(with(&after, SVELTE), 1, "{:?}", after.injected());
    let later = stage.prompt("on which port does the exporter listen now?", &["--resume", first.session()]);
    assert_eq!(with(&later, PORT), 1, "given once, not twice: {:?}", later.injected());
}

#[test]
fn commands_and_skills_of_the_plugin_reach_the_model() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client);
    stocked(&stage);
    let run = stage.prompt("/tessera:recall the exporter's port", &[]);
    let seen = run.asked[0].everything();
    assert!(seen.contains("Call `memory_recall` with this question") && seen.contains("the exporter's port"), "{seen}");
    assert_eq!(with(&run, PORT), 0, "the command asks for itself");
    assert!(seen.contains("memory-management"), "the skill is listed");
    assert!(seen.contains("Tessera is the user's long-term memory"), "the server's instructions");
}
