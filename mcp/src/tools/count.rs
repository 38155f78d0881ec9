//! `memory_count`: how much there is.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;

use super::{Caller, Effect, tool};
use crate::args::Args;
use crate::error::ToolError;

pub(super) fn definition() -> Tool {
    let description = "How many memories there are, by category, and whether they are synchronised.";
    tool("memory_count", "Count memories", description, Effect::Reads, json!({}), &[])
}

pub(super) fn call(store: &mut Store, _: &Args, _: &Caller) -> Result<String, ToolError> {
    let stats = store.stats()?;
    let by_category =
        stats.by_category.iter().map(|(category, count)| format!("\n{category}: {count}")).collect::<String>();
    Ok(format!(
        "{} memories, {} forgotten and restorable{by_category}\nsync: local only, no server is set up",
        stats.memories, stats.deleted
    ))
}
