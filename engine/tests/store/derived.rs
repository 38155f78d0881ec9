//! What is derived from a text is within what every store of a team takes.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tessera_engine::Store;
use tessera_engine::domain::{Draft, RecallRequest};
use tessera_engine::store::ListRequest;
use tessera_engine::sync::Document;

use crate::support::{Home, shown, store};

const NOW: &str = "2026-11-20";

#[test]
fn a_long_run_of_capitals_is_no_name_and_the_index_agrees_with_the_text() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let sentence = "Northern Harbour Crane Inspection ".repeat(8);
    store(&mut opened, &format!("Heading: {sentence}done"));
    store(&mut opened, &format!("error at {}", vec!["Foo"; 70].join("::")));
    for length in [199, 200, 201, 224, 254, 255, 256, 257, 259, 269, 273, 300] {
        store(&mut opened, &format!("the file {}A{} is there", "x".repeat(length / 2), "y".repeat(length / 2)));
    }
    // As many bytes as a name and a scope can have.
    let wide = Draft {
        entities: vec!["国".repeat(200)],
        scope: "国".repeat(300).parse().unwrap(),
        tags: vec!["国".repeat(64).parse().unwrap()],
        ..Draft::new("A name of two hundred characters")
    };
    opened.remember(wide).unwrap();
    for memory in opened.list(&ListRequest { limit: 200, ..ListRequest::default() }).unwrap().memories {
        Document::of(&memory).unwrap().check().unwrap();
    }
    let mut request = RecallRequest::new("name of two hundred characters");
    request.filters.entities = vec!["国".repeat(200)];
    request.filters.scopes = vec!["国".repeat(300).parse().unwrap()];
    assert_eq!(opened.recall(&request).unwrap().total_count, 1, "a filter finds a long label");
    request.filters.entities = vec!["国".repeat(199)];
    assert_eq!(opened.recall(&request).unwrap().total_count, 0, "and that one alone");
    let count = shown(&opened).len();
    for repair in [false, true, false] {
        let health = Store::examine(home.config(NOW), repair).unwrap();
        assert!(health.is_good(), "{health:?}");
        let index = health.checks.iter().find(|check| check.name == "index").unwrap();
        assert_eq!(index.detail, "every text can be found by its words", "{count} notes");
    }
}

#[test]
fn entities_are_found_in_a_listing_whatever_their_case() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    for name in ["Zürich", "ÅNGSTRÖM", "STRASSE", "Oslo"] {
        let draft = Draft { entities: vec![name.into()], ..Draft::new(format!("A note on {name}")) };
        opened.remember(draft).unwrap();
    }
    for (asked, found) in [("ZÜRICH", 1), ("zurich", 1), ("ångström", 1), ("straße", 1), ("oslo", 1), ("Bergen", 0)]
    {
        let mut request = ListRequest { limit: 20, ..ListRequest::default() };
        request.filters.entities = vec![asked.into()];
        assert_eq!(opened.list(&request).unwrap().total_count, found, "{asked}");
        let mut question = RecallRequest::new("note");
        question.filters.entities = vec![asked.into()];
        assert_eq!(opened.recall(&question).unwrap().total_count, found, "{asked}, by recall");
    }
}

#[test]
fn whatever_is_stored_here_every_store_takes() {
    let home = Home::new();
    let opened = RefCell::new(home.open(NOW));
    let texts = prop_oneof![any::<String>(), "([A-Z][a-z]{1,20}[ -]){1,60}", "`?[A-Za-z_.:@/\\\\\"“”`]{1,600}"];
    let given = (texts, prop::option::of(any::<String>()), prop::collection::vec(any::<String>(), 0..4));
    let drafts = given.prop_map(|(text, session, keywords)| Draft { session, keywords, ..Draft::new(text) });
    let mut runner = TestRunner::new(ProptestConfig::with_cases(256));
    let stored = runner.run(&drafts, |draft| {
        if let Ok(stored) = opened.borrow_mut().remember(draft) {
            let document = Document::of(&stored.memory).map_err(|error| TestCaseError::fail(error.to_string()))?;
            document.check().map_err(|error| TestCaseError::fail(error.to_string()))?;
        }
        Ok(())
    });
    stored.unwrap();
}
