//! Another key, at every point where it may be stopped.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use tessera_seal::keys_in;
use zeroize::Zeroizing;

use super::*;
use crate::domain::Draft;
use crate::store::base::config::{Actor, Keyring, KeyringError, SecretRules, StoreConfig};
use crate::store::care::doctor::Verdict;
use crate::store::file::home::Home;
use crate::store::open::in_memory::config_at;
use crate::store::read::secrets::SecretRef;

fn config(home: &Home, secrets: SecretRules) -> StoreConfig {
    StoreConfig { embedding: false, secrets, ..config_at(home) }
}

fn opened(home: &Home) -> Store {
    Store::open(config(home, SecretRules::default())).unwrap()
}

fn given(keys: &[&str]) -> SecretRules {
    let given = keys.iter().map(|key| Zeroizing::new((*key).to_owned())).collect();
    SecretRules { given, ..SecretRules::default() }
}

fn value(number: usize) -> String {
    format!("hunter{number}!X9q")
}

/// A home with so many secrets.
fn filled(count: usize) -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::new(dir.path().join("h"));
    let drafts: Vec<Draft> =
        (1..=count).map(|at| Draft::new(format!("the password of host {at} is {}", value(at)))).collect();
    opened(&home).remember_all(&drafts).unwrap();
    (dir, home)
}

fn all_open(store: &mut Store, count: usize) {
    for at in 1..=count {
        let which: SecretRef = at.to_string().parse().unwrap();
        let revealed = store.reveal(&which, &Actor::default()).unwrap();
        assert_eq!(revealed.content.as_str(), format!("the password of host {at} is {}", value(at)));
    }
}

fn verdict(home: &Home, rules: SecretRules) -> (Verdict, String) {
    let health = Store::examine(config(home, rules), false).unwrap();
    let check = health.checks.iter().find(|check| check.name == "secrets").unwrap();
    (check.verdict, check.detail.clone())
}

#[test]
fn all_is_sealed_anew_and_the_old_key_is_gone() {
    let (_dir, home) = filled(5);
    let old = keys_in(&home.secret_key()).unwrap().unwrap().current;
    let mut store = opened(&home);
    let rotated = store.rotate_secret_key(|_| ()).unwrap();
    assert_eq!((rotated.sealed_anew, rotated.closed.len(), rotated.resumed), (5, 0, false));
    let keys = keys_in(&home.secret_key()).unwrap().unwrap();
    assert!(keys.before.is_empty() && keys.current.id() != old.id());
    assert_eq!(rotated.key, keys.current.id().to_string());
    all_open(&mut store, 5);
    all_open(&mut opened(&home), 5);
    assert_eq!(verdict(&home, SecretRules::default()).0, Verdict::Ok);
    // What is equal is known by its mark under the new key too.
    let again = store.remember(Draft::new(format!("the password of host 1 is {}", value(1)))).unwrap();
    assert!(again.existed);
}

#[test]
fn stopped_anywhere_it_leaves_all_open_and_goes_on_where_it_was() {
    let count = 2 * AT_ONCE + 7;
    let (_dir, home) = filled(count);
    for batches in 0..3 {
        let mut store = opened(&home);
        let (held, _) = store.begin_rotation().unwrap();
        for _ in 0..batches {
            let batch = store.sealed_otherwise(&held.keys, None).unwrap();
            store.seal_anew(&held.keys, &batch).unwrap();
        }
        // The process ends here; somebody else stores another one meanwhile.
        drop(store);
        all_open(&mut opened(&home), count);
        assert_eq!(keys_in(&home.secret_key()).unwrap().unwrap().before.len(), 1);
        let (how, told) = verdict(&home, SecretRules::default());
        assert!(how == Verdict::Warning && told.contains("rotate-key"), "{told}");
        let rotated = opened(&home).rotate_secret_key(|_| ()).unwrap();
        assert_eq!((rotated.resumed, rotated.sealed_anew), (true, count - batches * AT_ONCE));
        assert!(keys_in(&home.secret_key()).unwrap().unwrap().before.is_empty());
    }
    let again = opened(&home).rotate_secret_key(|_| ()).unwrap();
    assert!(!again.resumed && again.sealed_anew == count);
    all_open(&mut opened(&home), count);
}

