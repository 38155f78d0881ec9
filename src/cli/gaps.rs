//! The arguments of `tessera gaps`.

use clap::Args;
use tessera_engine::domain::Timestamp;

/// What was asked in vain.
#[derive(Debug, Args)]
pub(crate) struct GapsArguments {
    /// Only questions asked at or after.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Timestamp>,
    /// Topics, those asked most often.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Those too that something answers by now.
    #[arg(long)]
    pub(crate) all: bool,
    /// Forget all questions that were noted.
    #[arg(long, conflicts_with_all = ["since", "all", "limit"])]
    pub(crate) clear: bool,
}
