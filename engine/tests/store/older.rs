//! A file that an older version wrote is opened, and what its rule of lifetimes took is given back.

use std::collections::BTreeMap;

use tessera_engine::Store;
use tessera_engine::domain::Draft;
use tessera_engine::store::{Actor, ListRequest, ReceiptFilter};
use tessera_engine::sync::{Action, Op};

use crate::support::{Home, at, listed, named, recalled, shown};

/// Shortly after the file was written. What had been deleted by rule: 1, 2, 3 (and the server told), 7, 8, 10, 13,
/// 16, 17. Forgotten by a person: 11, and 12 for good.
const THEN: &str = "2028-01-20T11:00:00Z";

#[test]
fn what_the_rule_deleted_is_there_again_and_what_a_person_forgot_is_not() {
    let home = Home::with("v3.db");
    let store = home.open(THEN);
    // 16 was imported with an end of its own: it is hidden, and not deleted.
    assert_eq!(shown(&store), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 17, 18, 19, 20, 21, 22]);
    assert_eq!(listed(&store, ListRequest { expired: true, ..ListRequest::default() }), [16]);
    assert_eq!(listed(&store, ListRequest { deleted: true, ..ListRequest::default() }), [11]);
    let history = store.history(named(1)).unwrap();
    assert_eq!(history[0].operation, "restore");
    assert_eq!(history[1].operation, "expire");
    assert!(home.dir.path().join("t/backups/pre-schema-13-from-3.db").exists());
}

#[test]
fn no_end_is_left_but_those_that_a_person_set() {
    let home = Home::with("v3.db");
    let store = home.open(THEN);
    let mut ends = BTreeMap::new();
    for number in (1..=22).filter(|number| *number != 12) {
        let memory = store.get(named(number)).unwrap().unwrap();
        ends.extend(memory.expires.filter(|_| memory.deleted.is_none()).map(|end| (number, end)));
    }
    let asked = [(14, "2029-06-30"), (15, "2028-01-31"), (16, "2027-04-30")].map(|(number, end)| (number, at(end)));
    assert_eq!(ends, BTreeMap::from(asked));
    // Years later the rest is still there.
    let later = home.open("2040-01-01");
    assert_eq!(shown(&later), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 17, 18, 19, 20, 21, 22]);
}

#[test]
fn the_older_store_recalls_by_what_holds_now_and_is_whole() {
    let home = Home::with("v3.db");
    let mut store = home.open(THEN);
    assert_eq!(recalled(&mut store, "which host holds the build cache?"), ["The build cache lives on host birch"]);
    assert_eq!(recalled(&mut store, "when does the harbour office open?").len(), 1);
    assert_eq!(store.conflicts().unwrap().len(), 1);
    assert_eq!(store.receipts(&ReceiptFilter::default()).unwrap().len(), 1);
    assert_eq!(store.get(named(10)).unwrap().unwrap().access_count, 2);
    let shared = store.get(named(20)).unwrap().unwrap();
    assert_eq!(shared.share.unwrap().by, "bob");
    let health = Store::examine(home.config(THEN), false).unwrap();
    assert!(health.is_good(), "{health:?}");
    // An earlier text is still there to go back to.
    let update = store.history(named(10)).unwrap().into_iter().find(|entry| entry.operation == "update").unwrap();
    let back = store.restore(named(10), Some(update.rev), &Actor::default()).unwrap();
    assert_eq!(back.memory.content, "Nightly backups go to the second rack");
    assert_eq!(back.memory.expires, None);
}

#[test]
fn a_server_is_told_what_is_given_back_and_nothing_else() {
    let home = Home::with("v3.db");
    let mut store = home.open(THEN);
    let handles: BTreeMap<_, _> =
        (1..=22).filter_map(|number| Some((store.get(named(number)).unwrap()?.id, number))).collect();
    let ops = store.ops(100).unwrap();
    let said: BTreeMap<u32, &Action> = ops.iter().map(|Op { memory, action, .. }| (handles[memory], action)).collect();
    // Deleted there: edits bring them back. Never taken there: 13, whose name was too long. New: 21 and 22. An end
    // that a person set is told under its new name: 14, 15, 16.
    assert_eq!(said.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 13, 14, 15, 16, 21, 22]);
    for number in [1, 2, 3] {
        let Action::Edit(edit) = said[&number] else { panic!("{:?}", said[&number]) };
        assert!(edit.content.is_none() && edit.tags_removed.is_empty(), "the server has the text: {edit:?}");
    }
    for number in [13, 21, 22] {
        let Action::Create(document) = said[&number] else { panic!("{:?}", said[&number]) };
        document.check().unwrap();
    }
    for number in [14, 15, 16] {
        let Action::Edit(edit) = said[&number] else { panic!("{:?}", said[&number]) };
        assert!(edit.content.is_none() && edit.details.as_ref().unwrap().expires.is_some());
    }
}

#[test]
fn a_clock_years_ahead_hides_what_somebody_gave_an_end_and_sends_no_deletion() {
    let home = Home::with("v3.db");
    let told = |now: &str| {
        let mut store = home.open(now);
        store.remember(Draft::new(format!("written at {now}"))).unwrap();
        store.fold_accesses().unwrap();
        assert!(Store::examine(home.config(now), true).unwrap().is_good());
        store.ops(100).unwrap()
    };
    let ahead = told("2036-01-01");
    assert!(ahead.iter().all(|op| !matches!(op.action, Action::Delete | Action::Purge)));
    assert_eq!(ahead.len(), 10, "what is given back, and what was written now");
    // Back in time, everything is shown again, and what was frozen to be sent is the same.
    let mut back = told(THEN);
    back.truncate(10);
    assert_eq!(back, ahead);
    assert_eq!(shown(&home.open(THEN)).len(), 21);
}

#[test]
fn what_was_said_again_since_is_not_there_twice() {
    for (since, is_shown) in [("deleted = NULL", true), ("superseded_by = 22", true), ("deleted = 1", false)] {
        let home = Home::with("v3.db");
        let file = rusqlite::Connection::open(home.dir.path().join("t/tessera.db")).unwrap();
        let sql = format!(
            "UPDATE memories SET content = (SELECT content FROM memories WHERE handle = 1), {since} WHERE handle = 21"
        );
        assert_eq!(file.execute(&sql, []).unwrap(), 1);
        drop(file);
        let store = home.open(THEN);
        assert!(store.get(named(1)).unwrap().unwrap().deleted.is_some(), "{since}");
        let listed = shown(&store);
        assert!(listed.contains(&2) && listed.contains(&21) == is_shown, "{since}: {listed:?}");
    }
}
