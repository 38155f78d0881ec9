//! A lifetime exists only where somebody asked for it, and hides; it neither deletes nor travels as a deletion.

use tessera_engine::domain::{Draft, Importance, MemoryRef, Patch, RecallRequest, Scope};
use tessera_engine::store::{Actor, ListRequest, Store, StoreError, Upload};
use tessera_engine::sync::Document;

use crate::support::{Home, at, listed, named, recalled, shown, store};

#[test]
fn nothing_that_was_stored_without_a_lifetime_ends() {
    let home = Home::new();
    let mut now = home.open("2026-01-10");
    let texts = ["Lena parks the van behind the shed", "The harbour office opens at seven", "Mara leads billing"];
    for text in texts {
        let draft = Draft { importance: Some(Importance::from_percent(5)), ..Draft::new(text) };
        assert_eq!(now.remember(draft).unwrap().memory.expires, None);
    }
    // Neither a change nor a use gives one.
    let patch = Patch {
        importance: Some(Importance::from_percent(10)),
        category: Some("facts".parse().unwrap()),
        ..Patch::default()
    };
    assert_eq!(now.update(named(1), &patch, &Actor::default()).unwrap().memory.expires, None);
    let mut later = home.open("2099-01-01");
    store(&mut later, "a write far in the future");
    later.fold_accesses().unwrap();
    assert_eq!(shown(&later), [1, 2, 3, 4]);
    for text in texts {
        assert!(recalled(&mut later, text).contains(&text.to_owned()));
    }
    assert_eq!(listed(&later, ListRequest { deleted: true, ..ListRequest::default() }), [0_u32; 0]);
}

fn passing(home: &Home) -> Store {
    let mut now = home.open("2026-01-10");
    let draft = Draft { expires: Some(at("2026-02-01")), ..Draft::new("The lift is being repaired") };
    now.remember(draft).unwrap();
    store(&mut now, "The stairs are always open");
    now
}

#[test]
fn what_is_over_is_hidden_listed_counted_and_brought_back() {
    let home = Home::new();
    passing(&home);
    let mut over = home.open("2026-03-01");
    // However long it has been over, and however often is written.
    let mut long_over = home.open("2036-03-01");
    store(&mut long_over, "another write");
    assert!(Store::examine(home.config("2036-03-01"), true).unwrap().is_good());
    for opened in [&mut over, &mut long_over] {
        assert_eq!(recalled(opened, "is the lift being repaired?"), Vec::<String>::new());
        assert!(!shown(opened).contains(&1));
        assert_eq!(listed(opened, ListRequest { expired: true, ..ListRequest::default() }), [1]);
        assert_eq!(opened.stats().unwrap().expired, 1);
        let brief = opened.chosen(&[named(1)].map(short_id), &RecallRequest::new("")).unwrap();
        assert!(brief.is_none());
        assert_eq!(opened.get(named(1)).unwrap().unwrap().deleted, None);
    }
    let health = Store::examine(home.config("2036-03-01"), true).unwrap();
    let row = health.checks.iter().find(|check| check.name == "expired").unwrap();
    assert!(row.detail.contains("1 expired") && row.detail.contains("list --expired"), "{row:?}");
    let back = over.restore(named(1), None, &Actor::default()).unwrap().memory;
    assert_eq!(back.expires, None);
    assert_eq!(recalled(&mut long_over, "is the lift being repaired?"), ["The lift is being repaired"]);
    let again = over.restore(named(1), None, &Actor::default());
    assert!(matches!(again, Err(StoreError::Conflict { .. })));
}

fn short_id(reference: MemoryRef) -> tessera_engine::ShortId {
    match reference {
        MemoryRef::ShortId(short_id) => short_id,
        MemoryRef::Id(_) => unreachable!("an ID was given"),
    }
}

#[test]
fn reading_changes_nothing_that_travels() {
    let home = Home::new();
    let mut now = passing(&home);
    now.join("http://server", "ada", Upload::All).unwrap();
    let before = [1, 2].map(|number| Document::of(&now.get(named(number)).unwrap().unwrap()).unwrap());
    let waiting = now.stats().unwrap().outbox;
    assert!(waiting > 0);
    for question in ["is the lift being repaired?", "stairs"] {
        assert_eq!(recalled(&mut now, question).len(), 1);
    }
    now.fold_accesses().unwrap();
    assert_eq!(now.get(named(1)).unwrap().unwrap().access_count, 1);
    let after = [1, 2].map(|number| Document::of(&now.get(named(number)).unwrap().unwrap()).unwrap());
    assert_eq!(before, after);
    assert_eq!(now.stats().unwrap().outbox, waiting);
}

#[test]
fn saying_it_again_keeps_it_as_long_as_the_longer_of_both_asks() {
    let home = Home::new();
    let mut now = passing(&home);
    let say = |now: &mut Store, expires: Option<&str>| {
        let draft =
            Draft { expires: expires.map(at), scope: Scope::Global, ..Draft::new("The lift is being repaired") };
        let stored = now.remember(draft).unwrap();
        assert!(stored.existed);
        stored.memory.expires
    };
    assert_eq!(say(&mut now, Some("2026-01-20")), Some(at("2026-02-01")));
    assert_eq!(say(&mut now, Some("2026-05-01")), Some(at("2026-05-01")));
    assert_eq!(say(&mut now, None), None, "said for good");
    assert_eq!(say(&mut now, Some("2026-05-01")), None);
    // What is over and said again is there again.
    passing(&home);
    let mut over = home.open("2026-01-10");
    over.update(named(1), &Patch { expires: Some(Some(at("2026-01-01"))), ..Patch::default() }, &Actor::default())
        .unwrap();
    let fresh = over.remember(Draft::new("The lift is being repaired")).unwrap();
    assert!(!fresh.existed);
    assert_eq!(recalled(&mut over, "the lift").len(), 1);
}
