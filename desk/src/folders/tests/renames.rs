//! Files that are renamed, swapped, copied, deleted and brought back: identity goes with what a file says.

use std::fs;

use super::{World, list};

#[test]
fn a_directory_of_a_hundred_files_is_renamed_and_all_keep_their_ids() {
    let mut world = World::new();
    for n in 0..100 {
        world.write(&format!("old/n{n}.md"), list(&[&format!("fact {n}"), &format!("other {n}")]));
    }
    world.look();
    let before: Vec<_> = (0..100).map(|n| world.ids(&format!("old/n{n}.md"))).collect();
    fs::create_dir(world.path("deep")).unwrap();
    world.rename("old", "deep/new");
    let done = world.look();
    assert_eq!((done.moved, done.taken, done.gone), (100, 0, 0));
    let after: Vec<_> = (0..100).map(|n| world.ids(&format!("deep/new/n{n}.md"))).collect();
    assert_eq!(after, before);
}

#[test]
fn a_file_that_is_renamed_and_edited_is_the_same() {
    let mut world = World::new();
    world.write("a.md", list(&["tea at four", "bread at six"]));
    world.look();
    let before = world.ids("a.md");
    world.rename("a.md", "b.md");
    world.write("b.md", list(&["tea at four", "bread at seven", "rain"]));
    world.look();
    let after = world.ids("b.md");
    assert_eq!(after["tea at four"], before["tea at four"]);
    assert_eq!(after["bread at seven"], before["bread at six"]);
    assert_eq!((world.files(), after.len()), (vec!["b.md".to_owned()], 3));
}

#[test]
fn a_new_file_with_the_number_of_a_deleted_one_is_new() {
    let mut world = World::new();
    world.write("a.md", list(&["tea at four"]));
    world.look();
    let before = world.ids("a.md");
    // Whether the system gives the number again is its own affair.
    fs::remove_file(world.path("a.md")).unwrap();
    world.write("b.md", list(&["quite another thing altogether"]));
    world.look();
    assert_eq!(world.files(), ["b.md"]);
    assert!(!world.ids("b.md").values().any(|id| before.values().any(|known| known == id)));
}

#[test]
fn two_files_that_are_swapped_each_say_what_they_say() {
    let mut world = World::new();
    world.write("a.md", list(&["tea at four"]));
    world.write("b.md", list(&["bread at six"]));
    world.look();
    for _ in 0..2 {
        world.rename("a.md", "c");
        world.rename("b.md", "a.md");
        world.rename("c", "b.md");
        world.look();
    }
    assert_eq!((world.says("a.md"), world.says("b.md")), (vec!["tea at four".into()], vec!["bread at six".into()]));
    assert_eq!(world.look().taken, 0);
}

#[test]
fn a_copy_has_ids_of_its_own_and_outlives_what_it_was_made_of() {
    let mut world = World::new();
    world.write("a.md", list(&["tea at four"]));
    world.look();
    fs::copy(world.path("a.md"), world.path("b.md")).unwrap();
    world.look();
    let (one, other) = (world.ids("a.md"), world.ids("b.md"));
    assert_ne!(one["tea at four"], other["tea at four"]);
    fs::remove_file(world.path("a.md")).unwrap();
    world.look();
    assert_eq!((world.files(), world.ids("b.md")), (vec!["b.md".to_owned()], other));
}

#[test]
fn what_is_deleted_and_written_again_comes_back_as_itself() {
    let mut world = World::new();
    world.write("a.md", list(&["tea at four", "bread at six"]));
    world.look();
    let before = world.ids("a.md");
    fs::remove_file(world.path("a.md")).unwrap();
    assert_eq!(world.look().gone, 1);
    world.write("a.md", list(&["bread at six", "something new"]));
    world.look();
    let after = world.ids("a.md");
    assert_eq!(after["bread at six"], before["bread at six"]);
    assert_ne!(after["something new"], before["tea at four"]);
}
