//! Texts that a person marks as secret, and texts that a person declares to be none.

use std::fs;
use std::path::{Path, PathBuf};

use tessera_engine::Store;
use tessera_engine::domain::{Draft, Patch, Tag};
use tessera_engine::store::{Actor, Erase, Scanning, SecretRef, StoreError, Tried};

use crate::support::{Home, named, recalled};

const NOW: &str = "2026-11-27T09:00:00Z";
const SAID: &str = "The gate of the warehouse opens with purple lantern";
const VALUE: &str = "purple lantern";

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The files of a home directory that contain a text.
fn holding(home: &Home, text: &str) -> Vec<PathBuf> {
    let holds = |path: &PathBuf| fs::read(path).unwrap().windows(text.len()).any(|bytes| bytes == text.as_bytes());
    files(home.dir.path()).into_iter().filter(holds).collect()
}

fn edit(store: &mut Store, number: u32, text: &str) {
    let patch = Patch { content: Some(text.to_owned()), ..Patch::default() };
    store.update(named(number), &patch, &Actor::default()).unwrap();
}

/// A memory that says a value in its text, an earlier text, a tag, a keyword, a backup, a log and a queued turn.
fn said_everywhere(home: &Home) -> Store {
    let mut store = home.open(NOW);
    let tags = vec!["purple-lantern".parse().unwrap()];
    let draft = Draft { keywords: vec![VALUE.into()], tags, ..Draft::new(SAID) };
    store.remember(draft).unwrap();
    edit(&mut store, 1, &format!("{SAID} since May"));
    crate::support::store(&mut store, "The shed is painted in another colour");
    store.backup(None).unwrap();
    let dir = home.dir.path().join("t");
    fs::write(dir.join("hooks.log"), format!("one\nopens with {VALUE}\ntwo\n")).unwrap();
    fs::create_dir_all(dir.join("queue")).unwrap();
    fs::write(dir.join("queue/1.json"), format!("{{\"answer\": \"I noted: {SAID}\", \"n\": 1}}")).unwrap();
    store.recall(&tessera_engine::domain::RecallRequest::new(format!("{VALUE} zebra okapi"))).unwrap();
    assert!(holding(home, VALUE).len() >= 4, "{:?}", holding(home, VALUE));
    store
}

#[test]
fn a_hidden_text_is_nowhere_in_clear_and_is_given_back_by_its_name() {
    let home = Home::new();
    let mut store = said_everywhere(&home);
    let hidden = store.hide(named(1), "purple lantern\n", &Actor::default()).unwrap();
    let name = hidden.name.clone().unwrap();
    assert_eq!((hidden.versions, hidden.also_in.len()), (1, 0), "{hidden:?}");
    assert!(hidden.files.iter().all(|file| file.problem.is_none()) && hidden.files.len() >= 3, "{hidden:?}");
    let memory = store.get(named(1)).unwrap().unwrap();
    let place = format!("[secret {name}: marked secret]");
    assert_eq!(memory.content, format!("The gate of the warehouse opens with {place} since May"));
    assert_eq!(memory.tags.iter().map(Tag::as_str).collect::<Vec<_>>(), [format!("secret-{name}")]);
    let history = store.history(named(1)).unwrap();
    let before: Vec<&str> = history.iter().filter_map(|entry| Some(entry.before.as_ref()?.content.as_str())).collect();
    assert_eq!(before, [format!("The gate of the warehouse opens with {place}")]);
    assert!(recalled(&mut store, "how does the gate open?")[0].contains(&place));
    let revealed = store.reveal(&SecretRef::Name(name), &Actor::default()).unwrap();
    assert_eq!(revealed.secrets[0].value.as_ref().unwrap().as_str(), VALUE);
    drop(store);
    assert_eq!(holding(&home, VALUE), Vec::<PathBuf>::new());
    assert_eq!(holding(&home, "purple-lantern"), Vec::<PathBuf>::new());
    let log = fs::read_to_string(home.dir.path().join("t/hooks.log")).unwrap();
    assert!(log.starts_with("one\n") && log.ends_with("two\n"), "{log}");
    // The backup is complete and can be restored.
    let backup = files(&home.dir.path().join("t/backups")).remove(0);
    let count = |sql: &str| {
        rusqlite::Connection::open(&backup).unwrap().query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap()
    };
    assert_eq!((count("SELECT count(*) FROM memories"), count("SELECT count(*) FROM history")), (2, 3));
    assert!(Store::examine(home.config(NOW), false).unwrap().is_good());
}

