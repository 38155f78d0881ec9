//! `memory_history`: what was done to a memory, within a budget.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::domain::RecallRequest;
use tessera_engine::pack::{Lines, attribution, neutral_line};
use tessera_engine::store::HistoryEntry;

use super::{Caller, Effect, budgeted, tool};
use crate::args::Args;
use crate::error::ToolError;

/// Changes shown, at most.
const SHOWN: usize = 20;

pub(super) fn definition() -> Tool {
    let description = "What was done to a memory: when, by whom, why, and how it read before. Latest first, never more \
         than max_tokens.";
    let properties = json!({
        "id": { "type": "string", "description": "Handle such as 42" },
        "max_tokens": { "type": "integer", "default": 1000 }
    });
    tool("memory_history", "History of a memory", description, Effect::Reads, properties, &["id"])
}

pub(super) fn call(store: &mut Store, args: &Args, caller: &Caller) -> Result<String, ToolError> {
    let RecallRequest { budget, profile, .. } = budgeted(args, caller, String::new())?;
    let entries = store.history(args.required_id()?)?;
    let rows: Vec<String> = entries.iter().take(SHOWN).map(row).collect();
    let lines = Lines { budget, profile };
    let closing = |shown: usize, used: u32| {
        let which = if shown == entries.len() { String::new() } else { format!("{shown} of ") };
        format!("{which}{} changes, {}\n", entries.len(), lines.cost(used))
    };
    Ok(lines.fill("", &rows, closing)?.body)
}

fn row(entry: &HistoryEntry) -> String {
    let who = [Some(entry.origin.to_string()), entry.client.clone()].into_iter().flatten().collect::<Vec<_>>();
    let why = entry.reason.as_ref().map(|reason| format!("; why: {reason}")).unwrap_or_default();
    let before = entry.before.as_ref().map(|memory| format!("; before{}: {}", attribution(memory), memory.summary));
    let line = format!(
        "{} {} {} by {}{why}{}",
        entry.rev,
        entry.at,
        entry.operation,
        who.join(" via "),
        before.unwrap_or_default()
    );
    format!("{}\n", neutral_line(&line))
}
