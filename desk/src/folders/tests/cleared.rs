//! What happens to files between the moment when they are listed as not read and the one when they are deleted.

use std::fs;

use tessera_engine::domain::{FilePath, Origin};

use super::{World, list};
use crate::folders::{ClearUnread, Unread};
use crate::{Caller, Desk};

const DAY: i64 = 86_400;

#[test]
fn what_became_of_a_file_since_it_was_listed_keeps_it() {
    let mut world = World::new();
    for name in ["old.md", "edited.md", "swapped.md", "bytes.md", "large.md", "renamed.md", "directory.md"] {
        world.write(name, list(&[&format!("the pier of {name} is open")]));
    }
    world.look();
    world.set_clock(400 * DAY);
    let caller = Caller::new(Origin::User);
    let listed = Desk::new(&mut world.store, &caller).perform(Unread { days: 300 }).unwrap();
    let paths: Vec<FilePath> = listed.into_iter().map(|file| file.path).collect();
    assert_eq!(paths.len(), 7);
    world.write("edited.md", list(&["the pier is closed"]));
    world.write("swap.tmp", list(&["the pier is mended"]));
    world.rename("swap.tmp", "swapped.md");
    world.write("bytes.md", b"\0\xff");
    world.write("large.md", "a line that is said again and again\n".repeat(40_000));
    world.rename("renamed.md", "anew.md");
    fs::remove_file(world.path("directory.md")).unwrap();
    fs::create_dir(world.path("directory.md")).unwrap();
    let cleared = Desk::new(&mut world.store, &caller).perform(ClearUnread { days: 300, paths }).unwrap();
    assert_eq!(cleared, [FilePath::new("notes", "old.md").unwrap()]);
    for name in ["edited.md", "swapped.md", "bytes.md", "large.md", "anew.md", "directory.md"] {
        assert!(world.path(name).exists(), "{name}");
    }
    assert!(!world.path("old.md").exists());
}

#[test]
fn more_days_than_there_are_clear_nothing() {
    let mut world = World::new();
    world.write("a.md", list(&["the pier is open"]));
    world.look();
    for days in [200_000_000, u32::MAX] {
        let listed = Desk::new(&mut world.store, &Caller::new(Origin::User)).perform(Unread { days }).unwrap();
        assert_eq!(listed, [], "{days}");
    }
}
