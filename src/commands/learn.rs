//! `learn`: the worker that the Stop hook starts.

use tessera_desk::sync::exchange_or_join;
use tessera_engine::store::Usage;

use super::{Context, sync};
use crate::config;

/// Learns from every session that waits, and ends.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let learned = tessera_learn::drain(&config::surroundings(context.home.clone())?);
    if learned > 0 {
        // Nobody waits for it; what the server has not heard of goes with the next exchange, which says so.
        drop(tell(context));
    }
    context.print(&serde_json::json!({ "learned": learned }), || format!("learned {learned}"))
}

/// What was learned goes to the team server at once, as what a client stores does.
fn tell(context: &Context) -> anyhow::Result<()> {
    if let Some((remote, _)) = config::team(context.home.clone())? {
        sync::runtime()?.block_on(exchange_or_join(context.open(Usage::Write)?, remote))?;
    }
    Ok(())
}
