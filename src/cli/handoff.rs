//! The arguments of `tessera handoff`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::values::whole;

const HELP: &str = "\
The hand-off quotes what the session did. Without an option, it is that of the last session of this project within 7 days.

Examples:
  tessera handoff
  tessera handoff --to HANDOFF.md
  tessera handoff --transcript session.jsonl --max-tokens 400";

/// The arguments of `tessera handoff`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct HandoffArguments {
    /// The session, by its ID or the beginning of its ID
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// A transcript of Claude Code, instead of a recorded session
    #[arg(long, value_name = "FILE", conflicts_with = "session", value_hint = ValueHint::FilePath)]
    pub(crate) transcript: Option<PathBuf>,
    /// Maximum number of tokens
    #[arg(long, short, default_value_t = 800, value_name = "N", value_parser = whole(1..=u32::MAX), allow_negative_numbers = true)]
    pub(crate) max_tokens: u32,
    /// Write the text to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) to: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "to")]
    pub(crate) force: bool,
}
