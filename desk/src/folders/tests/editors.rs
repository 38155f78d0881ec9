//! How programs save: none of their ways loses the identity of what stayed, and nothing half written stays known.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, Write};
use std::time::{Duration, SystemTime};

use tessera_engine::domain::{Clock, FilePath, MemoryRef, SystemClock};

use super::{World, list};

const BEFORE: [&str; 3] = ["the kettle is blue", "the lamp is green", "the clock is slow"];
const AFTER: [&str; 3] = ["the kettle is blue", "the lamp is crimson now", "the clock is slow"];

/// A file that is known, and changed in a way; the parts that say the same keep their ids, and so does what was edited.
fn saved(save: impl FnOnce(&mut World)) {
    let mut world = World::new();
    world.write("a.md", list(&BEFORE));
    world.look();
    let before = world.ids("a.md");
    save(&mut world);
    world.look();
    let after = world.ids("a.md");
    assert_eq!(world.says("a.md").len(), 3, "{after:?}");
    for same in ["the kettle is blue", "the clock is slow"] {
        assert_eq!(after[same], before[same], "{same}");
    }
    assert_eq!(after["the lamp is crimson now"], before["the lamp is green"], "an edit is of what was there");
    assert_eq!(world.files(), ["a.md"], "nothing of the editor is known");
    assert_eq!(world.look(), super::Refreshed::default(), "and nothing more to do");
}

#[test]
fn vim_renames_writes_anew_and_deletes_its_backup() {
    saved(|world| {
        world.write("4913", "");
        world.look();
        fs::remove_file(world.path("4913")).unwrap();
        world.write(".a.md.swp", "binary\0");
        world.rename("a.md", "a.md~");
        world.write("a.md", list(&AFTER));
        world.look();
        fs::remove_file(world.path("a.md~")).unwrap();
        fs::remove_file(world.path(".a.md.swp")).unwrap();
    });
}

#[test]
fn vim_is_looked_at_between_its_two_steps() {
    saved(|world| {
        world.rename("a.md", "a.md~");
        world.look();
        assert!(world.files().is_empty(), "for this moment it is not there");
        world.write("a.md", list(&BEFORE));
        world.look();
        world.write("a.md", list(&AFTER));
        fs::remove_file(world.path("a.md~")).unwrap();
    });
}

#[test]
fn an_atomic_replacement_is_an_edit() {
    saved(|world| {
        world.write(".a.md.tmp123", list(&AFTER));
        world.rename(".a.md.tmp123", "a.md");
    });
}

#[test]
fn a_file_that_is_emptied_and_then_written_slowly_keeps_its_parts() {
    saved(|world| {
        let mut file = OpenOptions::new().write(true).truncate(true).open(world.path("a.md")).unwrap();
        world.look();
        assert!(world.says("a.md").is_empty());
        // Byte by byte, looked at in between, is nobody's way: line by line is.
        for line in list(&BEFORE).split_inclusive('\n') {
            file.write_all(line.as_bytes()).unwrap();
            world.look();
        }
        file.rewind().unwrap();
        file.write_all(list(&AFTER).as_bytes()).unwrap();
    });
}

#[test]
fn emacs_and_office_programs_leave_names_that_nobody_reads() {
    saved(|world| {
        for name in ["#a.md#", ".#a.md", ".~lock.a.md#", "~$a.md", "a.md.part", "a.md.crdownload"] {
            world.write(name, list(&["the kettle is red"]));
        }
        world.look();
        world.write("a.md", list(&AFTER));
        world.look();
        for name in ["#a.md#", ".#a.md", ".~lock.a.md#", "~$a.md", "a.md.part", "a.md.crdownload"] {
            fs::remove_file(world.path(name)).unwrap();
        }
    });
}

/// The machine's time, as files have it.
fn now() -> SystemTime {
    let micros = SystemClock.now().as_micros().cast_unsigned();
    SystemTime::UNIX_EPOCH + Duration::from_micros(micros)
}

/// The stamps of a file, set as some programs do.
fn touch(world: &World, time: SystemTime) {
    File::options().write(true).open(world.path("a.md")).unwrap().set_modified(time).unwrap();
}

#[test]
fn an_edit_of_the_same_size_within_one_tick_is_found() {
    let mut world = World::new();
    let mut found = 0;
    for number in 0..500 {
        let then = now();
        world.write("a.md", list(&[&format!("the mark is {:04}", 2 * number)]));
        touch(&world, then);
        world.look();
        let is_one_tick = now().duration_since(then).unwrap_or_default() < Duration::from_millis(90);
        world.write("a.md", list(&[&format!("the mark is {:04}", 2 * number + 1)]));
        touch(&world, then);
        world.look();
        // A busy machine was too slow for it to be one tick.
        if is_one_tick {
            assert_eq!(world.says("a.md"), [format!("the mark is {:04}", 2 * number + 1)]);
            found += 1;
        }
        if found == 20 {
            return;
        }
    }
    panic!("{found} of 500 in one tick");
}

#[test]
fn a_file_system_that_counts_whole_seconds_hides_no_edit() {
    let mut world = World::new();
    let now = now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
    for word in ["one", "two", "six"] {
        world.write("a.md", list(&[word]));
        touch(&world, second);
        world.look();
        assert_eq!(world.says("a.md"), [word]);
    }
}

#[test]
fn a_time_that_is_set_back_or_lies_ahead_is_a_change_and_then_none() {
    let mut world = World::new();
    world.write("a.md", list(&["first"]));
    world.look();
    for (word, time) in
        [("older", SystemTime::UNIX_EPOCH + Duration::from_hours(24)), ("ahead", now() + Duration::from_hours(24))]
    {
        world.write("a.md", list(&[word]));
        touch(&world, time);
        assert_eq!(world.look().taken, 1);
        assert_eq!((world.says("a.md"), world.look().taken), (vec![word.to_owned()], 0));
    }
}

#[test]
fn a_clock_that_is_set_back_loses_nothing() {
    let mut world = World::new();
    world.write("a.md", list(&BEFORE));
    world.look();
    world.set_clock(-86_400 * 400);
    world.write("a.md", list(&AFTER));
    world.look();
    assert!(world.says("a.md").contains(&AFTER[1].to_owned()));
    world.set_clock(86_400 * 400);
    world.write("b.md", list(&["the door is shut"]));
    world.look();
    assert_eq!((world.files(), world.says("b.md").len()), (vec!["a.md".to_owned(), "b.md".to_owned()], 1));
}

#[test]
fn of_a_file_that_is_saved_all_day_the_last_versions_and_the_first_of_each_day_are_kept() {
    let mut world = World::new();
    for day in 0..3 {
        for save in 0..30 {
            world.set_clock(day * 86_400 + save * 60);
            let text = format!("the kettle was filled on day {day} for the {save}th time");
            world.write("a.md", list(&[&text, "the lamp is green"]));
            world.look();
        }
    }
    let file = world.store.file_at(&FilePath::new("notes", "a.md").unwrap()).unwrap().unwrap();
    let history = world.store.history(MemoryRef::Id(file.id)).unwrap();
    assert_eq!(history.len(), 90, "each change is known");
    let kept: Vec<String> = history.into_iter().filter_map(|entry| entry.before).map(|before| before.content).collect();
    assert!((20..=24).contains(&kept.len()), "{}", kept.len());
    assert!(kept.iter().take(20).all(|text| text.contains("day 2")), "{kept:?}");
    for day in 0..2 {
        assert!(kept.iter().any(|text| text.contains(&format!("day {day}"))), "{day}");
    }
}
