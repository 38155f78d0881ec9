//! `memory_count`: counts memories.

use serde_json::json;
use tessera_desk::use_cases::{Count, Counts};
use tessera_desk::{Desk, Effect};
use tessera_engine::store::SyncStatus;

use super::{Call, Entry, Listed, Reply, TeamStatus};
use crate::args::Args;

pub(super) const TOOL: Entry = Entry {
    name: "memory_count",
    title: "Count memories",
    description: "Count memories by category, and show the sync state.",
    effect: Effect::Reads,
    properties: || json!({}),
    aliases: &[],
    required: &[],
    listed: Listed::Never,
    is_always_loaded: false,
    call: Call::Status(call),
};

fn call(desk: &mut Desk<'_>, _: &Args, team_status: &TeamStatus) -> Reply {
    let Counts { stats, sync } = desk.perform(Count)?;
    let by_category =
        stats.by_category.iter().map(|(category, count)| format!("\n{category}: {count}")).collect::<String>();
    let expired = match stats.expired {
        0 => String::new(),
        hidden => format!(", {hidden} expired"),
    };
    let waiting = match (stats.encoder, stats.awaiting_embedding) {
        (0, _) | (_, 0) => String::new(),
        (_, waiting) => format!(", {waiting} without embeddings yet (found by their words)"),
    };
    Ok(format!(
        "{} memories, {} deleted (restorable){expired}{waiting}{by_category}\n{}",
        stats.memories,
        stats.deleted,
        sync_line(&sync, team_status)
    ))
}

/// The state of sync, in one or two lines.
fn sync_line(status: &SyncStatus, team_status: &TeamStatus) -> String {
    let Some(server) = &status.server else {
        if let Some(trouble) = &team_status.trouble {
            return format!("sync: local only, the team server is not used: {trouble}");
        }
        let why = if team_status.in_team { "until the team server answers" } else { "no server is configured" };
        return format!("sync: local only, {why}");
    };
    let mut line = format!("sync: {} at {}, {} unsent changes", server.user, server.url, status.waiting);
    let mut say = |count: u64, what: &str| {
        if count > 0 {
            line.push_str(&format!(", {count} {what}"));
        }
    };
    say(status.shared_with_me, "shared with you");
    say(status.private - status.undecided, "local only");
    say(status.undecided, "local only, stored before joining (`tessera sync join --upload all` sends them)");
    say(status.conflicts, "conflicts (memory_resolve)");
    say(status.refused, "rejected by the server (`tessera sync dead`)");
    match (&server.reached, &server.problem) {
        (_, Some(problem)) => line.push_str(&format!("\nlast exchange failed: {problem}")),
        (_, None) if team_status.trouble.is_some() => {
            line.push_str(&format!("\nnot used: {}", team_status.trouble.as_deref().unwrap_or_default()));
        }
        (Some(reached), None) => line.push_str(&format!("\nlast exchange: {reached}")),
        (None, None) => {}
    }
    line
}
