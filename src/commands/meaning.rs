//! Vectors of memories that wait for them: made at the end of an import, and by the doctor.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tessera_desk::meaning::work_off;
use tessera_engine::store::Usage;

use super::Context;
use crate::output;

/// How long a command that nobody watches goes on for vectors once it has given its answer: a few thousand short notes.
/// A script does not stand still for longer; a running `tessera mcp`, the worker of hooks or `doctor --repair` goes on.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Makes the vectors of memories that wait for them, and shows how far it is where a person watches: who has enough of
/// it interrupts it, and nothing is lost. Where nobody watches it ends after `patience`. Gives how many wait still.
pub(super) fn make_waiting(context: &Context, patience: Option<Duration>) -> anyhow::Result<u64> {
    let mut store = context.open(Usage::Write)?;
    let waiting = store.meanings()?.waiting;
    if waiting == 0 || !store.has_embedding() {
        return Ok(0);
    }
    let bar = bar(waiting);
    let started = Instant::now();
    let is_watched = output::is_terminal();
    work_off(&mut store, |made| {
        bar.set_position(made);
        is_watched || patience.is_none_or(|patience| started.elapsed() < patience)
    })?;
    bar.finish_and_clear();
    Ok(store.meanings()?.waiting)
}

/// The same after an answer: a fault is not that of what was asked for.
pub(super) fn make_waiting_after(context: &Context) {
    match make_waiting(context, Some(PATIENCE)) {
        Ok(0) => {}
        Ok(waiting) => output::note(&format!(
            "{waiting} memories are found by their words alone until their vectors are made: by a running `tessera mcp`, \
             by hooks, or by `tessera doctor --repair`"
        )),
        Err(error) => output::note(&format!("vectors wait: {error}")),
    }
}

fn bar(waiting: u64) -> ProgressBar {
    if !output::is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("vectors {bar:40} {pos}/{len} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(waiting).with_style(style)
}
