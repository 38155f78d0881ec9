//! Folders that go away, cannot be read, or hold something else: nothing that was not seen to be gone is forgotten.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::thread;

use tessera_engine::Store;
use tessera_engine::store::Usage;

use super::super::refresh;
use super::super::refresh::refresh_at_once;
use super::{World, list};

#[test]
fn a_folder_that_is_not_there_or_is_empty_and_another_is_away_and_comes_back() {
    let mut world = World::new();
    world.write("a.md", list(&["tea at four"]));
    world.look();
    let before = world.ids("a.md");
    let (notes, aside) = (world.path(""), world.path("").with_extension("aside"));
    fs::rename(&notes, &aside).unwrap();
    world.look();
    assert!(world.away().is_some(), "gone as a whole");
    assert_eq!(world.ids("a.md"), before);
    // The place where something is mounted, without it.
    fs::create_dir(&notes).unwrap();
    world.look();
    assert!(world.away().unwrap().contains("mounted"));
    assert_eq!(world.ids("a.md"), before);
    fs::remove_dir(&notes).unwrap();
    fs::rename(&aside, &notes).unwrap();
    world.look();
    assert_eq!((world.away(), world.ids("a.md")), (None, before));
    // It is seen to be emptied: that is somebody's wish.
    fs::remove_file(world.path("a.md")).unwrap();
    assert_eq!(world.look().gone, 1);
}

#[test]
fn a_folder_that_is_a_file_for_a_while_forgets_nothing() {
    let mut world = World::new();
    world.write("a.md", list(&["tea at four"]));
    world.look();
    let (notes, aside) = (world.path(""), world.path("").with_extension("aside"));
    fs::rename(&notes, &aside).unwrap();
    fs::write(&notes, "no directory").unwrap();
    world.look();
    assert!(world.away().is_some() && world.says("a.md") == ["tea at four"]);
    fs::remove_file(&notes).unwrap();
    fs::rename(&aside, &notes).unwrap();
    world.look();
    assert!(world.away().is_none());
}

#[test]
fn a_file_that_becomes_something_else_and_a_file_again() {
    let mut world = World::new();
    world.write("a.md", list(&["tea at four"]));
    world.write("b.md", list(&["bread at six"]));
    world.look();
    let before = world.ids("a.md");
    let a = world.path("a.md");
    type Make<'a> = &'a dyn Fn();
    let makers: [(Make<'_>, Make<'_>); 4] = [
        (&|| fs::create_dir(&a).unwrap(), &|| fs::remove_dir(&a).unwrap()),
        (&|| symlink("b.md", &a).unwrap(), &|| fs::remove_file(&a).unwrap()),
        (&|| symlink("/etc/passwd", &a).unwrap(), &|| fs::remove_file(&a).unwrap()),
        (&|| assert!(Command::new("mkfifo").arg(&a).status().unwrap().success()), &|| fs::remove_file(&a).unwrap()),
    ];
    for (make, take_away) in makers {
        fs::remove_file(&a).unwrap();
        make();
        world.look();
        assert_eq!(world.files(), ["b.md"], "what is no file says nothing, and nobody waits for it");
        take_away();
        fs::write(&a, list(&["tea at four"])).unwrap();
        world.look();
        assert_eq!(world.ids("a.md"), before);
    }
}

#[test]
fn a_file_with_a_second_name_is_read_as_any_other() {
    let mut world = World::new();
    world.write("a.md", list(&["tea at four"]));
    world.look();
    fs::hard_link(world.path("a.md"), world.path("").with_extension("other")).unwrap();
    world.look();
    assert_eq!(world.says("a.md"), ["tea at four"]);
    assert_eq!(world.look(), super::Refreshed::default());
    // As an editor writes that keeps both names.
    fs::write(world.path("a.md"), list(&["tea at five"])).unwrap();
    world.look();
    assert_eq!(world.says("a.md"), ["tea at five"]);
    fs::remove_file(world.path("").with_extension("other")).unwrap();
    world.write("a.md", list(&["tea at six"]));
    world.look();
    assert_eq!(world.says("a.md"), ["tea at six"]);
}

#[test]
fn two_that_look_at_once_know_everything_once() {
    let mut world = World::new();
    for n in 0..300 {
        world.write(&format!("d{}/n{n}.md", n % 7), list(&[&format!("fact {n}")]));
    }
    let open = world.store.opener(Usage::Write);
    let stores: Vec<Store> = (0..4).map(|_| open().unwrap()).collect();
    thread::scope(|scope| {
        for mut store in stores {
            scope.spawn(move || refresh(&mut store).unwrap());
        }
    });
    world.look();
    assert_eq!(world.files().len(), 300);
    let live = world.store.stats().unwrap().memories;
    assert_eq!(live, 300, "one memory a part, and none twice");
}

#[test]
fn what_was_taken_before_an_end_is_not_taken_again() {
    let mut world = World::new();
    for n in 0..900 {
        world.write(&format!("n{n}.md"), list(&[&format!("fact {n}")]));
    }
    // The time is over before all is read: the rest comes with the next look, and nothing is gone.
    let first = refresh_at_once(&mut world.store).unwrap();
    assert!(first.is_partial && first.gone == 0, "{first:?}");
    let rest = world.look();
    assert_eq!((first.taken + rest.taken, rest.gone), (900, 0));
    assert_eq!(world.store.stats().unwrap().memories, 900);
}
