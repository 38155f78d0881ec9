//! Trains the classifiers of the engine on the labelled sets in `fixtures/worlds`.
//!
//! `tessera-train updates DIR OUT` and `tessera-train relevance DIR OUT` write the tables. `tessera-train pairs DIR` and
//! `tessera-train check DIR` leave each author out once and print how well updates are found, and how well questions are
//! answered. The authors of the test sets (`t…`) are never used for training.
//!
//! `tessera-train categories DIR OUT` writes the weights of the classifier of categories. `tessera-train filing DIR`
//! leaves each author out once and prints how many notes get the right category.
//!
//! `tessera-train phrases DIR WORLDS OUT` trains the classifiers of probable secrets on `fixtures/phrases`.
//!
//! `tessera-train actions DIR OUT` writes the classifier of memories that bind to a tool call. `tessera-train binding DIR`
//! prints how well it finds them in projects that the training did not use.
//!
//! `tessera-train turns DIR OUT` writes the classifier of messages that teach something. `tessera-train learning DIR` leaves
//! each author out once and prints how many of these messages it finds.
//!
//! `tessera-train centre DIR OUT` writes the centres of the encoder's second network.

mod actions;
mod boost;
mod categories;
mod centre;
mod forest;
mod pairs;
mod phrases;
mod relevance;
mod report;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, bail};
use boost::{Example, Training, train};
use pairs::{Label, Pair, pairs};
use relevance::Ratings;
use tessera_engine::classifier::Trees;
use tessera_engine::domain::Timestamp;
use tessera_engine::score::Weights;
use tessera_eval::{LifeAnswer, Ranker, World, evaluate_life, evaluate_together};

/// The parameters that were best when each author was left out once.
const UPDATES: Training = Training { trees: 160, rate: 0.1, lambda: 4.0, least: 2.0 };
/// How much a pair counts that only looks like an update.
const LOOK_ALIKE: f64 = 2.0;
/// The token budget of a reply.
const BUDGET: u32 = 400;
/// When the questions are asked.
const NOW: &str = "2026-11-23T12:00:00Z";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["updates", dir, out] => write_updates(dir, Path::new(out)),
        ["relevance", dir, out] => write_relevance(dir, Path::new(out)),
        ["check", dir] => check(dir),
        ["categories", dir, out] => categories::write(dir, Path::new(out)),
        ["filing", dir] => categories::check(dir),
        ["actions", dir, out] => actions::write(dir, Path::new(out)),
        ["binding", dir] => actions::check(dir),
        ["turns", dir, out] => turns::write(dir, Path::new(out)),
        ["learning", dir] => turns::check(dir),
        ["pairs", dir] => check_pairs(dir),
        ["centre", dir, out] => centre::write(dir, Path::new(out)),
        ["phrases", dir, worlds, out] => phrases::write(dir, worlds, Path::new(out)),
        _ => bail!(
            "use `tessera-train updates|relevance|categories|actions|turns|centre DIR OUT`, \
            `tessera-train check|pairs|filing|binding|learning DIR`, or \
            `tessera-train phrases DIR WORLDS OUT`"
        ),
    }
}

/// Writes a table.
fn save(out: &Path, table: &[u8]) -> anyhow::Result<()> {
    std::fs::write(out, table).with_context(|| format!("cannot write {}", out.display()))
}

fn is_test(world: &World) -> bool {
    world.name.starts_with('t')
}

/// Trains on all sets but the test sets.
fn write_updates(dir: &str, out: &Path) -> anyhow::Result<()> {
    let mut worlds = World::read_all(Path::new(dir))?;
    worlds.retain(|world| !is_test(world));
    let updates = train(&all_pairs(&worlds)?.iter().map(example).collect::<Vec<_>>(), UPDATES);
    save(out, &updates)
}

/// The pairs of each set in a store of its own, with the number of updates that were never compared.
fn alone(worlds: &[World]) -> anyhow::Result<(Vec<Pair>, usize)> {
    let (mut all, mut missed) = (Vec::new(), 0);
    for world in worlds {
        let (found, lost) = pairs(std::slice::from_ref(world))?;
        all.extend(found);
        missed += lost;
    }
    Ok((all, missed))
}

/// The pairs of each set alone, and of all sets in one store.
fn all_pairs(worlds: &[World]) -> anyhow::Result<Vec<Pair>> {
    Ok(alone(worlds)?.0.into_iter().chain(pairs(worlds)?.0).collect())
}

fn example(pair: &Pair) -> Example {
    let weight = if pair.label == Label::LookAlike { LOOK_ALIKE } else { 1.0 };
    Example { features: pair.features.to_vec(), label: pair.label.is_update(), weight }
}

/// The classifier of updates from all authors but some.
fn without<'a>(authors: &[&str], pairs: impl Iterator<Item = &'a Pair>) -> Vec<u8> {
    train(&pairs.filter(|pair| !authors.contains(&pair.author.as_str())).map(example).collect::<Vec<_>>(), UPDATES)
}

fn scored_by<'a>(trees: &[u8], pairs: impl Iterator<Item = &'a Pair>) -> Vec<(i32, Pair)> {
    pairs.map(|pair| (Trees(trees).odds(&pair.features), pair.clone())).collect()
}