#[test]
fn a_value_that_does_not_open_makes_no_later_rotation_a_resumed_one() {
    let (_dir, home) = filled(2);
    let damaged = Connection::open(home.database()).unwrap();
    let sql = "UPDATE secrets SET sealed = CAST(substr(sealed, 1, length(sealed) - 1) || x'00' AS BLOB)
               WHERE memory = (SELECT id FROM memories WHERE short_id = 1)";
    assert_eq!(damaged.execute(sql, []).unwrap(), 1);
    let key = || keys_in(&home.secret_key()).unwrap().unwrap().current.id().to_string();
    let mut seen = vec![key()];
    for _ in 0..2 {
        let rotated = opened(&home).rotate_secret_key(|_| ()).unwrap();
        assert_eq!((rotated.resumed, rotated.sealed_anew, rotated.closed.len()), (false, 1, 1));
        seen.push(key());
    }
    seen.dedup();
    assert_eq!(seen.len(), 3, "each rotation made a key");
}

#[test]
fn a_process_that_knows_the_old_key_alone_leaves_nothing_behind_that_does_not_open() {
    let (_dir, home) = filled(1);
    let mut other = opened(&home);
    all_open(&mut other, 1);
    opened(&home).rotate_secret_key(|_| ()).unwrap();
    other.remember(Draft::new(format!("the password of host 2 is {}", value(2)))).unwrap();
    all_open(&mut other, 2);
    all_open(&mut opened(&home), 2);
}

#[test]
fn a_key_that_is_given_takes_the_place_of_the_one_in_the_file_and_of_one_before() {
    let (_dir, home) = filled(3);
    let mut store = Store::open(config(&home, given(&["correct horse"]))).unwrap();
    all_open(&mut store, 3);
    assert_eq!(verdict(&home, given(&["correct horse"])).0, Verdict::Warning);
    let rotated = store.rotate_secret_key(|_| ()).unwrap();
    assert_eq!((rotated.sealed_anew, rotated.place), (3, KeyPlace::Given));
    assert!(!home.secret_key().exists(), "the key that nothing needs is gone");
    all_open(&mut Store::open(config(&home, given(&["correct horse"]))).unwrap(), 3);
    let mut store = Store::open(config(&home, given(&["battery staple", "correct horse"]))).unwrap();
    assert_eq!(store.rotate_secret_key(|_| ()).unwrap().sealed_anew, 3);
    assert_eq!(store.rotate_secret_key(|_| ()).unwrap().sealed_anew, 0);
    all_open(&mut Store::open(config(&home, given(&["battery staple"]))).unwrap(), 3);
    let (how, told) = verdict(&home, SecretRules::default());
    assert!(how == Verdict::Bad && told.contains("is missing"), "{told}");
    let (how, told) = verdict(&home, given(&["correct horse"]));
    assert!(how == Verdict::Bad && told.contains("3 cannot be decrypted"), "{told}");
    assert!(!told.contains("hunter") && !told.contains("horse"), "{told}");
}

/// A keyring that can be locked.
#[derive(Default)]
struct Ring {
    keys: Mutex<HashMap<String, Keys>>,
    is_locked: AtomicBool,
    /// The database that nobody may hold while the ring is asked.
    database: Mutex<Option<std::path::PathBuf>>,
}

impl Ring {
    fn open(&self) -> Result<(), KeyringError> {
        let is_locked = self.is_locked.load(Ordering::Relaxed);
        if is_locked { Err(KeyringError { problem: "the keyring is locked".into() }) } else { Ok(()) }
    }
}

impl Keyring for Ring {
    fn keys(&self, account: &str) -> Result<Option<Keys>, KeyringError> {
        if let Some(path) = &*self.database.lock().unwrap() {
            let other = Connection::open(path).unwrap();
            other.busy_timeout(std::time::Duration::ZERO).unwrap();
            other
                .execute_batch("BEGIN IMMEDIATE; ROLLBACK")
                .expect("somebody holds the store while the keyring is asked");
        }
        // Whether it has some, a keyring says even while it is locked.
        let kept = self.keys.lock().unwrap().get(account).cloned();
        if kept.is_some() { self.open().map(|()| kept) } else { Ok(None) }
    }

    fn put(&self, account: &str, keys: &Keys) -> Result<bool, KeyringError> {
        self.open()?;
        self.keys.lock().unwrap().insert(account.to_owned(), keys.clone());
        Ok(true)
    }

    fn remove(&self, account: &str) -> Result<(), KeyringError> {
        self.open()?;
        self.keys.lock().unwrap().remove(account);
        Ok(())
    }
}

