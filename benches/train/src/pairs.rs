//! Turns labelled sets into labelled pairs: each note is compared with the older notes of its store, as in the program.

use std::collections::HashMap;

use tessera_engine::domain::{Draft, Link, LinkKind, Timestamp};
use tessera_engine::relation::Features;
use tessera_engine::score::Weights;
use tessera_eval::{EvalError, Scratch, World, WorldNote};

/// How an author labelled a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    /// The newer note replaces the older one.
    Replaces,
    /// The newer note amends the older one.
    Amends,
    /// Both say the same.
    Same,
    /// The newer note seems to replace the older one, but does not.
    LookAlike,
    /// Nothing.
    None,
}

impl Label {
    /// True if the newer note updates the older one.
    pub(crate) fn is_update(self) -> bool {
        matches!(self, Self::Replaces | Self::Amends)
    }

    fn of(newer: &WorldNote, older: &str) -> Self {
        let names = |list: &[String]| list.iter().any(|id| id == older);
        if names(&newer.replaces) {
            Self::Replaces
        } else if names(&newer.amends) {
            Self::Amends
        } else if names(&newer.same_as) {
            Self::Same
        } else if names(&newer.lookalike_of) {
            Self::LookAlike
        } else {
            Self::None
        }
    }
}

/// A compared pair.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// The author, who is a person of their own.
    pub(crate) author: String,
    /// The label.
    pub(crate) label: Label,
    /// The features.
    pub(crate) features: Features,
}

/// The pairs of sets that share one store, and the number of updates that were never compared.
pub(crate) fn pairs(worlds: &[World]) -> Result<(Vec<Pair>, usize), EvalError> {
    let mut notes: Vec<(&World, &WorldNote, Timestamp)> = Vec::new();
    // Sets without labelled pairs contain updates that nobody labelled.
    let is_labelled = |world: &&World| world.notes.iter().any(|note| note.updates().next().is_some());
    for world in worlds.iter().filter(is_labelled) {
        for note in &world.notes {
            notes.push((world, note, note.time()?));
        }
    }
    notes.sort_by_key(|(.., time)| *time);
    let now = notes.last().map_or(Timestamp::from_micros(0), |(.., time)| time.plus_days(1));
    let mut scratch = Scratch::new(now, &Weights { updates_least: i32::MAX, ..Weights::default() })?;
    let mut known = HashMap::new();
    let (mut found, mut missed) = (Vec::new(), 0);
    for (world, note, time) in notes {
        let scope = match note.project.as_deref() {
            Some(project) if worlds.len() > 1 => format!("{}-{project}", world.name).parse().unwrap_or_default(),
            _ => note.scope()?,
        };
        let compared = scratch.store.compare(&note.text, &scope, None)?;
        let mut updates = 0;
        for one in compared {
            let (of, older): &(String, &WorldNote) = match known.get(&one.id) {
                Some(older) => older,
                None => continue,
            };
            let label = if *of == world.name { Label::of(note, &older.id) } else { Label::None };
            updates += usize::from(label.is_update());
            found.push(Pair { author: author_of(&world.name), label, features: one.features });
        }
        missed += note.updates().count().saturating_sub(updates);
        let older = |id: &String| known.iter().find(|(_, (of, older))| *of == world.name && older.id == *id);
        let links = note.updates().filter_map(older).map(|(id, _)| Link { kind: LinkKind::Updates, to: *id }).collect();
        let draft = Draft { scope, created: Some(time), links, ..Draft::new(note.text.clone()) };
        let stored = scratch.store.remember(draft)?;
        scratch.store.embed_newest(|| true)?;
        known.insert(stored.memory.id, (world.name.clone(), note));
    }
    Ok((found, missed))
}

/// The author of a set. The sets `life1` to `life5` are by five persons; other names are an author and a number: `a1w2`.
pub(crate) fn author_of(world: &str) -> String {
    world.split_once('w').map_or(world, |(author, _)| author).to_owned()
}

/// True if one of these authors wrote the set.
pub(crate) fn is_by(world: &str, authors: &[&str]) -> bool {
    let author = author_of(world);
    authors.iter().any(|one| *one == author)
}
