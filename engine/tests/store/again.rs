//! What is said again: counted as used where it holds, stored anew where it had been replaced or is not one's own.

use rusqlite::params;
use tessera_engine::Store;
use tessera_engine::domain::{Draft, Link, LinkKind, Memory, MemoryRef};
use tessera_engine::store::{Actor, Stored};

use crate::support::{Home, named, recalled, store};

const NOW: &str = "2026-11-20";

fn replacing(store: &mut Store, text: &str, old: &Memory) -> Stored {
    let links = vec![Link { kind: LinkKind::Supersedes, to: old.id }];
    store.remember(Draft { links, ..Draft::new(text) }).unwrap()
}

#[test]
fn what_was_replaced_and_is_said_again_holds_again() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let tabs = store(&mut opened, "Indentation is done with tabs");
    let spaces = replacing(&mut opened, "Indentation is done with spaces", &tabs).memory;
    assert_eq!(recalled(&mut opened, "how is indentation done?"), ["Indentation is done with spaces"]);
    let again = replacing(&mut opened, "Indentation is done with tabs", &spaces);
    assert!(!again.existed);
    assert_eq!(recalled(&mut opened, "how is indentation done?"), ["Indentation is done with tabs"]);
    // What holds is known, and the link that comes with it is not lost.
    let lists = store(&mut opened, "Indentation is done with either");
    let known = replacing(&mut opened, "Indentation is done with tabs", &lists);
    assert!(known.existed);
    assert_eq!(known.memory.short_id, again.memory.short_id);
    assert_eq!(known.memory.links.len(), 2);
    assert_eq!(recalled(&mut opened, "how is indentation done?"), ["Indentation is done with tabs"]);
    // To name the same memory as the one that is replaced says nothing new.
    assert!(replacing(&mut opened, "Indentation is done with tabs", &again.memory).existed);
}

/// A row as a sync leaves it.
fn marked(home: &Home, short_id: u32, sql: &str) {
    let file = rusqlite::Connection::open(home.dir.path().join("t/tessera.db")).unwrap();
    file.execute(&format!("UPDATE memories SET {sql} WHERE short_id = ?1"), params![short_id]).unwrap();
}

#[test]
fn what_a_teammate_or_a_conflict_says_is_not_what_the_person_says() {
    for sql in [
        "shared_by = 'bob', share_permission = 'read', trust = 'foreign'",
        "conflict_of = randomblob(16)",
        "trust = 'foreign', edited_by = 'bob'",
    ] {
        let home = Home::new();
        let mut opened = home.open(NOW);
        store(&mut opened, "The staging cluster runs in Oslo");
        marked(&home, 1, sql);
        let own = opened.remember(Draft::new("The staging cluster runs in Oslo")).unwrap();
        assert!(!own.existed, "{sql}");
        assert!(opened.remember(Draft::new("The staging cluster runs in Oslo")).unwrap().existed);
    }
}

#[test]
fn a_memory_stays_replaced_while_one_that_replaces_it_stands() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let old = store(&mut opened, "The build cache lives on alder");
    replacing(&mut opened, "The build cache lives on birch", &old);
    replacing(&mut opened, "The build cache lives on cedar", &old);
    let unlink = |opened: &mut Store, from: u32| {
        opened.unlink(named(from), &LinkKind::Supersedes, MemoryRef::ShortId(old.short_id), &Actor::default()).unwrap()
    };
    unlink(&mut opened, 3);
    assert!(!opened.is_current(old.short_id).unwrap(), "2 replaces it still");
    unlink(&mut opened, 2);
    assert!(opened.is_current(old.short_id).unwrap());
}
