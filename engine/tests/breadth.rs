//! Replies of many short rows, and what one memory may take of a reply.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeSet;
use std::sync::Arc;

use tessera_engine::Store;
use tessera_engine::domain::{Breadth, Category, Draft, FixedClock, Origin, RecallRequest, Timestamp};
use tessera_engine::pack::{JsonRows, Recall};
use tessera_engine::score::Weights;
use tessera_engine::store::{SecretRules, StoreConfig, Usage};
use tessera_engine::text::{O200k, TokenCounter};

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(FixedClock("2026-11-20".parse().unwrap()));
    let config = StoreConfig {
        home: dir.path().join("h").into(),
        clock,
        weights: Weights::default(),
        usage: Usage::Serve,
        embedding: true,
        secrets: SecretRules::default(),
    };
    (dir, Store::open(config).unwrap())
}

fn check(recall: &Recall, budget: u32) {
    assert_eq!(recall.tokens_used, O200k.count(&recall.body), "{}", recall.body);
    assert!(recall.tokens_used <= budget, "{}", recall.body);
}

/// Notes on one thing over five weeks, stored in another order than they are of.
fn weeks() -> (tempfile::TempDir, Store) {
    let (dir, mut store) = store();
    for number in 0..35_i64 {
        let day = (number * 13) % 35;
        let created: Timestamp = "2026-10-01T08:00:00Z".parse().unwrap();
        let created = Timestamp::from_micros(created.as_micros() + day * 86_400_000_000);
        let more = "And a sentence that says nothing of it. ".repeat(usize::try_from(number % 4).unwrap() * 3);
        let text = format!("{more}On day {day} the harbour crane moved {number} crates. {more}");
        // These texts say nothing, so a derived category would be arbitrary; preferences rank higher.
        let category = Some(Category::default());
        let draft = Draft { origin: Origin::Import, category, created: Some(created), ..Draft::new(text) };
        store.remember(draft).unwrap();
    }
    (dir, store)
}

const QUESTION: &str = "in which order did the harbour crane move the crates?";

#[test]
fn a_question_over_many_memories_gets_more_rows_in_order_of_time() {
    let (_dir, mut store) = weeks();
    let request = RecallRequest { budget: 700.try_into().unwrap(), ..RecallRequest::new(QUESTION) };
    let narrow = store.recall(&RecallRequest { breadth: Breadth::Off, ..request.clone() }).unwrap();
    let broad = store.recall(&request).unwrap();
    check(&broad, 700);
    assert!(broad.is_broad && !narrow.is_broad);
    assert!(
        broad.body.contains(", short and in order of time. ") && broad.body.contains("[2026-10]\n- #"),
        "{}",
        broad.body
    );
    let rows = |recall: &Recall| recall.details.len() + recall.index.iter().filter(|entry| !entry.is_bare).count();
    assert!(rows(&broad) > rows(&narrow), "{} and {}\n{}", rows(&broad), rows(&narrow), broad.body);
    // The passage that answers is shown of a longer text, not its beginning.
    assert_eq!(broad.body.matches("the harbour crane moved").count(), rows(&broad), "{}", broad.body);
    let days: Vec<i64> =
        broad.body.split("On day ").skip(1).map(|rest| rest.split(' ').next().unwrap().parse().unwrap()).collect();
    assert!(days.len() > 12 && days.is_sorted(), "{days:?}\n{}", broad.body);
}

#[test]
fn both_forms_of_a_broad_reply_are_in_order_of_time_and_say_so() {
    let (_dir, mut store) = weeks();
    for budget in [150, 400, 1000, 3000] {
        let request = RecallRequest { budget: budget.try_into().unwrap(), ..RecallRequest::new(QUESTION) };
        let json = store.recall_json(&request, JsonRows::default()).unwrap();
        check(&json, budget);
        let read: serde_json::Value = serde_json::from_str(&json.body).unwrap();
        assert_eq!(read["breadth"], true);
        for list in ["details", "index"] {
            let days: Vec<&str> =
                read[list].as_array().unwrap().iter().map(|row| row["created"].as_str().unwrap()).collect();
            assert!(days.is_sorted(), "{list}: {days:?}");
        }
        let text = store.recall(&request).unwrap();
        check(&text, budget);
        assert!(text.details.len() + text.index.len() >= json.details.len() + json.index.len());
        assert_eq!(text.body, store.recall(&request).unwrap().body);
    }
}

#[test]
fn pages_of_a_broad_reply_show_every_match_once() {
    let (_dir, mut store) = weeks();
    for (budget, is_json) in [(120, false), (300, false), (900, false), (200, true), (900, true)] {
        let mut request = RecallRequest { budget: budget.try_into().unwrap(), ..RecallRequest::new(QUESTION) };
        let (mut seen, mut total) = (Vec::new(), 0);
        loop {
            let reply = if is_json { store.recall_json(&request, JsonRows::default()) } else { store.recall(&request) };
            let recall = reply.unwrap();
            check(&recall, budget);
            total = total.max(recall.total_count);
            let details = recall.details.iter().map(|detail| detail.memory.short_id);
            seen.extend(details.chain(recall.index.iter().map(|entry| entry.memory.short_id)));
            assert_eq!(recall.has_more, recall.next_cursor.is_some());
            let Some(cursor) = recall.next_cursor else { break };
            request.cursor = Some(cursor.parse().unwrap());
        }
        let unique: BTreeSet<_> = seen.iter().collect();
        assert_eq!((seen.len(), unique.len()), (total as usize, total as usize), "{budget} {is_json}");
    }
    // A cursor of one kind of reply is none of the other.
    let request = RecallRequest { budget: 120.try_into().unwrap(), ..RecallRequest::new(QUESTION) };
    let cursor = store.recall(&request).unwrap().next_cursor.unwrap().parse().unwrap();
    let narrow = RecallRequest { breadth: Breadth::Off, cursor: Some(cursor), ..request };
    assert!(store.recall(&narrow).is_err());
}

