//! Which questions count as asked in vain, and what becomes of them.

use std::sync::Arc;

use tessera_engine::Store;
use tessera_engine::domain::{Filters, FixedClock, RecallRequest};
use tessera_engine::score::Weights;
use tessera_engine::store::{SecretRules, StoreConfig, Usage};

use super::{World, person, scope};
use crate::Caller;
use crate::use_cases::{ForgetQuestions, Form, ListUnanswered, Recall, UnansweredTopics};

const VAIN: &str = "who prunes the birch in the garden?";
const ALL: ListUnanswered = ListUnanswered { since: None, limit: 20, answered: true };

fn keeper() -> Caller {
    Caller { keeps_questions: true, ..person() }
}

fn asks(world: &mut World, caller: &Caller, request: RecallRequest) {
    world.perform(caller, Recall { request, form: Form::Text }).unwrap();
}

fn gaps(world: &mut World, asks: ListUnanswered) -> UnansweredTopics {
    world.perform(&person(), asks).unwrap()
}

/// The same store a day later.
fn tomorrow(world: &mut World) {
    let now = world.store.now().as_micros() + 86_400_000_000;
    let clock = Arc::new(FixedClock(tessera_engine::domain::Timestamp::from_micros(now)));
    let home = world.store.home().clone();
    let config = StoreConfig {
        home,
        clock,
        weights: Weights::default(),
        usage: Usage::Serve,
        embedding: true,
        secrets: SecretRules::default(),
    };
    world.store = Store::open(config).unwrap();
}

#[test]
fn only_a_question_that_nothing_answers_strongly_counts() {
    let mut world = World::new();
    world.says(&person(), "The staging database runs on birch");
    let answered = RecallRequest::new("where does the staging database run?");
    let narrowed = RecallRequest {
        filters: Filters { tags: vec!["none".to_owned().try_into().unwrap()], ..Filters::default() },
        ..answered.clone()
    };
    for request in [answered, narrowed, RecallRequest::new(" ")] {
        asks(&mut world, &person(), request);
    }
    assert_eq!(gaps(&mut world, ALL), UnansweredTopics::default());
    asks(&mut world, &person(), RecallRequest::new(VAIN));
    let elsewhere = Filters { scopes: vec![scope("elsewhere")], ..Filters::default() };
    asks(&mut world, &person(), RecallRequest { filters: elsewhere, ..RecallRequest::new(VAIN) });
    asks(&mut world, &person(), RecallRequest::new("zymurgy"));
    let found = gaps(&mut world, ALL);
    assert_eq!((found.asked, found.unnamed, found.answered, found.topics.len()), (3, 1, 0, 1));
    let gap = &found.topics[0];
    assert_eq!((gap.topic.as_str(), gap.times, gap.answered_by), ("birch", 2, None));
    assert_eq!(world.perform(&person(), ForgetQuestions).unwrap(), 3);
    assert_eq!(gaps(&mut world, ALL), UnansweredTopics::default());
}

#[test]
fn of_a_question_with_a_credential_only_that_it_was_asked_is_kept() {
    let mut world = World::new();
    world.says(&person(), "The staging database runs on birch");
    asks(&mut world, &keeper(), RecallRequest::new("who prunes the birch? its password is hunter2!X9"));
    let asked = world.store.unanswered_questions(None).unwrap();
    assert!(asked.len() == 1 && asked[0].words.is_empty() && asked[0].text.is_none(), "{asked:?}");
}

#[test]
fn a_question_that_is_kept_goes_once_something_answers_it() {
    let mut world = World::new();
    world.says(&person(), "The staging database runs on birch");
    for question in [VAIN, "Who prunes the birch in the garden?", "zymurgy of quokkas"] {
        asks(&mut world, &keeper(), RecallRequest::new(question));
    }
    let topics =
        |found: &UnansweredTopics| found.topics.iter().map(|gap| (gap.topic.clone(), gap.times)).collect::<Vec<_>>();
    let open = ListUnanswered { answered: false, ..ALL };
    let expected = [("Who prunes the birch in the garden?".to_owned(), 2), ("zymurgy of quokkas".to_owned(), 1)];
    assert_eq!(topics(&gaps(&mut world, open)), expected);
    assert_eq!(topics(&gaps(&mut world, ListUnanswered { limit: 1, ..open })), expected[..1]);
    let short_id = world.says(&person(), "Tom prunes the birch in the garden every March").memory.short_id;
    let found = gaps(&mut world, open);
    assert_eq!((topics(&found), found.answered), (expected[1..].to_vec(), 1));
    let found = gaps(&mut world, ALL);
    assert_eq!((topics(&found), found.topics[0].answered_by), (expected.to_vec(), Some(short_id)));
}

#[test]
fn known_words_are_answered_by_what_is_stored_after_they_were_asked_about() {
    let mut world = World::new();
    world.says(&person(), "The staging database runs on birch");
    asks(&mut world, &person(), RecallRequest::new(VAIN));
    assert_eq!(gaps(&mut world, ALL).answered, 0, "what was there did not answer");
    tomorrow(&mut world);
    let since = ListUnanswered { since: Some(world.store.now()), ..ALL };
    assert_eq!(gaps(&mut world, since).asked, 0);
    let short_id = world.says(&person(), "Tom prunes the birch every March").memory.short_id;
    assert_eq!(gaps(&mut world, ALL).topics[0].answered_by, Some(short_id));
}