#[test]
fn a_later_edit_with_the_text_is_redacted_again() {
    let home = Home::new();
    let mut store = said_everywhere(&home);
    let name = store.hide(named(1), VALUE, &Actor::default()).unwrap().name.unwrap();
    edit(&mut store, 1, "It is purple lantern, not green lantern");
    let memory = store.get(named(1)).unwrap().unwrap();
    assert_eq!(memory.content, format!("It is [secret {name}: marked secret], not green lantern"));
}

#[test]
fn a_short_text_is_hidden_in_its_memory_alone_and_breaks_nothing_else() {
    let home = Home::new();
    let mut store = home.open(NOW);
    // The digits are also in UUIDs and times of the history.
    crate::support::store(&mut store, "The alarm takes 019 and the shed, too; 2019 was a good year");
    edit(&mut store, 1, "The alarm takes 019");
    crate::support::store(&mut store, "Room 019 is on the third floor");
    let hidden = store.hide(named(1), "019", &Actor::default()).unwrap();
    let name = hidden.name.unwrap();
    assert_eq!((hidden.versions, hidden.also_in.iter().map(|id| id.get()).collect::<Vec<_>>()), (1, vec![2]));
    let place = format!("[secret {name}: marked secret]");
    assert_eq!(store.get(named(1)).unwrap().unwrap().content, format!("The alarm takes {place}"));
    assert_eq!(store.get(named(2)).unwrap().unwrap().content, "Room 019 is on the third floor");
    let before = store.history(named(1)).unwrap().iter().find_map(|entry| entry.before.clone()).unwrap();
    assert_eq!(before.content, format!("The alarm takes {place} and the shed, too; 2{place} was a good year"));
    drop(store);
    assert!(Store::examine(home.config(NOW), false).unwrap().is_good());
}

#[test]
fn what_cannot_be_hidden_is_refused_and_nothing_changes() {
    let home = Home::new();
    let mut store = said_everywhere(&home);
    for (number, text, problem) in [
        (1, "ab", "too short"),
        (1, " \n ", "too short"),
        (1, "green lantern", "does not contain this text"),
        (9, VALUE, "no memory"),
    ] {
        let refused = store.hide(named(number), text, &Actor::default()).unwrap_err().to_string();
        assert!(refused.contains(problem), "{text}: {refused}");
    }
    assert!(store.secrets(None).unwrap().is_empty());
    store.forget(&[named(1)], Erase::Soft, &Actor::default()).unwrap();
    store.hide(named(1), VALUE, &Actor::default()).unwrap();
    drop(store);
    assert_eq!(holding(&home, VALUE), Vec::<PathBuf>::new(), "a deleted memory is hidden, too");
}

#[test]
fn texts_of_many_scripts_are_hidden_where_words_have_no_spaces() {
    let home = Home::new();
    let mut store = home.open(NOW);
    for (number, (text, value)) in (1..).zip([
        ("小石头下面有南瓜汤的纸条", "南瓜汤"),
        ("الكلمة هي قمر أزرق للباب", "قمر أزرق"),
        ("The word is 🦊🌲🦊 for the door", "🦊🌲🦊"),
        ("Der Zettel sagt \"Mond\\Licht\" und 'x'", "\"Mond\\Licht\" und 'x'"),
    ]) {
        crate::support::store(&mut store, text);
        let name = store.hide(named(number), value, &Actor::default()).unwrap().name.unwrap();
        let content = store.get(named(number)).unwrap().unwrap().content;
        assert_eq!(content, text.replace(value, &format!("[secret {name}: marked secret]")));
    }
}

