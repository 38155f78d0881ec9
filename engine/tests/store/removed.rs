//! What is removed for good leaves nothing but its identity, and what still holds its words is told.

use tessera_engine::Store;
use tessera_engine::domain::{Category, Draft, Patch, Scope};
use tessera_engine::store::{Actor, Erase};

use crate::support::{Home, named, store};

const NOW: &str = "2026-11-20";
const WORDS: &str = "A secret plan for the north pier";

fn holds(home: &Home, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(home.dir.path().join("t")).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        if bytes.windows(needle.len()).any(|window| window == needle.as_bytes()) {
            found.push(entry.file_name().to_str().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn a_reader_in_the_way_is_told_and_the_words_go_when_it_has_ended() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    store(&mut opened, WORDS);
    let reader = rusqlite::Connection::open(opened.path()).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let seen: u32 = reader.query_row("SELECT count(*) FROM memories", [], |row| row.get(0)).unwrap();
    assert_eq!(seen, 1);
    let gone = opened.forget(&[named(1)], Erase::Hard, &Actor::default()).unwrap();
    let traces = opened.traces(&[gone[0].id]).unwrap();
    assert!(traces.in_log && traces.told()[0].contains("another process is reading"), "{traces:?}");
    assert_eq!(holds(&home, WORDS), ["tessera.db-wal"]);
    drop(opened);
    let health = Store::examine(home.config(NOW), true).unwrap();
    let row = health.checks.iter().find(|check| check.name == "removed").unwrap();
    assert!(row.detail.contains("still contains words of permanently deleted memories"), "{row:?}");
    reader.execute_batch("COMMIT").unwrap();
    // The next write, by whomever, does what was left.
    let mut later = home.open(NOW);
    store(&mut later, "something else");
    assert_eq!(later.traces(&[gone[0].id]).unwrap(), tessera_engine::store::Traces::default());
    assert!(holds(&home, WORDS).is_empty());
}

#[test]
fn older_copies_that_hold_the_words_are_rewritten_and_others_are_left() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    store(&mut opened, "something else");
    let other = opened.backup(None).unwrap();
    let before = std::fs::read(&other).unwrap();
    store(&mut opened, WORDS);
    let elsewhere = home.dir.path().join("t/backups/mine.db");
    opened.backup(Some(&elsewhere)).unwrap();
    let gone = opened.forget(&[named(2)], Erase::Hard, &Actor::default()).unwrap();
    let traces = opened.traces(&[gone[0].id]).unwrap();
    assert_eq!((traces.copies.len(), traces.rewritten.as_slice()), (0, std::slice::from_ref(&elsewhere)));
    assert!(traces.told()[0].contains("mine.db"));
    assert_eq!(std::fs::read(&other).unwrap(), before);
    assert!(!String::from_utf8_lossy(&std::fs::read(&elsewhere).unwrap()).contains(WORDS));
}

#[test]
fn nothing_but_its_identity_is_left() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let draft = Draft {
        session: Some("session-of-the-plan".into()),
        client: Some("client-of-the-plan".into()),
        cwd: Some("directory-of-the-plan".into()),
        scope: "project-of-the-plan".parse().unwrap(),
        category: Some("category-of-the-plan".parse().unwrap()),
        ..Draft::new(WORDS)
    };
    opened.remember(draft).unwrap();
    let actor = Actor { session: Some("session-of-the-change".into()), ..Actor::default() };
    opened.update(named(1), &Patch { content: Some("changed".into()), ..Patch::default() }, &actor).unwrap();
    opened.forget(&[named(1)], Erase::Hard, &Actor::default()).unwrap();
    for left in ["-of-the-plan", "-of-the-change", WORDS] {
        assert!(holds(&home, left).is_empty(), "{left}");
    }
    let file = rusqlite::Connection::open(opened.path()).unwrap();
    let row: (String, String) =
        file.query_row("SELECT category, scope FROM memories", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(row, (Category::default().to_string(), Scope::default().to_string()));
}
