//! `memory_count`: how much there is.

use serde_json::json;
use tessera_desk::use_cases::{Count, Counts};
use tessera_desk::{Desk, Effect};
use tessera_engine::store::SyncStatus;

use super::{Call, Entry, Reply, Standing};
use crate::args::Args;

pub(super) const TOOL: Entry = Entry {
    name: "memory_count",
    title: "Count memories",
    description: "How many memories there are, by category, and whether they are synchronised.",
    effect: Effect::Reads,
    properties: || json!({}),
    aliases: &[],
    required: &[],
    needs_team: false,
    is_always_loaded: false,
    call: Call::Standing(call),
};

fn call(desk: &mut Desk<'_>, _: &Args, standing: &Standing) -> Reply {
    let Counts { stats, sync } = desk.perform(Count)?;
    let by_category =
        stats.by_category.iter().map(|(category, count)| format!("\n{category}: {count}")).collect::<String>();
    let expired = match stats.expired {
        0 => String::new(),
        hidden => format!(", {hidden} expired and hidden here"),
    };
    let waiting = match (stats.encoder, stats.awaiting_embedding) {
        (0, _) | (_, 0) => String::new(),
        (_, waiting) => format!(", {waiting} found by their words alone until their vectors are made"),
    };
    Ok(format!(
        "{} memories, {} forgotten and restorable{expired}{waiting}{by_category}\n{}",
        stats.memories,
        stats.deleted,
        sync_line(&sync, standing)
    ))
}

/// How things stand with the server, in a line or two.
fn sync_line(status: &SyncStatus, standing: &Standing) -> String {
    let Some(server) = &status.server else {
        if let Some(trouble) = &standing.trouble {
            return format!("sync: local only, the team server is not in use: {trouble}");
        }
        let why = if standing.in_team { "until the team server answers" } else { "no server is set up" };
        return format!("sync: local only, {why}");
    };
    let mut line = format!("sync: {} at {}, {} changes wait", server.user, server.url, status.waiting);
    let mut say = |count: u64, what: &str| {
        if count > 0 {
            line.push_str(&format!(", {count} {what}"));
        }
    };
    say(status.shared_with_me, "shared with you");
    say(status.private - status.undecided, "kept on this machine");
    say(status.undecided, "from before kept on this machine (`tessera sync join --upload all` sends them)");
    say(status.conflicts, "conflicts (memory_resolve)");
    say(status.refused, "refused by the server (`tessera sync dead`)");
    match (&server.reached, &server.problem) {
        (_, Some(problem)) => line.push_str(&format!("\nlast exchange failed: {problem}")),
        (_, None) if standing.trouble.is_some() => {
            line.push_str(&format!("\nnot in use: {}", standing.trouble.as_deref().unwrap_or_default()));
        }
        (Some(reached), None) => line.push_str(&format!("\nlast exchange: {reached}")),
        (None, None) => {}
    }
    line
}
