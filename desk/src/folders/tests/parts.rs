//! Parts that are changed by their number: the file is written, and known as it was written.

use std::fs;

use tessera_engine::domain::{MemoryRef, Origin};

use super::super::read::MOST_BYTES;
use super::super::update_part;
use super::{Refreshed, World, list};
use crate::Caller;

fn updated(world: &mut World, part: &str, text: &str) -> Result<(), String> {
    let id = world.ids("a.md")[part];
    let by = Caller::new(Origin::User);
    update_part(&mut world.store, &by, MemoryRef::Id(id), text).map_err(|error| error.to_string())
}

#[test]
fn a_part_that_is_changed_stays_who_it_is_and_the_next_look_finds_nothing_more() {
    let mut world = World::new();
    world.write("a.md", list(&["the kettle is blue", "the lamp is green"]));
    world.look();
    let before = world.ids("a.md");
    updated(&mut world, "the lamp is green", "the lamp is crimson").unwrap();
    let file = world.path("a.md");
    assert_eq!(fs::read_to_string(&file).unwrap(), list(&["the kettle is blue", "the lamp is crimson"]));
    let after = world.ids("a.md");
    assert_eq!(after["the lamp is crimson"], before["the lamp is green"]);
    assert_eq!(world.look(), Refreshed::default());
    // What an editor writes right after is a change of its own.
    world.write("a.md", list(&["the kettle is blue", "the lamp is amber"]));
    assert_eq!(world.look().taken, 1);
    assert_eq!(world.ids("a.md")["the lamp is amber"], before["the lamp is green"]);
}

#[test]
fn a_part_that_would_make_its_file_too_large_to_be_read_stays_as_it_is() {
    let mut world = World::new();
    let (part, blank) = (list(&["the lamp is green"]), "\n".repeat(usize::try_from(MOST_BYTES).unwrap()));
    let text = format!("{part}{}", &blank[part.len()..]);
    world.write("a.md", &text);
    world.look();
    let refusal = updated(&mut world, "the lamp is green", "the lamp is crimson").unwrap_err();
    assert!(refusal.contains("too large"), "{refusal}");
    assert_eq!(fs::read_to_string(world.path("a.md")).unwrap(), text);
    updated(&mut world, "the lamp is green", "the lamp is red").unwrap();
    assert_eq!(world.says("a.md"), ["the lamp is red"]);
}
