//! `tessera doctor`, and commands that store many memories, compute missing embeddings.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tessera_desk::embedding::{Pace, work_off};
use tessera_engine::store::Usage;

use super::Context;
use crate::output;

/// The time limit for embeddings if stderr is not a terminal; it suffices for a few thousand short notes. A running
/// `tessera mcp`, the worker of the hooks, or `doctor --repair` computes the remaining embeddings.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// The time limit for comparing memories with older ones after all embeddings are computed. `tessera mcp` and the worker
/// of the hooks compare the remaining ones.
const COMPARING: Duration = Duration::from_secs(3);

/// Computes missing embeddings. On a terminal, a progress bar is shown, and the user can interrupt the work without
/// losing embeddings. Without a terminal, the work stops after `patience`. Returns the number of memories that still
/// have no embedding.
pub(super) fn make_waiting(context: &Context, patience: Option<Duration>) -> anyhow::Result<u64> {
    let mut store = context.open(Usage::Write)?;
    let waiting = store.embeddings()?.waiting;
    if waiting == 0 || !store.has_embedding() {
        return Ok(0);
    }
    let bar = bar(waiting);
    let started = Instant::now();
    let is_watched = output::is_watched();
    let mut embedded = None;
    work_off(&mut store, Pace::Fast, |made| {
        bar.set_position(made);
        let since = (made >= waiting).then(|| *embedded.get_or_insert_with(Instant::now));
        let is_comparing = since.is_none_or(|since| since.elapsed() < COMPARING);
        is_comparing && (is_watched || patience.is_none_or(|patience| started.elapsed() < patience))
    })?;
    bar.finish_and_clear();
    Ok(store.embeddings()?.waiting)
}

/// Computes missing embeddings after a command has printed its result. If computing embeddings fails, the command
/// itself still succeeds.
pub(super) fn make_waiting_after(context: &Context) {
    match make_waiting(context, Some(PATIENCE)) {
        Ok(0) => {}
        Ok(waiting) => output::note(&format!(
            "{waiting} memories have no embedding yet and are found by their words; `tessera mcp`, hooks or \
            `tessera doctor --repair` compute the embeddings"
        )),
        Err(error) => output::note(&format!("embeddings are postponed: {error}")),
    }
}

fn bar(waiting: u64) -> ProgressBar {
    if !output::is_watched() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("vectors {bar:40} {pos}/{len} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(waiting).with_style(style)
}
