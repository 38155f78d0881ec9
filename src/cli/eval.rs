//! The arguments of `tessera eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tessera_engine::domain::Packing;
use tessera_engine::score::Weights;
use tessera_eval::{EvalConfig, Leg, Ranker, Vectors};

/// What to measure on.
#[derive(Debug, Subcommand)]
pub(crate) enum Eval {
    /// Conversations and questions in the LoCoMo format.
    Locomo {
        /// The file.
        file: PathBuf,
        /// What becomes one memory.
        #[arg(long, default_value = "turn")]
        unit: EvalUnit,
        /// How, and with what.
        #[command(flatten)]
        options: EvalOptions,
    },
    /// Notes and questions in our own format (see fixtures/README.md).
    Queries {
        /// The questions; the notes are in `corpus/` beside them, a usage trace in `usage.toml`.
        file: PathBuf,
        /// How, and with what.
        #[command(flatten)]
        options: EvalOptions,
    },
    /// Prompts replayed through the hook: how much of what it gives is to the point.
    Prompts {
        /// The prompts; the notes are in `corpus/` beside them.
        file: PathBuf,
        /// With which vectors.
        #[command(flatten)]
        vectors: EvalVectors,
    },
    /// Notes, natural questions and prompts in JSON, each set in a store of its own: a verdict on every reply (see
    /// fixtures/README.md).
    Questions {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// What a reply may cost.
        #[arg(long, default_value_t = 400, value_name = "N")]
        max_tokens: u32,
        /// Who ranks.
        #[arg(long, value_enum, default_value_t)]
        ranker: EvalRanker,
        /// With which vectors.
        #[command(flatten)]
        vectors: EvalVectors,
    },
    /// Labelled texts, a line of JSON each: how many credentials are found whole, and how many harmless texts are taken
    /// for one.
    Secrets {
        /// The file.
        file: PathBuf,
    },
    /// Every set that is there, ranked by FTS5, by BM25, by the encoder alone, and by Tessera without and with the leg
    /// of meaning: one table, in Markdown. Takes minutes.
    Compare {
        /// The directory of questions*.json, locomo*.json and beam*.json.
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// The directory of our own fixtures.
        #[arg(long, value_name = "DIR", default_value = "fixtures")]
        fixtures: PathBuf,
        /// Keep vectors in this directory for later runs.
        #[arg(long, value_name = "DIR")]
        cache: Option<PathBuf>,
    },
}

/// How to measure.
#[derive(Debug, Args)]
pub(crate) struct EvalOptions {
    /// Budgets, comma-separated.
    #[arg(long, value_delimiter = ',', default_value = "500,1000,2000,4000")]
    pub(crate) budgets: Vec<u32>,
    /// dual (details, then an index) or details.
    #[arg(long, default_value = "dual")]
    pub(crate) packing: Packing,
    /// Measure again without each signal.
    #[arg(long)]
    pub(crate) ablate: bool,
    /// Who ranks.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) ranker: EvalRanker,
    /// With which vectors.
    #[command(flatten)]
    pub(crate) vectors: EvalVectors,
}

impl EvalOptions {
    /// What is measured, with the numbers that Tessera would rank with.
    pub(crate) fn config(&self, weights: Weights) -> EvalConfig {
        self.ranker.config(&self.vectors, &self.budgets, self.packing, weights)
    }
}

/// Vectors of what is asked about.
#[derive(Debug, Args)]
pub(crate) struct EvalVectors {
    /// on, or off: memories are found by their words alone.
    #[arg(long, default_value = "on", value_name = "on|off")]
    semantic: Leg,
    /// Keep vectors in this directory for later runs: they are found again by the text and the encoder that made them.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl EvalVectors {
    /// As the evaluation wants them.
    pub(crate) fn vectors(&self) -> Vectors {
        Vectors { leg: self.semantic, cache: self.cache.clone() }
    }
}

/// Who ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum EvalRanker {
    /// Tessera.
    #[default]
    Tessera,
    /// BM25 over stems, as in textbooks.
    Bm25,
    /// SQLite's FTS5 with the porter stemmer, any word of the question.
    Fts5,
    /// The sentence encoder alone.
    Encoder,
}

impl EvalRanker {
    /// What is measured with it: budgets, packing, and the numbers that Tessera would rank with.
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
        };
        EvalConfig { budgets: budgets.to_vec(), packing, weights, vectors: vectors.vectors(), ranker }
    }
}

/// What becomes one memory.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum EvalUnit {
    /// One turn.
    Turn,
    /// One session.
    Session,
}
