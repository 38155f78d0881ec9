//! `memory_list`: newest first, within a budget.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::domain::{Handle, MemoryRef, RecallRequest, TokenCount};
use tessera_engine::store::{ListRequest, StoreError};
use tessera_engine::text::TokenCounter;

use super::{Caller, Effect, budgeted, tool};
use crate::args::Args;
use crate::error::ToolError;

pub(super) fn definition() -> Tool {
    let description = "List memories, newest first, one line each, never more than max_tokens.";
    let properties = json!({
        "category": { "type": "string" },
        "type": { "type": "string", "enum": ["fact", "entity", "relationship", "self"] },
        "tags": { "type": "array", "items": { "type": "string" } },
        "scope": { "type": "string" },
        "limit": { "type": "integer", "default": 20, "maximum": 200 },
        "expired": { "type": "boolean", "default": false, "description": "Those whose asked-for lifetime has ended" },
        "after": { "type": "string", "description": "Go on after this id" },
        "max_tokens": { "type": "integer", "default": 1000 }
    });
    tool("memory_list", "List memories", description, Effect::Reads, properties, &[])
}

pub(super) fn call(store: &mut Store, args: &Args, caller: &Caller) -> Result<String, ToolError> {
    let RecallRequest { budget, profile, .. } = budgeted(args, caller, String::new())?;
    let request = ListRequest {
        filters: args.filters()?,
        limit: args.whole(&["limit"])?.map_or(Ok(20), RecallRequest::checked_limit)?,
        deleted: false,
        expired: args.flag(&["expired"])?,
        shared: false,
        after: args.parsed::<MemoryRef>(&["after"])?.map(|reference| handle_of(store, reference)).transpose()?,
    };
    let listing = store.list(&request)?;
    if listing.memories.is_empty() {
        return Ok("No memories.\n".into());
    }
    let fits = |text: &str| profile.of_o200k(TokenCount(store.counter().count(text))) <= budget.get();
    let mut shown = String::new();
    let mut last = None;
    for memory in &listing.memories {
        let summary = tessera_engine::pack::neutral(&memory.summary).replace('\n', " ");
        let line = format!("{} {} [{}] {summary}\n", memory.handle, memory.created.date(), memory.category);
        // Room is kept for the longest closing line.
        if !fits(&format!("{shown}{line}{}", closing(listing.total_count, Some(memory.handle)))) {
            break;
        }
        shown.push_str(&line);
        last = Some(memory.handle);
    }
    let is_whole = listing.next.is_none() && last == listing.memories.last().map(|memory| memory.handle);
    let reply = shown + &closing(listing.total_count, last.filter(|_| !is_whole));
    if fits(&reply) {
        return Ok(reply);
    }
    let minimum = profile.of_o200k(TokenCount(store.counter().count(&reply)));
    Err(tessera_engine::domain::DomainError::BudgetTooSmall { budget: budget.get(), minimum }.into())
}

fn closing(total: u32, after: Option<Handle>) -> String {
    match after {
        Some(handle) => format!("{total} in all; after: {} goes on\n", handle.get()),
        None => format!("{total} in all\n"),
    }
}

fn handle_of(store: &Store, reference: MemoryRef) -> Result<Handle, ToolError> {
    Ok(store.get(reference)?.ok_or(StoreError::NotFound(reference))?.handle)
}
