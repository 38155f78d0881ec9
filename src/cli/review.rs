//! The arguments of `tessera review`.

use clap::Subcommand;
use tessera_desk::use_cases::ReviewId;

/// The actions of `tessera review`.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewTask {
    /// List all proposals
    List,
    /// Do what the proposals say
    Accept {
        /// IDs from the list
        #[arg(required = true, value_name = "ID")]
        ids: Vec<ReviewId>,
        /// Store the line with this text; - reads stdin
        #[arg(long, value_name = "TEXT")]
        content: Option<String>,
    },
    /// Drop proposals, so that they are not made again
    Drop {
        /// IDs from the list
        #[arg(required = true, value_name = "ID")]
        ids: Vec<ReviewId>,
    },
    /// Decide about all proposals in your editor
    Edit,
}