/// Prints how well updates are found, with each author left out once, and for the test sets.
fn check_pairs(dir: &str) -> anyhow::Result<()> {
    let (test, rest): (Vec<World>, Vec<World>) = World::read_all(Path::new(dir))?.into_iter().partition(is_test);
    let (single, lost) = alone(&rest)?;
    let (together, lost_together) = pairs(&rest)?;
    let mut authors: Vec<&str> = single.iter().map(|pair| pair.author.as_str()).collect();
    authors.sort_unstable();
    authors.dedup();
    let mut left_out = [Vec::new(), Vec::new()];
    for author in &authors {
        let trees = without(&[author], single.iter().chain(&together));
        for (scored, pairs) in left_out.iter_mut().zip([&single, &together]) {
            scored.extend(scored_by(&trees, pairs.iter().filter(|pair| pair.author == *author)));
        }
    }
    for author in &authors {
        let of_author: Vec<_> = left_out[0].iter().filter(|(_, pair)| pair.author == *author).cloned().collect();
        report::pairs(author, &of_author, 0);
    }
    report::pairs("all", &left_out[0], lost);
    report::pairs("joint", &left_out[1], lost_together);
    let trees = train(&single.iter().chain(&together).map(example).collect::<Vec<_>>(), UPDATES);
    let (tests, lost) = alone(&test)?;
    report::pairs("test", &scored_by(&trees, tests.iter()), lost);
    Ok(())
}

/// The authors of sets, in the order of their names.
fn authors_of<'a>(worlds: impl IntoIterator<Item = &'a World>) -> Vec<String> {
    let authors: BTreeSet<String> = worlds.into_iter().map(|world| pairs::author_of(&world.name)).collect();
    authors.into_iter().collect()
}

/// Divides authors into thirds.
fn thirds(authors: &[String]) -> [Vec<&str>; 3] {
    [0, 1, 2].map(|third| authors.iter().skip(third).step_by(3).map(String::as_str).collect())
}

/// The classifiers of updates, each without some authors.
struct Updates {
    pairs: Vec<Pair>,
    known: BTreeMap<String, Vec<u8>>,
}

impl Updates {
    /// From all sets but the test sets.
    fn new(worlds: &[World]) -> anyhow::Result<Self> {
        let trained: Vec<World> = worlds.iter().filter(|world| !is_test(world)).cloned().collect();
        Ok(Self { pairs: all_pairs(&trained)?, known: BTreeMap::new() })
    }

    /// The weights for the sets of authors whom the classifier of updates has not seen.
    fn without(&mut self, authors: &[&str]) -> Weights {
        let pairs = &self.pairs;
        let trees = self.known.entry(authors.join(" ")).or_insert_with(|| without(authors, pairs.iter()));
        Weights { updates: trees.clone().into(), ..Weights::default() }
    }
}

/// The rated rows of all sets but the test sets, in small stores and in a large one. Similarities and the information of
/// words depend on the size of the store.
fn ratings(worlds: &[World], updates: &mut Updates) -> anyhow::Result<Ratings> {
    let now: Timestamp = NOW.parse()?;
    let worlds: Vec<&World> = worlds.iter().filter(|world| !is_test(world)).collect();
    let mut ratings = Ratings::default();
    for world in &worlds {
        let author = pairs::author_of(&world.name);
        ratings.add(&[world], &[&author], now, &updates.without(&[&author]))?;
    }
    for third in thirds(&authors_of(worlds.iter().copied())) {
        ratings.add(&worlds, &third, now, &updates.without(&third))?;
    }
    Ok(ratings)
}

/// Trains the classifier of relevance on all sets but the test sets.
fn write_relevance(dir: &str, out: &Path) -> anyhow::Result<()> {
    let worlds = World::read_all(Path::new(dir))?;
    let ratings = ratings(&worlds, &mut Updates::new(&worlds)?)?;
    save(out, &ratings.without(&[]))
}

/// Asks the questions of each set in a store of its own, with classifiers that have seen no note and no question of its
/// author. Then asks all questions in one store, with classifiers that have seen nothing of a third of the authors.
fn check(dir: &str) -> anyhow::Result<()> {
    let worlds = World::read_all(Path::new(dir))?;
    let now: Timestamp = NOW.parse()?;
    let mut updates = Updates::new(&worlds)?;
    let ratings = ratings(&worlds, &mut updates)?;
    let mut answers: BTreeMap<String, Vec<LifeAnswer>> = BTreeMap::new();
    let authors = authors_of(&worlds);
    for author in &authors {
        let weights = Weights { relevance: ratings.without(&[author]).into(), ..updates.without(&[author]) };
        let group: String = author.chars().take_while(|letter| letter.is_alphabetic()).collect();
        let answers = answers.entry(group).or_default();
        for world in worlds.iter().filter(|world| pairs::is_by(&world.name, &[author])) {
            answers.extend(evaluate_life(world, now, BUDGET, (Ranker::Tessera, &weights))?.0);
        }
    }
    answers.iter().for_each(|(group, answers)| report::answers(group, answers));
    let all: Vec<&World> = worlds.iter().collect();
    let mut together = Vec::new();
    for third in thirds(&authors) {
        let weights = Weights { relevance: ratings.without(&third).into(), ..updates.without(&third) };
        let is_asked = |world: &World| pairs::is_by(&world.name, &third);
        together.extend(evaluate_together(&all, is_asked, now, BUDGET, &weights)?);
    }
    report::answers("all in one store", &together);
    Ok(())
}
