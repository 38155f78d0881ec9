//! A running process knows what changes in its folders, without being asked.

use std::fs;
use std::time::{Duration, Instant};

use tessera_engine::domain::RecallRequest;

use super::{World, list};
use crate::SharedStore;

/// How long it may take.
const SOON: Duration = Duration::from_secs(2);

fn hits(store: &SharedStore, question: &str) -> u32 {
    store.here(|store| store.recall(&RecallRequest::new(question)).unwrap().total_count)
}

#[track_caller]
fn soon(store: &SharedStore, question: &str, wanted: u32) {
    let begun = Instant::now();
    while hits(store, question) != wanted {
        assert!(begun.elapsed() < SOON, "{question}: not {wanted} in time");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_happens_in_a_folder_is_known_soon() {
    let mut world = World::new();
    world.write("a.md", list(&["the kettle is blue"]));
    world.look();
    let open = world.store.opener(tessera_engine::store::Usage::Serve);
    let store = SharedStore::new(open().unwrap());
    store.watch_files_in_background();
    soon(&store, "kettle", 1);
    let begun = Instant::now();
    while store.looks().is_some() {
        assert!(begun.elapsed() < SOON, "it stands after a second without a call");
        std::thread::sleep(Duration::from_millis(10));
    }
    world.write("b.md", list(&["the lamp is green"]));
    soon(&store, "lamp", 1);
    world.write("new/deep/c.md", list(&["the piano is loud"]));
    soon(&store, "piano", 1);
    world.write("new/deep/c.md", list(&["the violin is quiet"]));
    soon(&store, "violin", 1);
    soon(&store, "piano", 0);
    world.rename("new", "other");
    world.write("other/deep/d.md", list(&["the drum is round"]));
    soon(&store, "drum", 1);
    fs::remove_dir_all(world.path("other")).unwrap();
    soon(&store, "violin", 0);
    soon(&store, "drum", 0);
    // The folder goes away and comes back.
    let aside = world.path("").with_extension("aside");
    fs::rename(world.path(""), &aside).unwrap();
    soon(&store, "lamp", 1);
    fs::rename(&aside, world.path("")).unwrap();
    world.write("e.md", list(&["the flute is long"]));
    let begun = Instant::now();
    while hits(&store, "flute") == 0 {
        assert!(begun.elapsed() < 2 * SOON, "a folder that was away is looked for every two seconds");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_folder_that_another_process_adds_is_watched() {
    let mut world = World::new();
    let open = world.store.opener(tessera_engine::store::Usage::Serve);
    let store = SharedStore::new(open().unwrap());
    store.watch_files_in_background();
    std::thread::sleep(Duration::from_millis(1_300));
    let dir = world.path("").with_extension("second");
    fs::create_dir(&dir).unwrap();
    let asks = super::AddFolder {
        dir: dir.clone(),
        name: Some("second".into()),
        scope: tessera_engine::domain::Scope::Global,
        trust: tessera_engine::domain::Trust::User,
        is_writable: false,
        is_told: false,
    };
    let caller = crate::Caller::new(tessera_engine::domain::Origin::User);
    crate::Desk::new(&mut world.store, &caller).perform(asks).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    fs::write(dir.join("x.md"), list(&["the harbour is closed"])).unwrap();
    soon(&store, "harbour", 1);
    // The tool's own folder, made by another process.
    fs::create_dir(world.store.home().memories()).unwrap();
    fs::write(world.store.home().memories().join("y.md"), list(&["the bakery is open"])).unwrap();
    soon(&store, "bakery", 1);
}
