//! Rows that an older program analysed: found at once, and written anew in the background.

use rusqlite::Connection;
use tessera_engine::Store;
use tessera_engine::domain::{Draft, Origin, RecallRequest};

use crate::support::{Home, store};

const NOW: &str = "2026-11-20";
/// Where the version of the analyzer stands in a blob.
const AT: usize = 3;

/// What is derived from each row, the last changed first.
type Derived = Vec<(u32, Vec<u8>, u32, i64)>;

fn database(home: &Home) -> Connection {
    Connection::open(home.dir.path().join("t/tessera.db")).unwrap()
}

fn derived(home: &Home) -> Derived {
    let database = database(home);
    let sql = "SELECT short_id, forward, length, signature FROM memories WHERE deleted IS NULL ORDER BY short_id";
    let mut statement = database.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// IDs of the rows of another analyzer.
fn stale(home: &Home, version: u8) -> Vec<u32> {
    derived(home)
        .into_iter()
        .filter(|(_, blob, ..)| blob.get(AT) == Some(&version))
        .map(|(short_id, ..)| short_id)
        .collect()
}

/// Makes all rows those of another analyzer, as a store of that time left them.
fn make(home: &Home, version: u8) {
    let database = database(home);
    for (short_id, mut blob, ..) in derived(home) {
        *blob.get_mut(AT).unwrap() = version;
        let sql = "UPDATE memories SET forward = ?2, length = 0, signature = 0 WHERE short_id = ?1";
        database.execute(sql, (short_id, blob)).unwrap();
    }
    database.execute("DELETE FROM meta WHERE key LIKE 'analysis%'", []).unwrap();
    std::fs::remove_file(home.dir.path().join("t/tessera.snapshot")).unwrap();
}

/// A store with notes, and with a conversation in which a turn is found by the words around it.
fn filled() -> (Home, Derived) {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let notes: Vec<Draft> = (0..400).map(|n| Draft::new(format!("Crane {n} of the harbour is serviced"))).collect();
    opened.remember_all(&notes).unwrap();
    let turns = ["Shall we move the ferry?", "Yes, to the north mole", "At what time?", "Seven", "Who says?", "Mara"];
    let turn = |text: &&str| Draft { origin: Origin::Conversation, session: Some("s".into()), ..Draft::new(*text) };
    opened.remember_all(&turns.iter().map(turn).collect::<Vec<_>>()).unwrap();
    opened.rebuild_snapshot().unwrap();
    drop(opened);
    let before = derived(&home);
    assert_eq!((before.len(), stale(&home, 0).len()), (406, 0));
    (home, before)
}

fn finds_all(opened: &mut Store) {
    assert_eq!(opened.recall(&RecallRequest::new("harbour crane")).unwrap().total_count, 400);
    let found = opened.recall(&RecallRequest::new("north mole")).unwrap();
    assert!(found.body.contains("to the north mole"), "{}", found.body);
}

#[test]
fn a_row_without_any_blob_is_written_anew_too() {
    let (home, before) = filled();
    let sql = "UPDATE memories SET forward = x'' WHERE short_id % 7 = 0";
    assert_eq!(database(&home).execute(sql, []).unwrap(), 58);
    database(&home).execute("DELETE FROM meta WHERE key LIKE 'analysis%'", []).unwrap();
    let mut opened = home.open(NOW);
    while opened.reanalyse_some().unwrap() {}
    assert_eq!(derived(&home), before);
}

#[test]
fn rows_of_an_older_program_are_found_at_once_and_written_anew_a_few_at_a_time() {
    let (home, before) = filled();
    make(&home, 0);
    let mut opened = home.open(NOW);
    finds_all(&mut opened);
    assert_eq!(stale(&home, 0).len(), 406, "reading writes nothing");
    assert!(opened.reanalyse_some().unwrap());
    assert_eq!(stale(&home, 0), (1..=206).collect::<Vec<u32>>(), "the newest are first");
    finds_all(&mut opened);
    // Whatever ends it: the next goes on, and a write does some of it.
    drop(opened);
    let mut opened = home.open(NOW);
    finds_all(&mut opened);
    store(&mut opened, "The lighthouse is white");
    assert_eq!(stale(&home, 0), (1..=6).collect::<Vec<u32>>());
    assert!(!opened.reanalyse_some().unwrap());
    finds_all(&mut opened);
    let now = derived(&home);
    assert_eq!(now[..before.len()], before, "with the words around the turns");
    let health = Store::examine(home.config(NOW), false).unwrap();
    let index = health.checks.iter().find(|check| check.name == "index").unwrap();
    assert_eq!(index.detail, "every text can be found by its words");
}

#[test]
fn nothing_is_looked_through_twice_until_an_older_program_writes_again() {
    let (home, before) = filled();
    let mut opened = home.open(NOW);
    make(&home, 0);
    while opened.reanalyse_some().unwrap() {}
    assert_eq!(derived(&home), before);
    // An older program that still runs leaves a row as it makes them.
    let database = database(&home);
    let (short_id, mut blob, ..) = before[7].clone();
    blob[AT] = 0;
    let sql =
        "UPDATE memories SET forward = ?2, rev = (SELECT value FROM meta WHERE key = 'rev') + 1 WHERE short_id = ?1";
    database.execute(sql, (short_id, blob)).unwrap();
    database.execute("UPDATE meta SET value = value + 1 WHERE key = 'rev'", []).unwrap();
    assert!(!opened.reanalyse_some().unwrap());
    assert_eq!(stale(&home, 0), [short_id], "it was not seen yet");
    finds_all(&mut opened);
    assert!(!opened.reanalyse_some().unwrap());
    assert_eq!(derived(&home), before);
}

#[test]
fn rows_of_a_newer_program_are_found_and_left_as_they_are() {
    let (home, _) = filled();
    make(&home, 200);
    let mut opened = home.open(NOW);
    finds_all(&mut opened);
    while opened.reanalyse_some().unwrap() {}
    store(&mut opened, "The lighthouse is white");
    finds_all(&mut opened);
    assert_eq!(stale(&home, 200).len(), 406);
}
