//! Measures which share of the expected memories a reply contains, for each token budget. The memories are in temporary
//! stores.

mod compare;
mod filing;
mod fixture;
mod life;
mod locomo;
mod metrics;
mod questions;
mod ranker;
mod replay;
mod times;
mod turns;
mod usage;
mod vectors;
mod worlds;

use std::path::PathBuf;

use tessera_engine::domain::{Packing, Timestamp};
use tessera_engine::score::Weights;
use tessera_engine::store::{SecretRules, Store, StoreConfig, StoreError, Usage};

pub use compare::{Compared, Comparison, compare};
pub use filing::Filing;
pub use fixture::{Fixture, FixtureQuery, QueryReport};
pub use life::{LifeAnswer, LifeTally, RatedRow, evaluate as evaluate_life, evaluate_together, rated as rated_life};
pub use locomo::{Unit, evaluate as evaluate_locomo};
pub use metrics::{Asked, Report, Screening, ScreeningReport, screenings};
pub use questions::{Answered, PromptTally, QuestionFile, QuestionReport, Verdict, Verdicts};
pub use ranker::{Network, Ranker};
pub use replay::{ReplayReport, replay, total};
pub use times::{TimeAnswer, evaluate as evaluate_time};
pub use turns::{TurnAnswer, TurnVerdict, evaluate as evaluate_turns};
pub use usage::{UsageReport, UsageTrace};
pub use vectors::{Leg, Vectors};
pub use worlds::{World, WorldNote, WorldQuestion};

/// The configuration of an evaluation, with the ranking parameters.
#[derive(Debug, Clone)]
pub struct EvalConfig {
    /// Budgets, in o200k_base tokens.
    pub budgets: Vec<u32>,
    /// How a budget is spent.
    pub packing: Packing,
    /// Numbers of the ranking.
    pub weights: Weights,
    /// Vectors of the memories.
    pub vectors: Vectors,
    /// The ranker.
    pub ranker: Ranker,
}

impl EvalConfig {
    /// The weights of the evaluated stores.
    pub fn store_weights(&self) -> Weights {
        self.ranker.weights(&self.vectors.weights(self.weights.clone()))
    }
}

/// Why an evaluation cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file does not have the named format.
    #[error("{path}: {problem}")]
    Format {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A database of the evaluation itself failed: the cache of embeddings, or the index of FTS5.
    #[error("{path}: {source}")]
    Database {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// A hook failed over a prompt.
    #[error("a prompt: {problem}")]
    Prompt {
        /// The problem.
        problem: String,
    },
    /// The throw-away store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A store in a temporary directory.
pub struct Scratch {
    /// The store.
    pub store: Store,
    dir: tempfile::TempDir,
}

impl Scratch {
    /// An empty store with a fixed time. Without a weight of embeddings, semantic search is off.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn new(now: Timestamp, weights: &Weights) -> Result<Self, EvalError> {
        let dir = tempfile::tempdir()
            .map_err(|source| EvalError::File { path: PathBuf::from("temporary directory"), source })?;
        let clock = std::sync::Arc::new(tessera_engine::domain::FixedClock(now));
        let home = dir.path().join("home");
        let store = Store::open(StoreConfig {
            home: home.into(),
            clock,
            weights: weights.clone(),
            usage: Usage::Serve,
            embedding: weights.embedding > 0.0,
            secrets: SecretRules::default(),
        })?;
        Ok(Self { store, dir })
    }

    /// Its path.
    pub fn path(&self) -> &std::path::Path {
        self.dir.path()
    }
}

fn read(path: &std::path::Path) -> Result<String, EvalError> {
    std::fs::read_to_string(path).map_err(|source| EvalError::File { path: path.to_path_buf(), source })
}