#[test]
fn a_keyring_keeps_the_key_and_one_that_is_locked_keeps_nothing_from_being_stored() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::new(dir.path().join("h"));
    let ring = Arc::new(Ring::default());
    let rules = || SecretRules { keyring: Some(ring.clone()), ..SecretRules::default() };
    let opened = || Store::open(config(&home, rules())).unwrap();
    let say = |at: usize| Draft::new(format!("the password of host {at} is {}", value(at)));
    opened().remember(say(1)).unwrap();
    assert!(!home.secret_key().exists() && ring.keys.lock().unwrap().len() == 1);
    assert_eq!(opened().secret_key_place().unwrap(), Some(KeyPlace::Keyring));
    ring.is_locked.store(true, Ordering::Relaxed);
    opened().remember(say(2)).unwrap();
    let told = opened().reveal(&"1".parse().unwrap(), &Actor::default()).unwrap_err().to_string();
    assert!(told.contains("the keyring is locked") && told.contains("TESSERA_SECRET_KEY"), "{told}");
    let second = opened().reveal(&"2".parse().unwrap(), &Actor::default()).unwrap();
    assert!(second.content.ends_with(&value(2)));
    ring.is_locked.store(false, Ordering::Relaxed);
    all_open(&mut opened(), 2);
    // A key in the file beside one in the keyring is no rotation in progress: a new key seals both values.
    assert_eq!(opened().rotate_secret_key(|_| ()).unwrap().sealed_anew, 2);
    assert!(!home.secret_key().exists(), "the key in the file is gone");
    assert_eq!(opened().rotate_secret_key(|_| ()).unwrap().sealed_anew, 2);
    all_open(&mut opened(), 2);
    let all = Store::open(config(&home, given(&["correct horse"]))).unwrap().secrets(None).unwrap();
    assert_eq!(all.len(), 2);
    let with_both = SecretRules { keyring: Some(ring.clone()), ..given(&["correct horse"]) };
    assert_eq!(Store::open(config(&home, with_both)).unwrap().rotate_secret_key(|_| ()).unwrap().sealed_anew, 2);
    assert!(ring.keys.lock().unwrap().is_empty(), "a key that nothing needs is kept nowhere");
    all_open(&mut Store::open(config(&home, given(&["correct horse"]))).unwrap(), 2);
}

#[test]
fn no_keyring_is_asked_while_the_store_is_held() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::new(dir.path().join("h"));
    let ring = Arc::new(Ring::default());
    let rules = || SecretRules { keyring: Some(ring.clone()), ..SecretRules::default() };
    let opened = || Store::open(config(&home, rules())).unwrap();
    let say = |at: usize| format!("the password of host {at} is {}", value(at));
    let memory = opened().remember(Draft::new(say(1))).unwrap().memory;
    *ring.database.lock().unwrap() = Some(home.database());
    let reference = crate::domain::MemoryRef::Id(memory.id);
    let patch = crate::domain::Patch { content: Some(say(2)), ..crate::domain::Patch::default() };
    // Each of them is the first that needs a key in its process.
    let updated = opened().update(reference, &patch, &Actor::default()).unwrap();
    assert!(updated.memory.sensitive);
    opened().restore(reference, Some(updated.memory.rev), &Actor::default()).unwrap();
}

#[test]
fn a_keyring_that_is_locked_before_it_has_a_key_is_done_without() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::new(dir.path().join("h"));
    let ring = Arc::new(Ring { is_locked: AtomicBool::new(true), ..Ring::default() });
    let opened =
        || Store::open(config(&home, SecretRules { keyring: Some(ring.clone()), ..SecretRules::default() })).unwrap();
    opened().remember(Draft::new(format!("the password of host 1 is {}", value(1)))).unwrap();
    assert_eq!(opened().secret_key_place().unwrap(), Some(KeyPlace::File(home.secret_key())));
    all_open(&mut opened(), 1);
    ring.is_locked.store(false, Ordering::Relaxed);
    all_open(&mut opened(), 1);
    assert!(opened().rotate_secret_key(|_| ()).unwrap().sealed_anew == 1 && !home.secret_key().exists());
}

#[test]
fn many_who_store_the_first_secret_at_once_end_with_one_key() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::new(dir.path().join("h"));
    drop(opened(&home));
    std::thread::scope(|scope| {
        for at in 0..8 {
            let home = &home;
            scope.spawn(move || {
                let mut store = opened(home);
                store.remember(Draft::new(format!("the password of host {at} is {}", value(at)))).unwrap();
            });
        }
    });
    assert!(keys_in(&home.secret_key()).unwrap().unwrap().before.is_empty());
    let (how, told) = verdict(&home, SecretRules::default());
    assert!(how == Verdict::Ok && told.contains("8 can be decrypted"), "{told}");
}
