//! `demo` and `eval queries`: our own notes and questions.

use std::path::Path;

use super::Context;
use crate::cli::EvalOptions;

/// Shows recall on the sample notes.
pub(super) fn run(_context: &Context) -> anyhow::Result<()> {
    anyhow::bail!("not yet")
}

/// Measures on a file of questions.
pub(super) fn evaluate(_context: &Context, _file: &Path, _options: &EvalOptions) -> anyhow::Result<()> {
    anyhow::bail!("not yet")
}
