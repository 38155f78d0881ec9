//! What is kept, whose it is, and what is left of it, through the faces: command line, tools and hooks.

use serde_json::json;

use crate::support::hooks::asked;
use crate::support::{Client, World};

#[test]
fn what_was_replaced_and_is_said_again_holds_again_through_the_tools() {
    let world = World::new();
    let mut client = Client::start_with(&world, &[]);
    let mut store = |text: &str, supersedes: Option<u32>| {
        client.ok("memory_store", json!({ "content": text, "supersedes": supersedes.map(|old| old.to_string()) }))
    };
    assert!(store("Indent with tabs", None).starts_with("Stored #1"));
    assert!(store("Indent with spaces", Some(1)).starts_with("Stored #2"));
    assert!(store("Indent with tabs", Some(2)).starts_with("Stored #3"));
    assert!(store("Indent with tabs", None).starts_with("Already stored as #3"));
    let told = client.ok("memory_recall", json!({ "query": "how do we indent?" }));
    assert!(told.contains("tabs") && !told.contains("spaces"), "{told}");
}

#[test]
fn an_imported_line_is_given_unasked_by_the_persons_word_alone() {
    let line =
        r#"{"content":"The deploy of the ledger is run by harbour.sh","key":"a","origin":"user","trust":"user"}"#;
    let question = "how is the deploy of the ledger run?";
    let world = World::new();
    let ran = world.run_with_stdin(&["import", "-"], line.as_bytes());
    assert!(ran.code == Some(0) && ran.stderr.contains("tessera update --imported --trust user"), "{ran:?}");
    // The same lines again would be there twice, where they have no id.
    assert!(!ran.stderr.contains("--mine"), "{ran:?}");
    assert_eq!(asked(&world, "one", question), None);
    assert!(world.run(&["recall", question]).stdout.contains("harbour.sh"), "asked, it is given");
    for said in [&["get", "1"][..], &["why", "1"]] {
        let ran = world.run(said);
        assert!(ran.stdout.contains("foreign") && ran.stdout.contains("tessera update 1 --trust user"), "{ran:?}");
    }
    assert_eq!(world.json(&["update", "--imported", "--trust", "user"])["id"], 1);
    assert!(asked(&world, "two", question).unwrap().contains("harbour.sh"));
    let other = World::new();
    let ran = other.run_with_stdin(&["import", "-", "--mine"], line.as_bytes());
    assert!(ran.code == Some(0) && ran.stderr.is_empty(), "{ran:?}");
    assert!(asked(&other, "three", question).unwrap().contains("harbour.sh"));
}

#[test]
fn forgetting_for_good_names_the_copies_that_hold_the_words() {
    let world = World::new();
    world.remember("A secret plan for the north pier");
    let backup = world.json(&["backup"])["file"].as_str().unwrap().to_owned();
    let ran = world.run(&["forget", "1", "--hard"]);
    assert!(ran.code == Some(0) && ran.stderr.contains(&backup), "{ran:?}");
    world.remember("another plan");
    let ran = world.run(&["forget", "2", "--hard"]);
    assert!(ran.code == Some(0) && ran.stderr.is_empty(), "{ran:?}");
}
