//! A store of schema 9 with credentials in clear: they are found wherever they stand, are taken out by word of the person,
//! and are told to no server before that.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use tessera_engine::Store;
use tessera_engine::domain::{MemoryRef, Timestamp};
use tessera_engine::store::{Scanning, StoreError, Upload};

use crate::support::{Home, named};

const THEN: &str = "2027-03-20T11:00:00Z";
/// What stands there in clear; the last in the words of a change alone, beside how the memory was before.
const VALUES: [&str; 5] = ["hunter2!X9", "Zx81-plover", "Qu1ncy&Moor7", "Hx7-kranich-92", "Br1sk-Heron-31"];

/// Where a value stands in a home, by the name of the file.
fn standing(home: &Home) -> Vec<String> {
    let (mut dirs, mut found) = (vec![home.dir.path().to_path_buf()], Vec::new());
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).to_lowercase();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            found.extend(
                VALUES.iter().filter(|value| text.contains(&value.to_lowercase())).map(|v| format!("{name}: {v}")),
            );
        }
    }
    found.sort();
    found
}

fn given_back(store: &Store) -> Vec<String> {
    let secrets = store.secrets(None).unwrap();
    let value = |memory, name: &str| store.secret_value(memory, name).unwrap().unwrap().to_string();
    secrets.iter().map(|secret| value(secret.memory, &secret.name)).collect()
}

fn fixed(store: &mut Store) -> Result<u64, StoreError> {
    Ok(store.scan(Scanning::Fix, &mut |_, _| {})?.left())
}

#[test]
fn what_stands_there_is_counted_then_set_aside_and_nothing_of_it_is_left() {
    let home = Home::with("v9.db");
    let mut store = home.open(THEN);
    store.rebuild_snapshot().unwrap();
    let before = standing(&home);
    assert!(VALUES.iter().all(|value| before.contains(&format!("pre-schema-10-from-9.db: {value}"))), "{before:?}");
    let seen = store.scan(Scanning::Look, &mut |_, _| {}).unwrap();
    assert_eq!(standing(&home), before, "looking changes nothing");
    assert!(seen.left() >= 10 && seen.residues.iter().all(|residue| !residue.fixed), "{seen:#?}");
    let told = format!("{seen:?}");
    assert!(VALUES.iter().all(|value| !told.contains(value)), "no value is shown");
    let mut steps = Vec::new();
    let done = store.scan(Scanning::Fix, &mut |done, all| steps.push((done, all))).unwrap();
    assert_eq!((done.left(), done.residues.iter().filter(|residue| residue.problem.is_some()).count()), (0, 0));
    assert!(steps.is_sorted() && steps.last().is_some_and(|(done, all)| done <= all), "{steps:?}");
    assert_eq!(standing(&home), Vec::<String>::new());
    let values = given_back(&store);
    for value in VALUES {
        assert!(values.iter().any(|known| known.contains(value)), "{value}: {values:?}");
    }
    let again = store.scan(Scanning::Fix, &mut |_, _| {}).unwrap();
    assert_eq!(again.residues, []);
    let memory = store.get(named(2)).unwrap().unwrap();
    assert!(memory.sensitive && memory.summary.contains("[secret s"), "{memory:?}");
    assert!(store.get(named(6)).unwrap().unwrap().deleted.is_some(), "one that was forgotten stays so");
    assert_eq!(
        store.get(named(3)).unwrap().unwrap().updated,
        Home::with("v9.db").open(THEN).get(named(3)).unwrap().unwrap().updated
    );
}

#[test]
fn a_scan_that_is_ended_in_its_middle_goes_on_and_loses_no_value() {
    let home = Home::with("v9.db");
    for most in 0..6 {
        let mut store = home.open(THEN);
        let mut times = 0;
        let mut progress = |_, _| {
            times += 1;
            assert!(times <= most, "the process is ended here");
        };
        assert!(catch_unwind(AssertUnwindSafe(|| store.scan(Scanning::Fix, &mut progress))).is_err() || most >= 3);
    }
    let mut store = home.open(THEN);
    assert_eq!(fixed(&mut store).unwrap(), 0);
    assert_eq!(standing(&home), Vec::<String>::new());
    let values = given_back(&store);
    assert!(VALUES.iter().all(|value| values.iter().any(|known| known.contains(value))), "{values:?}");
}

#[test]
fn no_server_is_told_of_a_credential_that_stood_there_before() {
    let home = Home::with("v9.db");
    let mut store = home.open(THEN);
    store.join("https://memory.example", "ada", Upload::All).unwrap();
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(serde_json::to_string(&store.ops(1_000).unwrap()).unwrap());
    }
    assert!(told[0].contains("The harbour crane") && told[0].matches("[secret s").count() >= 4, "{}", told[0]);
    assert_eq!(told[0], told[1], "what was sent and not answered is sent again as it was");
    for value in VALUES {
        let at = told[0].find(value).map(|at| &told[0][at.saturating_sub(300)..at + 60]);
        assert_eq!(at, None, "{value}");
    }
    let live = [2, 9, 12, 13];
    let is_clean = |number| store.get(named(number)).unwrap().unwrap().sensitive;
    assert!(live.into_iter().all(is_clean), "what is told is what stands there");
    let id = store.get(named(2)).unwrap().unwrap().id;
    assert_eq!(store.secrets(Some(id)).unwrap().len(), 1);
    assert!(store.get(MemoryRef::Id(id)).unwrap().unwrap().updated > Timestamp::from_micros(0));
}
