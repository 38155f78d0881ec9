//! `memory_list`: memories, newest first, within a budget.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;
use tessera_desk::use_cases::{Form, List, NewerOf};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::{DomainError, MAX_LIMIT, Memory, RecallRequest, ShortId};
use tessera_engine::pack::{Lines, attribution, neutral, neutral_line};
use tessera_engine::store::{Listing, Newer};

use super::{Call, Entry, FORMAT, Listed, MAX_TOKENS, Reply, budgeted, form};
use crate::args::{Args, CATEGORY, ENTITIES, SCOPE, TAGS, TYPE};

pub(super) const TOOL: Entry = Entry {
    name: "memory_list",
    title: "List memories",
    description: "List memories, newest first, one line each.",
    effect: Effect::Reads,
    properties: || {
        json!({
            "category": { "type": "string", "description": "Such as decisions" },
            "type": { "type": "string", "description": "Such as fact" },
            "tags": { "type": "array", "items": { "type": "string" }, "description": "Any of these" },
            "entities": { "type": "array", "items": { "type": "string" }, "description": "Names any of these" },
            "scope": { "type": "string", "description": "Project or global" },
            "since": { "type": "string", "description": "Date or 7d" },
            "until": { "type": "string", "description": "Date" },
            "limit": { "type": "integer", "description": "Default 20, at most 200" },
            "expired": { "type": "boolean", "description": "Only expired ones" },
            "after": { "type": "string", "description": "Continue after this ID" },
            "max_tokens": { "type": "integer", "description": "Reply limit; default 1000" },
            "format": { "type": "string", "description": "text or json" }
        })
    },
    aliases: &[TAGS, CATEGORY, TYPE, ENTITIES, SCOPE, MAX_TOKENS, FORMAT, &["since"], &["until"]],
    required: &[],
    listed: Listed::Never,
    is_always_loaded: false,
    call: Call::Desk(call),
};

pub(super) fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let (budget, form) = (budgeted(args, String::new())?.budget, form(args)?);
    let (limit, is_limited) = RecallRequest::bounded_limit(args.whole(&["limit"])?.unwrap_or(20))?;
    let listing = desk.perform(List {
        filters: args.filters(desk.now())?,
        limit,
        expired: args.flag(&["expired"])?,
        after: args.parsed(&["after"])?,
        ..List::default()
    })?;
    let newer = desk.perform(NewerOf { ids: listing.memories.iter().map(|memory| memory.short_id).collect() })?;
    let lines = Lines { budget, profile: desk.caller().profile };
    Ok(match form {
        Form::Text => text(&listing, &newer, lines, is_limited)?,
        Form::Json(_) => payload(&listing, &newer, lines, is_limited)?,
    })
}

fn text(
    listing: &Listing,
    newer: &BTreeMap<ShortId, Newer>,
    lines: Lines,
    is_limited: bool,
) -> Result<String, DomainError> {
    let row = |memory: &Memory| {
        let (date, category) = (memory.created.date(), neutral_line(memory.category.as_str()));
        let summary = neutral_line(&memory.summary);
        let mark = newer.get(&memory.short_id).map(|newer| format!(" ({newer})")).unwrap_or_default();
        format!("{} {date} [{category}]{mark}{} {summary}\n", memory.short_id, attribution(memory))
    };
    let rows: Vec<String> = listing.memories.iter().map(row).collect();
    let closing = |shown: usize, used: u32| {
        let limit = if is_limited { format!(", limit {MAX_LIMIT}") } else { String::new() };
        let cost = lines.cost(used) + &limit;
        match (listing.total_count, last_shown(listing, shown)) {
            (0, _) => format!("No memories, {cost}\n"),
            (total, None) if shown < listing.memories.len() => {
                format!("{total} in all, {cost}; none fits, use a larger max_tokens\n")
            }
            (total, None) => format!("{total} in all, {cost}\n"),
            (total, Some(last)) => format!("{total} in all, {cost}; continue with after: {}\n", last.get()),
        }
    };
    Ok(lines.fill("", &rows, closing)?.body)
}

fn payload(
    listing: &Listing,
    newer: &BTreeMap<ShortId, Newer>,
    lines: Lines,
    is_limited: bool,
) -> Result<String, DomainError> {
    let row = |(at, memory): (usize, &Memory)| {
        let row = Row {
            category: neutral(memory.category.as_str()),
            created: memory.created.date().to_string(),
            edited_by: memory.edited_by.as_deref().map(neutral_line),
            id: memory.short_id,
            older: newer.get(&memory.short_id).map(|newer| newer.short_id()),
            shared_by: memory.share.as_ref().map(|share| neutral_line(&share.by)),
            summary: neutral(&memory.summary),
        };
        let comma = if at == 0 { "" } else { "," };
        format!("{comma}{}\n", serde_json::to_string(&row).unwrap_or_default())
    };
    let rows: Vec<String> = listing.memories.iter().enumerate().map(row).collect();
    let unit = lines.profile.unit();
    let closing = |shown: usize, used: u32| {
        let after = last_shown(listing, shown).map_or_else(|| "null".to_owned(), |last| last.get().to_string());
        let has_more = shown < listing.memories.len() || listing.next.is_some();
        let total = listing.total_count;
        let limit = if is_limited { format!(",\"limit\":{MAX_LIMIT}") } else { String::new() };
        format!(
            "],\"total_count\":{total}{limit},\"has_more\":{has_more},\"after\":{after},\"unit\":\"{unit}\",\"tokens_used\":{used}}}\n"
        )
    };
    let filled = lines.fill("{\"memories\":[\n", &rows, closing)?;
    if filled.shown == 0 && !rows.is_empty() {
        let problem = format!("{} is too small for one row", lines.budget.get());
        return Err(DomainError::invalid("max_tokens", problem, "pass a larger number"));
    }
    Ok(filled.body)
}

/// A memory of a list.
#[derive(Serialize)]
struct Row<'a> {
    category: Cow<'a, str>,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_by: Option<String>,
    id: ShortId,
    #[serde(skip_serializing_if = "Option::is_none")]
    older: Option<ShortId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_by: Option<String>,
    summary: Cow<'a, str>,
}

/// The memory after which the list continues; `None` if the list is complete.
fn last_shown(listing: &Listing, shown: usize) -> Option<ShortId> {
    let is_whole = listing.next.is_none() && shown == listing.memories.len();
    // If not even one row fits, the list continues at the same place with a larger budget.
    listing.memories.get(shown.checked_sub(1)?).map(|memory| memory.short_id).filter(|_| !is_whole)
}
