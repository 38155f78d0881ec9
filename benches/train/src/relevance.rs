//! Turns the questions of labelled sets into examples for the classifier of relevance.

use tessera_engine::domain::Timestamp;
use tessera_engine::score::Weights;
use tessera_eval::{EvalError, RatedRow, World, rated_life};

use crate::boost::{Example, Training, train};
use crate::pairs::is_by;

/// Other depths and rates were not better when each author was left out once.
const RELEVANCE: Training = Training { trees: 160, rate: 0.06, lambda: 4.0, least: 2.0 };

/// How much a row counts that comes from the store with the notes of all sets.
const TOGETHER: f64 = 0.4;

/// The rows that recall rates, with weights.
#[derive(Default)]
pub(crate) struct Ratings(Vec<(f64, RatedRow)>);

impl Ratings {
    /// Asks the questions of some authors in a store with the notes of all sets. The weights contain a classifier of
    /// updates that has not seen these authors.
    pub(crate) fn add(
        &mut self,
        worlds: &[&World],
        asked: &[&str],
        now: Timestamp,
        weights: &Weights,
    ) -> Result<(), EvalError> {
        let weight = if worlds.len() == 1 { 1.0 } else { TOGETHER };
        let rows = rated_life(worlds, |world| is_by(&world.name, asked), now, weights)?;
        self.0.extend(rows.into_iter().map(|row| (weight, row)));
        Ok(())
    }

    /// The classifier from all authors but some.
    pub(crate) fn without(&self, authors: &[&str]) -> Vec<u8> {
        let rows = self.0.iter().filter(|(_, row)| !is_by(&row.asked_of, authors) && !is_by(&row.from, authors));
        let example = |(weight, row): &(f64, RatedRow)| Example {
            features: row.features.to_vec(),
            label: row.is_wanted,
            weight: *weight,
        };
        train(&rows.map(example).collect::<Vec<_>>(), RELEVANCE)
    }
}
