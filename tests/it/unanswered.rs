//! What was asked in vain, through the command line and the tools.

use serde_json::{Value, json};

use crate::support::hooks::asked;
use crate::support::{Client, World};

const VAIN: &str = "who prunes the birch in the garden?";

fn world() -> World {
    let world = World::new();
    // By words alone it is known to the word what answers and what does not.
    world.json(&["settings", "set", "recall.semantic", "off"]);
    world.remember("The staging database runs on birch");
    world
}

fn gaps(world: &World) -> Vec<Value> {
    world.json(&["unanswered", "--all"])["topics"].as_array().unwrap().clone()
}

#[test]
fn questions_of_every_face_are_counted_and_their_words_are_not_kept() {
    let world = world();
    assert!(world.run(&["unanswered"]).stderr.contains("no unanswered questions"));
    world.run(&["recall", VAIN]);
    world.run(&["recall", "--json", "the garden, the birch: who prunes it?"]);
    Client::start(&world).ok("memory_recall", json!({ "query": VAIN }));
    // Nobody asked.
    asked(&world, "s1", VAIN);
    let found = gaps(&world);
    assert_eq!((found.len(), &found[0]["times"], &found[0]["topic"]), (1, &json!(3), &json!("birch")));
    let ran = world.run(&["unanswered"]);
    assert!(
        ran.code == Some(0) && ran.stdout.contains("birch") && ran.stderr.contains("recall.keep_questions"),
        "{ran:?}"
    );
    for file in std::fs::read_dir(world.home()).unwrap().flatten() {
        let bytes = std::fs::read(file.path()).unwrap_or_default();
        let has = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
        assert!(!has(b"prune") && !has(b"garden"), "{}", file.path().display());
    }
    world.assert_healthy();
}

#[test]
fn questions_are_kept_where_the_person_wants_it_until_something_answers_or_they_are_cleared() {
    let world = world();
    let set = world.run(&["settings", "set", "recall.keep_questions", "maybe"]);
    assert_eq!(set.code, Some(2), "{set:?}");
    world.json(&["settings", "set", "recall.keep_questions", "on"]);
    world.run(&["recall", VAIN]);
    Client::start(&world).ok("memory_recall", json!({ "query": "zymurgy of quokkas" }));
    let topics = |found: Vec<Value>| found.into_iter().map(|gap| gap["topic"].clone()).collect::<Vec<_>>();
    assert_eq!(topics(gaps(&world)).len(), 2);
    world.remember("Tom prunes the birch in the garden every March");
    let ran = world.run(&["unanswered"]);
    assert!(ran.stdout.contains("quokkas") && !ran.stdout.contains("garden"), "{ran:?}");
    assert!(ran.stderr.contains("1 more topics now have an answer"), "{ran:?}");
    assert!(world.run(&["unanswered", "--all"]).stdout.contains("answered by #2 now"));
    assert_eq!(world.json(&["unanswered", "--clear"])["forgotten"], 2);
    assert!(gaps(&world).is_empty());
}

#[test]
fn the_worker_puts_questions_into_the_store() {
    let world = world();
    world.run(&["recall", VAIN]);
    let log = world.home().join("questions.log");
    assert!(log.exists());
    assert_eq!(world.run(&["learn"]).code, Some(0));
    assert!(!log.exists() && gaps(&world).len() == 1);
}

#[test]
fn what_is_removed_for_good_is_not_told_by_what_was_asked_about_it() {
    let world = world();
    world.json(&["settings", "set", "recall.keep_questions", "on"]);
    world.run(&["recall", VAIN]);
    world.run(&["recall", "zymurgy of quokkas"]);
    world.run(&["forget", "1", "--hard"]);
    let found = gaps(&world);
    assert_eq!((found.len(), &found[0]["topic"]), (1, &json!("zymurgy of quokkas")));
}