#[test]
fn an_interrupted_run_goes_on_where_it_stopped() {
    let home = Home::new();
    drop(said_everywhere(&home));
    let backups = home.dir.path().join("t/backups");
    let copy = files(&backups).remove(0);
    let kept = fs::read(&copy).unwrap();
    let name = home.open(NOW).hide(named(1), VALUE, &Actor::default()).unwrap().name.unwrap();
    // As if the program had ended after the transaction: the backup is as before, and the record says so.
    fs::write(&copy, kept).unwrap();
    let database = rusqlite::Connection::open(home.dir.path().join("t/tessera.db")).unwrap();
    let sql = "INSERT INTO hidden_secrets (memory, name) SELECT memory, name FROM secrets WHERE name = ?1";
    assert_eq!(database.execute(sql, [name]).unwrap(), 1);
    drop(database);
    assert_eq!(holding(&home, VALUE), [copy]);
    home.open(NOW).go_on_hiding(Tried::NotYet).unwrap();
    assert_eq!(holding(&home, VALUE), Vec::<PathBuf>::new());
    let database = rusqlite::Connection::open(home.dir.path().join("t/tessera.db")).unwrap();
    assert_eq!(database.query_row("SELECT count(*) FROM hidden_secrets", [], |row| row.get::<_, u32>(0)).unwrap(), 0);
}

/// A sentence in which the classifiers find a secret, and no rule does.
const PROBABLE: &str = "the gate of the warehouse opens with pumpkin soup";

fn probable_in(store: &Store, number: u32) -> (String, String) {
    let of = store.get(named(number)).unwrap().unwrap().id;
    let secret = store.secrets(Some(of)).unwrap().remove(0);
    assert_eq!(secret.kind, "probable secret");
    let value = store.secret_value(of, &secret.name).unwrap().unwrap().to_string();
    (secret.name, value)
}

#[test]
fn an_allowed_text_is_restored_and_never_redacted_again() {
    let home = Home::new();
    let mut store = home.open(NOW);
    crate::support::store(&mut store, PROBABLE);
    edit(&mut store, 1, &format!("{PROBABLE} since May"));
    let (name, value) = probable_in(&store, 1);
    let allowed = store.allow_secret(&name, &Actor::default()).unwrap();
    assert_eq!((allowed.value, allowed.memories.len()), (value.clone(), 1));
    assert_eq!(store.get(named(1)).unwrap().unwrap().content, format!("{PROBABLE} since May"));
    let history = store.history(named(1)).unwrap();
    assert_eq!(history.iter().find_map(|entry| entry.before.as_ref()).unwrap().content, PROBABLE);
    assert!(store.secrets(None).unwrap().is_empty());
    assert_eq!(store.allowed_texts().unwrap(), [value.as_str()]);
    // Stored anew, edited, and scanned.
    let again = store.remember(Draft::new(format!("In winter, {PROBABLE}"))).unwrap();
    assert!(again.aside.is_empty() && again.memory.content.ends_with(PROBABLE), "{again:?}");
    edit(&mut store, 1, &format!("{PROBABLE} since June"));
    assert_eq!(store.get(named(1)).unwrap().unwrap().content, format!("{PROBABLE} since June"));
    assert_eq!(store.scan(Scanning::Look, &mut |_, _| {}).unwrap().left(), 0);
    // A person may change their mind.
    store.hide(named(1), &value, &Actor::default()).unwrap();
    assert!(store.allowed_texts().unwrap().is_empty());
    assert!(!store.get(named(1)).unwrap().unwrap().content.contains(&value));
}

#[test]
fn a_secret_that_a_rule_found_is_not_allowed() {
    let home = Home::new();
    let mut store = home.open(NOW);
    crate::support::store(&mut store, "the staging password is hunter2!X9");
    let name = store.secrets(None).unwrap().remove(0).name;
    let refused = store.allow_secret(&name, &Actor::default()).unwrap_err();
    assert!(matches!(refused, StoreError::Conflict { .. }) && refused.to_string().contains("secret show"), "{refused}");
    assert!(store.get(named(1)).unwrap().unwrap().content.contains("[secret "));
    let unknown = store.allow_secret("s00000", &Actor::default()).unwrap_err();
    assert!(matches!(unknown, StoreError::NoSecret { .. }), "{unknown}");
}

