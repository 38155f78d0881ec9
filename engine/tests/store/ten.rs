//! A file of schema 10, from before files were known, is opened with rows of every kind: it answers as it did, its secret
//! opens with its key, and files can be known in it.

use rusqlite::Connection;
use tessera_engine::Store;
use tessera_engine::domain::{FilePath, Origin, Trust};
use tessera_engine::store::{
    Actor, FileStamp, Folder, ListRequest, MEMORIES, Meanings, SecretRef, SecretRules, SeenFile, StoreConfig,
};

use crate::support::{Home, listed, named, recalled, shown};

/// After the end of 5.
const THEN: &str = "2026-11-22T09:00:00Z";
/// 6 was forgotten, 7 removed for good.
const THERE: [u32; 9] = [1, 2, 3, 4, 8, 9, 10, 11, 12];

fn config(home: &Home) -> StoreConfig {
    let given = vec!["2a".repeat(32).into()];
    let secrets = SecretRules { given, ..SecretRules::default() };
    StoreConfig { secrets, ..home.config(THEN) }
}

fn opened(home: &Home) -> Store {
    Store::open(config(home)).unwrap()
}

#[test]
fn every_kind_of_row_is_there_and_a_copy_was_made_before() {
    let home = Home::with("v10.db");
    let store = opened(&home);
    let copy = Connection::open(home.dir.path().join("t/backups/pre-schema-13-from-10.db")).unwrap();
    let schema: i64 = copy.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(schema, 10);
    assert_eq!(shown(&store), THERE);
    assert_eq!(listed(&store, ListRequest { expired: true, ..ListRequest::default() }), [5]);
    assert_eq!(listed(&store, ListRequest { deleted: true, ..ListRequest::default() }), [6]);
    assert_eq!(store.get(named(7)).unwrap(), None, "removed for good");
    let memory = |number| store.get(named(number)).unwrap().unwrap();
    assert_eq!((memory(8).origin, memory(8).trust, memory(9).trust), (Origin::Import, Trust::User, Trust::Foreign));
    assert!(memory(10).links.len() == 1 && memory(1).file.is_none());
    assert_eq!(store.meanings().unwrap(), Meanings { made: 10, ..Meanings::default() });
    assert!(store.folders().unwrap().is_empty() && store.pending_files().unwrap().is_empty());
}

#[test]
fn it_answers_as_it_did_and_its_secret_opens() {
    let home = Home::with("v10.db");
    let mut store = opened(&home);
    for (question, answer) in [
        ("which port does the booking service listen on?", "Booking service listens on port 9000"),
        ("what is the dredger called?", "The dredger is called Astrid"),
        ("which firmware does the harbour crane run?", "The harbour crane runs firmware 4.2"),
    ] {
        let found = recalled(&mut store, question);
        assert_eq!(found.first().map(String::as_str), Some(answer), "{question}: {found:?}");
    }
    let which: SecretRef = "sdn6ga".parse().unwrap();
    let revealed = store.reveal(&which, &Actor::default()).unwrap();
    assert_eq!(revealed.secrets[0].value.as_ref().unwrap().as_str(), "hunter2!X9");
    drop(store);
    let health = Store::examine(config(&home), false).unwrap();
    assert!(health.is_good(), "{health:?}");
}

#[test]
fn files_are_known_in_it_from_now_on() {
    let home = Home::with("v10.db");
    let mut store = opened(&home);
    let dir = home.dir.path().join("t/memories");
    store.put_folder(&Folder::memories(dir)).unwrap();
    let text = "- [harbour] The pilot boat is called Merle #boats\n".to_owned();
    let stamp = FileStamp { size: text.len() as u64, modified: 1, inode: 1, hash: 1 };
    let path = FilePath::new(MEMORIES, "boats.md").unwrap();
    let taken = store.take_files(&[SeenFile { path, stamp, text }]).unwrap();
    assert_eq!(taken[0].parts, (1, 0, 0));
    let found = recalled(&mut store, "what is the pilot boat called?");
    assert_eq!(found.first().map(String::as_str), Some("The pilot boat is called Merle #boats"));
    assert_eq!(shown(&store).len(), THERE.len() + 1);
}
