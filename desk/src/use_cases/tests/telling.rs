//! What is given unasked, its receipts, and the views of them.

use std::time::Instant;

use tessera_engine::domain::TokenBudget;

use super::{World, id, person, scope};
use crate::Caller;
use crate::project::claim_of;
use crate::use_cases::{
    Context, Count, Delivered, Event, IsBelieved, Log, Logged, Places, Prompted, Question, Recipient, Remember,
    SessionNotice, SessionSummary, SetAside, TokenUsage, TrustProject, UntrustProject, Why,
};

const ASKED: &str = "when does the nightly batch of the ledger run?";

fn event(name: &'static str, dir: &std::path::Path) -> Event {
    Event { name, claim: claim_of(dir, None), started: Instant::now(), most_characters: 9_500 }
}

fn session(name: &str) -> Caller {
    Caller { session: Some(name.into()), ..person() }
}

fn prompted(dir: &std::path::Path) -> Prompted {
    let question = Question::Of { query: ASKED.into(), expanded: None };
    let (budget, recipient) = (TokenBudget::DEFAULT, Recipient::Session);
    Prompted { event: event("UserPromptSubmit", dir), question, budget, recipient }
}

/// A note of a project, told from nowhere in particular.
fn with_note(world: &mut World) {
    let said = Remember {
        content: "The nightly batch of the ledger runs at three".into(),
        scope: Some(scope("github.com/acme/ledger")),
        ..Remember::default()
    };
    world.perform(&person(), said).unwrap();
}

#[test]
fn a_project_that_is_not_believed_is_given_nothing_and_one_that_is_once() {
    let mut world = World::new();
    let dir = world.clone_of("ledger", "https://github.com/acme/ledger");
    with_note(&mut world);
    let claim = claim_of(&dir, None);
    assert!(!world.perform(&person(), IsBelieved(claim.clone())).unwrap());
    assert!(world.perform(&session("a"), prompted(&dir)).unwrap().is_none());
    assert!(world.perform(&person(), SessionNotice { claim: claim.clone() }).unwrap().is_doubted);

    world.perform(&person(), TrustProject(claim.clone())).unwrap();
    assert_eq!(world.perform(&person(), Places).unwrap().len(), 1);
    let given = world.perform(&session("b"), prompted(&dir)).unwrap().unwrap();
    assert!(given.body.contains("at three"), "{}", given.body);
    assert!(world.perform(&session("b"), prompted(&dir)).unwrap().is_none(), "given already");
    assert!(!world.perform(&person(), SessionNotice { claim: claim.clone() }).unwrap().is_doubted);

    world.perform(&person(), UntrustProject(claim.clone())).unwrap();
    assert!(!world.perform(&person(), IsBelieved(claim)).unwrap());
    assert!(world.perform(&session("c"), prompted(&dir)).unwrap().is_none());
}

#[test]
fn nothing_is_given_that_a_client_would_not_show_whole() {
    let mut world = World::new();
    let dir = world.path("plain");
    world.says(&person(), "The nightly batch of the ledger runs at three");
    let mut asked = prompted(&dir);
    asked.event.most_characters = 10;
    assert!(world.perform(&session("a"), asked).unwrap().is_none());
    assert!(world.perform(&session("a"), prompted(&dir)).unwrap().is_some());
}

fn deliveries(logged: Vec<Logged>) -> Vec<Delivered> {
    let delivered = |logged| match logged {
        Logged::Delivered(delivered) => Some(delivered),
        Logged::Learned(_) => None,
    };
    logged.into_iter().filter_map(delivered).collect()
}

#[test]
fn every_event_leaves_a_receipt_and_the_views_tell_of_it() {
    let mut world = World::new();
    let dir = world.path("plain");
    world.says(&person(), "The nightly batch of the ledger runs at three");
    let skipped = Prompted { question: Question::None("small talk".into()), ..prompted(&dir) };
    assert!(world.perform(&session("a"), skipped).unwrap().is_none());
    assert!(world.perform(&session("a"), prompted(&dir)).unwrap().is_some());
    let log = |session: Option<&str>, limit| Log { session: session.map(str::to_owned), limit };
    let logged = deliveries(world.perform(&person(), log(None, 10)).unwrap());
    assert_eq!(
        logged.iter().map(|event| event.delivery.skipped.as_deref()).collect::<Vec<_>>(),
        [Some("small talk"), None]
    );
    assert_eq!(logged[1].summaries, ["The nightly batch of the ledger runs at three"]);
    assert!(logged[1].delivery.tokens > 0 && logged[1].delivery.searched == 1);
    assert_eq!(world.perform(&person(), log(None, 1)).unwrap().len(), 1, "the latest");
    assert!(world.perform(&person(), log(Some("z"), 10)).unwrap().is_empty());
    let why = world.perform(&person(), Why { id: id(1) }).unwrap();
    assert_eq!((why.given.len(), why.is_over), (1, false));
    let ledger = world.perform(&person(), TokenUsage { days: 14 }).unwrap();
    assert_eq!(
        ledger.iter().map(|day| (day.day.as_str(), day.events, day.silent)).collect::<Vec<_>>(),
        [("2026-11-20", 2, 1)]
    );
    assert_eq!(ledger[0].given_tokens, u64::from(logged[1].delivery.tokens));
    let counts = world.perform(&person(), Count).unwrap();
    assert_eq!((counts.stats.memories, counts.sync.server), (1, None));
}

#[test]
fn a_session_summary_begins_a_context_anew_and_a_compacted_one_gets_back_what_it_lost() {
    let mut world = World::new();
    let dir = world.path("plain");
    world.says(&session("s"), "I always want terse commit messages");
    let brief = |context| SessionSummary {
        event: event("SessionStart", &dir),
        context,
        budget: TokenBudget::DEFAULT,
        handoff: None,
    };
    let caller = session("s");
    assert!(world.perform(&caller, brief(Context::New)).unwrap().unwrap().body.contains("terse"));
    assert!(world.perform(&caller, brief(Context::Kept)).unwrap().is_none(), "it still has it");
    world.perform(&caller, SetAside { event: event("PreCompact", &dir) }).unwrap();
    assert!(world.perform(&caller, brief(Context::Compacted)).unwrap().unwrap().body.contains("terse"));
    let logged = deliveries(world.perform(&person(), Log { session: None, limit: 10 }).unwrap());
    let resets: Vec<bool> = logged.iter().map(|event| event.delivery.resets).collect();
    assert_eq!(resets, [true, false, false, true]);
}
