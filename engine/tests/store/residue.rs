//! A store with credentials in clear: they are found wherever they stand, are taken out by word of the person,
//! and are told to no server before that.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tessera_engine::Store;
use tessera_engine::domain::{MemoryRef, Timestamp};
use tessera_engine::store::{Actor, Erase, Scanning, StoreError, Upload};

use crate::support::{Home, named};

const THEN: &str = "2027-03-20T11:00:00Z";
/// What stands there in clear; the last in the words of a change alone, beside how the memory was before.
const VALUES: [&str; 5] = ["hunter2!X9", "Zx81-plover", "Qu1ncy&Moor7", "Hx7-kranich-92", "Br1sk-Heron-31"];

/// Where a value stands in a home, by the name of the file.
fn credentials_left(home: &Home) -> Vec<String> {
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
    let home = Home::with("clear-credentials.db");
    let mut store = home.open(THEN);
    store.rebuild_snapshot().unwrap();
    store.backup(Some(&home.dir.path().join("t/backups/earlier.db"))).unwrap();
    let before = credentials_left(&home);
    assert!(VALUES.iter().all(|value| before.contains(&format!("earlier.db: {value}"))), "{before:?}");
    let seen = store.scan(Scanning::Look, &mut |_, _| {}).unwrap();
    assert_eq!(credentials_left(&home), before, "looking changes nothing");
    assert!(seen.left() >= 10 && seen.residues.iter().all(|residue| !residue.fixed), "{seen:#?}");
    let told = format!("{seen:?}");
    assert!(VALUES.iter().all(|value| !told.contains(value)), "no value is shown");
    let mut steps = Vec::new();
    let done = store.scan(Scanning::Fix, &mut |done, all| steps.push((done, all))).unwrap();
    assert_eq!((done.left(), done.residues.iter().filter(|residue| residue.problem.is_some()).count()), (0, 0));
    assert!(steps.is_sorted() && steps.last().is_some_and(|(done, all)| done <= all), "{steps:?}");
    assert_eq!(credentials_left(&home), Vec::<String>::new());
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
        Home::with("clear-credentials.db").open(THEN).get(named(3)).unwrap().unwrap().updated
    );
}

