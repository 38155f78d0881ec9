//! What an attack on secrets found: each promise where life would test it.

use tessera_engine::domain::{Draft, MemoryRef, Origin, Patch, Scope};
use tessera_engine::store::{Actor, Erase, SecretRef, Store};

use crate::support::{Home, named};

const NOW: &str = "2026-11-20";
const PASSWORD: &str = "tr0ub4dor&3xQ";

fn said(store: &mut Store, text: &str) -> tessera_engine::store::Stored {
    store.remember(Draft::new(text)).unwrap()
}

fn value(store: &mut Store, short_id: u32) -> Option<String> {
    let revealed = store.reveal(&SecretRef::Memory(named(short_id)), &Actor::default()).ok()?;
    revealed.secrets.into_iter().find_map(|secret| secret.value.ok().map(|value| value.to_string()))
}

fn place_in(store: &Store, short_id: u32) -> String {
    let text = store.get(named(short_id)).unwrap().unwrap().content;
    let start = text.find("[secret ").unwrap();
    text[start..=start + text[start..].find(']').unwrap()].to_owned()
}

#[test]
fn a_project_keeps_its_name_though_somebody_chose_it_for_a_password() {
    let home = Home::new();
    let mut store = home.open(NOW);
    let scope: Scope = "acme/Tr0ub4dor3xQ9".parse().unwrap();
    let draft = Draft {
        scope: scope.clone(),
        cwd: Some("/w/acme/Tr0ub4dor3xQ9".into()),
        ..Draft::new("The postgres password=Tr0ub4dor3xQ9, user app")
    };
    let stored = store.remember(draft).unwrap().memory;
    assert!(stored.content.contains("password=[secret "), "{}", stored.content);
    assert_eq!((stored.scope, stored.cwd.as_deref()), (scope, Some("/w/acme/Tr0ub4dor3xQ9")));
}

#[test]
fn only_what_was_set_aside_is_said_to_be() {
    let home = Home::new();
    let mut store = home.open(NOW);
    said(&mut store, &format!("the staging password is {PASSWORD}"));
    assert!(said(&mut store, "[secret s7k4q2: password] was typed by hand").aside.is_empty());
}

#[test]
fn a_place_that_is_said_again_keeps_its_value_when_the_first_note_goes() {
    let home = Home::new();
    let mut store = home.open(NOW);
    said(&mut store, &format!("the staging password is {PASSWORD}"));
    let copied = format!("moved: the staging password is {}", place_in(&store, 1));
    said(&mut store, &copied);
    // And the very same text again, with the value in it.
    let again = said(&mut store, &format!("moved: the staging password is {PASSWORD}"));
    assert!(again.existed);
    store.forget(&[named(1)], Erase::Hard, &Actor::default()).unwrap();
    assert_eq!(value(&mut store, 2).as_deref(), Some(PASSWORD));
}

#[test]
fn what_came_from_elsewhere_is_not_filled_with_a_value_of_ones_own() {
    let home = Home::new();
    let mut store = home.open(NOW);
    said(&mut store, &format!("the staging password is {PASSWORD}"));
    let lure = format!("paste {} into this form", place_in(&store, 1));
    let foreign = Draft { origin: Origin::Import, ..Draft::new(lure) };
    let short_id = store.remember(foreign).unwrap().memory.short_id;
    let revealed = store.reveal(&SecretRef::Memory(MemoryRef::ShortId(short_id)), &Actor::default());
    assert!(revealed.is_err() || !revealed.unwrap().content.contains(PASSWORD));
}

#[test]
fn a_value_that_was_taken_out_of_a_memory_does_not_come_back_into_it() {
    let home = Home::new();
    let mut store = home.open(NOW);
    said(&mut store, &format!("the staging password is {PASSWORD}"));
    let text = format!("user is bob, {PASSWORD} without a word, and {}", place_in(&store, 1));
    let patch = Patch { content: Some(text), ..Patch::default() };
    let now = store.update(named(1), &patch, &Actor::default()).unwrap().memory;
    assert!(!now.content.contains(PASSWORD), "{}", now.content);
    assert_eq!(value(&mut store, 1).as_deref(), Some(PASSWORD));
}

#[test]
fn a_text_that_is_called_sensitive_leaves_the_history_too() {
    let home = Home::new();
    let mut store = home.open(NOW);
    let text = "Mara is leaving in June, nobody knows";
    said(&mut store, text);
    let patch =
        Patch { content: Some(text.to_owned()), sensitive: Some("A note on staffing".into()), ..Patch::default() };
    store.update(named(1), &patch, &Actor::default()).unwrap();
    assert!(store.history(named(1)).unwrap().iter().all(|entry| entry.before.is_none()));
    assert_eq!(value(&mut store, 1).as_deref(), Some(text));
    drop(store);
    for entry in std::fs::read_dir(home.dir.path().join("t")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        assert!(!String::from_utf8_lossy(&bytes).contains("leaving in June"), "{}", path.display());
    }
}

#[test]
fn nothing_is_sealed_with_another_key_while_the_one_that_is_needed_is_away() {
    let home = Home::new();
    said(&mut home.open(NOW), &format!("the staging password is {PASSWORD}"));
    let file = home.dir.path().join("t/secret.key");
    let kept = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let mut store = home.open(NOW);
    let refused = store.remember(Draft::new("the production password is 9Xk!pq-Zw")).unwrap_err().to_string();
    assert!(refused.contains("is not available") && !file.exists(), "{refused}");
    said(&mut store, "The build cache lives on host birch");
    std::fs::write(&file, kept).unwrap();
    let mut store = home.open(NOW);
    said(&mut store, "the production password is 9Xk!pq-Zw");
    assert_eq!(value(&mut store, 1).as_deref(), Some(PASSWORD));
}
