//! `learn`: the worker that the Stop hook starts.

use super::Context;
use crate::{config, output};

/// Learns from every session that waits, and ends.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let learned = tessera_learn::drain(&config::surroundings(context.home.clone())?);
    if context.json {
        return output::json(&serde_json::json!({ "learned": learned }));
    }
    output::line(&format!("learned {learned}"))
}
