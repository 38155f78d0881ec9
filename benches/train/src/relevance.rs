//! Turns the questions of labelled sets into examples for the classifier of relevance.

use std::collections::BTreeMap;

use tessera_engine::domain::Timestamp;
use tessera_engine::score::Weights;
use tessera_eval::{EvalError, RatedRow, World, rated_life};

use crate::boost::{Example, Training, train};
use crate::pairs::author_of;

/// Other depths and rates were not better when each author was left out once.
const RELEVANCE: Training = Training { trees: 160, rate: 0.06, lambda: 4.0, least: 2.0 };

/// The rows that recall rates, for each author.
#[derive(Default)]
pub(crate) struct Ratings(BTreeMap<String, Vec<RatedRow>>);

impl Ratings {
    /// Asks the questions of a set. The weights contain a classifier of updates that has not seen its author.
    pub(crate) fn add(&mut self, world: &World, now: Timestamp, weights: &Weights) -> Result<(), EvalError> {
        let rows = rated_life(world, now, weights)?;
        self.0.entry(author_of(&world.name)).or_default().extend(rows.into_iter().flatten());
        Ok(())
    }

    /// The classifier from all authors but one.
    pub(crate) fn without(&self, author: &str) -> Vec<u8> {
        let rows = self.0.iter().filter(|(of, _)| *of != author).flat_map(|(_, rows)| rows);
        let example = |row: &RatedRow| Example { features: row.features.to_vec(), label: row.is_wanted, weight: 1.0 };
        train(&rows.map(example).collect::<Vec<_>>(), RELEVANCE)
    }

    /// The classifier from all authors.
    pub(crate) fn all(&self) -> Vec<u8> {
        self.without("")
    }
}
