//! `memory_history`: the changes of a memory, within a budget.

use serde_json::json;
use tessera_desk::use_cases::{History, NewerOf};
use tessera_desk::{Desk, Effect};
use tessera_engine::pack::{Lines, attribution, neutral_line};
use tessera_engine::store::HistoryEntry;

use super::{Call, Entry, Listed, MAX_TOKENS, Reply, budgeted, meant};
use crate::args::{Args, IDS};

/// Maximum number of changes shown.
const SHOWN: usize = 20;

pub(super) const TOOL: Entry = Entry {
    name: "memory_history",
    title: "History of a memory",
    description: "Change history of a memory: when, by whom, why, and the earlier text. Latest first, within max_tokens.",
    effect: Effect::Reads,
    properties: || {
        json!({
            "id": { "type": "string", "description": "ID such as 42" },
            "max_tokens": { "type": "integer", "default": 1000, "description": "Maximum size of the reply" }
        })
    },
    aliases: &[IDS, MAX_TOKENS],
    required: &["id"],
    listed: Listed::Never,
    is_always_loaded: false,
    call: Call::Desk(call),
};

pub(super) fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let budget = budgeted(args, String::new())?.budget;
    let id = meant(desk, args)?;
    let entries = desk.perform(History { id })?;
    let ids = entries.iter().take(1).map(|entry| entry.short_id).collect();
    let newer = desk.perform(NewerOf { ids })?.into_iter().map(|(id, newer)| format!("{id} is {newer}\n"));
    let newer: String = newer.collect();
    let rows: Vec<String> = entries.iter().take(SHOWN).map(row).collect();
    let lines = Lines { budget, profile: desk.caller().profile };
    let closing = |shown: usize, used: u32| {
        let which = if shown == entries.len() { String::new() } else { format!("{shown} of ") };
        format!("{which}{} changes, {}\n", entries.len(), lines.cost(used))
    };
    Ok(lines.fill(&newer, &rows, closing)?.body)
}

fn row(entry: &HistoryEntry) -> String {
    let who = [Some(entry.origin.to_string()), entry.client.clone()].into_iter().flatten().collect::<Vec<_>>();
    let why = entry.reason.as_ref().map(|reason| format!("; why: {reason}")).unwrap_or_default();
    let before = entry.before_text().map(|memory| format!("; before{}: {}", attribution(memory), memory.summary));
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