#[test]
fn what_changed_since_a_day_is_all_that_is_of_a_later_one() {
    let (_dir, mut store) = weeks();
    let request = RecallRequest { limit: 200, ..RecallRequest::new("what changed since 20 October?") };
    let recall = store.recall(&request).unwrap();
    let details = recall.details.iter().map(|detail| &detail.memory);
    let all: Vec<&tessera_engine::domain::Memory> =
        details.chain(recall.index.iter().map(|entry| &entry.memory)).collect();
    let first: Timestamp = "2026-10-20".parse().unwrap();
    assert_eq!((recall.total_count, all.len()), (16, 16), "{}", recall.body);
    assert!(all.iter().all(|memory| memory.created >= first), "{}", recall.body);
}

/// Of the questions and prompts that ordinary use is measured by, hardly one has the form of a broad one.
#[test]
fn ordinary_questions_of_the_fixtures_are_not_taken_for_broad_ones() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    for file in ["prompts.toml", "prompts-held-out.toml", "queries.toml", "everyday/queries.toml"] {
        let text = std::fs::read_to_string(fixtures.join(file)).unwrap();
        let questions = text.lines().filter_map(|line| line.strip_prefix("text = \"")?.strip_suffix('"'));
        let questions: Vec<&str> = questions.collect();
        let broad: Vec<&&str> = questions.iter().filter(|question| RecallRequest::new(**question).is_broad()).collect();
        assert!(questions.len() >= 20, "{file}: {}", questions.len());
        assert!(broad.len() * 100 <= questions.len(), "{file}: {broad:?} of {}", questions.len());
    }
}

#[test]
fn a_long_text_is_cut_in_json_as_it_is_in_text_and_says_so() {
    let (_dir, mut store) = store();
    let (before, after) = ("Nothing of it here. ".repeat(60), "Or here. ".repeat(90));
    let text = format!("{before}The crane \"north\" runs on port 4410.\n{after}");
    store.remember(Draft { origin: Origin::Import, ..Draft::new(text) }).unwrap();
    let request = RecallRequest { budget: 200.try_into().unwrap(), ..RecallRequest::new("port of the crane") };
    let text = store.recall(&request).unwrap();
    assert!(text.body.contains("(excerpt)\n") && text.body.contains("| The crane \"north\" runs"), "{}", text.body);
    let json = store.recall_json(&request, JsonRows::default()).unwrap();
    check(&json, 200);
    let read: serde_json::Value = serde_json::from_str(&json.body).unwrap();
    let detail = &read["details"][0];
    let passages = detail["excerpt"].as_array().unwrap();
    assert!(passages.contains(&"The crane \"north\" runs on port 4410.".into()), "{}", json.body);
    assert_eq!((&detail["id"], &detail["created"]), (&serde_json::json!(1), &"2026-11-20".into()));
    assert!(detail.get("content").is_none());
}

/// A long match leaves room for the others, in both forms; where there is room for all, or no other, it has what it needs.
#[test]
fn one_memory_never_takes_more_than_half_of_what_others_need_too() {
    let (_dir, mut store) = store();
    let long = (0..60).map(|n| format!("Step {n} of the billing deploy says so. ")).collect::<String>();
    let long = store.remember(Draft { origin: Origin::Import, ..Draft::new(long) }).unwrap().memory.short_id;
    let import = |text: String| Draft { origin: Origin::Import, ..Draft::new(text) };
    let alone = RecallRequest { budget: 800.try_into().unwrap(), ..RecallRequest::new("billing deploy") };
    let recall = store.recall(&alone).unwrap();
    assert!(recall.details[0].excerpt.is_none() && recall.details[0].tokens > 400, "{}", recall.body);
    for number in 0..20 {
        let text = format!("billing deploy note {number}, {}", "checked twice by hand ".repeat(number % 5 + 2));
        store.remember(import(text)).unwrap();
    }
    for budget in (100..1300).step_by(50) {
        for breadth in [Breadth::Off, Breadth::On] {
            let request = RecallRequest { budget: budget.try_into().unwrap(), breadth, ..alone.clone() };
            for reply in [store.recall(&request), store.recall_json(&request, JsonRows::default())] {
                let recall = reply.unwrap();
                check(&recall, budget);
                let cost = recall.details.iter().map(|detail| detail.tokens).max().unwrap_or_default();
                assert!(cost <= budget / 2, "{cost} of {budget}: {}", recall.body);
                // A hundred tokens hold little beside the frame of a payload.
                if budget < 200 {
                    continue;
                }
                let others = recall.details.iter().filter(|detail| detail.memory.short_id != long).count();
                assert!(others + recall.index.len() > 0, "{}", recall.body);
            }
        }
    }
    let roomy = RecallRequest { budget: 5_000.try_into().unwrap(), ..alone };
    assert!(store.recall(&roomy).unwrap().details.iter().all(|detail| detail.excerpt.is_none()));
}
