//! The table of counts, and a snapshot that is mapped without being read.

use std::fs;

use rusqlite::Connection;
use tessera_engine::Store;
use tessera_engine::domain::{Category, Draft, Filters, Patch};
use tessera_engine::store::{Actor, Erase, ListRequest, Verdict};

use crate::support::{Home, named};

const NOW: &str = "2026-11-27T09:00:00Z";

/// The verdict of one check of the doctor, and its detail.
fn checked(home: &Home, name: &str, repair: bool) -> (Verdict, String) {
    let health = Store::examine(home.config(NOW), repair).unwrap();
    let check = health.checks.into_iter().find(|check| check.name == name).unwrap();
    (check.verdict, check.detail)
}

/// The counts by category, and all tags, from the rows.
fn by_hand(store: &Store) -> (u64, Vec<(String, u64)>) {
    let listed = store.list(&ListRequest { limit: 200, ..ListRequest::default() }).unwrap().memories;
    let mut categories = std::collections::BTreeMap::new();
    listed.iter().for_each(|memory| *categories.entry(memory.category.as_str().to_owned()).or_default() += 1);
    (listed.len() as u64, categories.into_iter().collect())
}

#[test]
fn the_counts_follow_every_change_and_name_nothing_that_is_gone() {
    let home = Home::new();
    let mut store = home.open(NOW);
    let mut random = fastrand::Rng::with_seed(11);
    for number in 1..=60_u32 {
        let tags = (0..random.usize(..3)).map(|tag| format!("t{tag}").parse().unwrap()).collect();
        let draft = Draft { tags, ..Draft::new(format!("Note {number} is about birch and lamps")) };
        store.remember(draft).unwrap();
        let one = named(random.u32(1..=number));
        let category: Category = ["facts", "people", "decisions"][random.usize(..3)].parse().unwrap();
        let tags = Some(vec![format!("t{}", random.u8(..4)).parse().unwrap()]);
        let patch = Patch { category: Some(category), tags, ..Patch::default() };
        // Some of them are refused, because the memory is gone.
        match random.u8(..6) {
            0 => drop(store.forget(&[one], Erase::Soft, &Actor::default())),
            1 => drop(store.restore(one, None, &Actor::default())),
            2 if random.u8(..3) == 0 => drop(store.forget(&[one], Erase::Hard, &Actor::default())),
            3 => drop(store.embed_some()),
            _ => drop(store.update(one, &patch, &Actor::default())),
        }
        let stats = store.stats().unwrap();
        let (memories, categories) = by_hand(&store);
        assert_eq!((stats.memories, stats.by_category.into_iter().collect::<Vec<_>>()), (memories, categories));
        let listing = store.list(&ListRequest { limit: 1, ..ListRequest::default() }).unwrap();
        assert_eq!(u64::from(listing.total_count), memories);
    }
    let scoped = Draft { scope: "acme/zebra".parse().unwrap(), ..Draft::new("A note of a project with a name") };
    let scoped = store.remember(scoped).unwrap().memory;
    assert_eq!(store.stats().unwrap().by_scope["acme/zebra"], 1);
    let filters = Filters { scopes: vec!["acme/zebra".parse().unwrap()], ..Filters::default() };
    assert_eq!(store.list(&ListRequest { limit: 5, filters, ..ListRequest::default() }).unwrap().total_count, 1);
    store.forget(&[named(scoped.short_id.get())], Erase::Hard, &Actor::default()).unwrap();
    let database = Connection::open(home.dir.path().join("t/tessera.db")).unwrap();
    let left: u32 = database
        .query_row("SELECT count(*) FROM counts WHERE value LIKE '%zebra%' OR n <= 0", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0);
    drop(store);
    assert_eq!(checked(&home, "counts", false).0, Verdict::Ok);
}

#[test]
fn the_doctor_counts_again_if_the_counts_are_wrong() {
    let home = Home::new();
    let mut store = home.open(NOW);
    crate::support::store(&mut store, "The shed is green");
    drop(store);
    let database = Connection::open(home.dir.path().join("t/tessera.db")).unwrap();
    database.execute("UPDATE counts SET n = 7 WHERE kind = 'memories'", []).unwrap();
    drop(database);
    let (verdict, detail) = checked(&home, "counts", false);
    assert!(verdict == Verdict::Bad && detail.starts_with("2 counts"), "{detail}");
    assert_eq!(checked(&home, "counts", true).0, Verdict::Mended);
    assert_eq!(checked(&home, "counts", false).0, Verdict::Ok);
    assert_eq!(home.open(NOW).stats().unwrap().memories, 1);
}

#[test]
fn a_snapshot_that_is_changed_in_place_is_found_by_the_doctor() {
    let home = Home::new();
    let mut store = home.open(NOW);
    for number in 0..20 {
        crate::support::store(&mut store, &format!("The shed number {number} is green"));
    }
    store.rebuild_snapshot().unwrap();
    drop(store);
    let path = home.dir.path().join("t/tessera.snapshot");
    let (mut bytes, modified) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
    let (last, flipped) = (bytes.len() - 9, bytes[bytes.len() - 9] ^ 0xff);
    bytes[last] = flipped;
    // The same file with the same length and time: nothing but reading all of it shows the difference.
    fs::write(&path, bytes).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    let (verdict, detail) = checked(&home, "snapshot", false);
    assert!(verdict == Verdict::Bad && detail.starts_with("is damaged"), "{detail}");
    assert_eq!(checked(&home, "snapshot", true).0, Verdict::Ok);
    assert_eq!(crate::support::recalled(&mut home.open(NOW), "which shed is green?").len(), 20);
}
