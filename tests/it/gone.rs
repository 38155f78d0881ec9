//! What is removed for good is gone: not a byte of it is left in any file of the home, and the store says so.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Client, World};

/// The files of a home that hold a word, by name.
fn holding(world: &World, word: &str) -> Vec<String> {
    let (mut dirs, mut found) = (vec![world.home()], Vec::new());
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if fs::read(&path)
                .unwrap()
                .windows(word.len())
                .any(|bytes| bytes.eq_ignore_ascii_case(word.as_bytes()))
            {
                found.push(path.strip_prefix(world.home()).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// What is left to do here, and what the server knows.
fn steps_left(world: &World, short_id: &str) -> (Vec<String>, Value) {
    let ran = world.run(&["purged", short_id, "--json"]);
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let left = reply["removal"]["steps"].as_array().unwrap().iter().filter(|step| step["done"].is_null());
    assert_eq!(ran.code, Some(1), "the server is to be told: {ran:?}");
    let left = left.map(|step| step["place"].as_str().unwrap().to_owned()).collect();
    (left, reply["removal"]["server"].clone())
}

#[test]
fn a_copy_of_another_schema_a_reader_and_a_server_in_use_keep_nothing_of_it() {
    let world = World::new();
    fs::create_dir(world.home()).unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/db/every-kind.db");
    fs::copy(fixture, world.home().join("tessera.db")).unwrap();
    let found = world.json(&["recall", "who is the harbour master?"]);
    let row = &found["details"][0];
    assert!(row["content"].as_str().unwrap().contains("Castellano"), "{found}");
    let short_id = row["id"].to_string();
    assert_eq!(world.run(&["backup"]).code, Some(0));
    assert_eq!(world.run(&["export", world.home().join("mine.jsonl").to_str().unwrap()]).code, Some(0));
    fs::write(world.home().join("backups/tessera-torn.db"), "torn: Harbour master is Ines Castellano; her deputy")
        .unwrap();
    let copy = world.home().join("backups/tessera-without-sync_states.db");
    fs::copy(fixture, &copy).unwrap();
    let lacking = "DROP TABLE sync_states; DROP INDEX outbox_failing; ALTER TABLE outbox DROP COLUMN failing";
    rusqlite::Connection::open(&copy).unwrap().execute_batch(lacking).unwrap();
    let mut client = Client::start(&world);
    client.ok("memory_recall", serde_json::json!({ "query": "harbour master" }));
    assert!(holding(&world, "castellano").len() >= 5, "{:?}", holding(&world, "castellano"));
    // Whoever closes a file of it lets go of all locks of its process: nothing is looked at while the reader reads.
    let reader = rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let _: i64 = reader.query_row("SELECT count(*) FROM memories", [], |row| row.get(0)).unwrap();

    let ran = world.run(&["forget", &short_id, "--hard", "--reason", "Castellano left"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("another process is reading") && said.contains("tessera-torn.db"), "{said}");
    // An export is the person's own: it is named, and stays until they remove it.
    assert!(said.contains("mine.jsonl"), "{said}");
    assert_eq!(steps_left(&world, &short_id), (vec!["pages".to_owned(), "mine.jsonl".to_owned()], "waits".into()));
    drop(reader);
    assert_eq!(steps_left(&world, &short_id), (vec!["mine.jsonl".to_owned()], "waits".into()));
    assert_eq!(holding(&world, "castellano"), ["mine.jsonl"]);
    fs::remove_file(world.home().join("mine.jsonl")).unwrap();
    assert_eq!(steps_left(&world, &short_id), (vec![], "waits".into()), "with the server still in use");
    assert_eq!(holding(&world, "castellano"), Vec::<String>::new());
    client.ok("memory_recall", serde_json::json!({ "query": "harbour master" }));
    assert!(client.close().success());
    assert_eq!(holding(&world, "castellano"), Vec::<String>::new(), "nothing comes back as it ends");

    // What is left in the other copies is whole, and can be opened.
    fs::remove_file(copy).unwrap();
    for copy in fs::read_dir(world.home().join("backups")).unwrap() {
        let path = copy.unwrap().path();
        let other = World::new();
        fs::create_dir(other.home()).unwrap();
        fs::copy(&path, other.home().join("tessera.db")).unwrap();
        assert!(other.contents().len() > 15, "{}", path.display());
        other.run(&["doctor", "--repair"]);
        other.assert_healthy();
        assert_eq!(other.found("which port does the staging gateway listen on?").len().min(1), 1);
    }
    world.assert_healthy();
    let never = world.run(&["purged", "1"]);
    assert_eq!(never.code, Some(1), "{never:?}");
}