#[test]
fn a_scan_finds_credentials_in_metadata_and_headings_of_the_store_and_of_its_backups() {
    let home = Home::with("clear-credentials.db");
    let live = home.dir.path().join("t/tessera.db");
    home.open(THEN).scan(Scanning::Fix, &mut |_, _| {}).unwrap();
    let (login, heading) = ("Gr4nite-Osprey-77", "M4rsh-Kestrel-58");
    let sql = "UPDATE memories SET metadata = ?1, heading = ?2 WHERE short_id = 3";
    let metadata = format!(r#"{{"login":{{"password":"{login}"}}}}"#);
    Connection::open(&live).unwrap().execute(sql, [&metadata, &format!("The crane password is {heading}")]).unwrap();
    let mut store = home.open(THEN);
    store.backup(Some(&home.dir.path().join("t/backups/earlier.db"))).unwrap();
    assert_eq!(fixed(&mut store).unwrap(), 0);
    drop(store);
    for path in [live, home.dir.path().join("t/backups/earlier.db")] {
        let bytes = fs::read(&path).unwrap();
        let holds = |value: &str| bytes.windows(value.len()).any(|window| window == value.as_bytes());
        assert!(!holds(login) && !holds(heading), "{}: {} {}", path.display(), holds(login), holds(heading));
    }
    let values = given_back(&home.open(THEN));
    assert!(values.iter().any(|value| value.contains(login)), "{values:?}");
}

#[test]
fn a_scan_that_is_ended_in_its_middle_goes_on_and_loses_no_value() {
    let home = Home::with("clear-credentials.db");
    home.open(THEN).backup(Some(&home.dir.path().join("t/backups/earlier.db"))).unwrap();
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
    assert_eq!(credentials_left(&home), Vec::<String>::new());
    let values = given_back(&store);
    assert!(VALUES.iter().all(|value| values.iter().any(|known| known.contains(value))), "{values:?}");
}

#[test]
fn no_server_is_told_of_a_credential_that_stood_there_before() {
    let home = Home::with("clear-credentials.db");
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

/// What SQLite says of a database, and how many memories are in it.
fn state_of(path: &Path) -> (String, u32) {
    let connection = Connection::open(path).unwrap();
    let one = |sql: &str| connection.query_row(sql, [], |row| row.get(0)).unwrap();
    let count =
        connection.query_row("SELECT count(*) FROM memories WHERE content <> ''", [], |row| row.get(0)).unwrap();
    (one("PRAGMA integrity_check"), count)
}

/// A store, and copies of it by names and in directories that a person chose.
fn with_copies(home: &Home) -> (Store, Vec<PathBuf>) {
    let store = home.open(THEN);
    let dir = home.dir.path().join("t");
    let mine = dir.join("my copy.db");
    let others = ["notes.txt", "tessera.db.bak", "old/older/tessera.db"].map(|name| dir.join(name));
    fs::create_dir_all(dir.join("old/older")).unwrap();
    store.backup(Some(&mine)).unwrap();
    for other in &others {
        fs::copy(&mine, other).unwrap();
    }
    let copies: Vec<PathBuf> = [mine].into_iter().chain(others).collect();
    let foreign = Connection::open(dir.join("foreign.sqlite")).unwrap();
    let told = format!("CREATE TABLE notes (said TEXT); INSERT INTO notes VALUES ('{}, the harbour crane')", VALUES[0]);
    foreign.execute_batch(&told).unwrap();
    fs::write(dir.join("old/mine.jsonl"), format!("{{\"content\": \"the password is {}\"}}\n", VALUES[1])).unwrap();
    fs::write(dir.join("old/packed.tar"), format!("a\0the password is {}\0b", VALUES[1])).unwrap();
    (store, copies)
}

#[test]
fn a_copy_is_a_database_by_any_name_and_stays_whole_and_what_is_not_ours_is_left_and_told() {
    let home = Home::with("clear-credentials.db");
    let (mut store, copies) = with_copies(&home);
    let before: Vec<_> = copies.iter().map(|copy| state_of(copy)).collect();
    let strange = ["foreign.sqlite", "old/packed.tar"].map(|name| home.dir.path().join("t").join(name));
    let bytes = strange.clone().map(|path| fs::read(path).unwrap());
    let done = store.scan(Scanning::Fix, &mut |_, _| {}).unwrap();
    let problems: Vec<&str> = done
        .residues
        .iter()
        .filter(|residue| residue.problem.is_some())
        .map(|residue| residue.which.as_str())
        .collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems.contains(&"foreign.sqlite") && problems.iter().any(|which| which.ends_with("packed.tar")));
    let left = credentials_left(&home);
    assert_eq!(left, [format!("foreign.sqlite: {}", VALUES[0]), format!("packed.tar: {}", VALUES[1])]);
    assert_eq!(copies.iter().map(|copy| state_of(copy)).collect::<Vec<_>>(), before);
    assert!(before.iter().all(|(state, count)| state == "ok" && *count > 10), "{before:?}");
    assert_eq!(strange.map(|path| fs::read(path).unwrap()), bytes);
}

#[test]
fn what_is_removed_for_good_goes_from_copies_of_any_name_and_from_directories() {
    let home = Home::with("clear-credentials.db");
    let (mut store, copies) = with_copies(&home);
    let dir = home.dir.path().join("t");
    let text = store.get(named(1)).unwrap().unwrap().content;
    fs::write(dir.join("old/exported.jsonl"), serde_json::json!({ "content": text }).to_string()).unwrap();
    Connection::open(dir.join("foreign.sqlite")).unwrap().execute("UPDATE notes SET said = ?1", [&text]).unwrap();
    let before: Vec<_> = copies.iter().map(|copy| state_of(copy)).collect();
    let id = store.get(named(1)).unwrap().unwrap().id;
    store.forget(&[MemoryRef::Id(id)], Erase::Hard, &Actor::default()).unwrap();
    for (copy, (_, count)) in copies.iter().zip(before) {
        assert_eq!(state_of(copy), ("ok".to_owned(), count - 1), "{}", copy.display());
        assert!(!String::from_utf8_lossy(&fs::read(copy).unwrap()).contains(&text));
    }
    let mut left: Vec<PathBuf> = store.traces(&[id]).unwrap().copies;
    left.sort();
    let theirs = [dir.join("foreign.sqlite"), dir.join("old/exported.jsonl")];
    assert_eq!(left, theirs, "what somebody else wrote is told, and never rewritten");
    for path in theirs {
        assert!(String::from_utf8_lossy(&fs::read(path).unwrap()).contains(&text));
    }
}

#[test]
fn what_is_read_into_another_form_and_lines_of_a_key_are_found_in_the_row() {
    let home = Home::with("clear-credentials.db");
    drop(home.open(THEN));
    let path = home.dir.path().join("t/tessera.db");
    let token = format!("gh{}_{}", "p", "x7Kq2Lw9Zt5XcV1mQ0bZr4Ns8Ty6Uh3Pd1Ga");
    let line = "nY7p4bKq2Lw9Zt5XcV1mQ0bZr4Ns8Ty6Uh3Pd1GanY7p4bKq2Lw9Zt5XcV1mQ0bZ";
    let (begin, end) =
        (["-----BEGIN RSA PRI", "VATE KEY-----"].concat(), ["-----END RSA PRI", "VATE KEY-----"].concat());
    let key = format!("The deploy key:\n{begin}\nMIIEowIBAAKCAQEA{line}\n{line}\n{end}");
    let connection = Connection::open(&path).unwrap();
    let set = |sql: &str, value: &str| assert_eq!(connection.execute(sql, [value]).unwrap(), 1);
    set("UPDATE memories SET scope = ?1 WHERE short_id = 1", &format!("https://bob:{token}@git.example.com/r.git"));
    set("UPDATE memories SET content = ?1 WHERE short_id = 3", &key);
    set("UPDATE memories SET entities = json_array(?1), keywords = json_array(lower(?1)) WHERE short_id = 4", line);
    drop(connection);
    let mut store = home.open(THEN);
    let seen = store.scan(Scanning::Look, &mut |_, _| {}).unwrap();
    for number in ["#1", "#3", "#4"] {
        let is_told = seen.residues.iter().any(|residue| residue.place == "memory" && residue.which == number);
        assert!(is_told, "{number}: {:?}", seen.residues);
    }
    assert_eq!(fixed(&mut store).unwrap(), 0);
    let values = given_back(&store);
    assert!(values.iter().any(|value| value.contains(&token)) && values.iter().any(|value| value.contains(line)));
    drop(store);
    let left = String::from_utf8_lossy(&fs::read(&path).unwrap()).to_lowercase();
    assert!(!left.contains(&token.to_lowercase()) && !left.contains(&line[..32].to_lowercase()));
    let mut store = home.open(THEN);
    assert_eq!(store.scan(Scanning::Look, &mut |_, _| {}).unwrap().residues, []);
}

#[test]
fn settings_are_looked_at_and_never_rewritten_and_the_key_that_is_set_there_belongs_there() {
    let home = Home::new();
    let mut store = home.open(THEN);
    let config = home.dir.path().join("t/config.toml");
    let set = format!("[sync]\nkey = \"gh{}_{}\"\n", "p", "x7Kq2Lw9Zt5XcV1mQ0bZr4Ns8Ty6Uh3Pd1Ga");
    fs::write(&config, &set).unwrap();
    assert_eq!(store.scan(Scanning::Fix, &mut |_, _| {}).unwrap().residues, []);
    let noted = format!("{set}# the password is {}\n", VALUES[0]);
    fs::write(&config, &noted).unwrap();
    let done = store.scan(Scanning::Fix, &mut |_, _| {}).unwrap();
    assert_eq!((done.left(), done.residues.len()), (1, 1), "{done:?}");
    assert!(done.residues.iter().all(|residue| residue.which == "config.toml" && residue.problem.is_some()));
    assert_eq!(fs::read_to_string(&config).unwrap(), noted);
}
