//! Measures whether past use improves ranking: replays a trace of uses, then asks questions that several notes match
//! equally.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::fixture::{Fixture, short_id_of};
use crate::{EvalError, Scratch, Vectors, read};
use tessera_engine::domain::{RecallRequest, ShortId, Timestamp};
use tessera_engine::score::Weights;
use tessera_engine::store::{Store, StoreError};

/// A record of uses of notes, and the questions that are asked afterwards.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct UsageTrace {
    access: Vec<Access>,
    query: Vec<Question>,
}

#[derive(Debug, Clone, Deserialize)]
struct Access {
    at: Timestamp,
    key: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Question {
    text: String,
    gold: Vec<String>,
}

/// The mean reciprocal rank of the expected note in each run. The runs use different usage signals (frequency,
/// recency).
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UsageReport {
    /// Questions asked.
    pub questions: u32,
    /// For each run, the share of questions whose expected note is first, and the mean reciprocal rank.
    pub runs: BTreeMap<&'static str, (f64, f64)>,
}

impl UsageTrace {
    /// Reads a `usage.toml`.
    ///
    /// # Errors
    /// Returns an error if it cannot be read or parsed.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        toml_edit::de::from_str(&read(path)?)
            .map_err(|error| EvalError::Format { path: path.to_path_buf(), problem: error.to_string() })
    }

    /// Asks the questions in six runs, each on a new store. Four runs have the recorded uses: with all signals, without
    /// frequency, without recency, and without both. Two runs have no recorded uses: one with all signals, and one
    /// without frequency and recency.
    ///
    /// # Errors
    /// Returns an error if the corpus cannot be loaded, or lacks a note of the record.
    pub fn evaluate(&self, fixture: &Fixture, weights: &Weights, vectors: &Vectors) -> Result<UsageReport, EvalError> {
        let all = || vectors.weights(weights.clone());
        let runs = [
            ("use known", all(), true),
            ("without frequency", Weights { frequency: 0.0, ..all() }, true),
            ("without recency", Weights { recency: 0.0, ..all() }, true),
            ("without both", Weights { frequency: 0.0, recency: 0.0, ..all() }, true),
            ("no uses", all(), false),
            ("no uses, without both", Weights { frequency: 0.0, recency: 0.0, ..all() }, false),
        ];
        let mut report =
            UsageReport { questions: u32::try_from(self.query.len()).unwrap_or(0), ..UsageReport::default() };
        for (name, weights, is_used) in runs {
            let mut scratch = fixture.load_with(&weights, vectors)?;
            if is_used {
                self.replay(&mut scratch)?;
            }
            report.runs.insert(name, self.ask(&mut scratch.store)?);
        }
        Ok(report)
    }

    fn replay(&self, scratch: &mut Scratch) -> Result<(), EvalError> {
        let mut short_ids = BTreeMap::new();
        let uses =
            self.access.iter().map(|access| Ok((short_id_of(&scratch.store, &access.key, &mut short_ids)?, access.at)));
        let uses: Vec<(ShortId, Timestamp)> = uses.collect::<Result<_, EvalError>>()?;
        scratch.store.note_uses(uses);
        scratch.store.fold_accesses()?;
        Ok(())
    }

    fn ask(&self, store: &mut Store) -> Result<(f64, f64), EvalError> {
        let mut short_ids = BTreeMap::new();
        let (mut first, mut reciprocal) = (0.0, 0.0);
        for question in &self.query {
            let request = RecallRequest::new(question.text.clone());
            let page = store.rank(&request)?.page(&request).map_err(StoreError::from)?;
            let gold = question
                .gold
                .iter()
                .map(|key| short_id_of(store, key, &mut short_ids))
                .collect::<Result<Vec<_>, _>>()?;
            if let Some(rank) = page.iter().position(|ranked| gold.contains(&ranked.short_id)) {
                first += if rank == 0 { 1.0 } else { 0.0 };
                reciprocal += 1.0 / (rank + 1) as f64;
            }
        }
        let questions = self.query.len().max(1) as f64;
        Ok((first / questions, reciprocal / questions))
    }
}
