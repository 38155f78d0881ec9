//! A damaged file is salvaged with whose things are, what a server knows of them, and what was done to them.

use std::collections::BTreeSet;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use tessera_engine::Store;
use tessera_engine::domain::{Draft, LinkKind};
use tessera_engine::store::{Actor, DeliveryFilter, Upload};

use crate::support::{Home, named, recalled, store};

const NOW: &str = "2028-01-20T11:00:00Z";

/// Makes pages of an index unreadable: the tables are whole, the database is not.
fn damage(home: &Home) {
    let path = home.dir.path().join("t/tessera.db");
    let pages: Vec<u64> = {
        let file = rusqlite::Connection::open(&path).unwrap();
        file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name IN ('memories_signature', 'memories_rev')";
        let mut statement = file.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    for page in pages {
        file.seek(SeekFrom::Start((page - 1) * 4096)).unwrap();
        file.write_all(&[0x5a; 4096]).unwrap();
    }
}

fn salvaged(home: &Home) -> Store {
    damage(home);
    let health = Store::examine(home.config(NOW), true).unwrap();
    assert!(health.is_good(), "{health:?}");
    let salvage = health.salvage.unwrap();
    assert_eq!(salvage.lost, Some(0));
    home.open(NOW)
}

#[test]
fn salvage_keeps_owners_conflicts_trails_history_receipts_links_and_short_ids() {
    let home = Home::with("joined.db");
    let mut before = home.open(NOW);
    let expected: Vec<_> = (1..=22).map(|number| before.get(named(number)).unwrap()).collect();
    let ops = before.ops(100).unwrap();
    let histories: Vec<_> = (1..=22).map(|number| before.history(named(number)).unwrap()).collect();
    drop(before);
    let mut after = salvaged(&home);
    for (number, expected) in (1..).zip(expected) {
        assert_eq!(after.get(named(number)).unwrap(), expected);
    }
    for (number, expected) in (1..).zip(histories) {
        assert_eq!(after.history(named(number)).unwrap(), expected, "{number}");
    }
    assert_eq!(after.conflicts().unwrap().len(), 1);
    assert_eq!(after.deliveries(&DeliveryFilter::default()).unwrap().len(), 1);
    assert_eq!(recalled(&mut after, "who leads the billing team?"), ["Mara leads the billing team"]);
    let server = after.server().unwrap().unwrap();
    assert!(server.user == "ada" && !server.is_whole, "everything is fetched anew: {server:?}");
    // What bob shares is not told as ada's own; what the server knows is not told again.
    let told = after.ops(100).unwrap();
    assert!(!ops.is_empty() && ops.iter().all(|op| told.contains(op)), "{told:?}");
    assert_eq!(after.sync_status().unwrap().shared_with_me, 2);
    // A new memory takes a new ID.
    assert_eq!(store(&mut after, "written after the salvage").short_id.get(), 23);
}

#[test]
fn what_was_to_stay_on_this_machine_stays() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    store(&mut opened, "kept on this machine");
    opened.join("http://server", "ada", Upload::Nothing).unwrap();
    store(&mut opened, "told to the server");
    opened.remember(Draft::new("a third")).unwrap();
    opened.link(named(2), &LinkKind::SeeAlso, named(3), &Actor::default()).unwrap();
    drop(opened);
    let mut after = salvaged(&home);
    assert_eq!(after.sync_status().unwrap().private, 1);
    let told: BTreeSet<_> = after.ops(100).unwrap().into_iter().map(|op| op.memory).collect();
    let ids = [2, 3].map(|number| after.get(named(number)).unwrap().unwrap().id);
    assert_eq!(told, BTreeSet::from(ids));
    assert_eq!(after.get(named(2)).unwrap().unwrap().links.len(), 1);
}

#[test]
fn the_persons_word_on_a_directory_is_kept() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    store(&mut opened, "something");
    let (dir, project) = (Path::new("/w/clone"), "ledger".parse().unwrap());
    opened.trust_place(dir, &project).unwrap();
    drop(opened);
    assert!(salvaged(&home).knows_place(&project, &[dir]).unwrap());
}
