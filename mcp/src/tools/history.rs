//! `memory_history`: what was done to a memory.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;

use super::{Caller, Effect, tool};
use crate::args::Args;
use crate::error::ToolError;

/// Changes shown, at most.
const SHOWN: usize = 20;

pub(super) fn definition() -> Tool {
    let description = "What was done to a memory: when, by whom, why, and how it read before. Latest first.";
    let properties = json!({ "id": { "type": "string", "description": "Handle such as 42" } });
    tool("memory_history", "History of a memory", description, Effect::Reads, properties, &["id"])
}

pub(super) fn call(store: &mut Store, args: &Args, _: &Caller) -> Result<String, ToolError> {
    let entries = store.history(args.required_id()?)?;
    let lines = entries.iter().take(SHOWN).map(|entry| {
        let who = [Some(entry.origin.to_string()), entry.client.clone()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" via ");
        let why = entry.reason.as_ref().map(|reason| format!("; why: {reason}")).unwrap_or_default();
        let before = entry.before.as_ref().map(|memory| format!("; before: {}", memory.summary)).unwrap_or_default();
        let line = format!("{} {} {} by {who}{why}{before}", entry.rev, entry.at, entry.operation);
        tessera_engine::pack::neutral(&line).replace('\n', " ")
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}