#[test]
fn a_scan_reads_old_texts_closely_and_only_once() {
    let home = Home::new();
    let mut store = home.open(NOW);
    for text in ["The first note is about tabs", "The second note is about birch"] {
        crate::support::store(&mut store, text);
    }
    let path = home.dir.path().join("t/tessera.db");
    let count =
        |sql: &str| rusqlite::Connection::open(&path).unwrap().query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
    // As a program of before stored it, which had no classifiers.
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute("UPDATE memories SET content = ?1, summary = ?1 WHERE short_id = 2", [PROBABLE]).unwrap();
    drop(database);
    store.backup(None).unwrap();
    let looked = store.scan(Scanning::Look, &mut |_, _| {}).unwrap();
    assert_eq!((looked.left(), looked.residues[0].kinds.get("probable secret")), (1, Some(&1)), "{looked:?}");
    assert_eq!(count("SELECT count(*) FROM clean_texts"), 1, "the other text is not read again");
    let fixed = store.scan(Scanning::Fix, &mut |_, _| {}).unwrap();
    assert_eq!(fixed.left(), 0, "{fixed:?}");
    let (_, value) = probable_in(&store, 2);
    drop(store);
    assert_eq!(holding(&home, &value), Vec::<PathBuf>::new());
    let again = home.open(NOW).scan(Scanning::Look, &mut |_, _| {}).unwrap();
    assert_eq!(again.residues, []);
    assert_eq!(count("SELECT count(*) FROM clean_texts"), 2);
}

fn backup_of(home: &Home) -> PathBuf {
    files(&home.dir.path().join("t/backups")).remove(0)
}

#[test]
fn what_only_looks_like_the_text_in_logs_and_queued_turns_stays() {
    let home = Home::new();
    let mut store = home.open(NOW);
    crate::support::store(&mut store, "the cabin was painted in 2026 by uncle Bob");
    let queue = home.dir.path().join("t/queue");
    fs::create_dir_all(&queue).unwrap();
    let job = serde_json::json!({
        "at": "2026-01-01T00:00:00Z", "scope": "2026", "transcript": "/home/2026/x.jsonl", "session": "2026",
        "answer": "It was 2026",
    });
    fs::write(queue.join("1.json"), job.to_string()).unwrap();
    store.hide(named(1), "2026", &Actor::default()).unwrap();
    let after: serde_json::Value = serde_json::from_slice(&fs::read(queue.join("1.json")).unwrap()).unwrap();
    for field in ["at", "scope", "transcript", "session"] {
        assert_eq!(after[field], job[field]);
    }
    assert_eq!(after["answer"], "It was [secret dropped: marked secret]");
}

#[test]
fn a_text_with_escapes_and_line_breaks_is_found_in_json_and_in_logs() {
    for value in ["\"blue zebrafish\"", "first line\nsecond line", "caf\u{e9} \\ Zo\u{eb}"] {
        let home = Home::new();
        let mut store = home.open(NOW);
        crate::support::store(&mut store, &format!("Note: {value} end"));
        let queue = home.dir.path().join("t/queue");
        fs::create_dir_all(&queue).unwrap();
        fs::write(queue.join("1.json"), serde_json::json!({ "answer": format!("Ok: {value}") }).to_string()).unwrap();
        fs::write(home.dir.path().join("t/hooks.log"), format!("one {value} two\n")).unwrap();
        store.hide(named(1), value, &Actor::default()).unwrap();
        let read = |name: &str| fs::read_to_string(home.dir.path().join("t").join(name)).unwrap();
        assert_eq!(read("queue/1.json"), "{\"answer\":\"Ok: [secret dropped: marked secret]\"}");
        assert_eq!(read("hooks.log"), "one [secret dropped: marked secret] two\n");
    }
}

