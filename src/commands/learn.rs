//! `learn`: the worker that the Stop hook starts.

use tessera_desk::sync::exchange_or_join;
use tessera_engine::store::Usage;

use super::{Context, sync};
use crate::shapes::Learned;
use crate::{config, output};

/// Learns from every session that waits, and then exits.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let learned = tessera_learn::drain(&config::surroundings(context.home.clone())?);
    if learned > 0 {
        // Nobody waits for the result. If this fails, the changes go with the next sync, which reports the error.
        drop(tell(context));
    }
    context.print(&Learned { learned }, || format!("Learned {}.", output::memories(learned)))
}

/// Sends learned memories to the team server at once, like memories that a client stores.
fn tell(context: &Context) -> anyhow::Result<()> {
    if let Some((remote, _)) = config::team(context.home.clone())? {
        sync::runtime()?.block_on(exchange_or_join(context.open(Usage::Write)?, remote))?;
    }
    Ok(())
}
