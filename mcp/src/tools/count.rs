//! `memory_count`: how much there is.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::store::SyncStatus;

use super::{Caller, Effect, tool};
use crate::args::Args;
use crate::error::ToolError;

pub(super) fn definition() -> Tool {
    let description = "How many memories there are, by category, and whether they are synchronised.";
    tool("memory_count", "Count memories", description, Effect::Reads, json!({}), &[])
}

pub(super) fn call(store: &mut Store, _: &Args, caller: &Caller) -> Result<String, ToolError> {
    let stats = store.stats()?;
    let by_category =
        stats.by_category.iter().map(|(category, count)| format!("\n{category}: {count}")).collect::<String>();
    let expired = match stats.expired {
        0 => String::new(),
        hidden => format!(", {hidden} expired and hidden here"),
    };
    Ok(format!(
        "{} memories, {} forgotten and restorable{expired}{by_category}\n{}",
        stats.memories,
        stats.deleted,
        sync_line(&store.sync_status()?, caller)
    ))
}

/// How things stand with the server, in a line or two.
fn sync_line(status: &SyncStatus, caller: &Caller) -> String {
    let Some(server) = &status.server else {
        if let Some(trouble) = &caller.trouble {
            return format!("sync: local only, the team server is not in use: {trouble}");
        }
        let why = if caller.in_team { "`tessera sync join` asks what of it is sent" } else { "no server is set up" };
        return format!("sync: local only, {why}");
    };
    let mut line = format!("sync: {} at {}, {} changes wait", server.user, server.url, status.waiting);
    let mut say = |count: u64, what: &str| {
        if count > 0 {
            line.push_str(&format!(", {count} {what}"));
        }
    };
    say(status.shared_with_me, "shared with you");
    say(status.private, "kept on this machine");
    say(status.conflicts, "conflicts (memory_resolve)");
    say(status.refused, "refused by the server (`tessera sync dead`)");
    match (&server.reached, &server.problem) {
        (_, Some(problem)) => line.push_str(&format!("\nlast exchange failed: {problem}")),
        (_, None) if caller.trouble.is_some() => {
            line.push_str(&format!("\nnot in use: {}", caller.trouble.as_deref().unwrap_or_default()));
        }
        (Some(reached), None) => line.push_str(&format!("\nlast exchange: {reached}")),
        (None, None) => {}
    }
    line
}