#[test]
fn a_backup_loses_the_text_wherever_it_was_and_can_show_it_after_a_restore() {
    let home = Home::new();
    let mut store = home.open(NOW);
    let metadata = Some(format!("{{\"owner\": \"{VALUE} x\"}}").parse().unwrap());
    let draft = Draft { metadata, session: Some(format!("s {VALUE}")), ..Draft::new("A pond note") };
    store.remember(draft).unwrap();
    let patch = Patch { content: Some("[\"purple\", \"lantern\"]".into()), ..Patch::default() };
    let actor = Actor { reason: Some(format!("it was {VALUE}")), ..Actor::default() };
    store.update(named(1), &patch, &actor).unwrap();
    crate::support::store(&mut store, "Another note");
    store.backup(None).unwrap();
    let copy = backup_of(&home);
    assert_eq!(holding(&home, VALUE).len(), 2);
    let name = store.hide(named(1), VALUE, &Actor::default()).unwrap().name.unwrap();
    drop(store);
    assert_eq!(holding(&home, VALUE), Vec::<PathBuf>::new());
    let database = rusqlite::Connection::open(&copy).unwrap();
    let one = |sql: &str| database.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(one("SELECT content FROM memories WHERE short_id = 1"), "[\"purple\", \"lantern\"]");
    assert_eq!(one("SELECT name FROM secrets WHERE sealed IS NOT NULL"), name);
}

#[test]
fn without_stored_values_backups_get_the_present_text() {
    let home = Home::new();
    let mut store = said_everywhere(&home);
    drop(store);
    let mut config = home.config(NOW);
    config.secrets.mode = tessera_engine::store::SecretMode::Drop;
    store = Store::open(config).unwrap();
    let hidden = store.hide(named(1), VALUE, &Actor::default()).unwrap();
    assert_eq!(hidden.name, None);
    assert!(store.get(named(1)).unwrap().unwrap().content.contains("[secret dropped: marked secret]"));
    drop(store);
    assert_eq!(holding(&home, VALUE), Vec::<PathBuf>::new());
}

#[test]
fn a_scan_leaves_the_same_text_in_other_memories_and_what_was_allowed() {
    let home = Home::new();
    let mut store = home.open(NOW);
    crate::support::store(&mut store, SAID);
    crate::support::store(&mut store, "The shed has a purple lantern");
    crate::support::store(&mut store, PROBABLE);
    store.hide(named(1), VALUE, &Actor::default()).unwrap();
    let (name, _) = probable_in(&store, 3);
    store.allow_secret(&name, &Actor::default()).unwrap();
    assert_eq!(store.scan(Scanning::Fix, &mut |_, _| {}).unwrap().residues, []);
    assert_eq!(store.get(named(2)).unwrap().unwrap().content, "The shed has a purple lantern");
    assert_eq!(store.get(named(3)).unwrap().unwrap().content, PROBABLE);
}

#[test]
fn allowing_a_text_does_not_restore_a_password_with_the_same_value() {
    let home = Home::new();
    let mut store = home.open(NOW);
    crate::support::store(&mut store, "The staging password is Kestrel-42-Dawn");
    crate::support::store(&mut store, "We named the ship Kestrel-42-Dawn last week");
    let place = store.get(named(1)).unwrap().unwrap().content;
    if store.get(named(2)).unwrap().unwrap().content.contains("Kestrel") {
        store.hide(named(2), "Kestrel-42-Dawn", &Actor::default()).unwrap();
    }
    let of = store.get(named(2)).unwrap().unwrap().id;
    let name = store.secrets(Some(of)).unwrap().remove(0).name;
    let allowed = store.allow_secret(&name, &Actor::default()).unwrap();
    assert_eq!(allowed.memories.iter().map(|id| id.get()).collect::<Vec<_>>(), [2]);
    assert_eq!(store.get(named(1)).unwrap().unwrap().content, place);
    assert_eq!(store.secrets(None).unwrap().len(), 1);
}

