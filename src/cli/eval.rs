//! The arguments of `tessera eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tessera_engine::domain::Packing;
use tessera_engine::score::Weights;
use tessera_eval::{EvalConfig, Leg, Network, Ranker, Vectors};

/// The evaluation sets.
#[derive(Debug, Subcommand)]
pub(crate) enum Eval {
    /// Evaluate on conversations and questions in LoCoMo format
    Locomo {
        /// The file
        file: PathBuf,
        /// What one memory holds: a turn or a session
        #[arg(long, default_value = "turn")]
        unit: EvalUnit,
        /// The options.
        #[command(flatten)]
        options: EvalOptions,
    },
    /// Evaluate recall on a file of questions (see fixtures/README.md)
    Queries {
        /// The file of questions, next to `corpus/` and `usage.toml`
        file: PathBuf,
        /// The options.
        #[command(flatten)]
        options: EvalOptions,
    },
    /// Replay prompts, and measure the precision of automatic recall
    Prompts {
        /// The file of prompts, next to a `corpus/` directory with notes
        file: PathBuf,
        /// The vectors.
        #[command(flatten)]
        vectors: EvalVectors,
    },
    /// Grade every reply to natural questions (see fixtures/README.md)
    Questions {
        /// The JSON files; each set gets its own store
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Maximum number of tokens in a reply
        #[arg(long, default_value_t = 400, value_name = "N")]
        max_tokens: u32,
        /// The ranker
        #[arg(long, value_enum, default_value_t)]
        ranker: EvalRanker,
        /// The vectors.
        #[command(flatten)]
        vectors: EvalVectors,
    },
    /// Ask questions about notes that change (see fixtures/README.md)
    Life {
        /// The files; each set gets its own store
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Maximum number of tokens in a reply
        #[arg(long, default_value_t = 400, value_name = "N")]
        max_tokens: u32,
        /// The ranker
        #[arg(long, value_enum, default_value_t)]
        ranker: EvalRanker,
        /// Semantic search: on or off
        #[arg(long, default_value = "on", value_name = "on|off")]
        semantic: Leg,
    },
    /// Check how times in options and questions are understood
    Time {
        /// The file (see fixtures/README.md)
        file: PathBuf,
        /// Also list the entries that are understood correctly
        #[arg(long)]
        all: bool,
    },
    /// Measure the secret detector on labelled texts (JSON lines)
    Secrets {
        /// The file
        file: PathBuf,
    },
    /// Compare all rankers on all question sets, as a Markdown table
    ///
    /// The rankers are FTS5, BM25, the sentence encoder, and Tessera without and with semantic search. It takes
    /// minutes.
    Compare {
        /// The directory of questions*.json, locomo*.json and beam*.json
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// The fixtures directory of this repository
        #[arg(long, value_name = "DIR", default_value = "fixtures")]
        fixtures: PathBuf,
        /// Keep vectors in this directory for later runs
        #[arg(long, value_name = "DIR")]
        cache: Option<PathBuf>,
    },
}

/// The options of an evaluation.
#[derive(Debug, Args)]
pub(crate) struct EvalOptions {
    /// Token budgets, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "500,1000,2000,4000")]
    pub(crate) budgets: Vec<u32>,
    /// How results fill the budget: dual, or details (no summaries)
    #[arg(long, default_value = "dual")]
    pub(crate) packing: Packing,
    /// Repeat the evaluation, each time without one ranking signal
    #[arg(long)]
    pub(crate) ablate: bool,
    /// The ranker
    #[arg(long, value_enum, default_value_t)]
    pub(crate) ranker: EvalRanker,
    /// The vectors.
    #[command(flatten)]
    pub(crate) vectors: EvalVectors,
}

impl EvalOptions {
    /// Builds the configuration with the ranking weights that Tessera uses.
    pub(crate) fn config(&self, weights: Weights) -> EvalConfig {
        self.ranker.config(&self.vectors, &self.budgets, self.packing, weights)
    }
}

/// The embeddings that an evaluation uses.
#[derive(Debug, Args)]
pub(crate) struct EvalVectors {
    /// Semantic search: on or off
    #[arg(long, default_value = "on", value_name = "on|off")]
    semantic: Leg,
    /// Keep vectors in this directory for later runs
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl EvalVectors {
    /// Vectors that are computed in this run.
    pub(crate) fn fresh(semantic: Leg) -> Self {
        Self { semantic, cache: None }
    }

    /// Converts the options for the evaluator.
    pub(crate) fn vectors(&self) -> Vectors {
        Vectors { leg: self.semantic, cache: self.cache.clone() }
    }
}

/// A ranker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum EvalRanker {
    /// Tessera.
    #[default]
    Tessera,
    /// The standard BM25 formula over word stems.
    Bm25,
    /// FTS5 of SQLite with the porter stemmer; any word of the question matches.
    Fts5,
    /// The sentence encoder alone.
    Encoder,
    /// The encoder's network for English alone.
    FirstNetwork,
    /// The encoder's network for all languages alone.
    SecondNetwork,
}

impl EvalRanker {
    /// Builds the configuration: budgets, packing, and the ranking weights that Tessera uses.
    pub(crate) fn config(
        self,
        vectors: &EvalVectors,
        budgets: &[u32],
        packing: Packing,
        weights: Weights,
    ) -> EvalConfig {
        let (ranker, weights) = match self {
            Self::Tessera => (Ranker::Tessera, weights),
            Self::Bm25 => (Ranker::Tessera, Weights::bm25_alone()),
            Self::Fts5 => (Ranker::Fts5, weights),
            Self::Encoder => (Ranker::Encoder, weights),
            Self::FirstNetwork => (Ranker::Network(Network::First), weights),
            Self::SecondNetwork => (Ranker::Network(Network::Second), weights),
        };
        EvalConfig { budgets: budgets.to_vec(), packing, weights, vectors: vectors.vectors(), ranker }
    }
}

/// The unit of text that becomes one memory.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum EvalUnit {
    /// One turn.
    Turn,
    /// One session.
    Session,
}
