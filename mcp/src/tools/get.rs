//! `memory_get`: the full text of selected memories, within a budget.

use serde_json::json;
use tessera_desk::use_cases::{Fetch, Meant};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::{DomainError, MAX_LIMIT, Packing, RecallRequest};

use super::{Call, Entry, FORMAT, MAX_TOKENS, Reply, budgeted, form};
use crate::args::{Args, IDS};

pub(super) const TOOL: Entry = Entry {
    name: "memory_get",
    title: "Get memories",
    description: "Full text of memories by ID, within max_tokens: use it after the summaries of memory_recall. A \
        long text is cut at its end; a line of a file is returned with its neighbours.",
    effect: Effect::Reads,
    properties: || {
        json!({
            "ids": { "type": "array", "items": { "type": "string" }, "description": "IDs such as 42" },
            "max_tokens": { "type": "integer", "default": 1000 },
            "cursor": { "type": "string", "description": "The cursor of the previous reply returns the next part; pass the same ids" },
            "format": { "type": "string", "enum": ["text", "json"] }
        })
    },
    aliases: &[IDS, MAX_TOKENS, FORMAT],
    required: &["ids"],
    needs_team: false,
    is_always_loaded: false,
    call: Call::Desk(call),
};

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let cursor = args.parsed(&["cursor"])?;
    let request = RecallRequest { limit: MAX_LIMIT, packing: Packing::Dual, cursor, ..budgeted(args, String::new())? };
    let budget = request.budget.get();
    let ids = desk.perform(Meant { named: args.names()? })?;
    let reply = desk.perform(Fetch { ids, request, form: form(args)? })?;
    if reply.details.is_empty() && reply.index.is_empty() {
        let problem = format!("{budget} is too small for one line");
        return Err(DomainError::invalid("max_tokens", problem, "give more").into());
    }
    Ok(reply.body)
}