#[test]
fn summaries_and_names_that_were_derived_from_the_text_keep_no_part_of_it() {
    let home = Home::new();
    let mut store = home.open(NOW);
    crate::support::store(&mut store, "We walked along amber\nnorth and met Maria Lopez there");
    edit(&mut store, 1, "We walked along amber\nnorth and met Maria Lopez there again");
    store.backup(None).unwrap();
    store.hide(named(1), "amber\nnorth and met Maria Lopez there", &Actor::default()).unwrap();
    drop(store);
    assert_eq!(holding(&home, "amber north"), Vec::<PathBuf>::new());
    let history = home.open(NOW).history(named(1)).unwrap();
    let before = history.iter().find_map(|entry| entry.before.clone()).unwrap();
    assert!(
        !before.summary.contains("amber") && before.entities.iter().all(|name| !name.contains("Maria")),
        "{before:?}"
    );
}

#[test]
fn an_old_backup_from_elsewhere_brings_no_hidden_text_back() {
    let home = Home::new();
    let mut store = said_everywhere(&home);
    let elsewhere = tempfile::tempdir().unwrap();
    let old = elsewhere.path().join("old.db");
    fs::copy(backup_of(&home), &old).unwrap();
    let name = store.hide(named(1), VALUE, &Actor::default()).unwrap().name.unwrap();
    drop(store);
    let restored = Store::restore_backup(home.config(NOW), &old, |_| true).unwrap().unwrap();
    assert_eq!((restored.memories, restored.not_hidden), (2, 0));
    assert_eq!(holding(&home, VALUE), Vec::<PathBuf>::new());
    let mut store = home.open(NOW);
    let content = store.get(named(1)).unwrap().unwrap().content;
    assert!(content.contains(&format!("[secret {name}: marked secret]")), "{content}");
    let revealed = store.reveal(&SecretRef::Name(name), &Actor::default()).unwrap();
    assert_eq!(revealed.secrets[0].value.as_ref().unwrap().as_str(), VALUE);
}

#[test]
fn a_deleted_value_is_first_removed_from_files_that_an_interrupted_run_left() {
    type Deletes = fn(&mut Store, &str);
    let deletions: [Deletes; 2] = [
        |store, name| drop(store.forget_secrets(&SecretRef::Name(name.to_owned()), &Actor::default()).unwrap()),
        |store, _| drop(store.forget(&[named(1)], Erase::Hard, &Actor::default()).unwrap()),
    ];
    for deletes in deletions {
        let home = Home::new();
        let mut store = said_everywhere(&home);
        let (copy, queued) = (backup_of(&home), home.dir.path().join("t/queue/1.json"));
        let kept = [&copy, &queued].map(|path| fs::read(path).unwrap());
        let name = store.hide(named(1), VALUE, &Actor::default()).unwrap().name.unwrap();
        fs::write(&copy, &kept[0]).unwrap();
        fs::write(&queued, &kept[1]).unwrap();
        let database = rusqlite::Connection::open(home.dir.path().join("t/tessera.db")).unwrap();
        let sql = "INSERT INTO hidden_secrets (memory, name) SELECT memory, name FROM secrets WHERE name = ?1";
        assert_eq!(database.execute(sql, [&name]).unwrap(), 1);
        drop(database);
        deletes(&mut store, &name);
        drop(store);
        assert_eq!(holding(&home, VALUE), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_restored_backup_of_another_store_says_what_it_could_not_hide() {
    let (home, other) = (Home::new(), Home::new());
    let mut store = said_everywhere(&home);
    store.hide(named(1), VALUE, &Actor::default()).unwrap();
    drop(store);
    let mut theirs = other.open(NOW);
    crate::support::store(&mut theirs, "A note of another machine");
    let copy = theirs.backup(None).unwrap();
    let restored = Store::restore_backup(home.config(NOW), &copy, |_| true).unwrap().unwrap();
    assert_eq!((restored.memories, restored.not_hidden), (1, 1));
    assert!(Store::examine(home.config(NOW), false).unwrap().is_good());
}
