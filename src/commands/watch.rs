//! What a long exchange is at, for whoever waits for it.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tessera_engine::Store;
use tessera_engine::store::Usage;

use super::Context;
use crate::{config, output};

/// How often it is looked how far the exchange is.
const LOOK: Duration = Duration::from_millis(400);
/// How often somebody who reads no terminal is told.
const TELL: Duration = Duration::from_secs(15);

/// Does the work, and shows on stderr how much waits to be sent and how much is here: in place on a terminal, else a line
/// now and then. It is read from the store, which the exchange changes page by page.
pub(super) fn watched<T>(context: &Context, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let (done, is_done) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || show(context, &is_done));
        let result = work();
        drop(done);
        result
    })
}

fn show(context: &Context, is_done: &Receiver<()>) {
    let is_over = |wait| !matches!(is_done.recv_timeout(wait), Err(RecvTimeoutError::Timeout));
    // Most exchanges are over before there is anything to show.
    if is_over(LOOK) {
        return;
    }
    let Ok(config) = config::store(context.home.clone(), Usage::ReadOnce) else { return };
    let Ok(mut store) = Store::open(config) else { return };
    let bar = bar();
    let mut told = Instant::now();
    loop {
        if let Some(text) = standing(&mut store) {
            if !bar.is_hidden() {
                bar.set_message(text);
            } else if told.elapsed() >= TELL {
                told = Instant::now();
                output::note(&text);
            }
        }
        bar.tick();
        if is_over(LOOK) {
            return bar.finish_and_clear();
        }
    }
}

fn standing(store: &mut Store) -> Option<String> {
    let (waiting, here) = (store.sync_status().ok()?.waiting, store.stats().ok()?.memories);
    Some(format!("{waiting} changes to send, {here} memories here"))
}

fn bar() -> ProgressBar {
    if !output::is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{spinner} {elapsed} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}
