//! The arguments of `tessera eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tessera_engine::domain::Packing;

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
}

/// What becomes one memory.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum EvalUnit {
    /// One turn.
    Turn,
    /// One session.
    Session,
}
