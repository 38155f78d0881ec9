//! What a session leaves behind for the next one.

use serde_json::json;

use crate::endpoint::{Answer, Asked};
use crate::stage::{Stage, client};

#[test]
fn a_stated_preference_is_recalled_in_a_new_session_and_a_changed_one_replaces_it() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client);
    stage.prompt("I prefer Svelte for front ends. Can you set up the project?", &[]);
    stage.learned();
    assert_eq!(stage.current("front end preference"), ["I prefer Svelte for front ends."]);
    let next = stage.prompt("which framework should the front ends use?", &[]);
    assert!(next.injected().join("").contains("Svelte"), "{:?}", next.injected());
    stage.prompt("Actually, I prefer Solid now instead of Svelte for front ends.", &[]);
    stage.learned();
    assert_eq!(
        stage.current("front end preference"),
        ["Actually, I prefer Solid now instead of Svelte for front ends."]
    );
    let last = stage.prompt("which framework should the front ends use?", &[]);
    let blocks = last.injected().join("");
    assert!(blocks.contains("I prefer Solid") && !blocks.contains("I prefer Svelte"), "{blocks}");
    assert!(stage.json(&["get", "1"])["links"].is_array());
}

#[test]
fn forget_that_takes_back_what_was_learned_last() {
    let Some(client) = client() else { return };
    let stage = Stage::new(client);
    let first = stage.prompt("I prefer tabs over spaces in Go code.", &[]);
    stage.learned();
    assert_eq!(stage.current("tabs or spaces").len(), 1);
    stage.prompt("hmm, forget that", &["--resume", first.session()]);
    stage.learned();
    assert_eq!(stage.current("tabs or spaces"), Vec::<String>::new());
}

#[test]
fn the_user_sees_what_was_learned_and_decides_about_what_waits() {
    let Some(client) = client() else { return };
    let mut stage = Stage::new(client);
    let first = stage.prompt("I prefer tabs over spaces in Go code.", &[]);
    stage.learned();
    let messages = stage.messages("which editor settings matter here?", &["--resume", first.session()]);
    let shown = "Tessera: learned #1 I prefer tabs over spaces in Go code.";
    let count = |messages: &str| messages.lines().filter(|line| line.contains(shown)).count();
    assert_eq!(count(&messages), 1, "{messages}");
    let again = stage.messages("and which linter settings matter here?", &["--resume", first.session()]);
    assert_eq!(count(&again), 0, "{again}");

    stage.variables.push(("TESSERA_LEARN_REVIEW".into(), "all".into()));
    stage.prompt("We decided to use Postgres for the ledger.", &[]);
    stage.learned();
    let line = stage.json(&["review"])["proposals"][0]["id"].as_str().unwrap().to_owned();
    let question = "which database does the ledger use?";
    let waiting = stage.prompt(question, &[]).injected().join("");
    assert!(!waiting.contains("Postgres"), "a waiting line is never injected: {waiting}");
    stage.tessera(&["review", "accept", &line]);
    assert!(stage.prompt(question, &[]).injected().join("").contains("Postgres"));
}

fn is_judge(asked: &Asked) -> bool {
    asked.everything().contains("You pick out what an assistant must still know")
}

#[test]
fn a_paid_judge_learns_within_its_cap_and_its_child_runs_no_hooks() {
    let Some(client) = client() else { return };
    // Set up for the user: without its guards the judge's child would fire the very same hooks.
    let mut stage = Stage::new(client.clone()).without_plugin();
    stage.tessera(&["setup", "claude-code", "--yes"]);
    let dir = stage.at("bin");
    std::fs::create_dir_all(&dir).unwrap();
    std::os::unix::fs::symlink(&client, dir.join("claude")).unwrap();
    stage.variables.push(("PATH".into(), format!("{}:/usr/bin:/bin", dir.display())));
    stage.variables.push(("TESSERA_LEARN_EXTRACTOR".into(), "claude".into()));
    stage.endpoint.script(|asked| {
        if !is_judge(asked) {
            return Answer::text("Understood.");
        }
        let events = json!({ "events": [{ "type": "decision", "content": "Invoices are numbered per calendar year",
            "importance": 0.7, "tags": "invoices", "expanded_keywords": "billing numbering", "supersedes": null }] });
        Answer::call("StructuredOutput", events)
    });
    let run = stage.prompt("the invoices shall be numbered anew every calendar year, as the tax office asks", &[]);
    stage.learned();
    assert_eq!(stage.current("invoice numbering"), ["Invoices are numbered per calendar year"]);
    let judged: Vec<Asked> = stage.endpoint.take().into_iter().filter(is_judge).collect();
    assert!(
        judged.iter().all(|asked| asked.model().contains("haiku")),
        "{:?}",
        judged.iter().map(Asked::model).collect::<Vec<_>>()
    );
    assert!(judged.iter().all(|asked| asked.injected().is_empty()));
    let ledger = stage.json(&["usage"]);
    let claude = &ledger[0]["extractors"][0];
    assert_eq!((claude["extractor"].as_str(), claude["calls"].as_u64()), (Some("claude"), Some(1)), "{ledger}");
    assert!(claude["input_tokens"].as_u64().unwrap() >= 100, "{ledger}");
    let log = stage.json(&["log", "--limit", "100"]);
    let strangers: Vec<_> = log.as_array().unwrap().iter().filter(|row| row["session"] != run.session()).collect();
    assert!(strangers.is_empty(), "hooks fired in the child: {strangers:?}");

    stage.tessera(&["settings", "set", "learn.daily_tokens", "200"]);
    stage.prompt("We decided to keep the archive for ten years because the law asks for it.", &[]);
    stage.learned();
    assert!(stage.endpoint.take().iter().all(|asked| !is_judge(asked)), "the cap is a hard stop");
    assert_eq!(stage.current("archive ten years law").len(), 1, "the free judge goes on");
}
