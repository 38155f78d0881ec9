//! The arguments of `tessera review`.

use clap::{Args, Subcommand};
use tessera_desk::use_cases::ReviewId;

const HELP: &str = "\
Tessera proposes to store lines that it is not certain about, to mark memories that may be outdated, and to delete memories
that repeat others or were never used. Without an action, you decide with keys at a terminal; otherwise, the command lists
the proposals.

Examples:
  tessera review
  tessera review accept kdbfwm
  tessera review accept kdbfwm --content 'We deploy on Fridays'
  tessera review drop kdbfwm 57/42
  tessera review edit";

/// The arguments of `tessera review`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ReviewArguments {
    /// The action [default: keys at a terminal, otherwise the list]
    #[command(subcommand)]
    pub(crate) task: Option<ReviewTask>,
}

/// The actions of `tessera review`.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewTask {
    /// List all proposals
    List,
    /// Accept proposals
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
