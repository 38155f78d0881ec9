//! A file of schema 6 is opened with rows of every kind, reads as it read then, and goes on.

use tessera_engine::Store;
use tessera_engine::domain::{Category, Draft, Filters, Origin, RecallRequest, Scope, Trust};
use tessera_engine::store::{Actor, ListRequest, ReceiptFilter};
use tessera_engine::sync::{Action, Op};

use crate::support::{Home, listed, named, recalled, shown};

/// After the end of 6.
const THEN: &str = "2027-03-20T11:00:00Z";
/// 4 was replaced by 5, 8 and 12 forgotten, 9 removed for good, 19 is the other text of a conflict over 10, 20 and
/// 21 are a teammate's, 22 was learned, 14 to 16 were captured, 2 and 24 were never answered by the server.
const THERE: [u32; 20] = [1, 2, 3, 4, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24];

#[test]
fn every_kind_of_row_is_there() {
    let home = Home::with("v6.db");
    let store = home.open(THEN);
    assert!(home.dir.path().join("t/backups/pre-schema-13-from-6.db").exists());
    assert_eq!(shown(&store), THERE);
    assert_eq!(listed(&store, ListRequest { expired: true, ..ListRequest::default() }), [6]);
    assert_eq!(listed(&store, ListRequest { deleted: true, ..ListRequest::default() }), [8, 12]);
    assert_eq!(store.get(named(9)).unwrap(), None, "removed for good");
    let memory = |number| store.get(named(number)).unwrap().unwrap();
    assert_eq!(memory(1).content, "The spare key of the boathouse hangs behind the tide table");
    assert_eq!((memory(3).scope, memory(3).category.as_str()), ("project".parse().unwrap(), Category::DECISIONS));
    assert_eq!(memory(7).expires.unwrap().to_string(), "2031-07-01T00:00:00Z");
    assert_eq!((memory(13).origin, memory(13).trust), (Origin::Import, Trust::Foreign));
    assert_eq!((memory(17).trust, memory(17).vouched), (Trust::User, Some(Trust::User)));
    assert!(memory(17).content.ends_with('🚢') && memory(18).content.contains("\n```rust\n"));
    assert_eq!(memory(19).conflict_of, Some(memory(10).id));
    assert_eq!((memory(20).share.unwrap().by, memory(20).trust), ("bob".to_owned(), Trust::Foreign));
    assert_eq!(memory(21).edited_by.as_deref(), Some("ada"));
    assert_eq!((memory(22).origin, memory(22).trust), (Origin::AutoLearn, Trust::Model));
    assert_eq!(
        (memory(23).origin, memory(23).keywords),
        (Origin::Agent, ["configuration", "environment"].map(String::from).to_vec())
    );
    assert_eq!(memory(11).links.len(), 1);
    assert_eq!(store.conflicts().unwrap().len(), 1);
    assert_eq!(store.offers().unwrap().len(), 1);
    assert_eq!(store.places().unwrap().len(), 1);
    assert!(!store.marks().unwrap().is_empty());
    let receipts = store.receipts(&ReceiptFilter::default()).unwrap();
    let events: Vec<&str> = receipts.iter().map(|receipt| receipt.event.as_str()).collect();
    assert!(events.contains(&"UserPromptSubmit") && events.contains(&"SessionStart"), "{events:?}");
    assert_eq!(store.history(named(12)).unwrap()[0].operation, "delete");
}

#[test]
fn it_answers_as_it_did_and_is_whole() {
    let home = Home::with("v6.db");
    let mut store = home.open(THEN);
    let answers = [
        ("who is the harbour master?", "Harbour master is Ines Castellano; her deputy is Tom Okafor"),
        ("which port does the staging gateway listen on?", "The staging gateway listens on port 9000"),
        ("码头预订系统部署在哪里", "我们的码头预订系统部署在上海机房 🚢"),
        // Found by the turn before it: its own words do not say buoy.
        ("how long does the gateway buffer buoy telemetry?", "Yes, and let the gateway buffer two hours of it."),
    ];
    for (question, answer) in answers {
        let found = recalled(&mut store, question);
        assert!(found.iter().any(|text| text == answer), "{question}: {found:?}");
    }
    let port = recalled(&mut store, "which port does the staging gateway listen on?");
    assert!(!port.iter().any(|text| text.contains("8490")), "{port:?}");
    let dock = RecallRequest {
        filters: Filters { scopes: vec!["project".parse::<Scope>().unwrap()], ..Filters::default() },
        ..RecallRequest::new("database of the berth bookings")
    };
    assert_eq!(store.recall(&dock).unwrap().details.len(), 1);
    assert!(Store::examine(home.config(THEN), false).unwrap().is_good());
}

#[test]
fn what_was_to_be_sent_is_sent_and_what_is_private_stays() {
    let home = Home::with("v6.db");
    let mut store = home.open(THEN);
    let number = |store: &Store, op: &Op| {
        (1..=24).find(|number| store.get(named(*number)).unwrap().is_some_and(|memory| memory.id == op.memory))
    };
    let ops = store.ops(100).unwrap();
    let mut said: Vec<u32> = ops.iter().filter_map(|op| number(&store, op)).collect();
    said.sort_unstable();
    assert_eq!(said, [2, 12, 24]);
    assert!(ops.iter().any(|op| number(&store, op) == Some(12) && matches!(op.action, Action::Delete)));
    // The op of 2 had been sent when its answer was lost: it is the same, however often it is asked for.
    assert_eq!(store.ops(100).unwrap(), ops);
    store.remember(Draft::new("The boathouse got a second key")).unwrap();
    assert_eq!(store.ops(100).unwrap().len(), 4, "the private one is not among them");
}

#[test]
fn it_is_written_on() {
    let home = Home::with("v6.db");
    let mut store = home.open(THEN);
    let back = store.restore(named(12), None, &Actor::default()).unwrap();
    assert_eq!(back.memory.content, "Ferry line seven turns at the north mole");
    let earlier = store.history(named(2)).unwrap().into_iter().find(|entry| entry.operation == "update").unwrap();
    let back = store.restore(named(2), Some(earlier.rev), &Actor::default()).unwrap();
    assert_eq!(back.memory.content, "I prefer Svelte over React for new front ends");
    let again = store.remember(Draft::new("The staging gateway listens on port 9000")).unwrap();
    assert!(again.existed && again.memory.handle.get() == 5);
    let new = store.remember(Draft::new("Ferry line nine was given up")).unwrap().memory;
    assert_eq!(new.handle.get(), 25);
    assert_eq!(recalled(&mut store, "which ferry line was given up?")[0], "Ferry line nine was given up");
}
