//! `memory_get`: the full text of selected memories, within a budget.

use serde_json::json;
use tessera_desk::use_cases::{Fetch, Meant};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::{DomainError, MAX_LIMIT, Packing, RecallRequest};

use super::{Call, Entry, FORMAT, Listed, MAX_TOKENS, Reply, budgeted, form, history};
use crate::args::{Args, IDS};

const HISTORY: &[&str] = &["history"];
const CURSOR: &[&str] = &["cursor"];

pub(super) const TOOL: Entry = Entry {
    name: "memory_get",
    title: "Get memories",
    description: "Full texts of memories by ID, such as those that memory_recall summarised.",
    effect: Effect::Reads,
    properties: || {
        json!({
            "ids": { "type": "array", "items": { "type": "string" }, "description": "Such as 42" },
            "history": { "type": "boolean", "description": "Changes of one memory instead" },
            "max_tokens": { "type": "integer", "description": "Reply limit; default 1000" },
            "cursor": { "type": "string", "description": "For the next part; same ids" },
            "format": { "type": "string", "description": "text or json" }
        })
    },
    aliases: &[IDS, HISTORY, MAX_TOKENS, FORMAT],
    required: &["ids"],
    listed: Listed::Always,
    is_always_loaded: false,
    call: Call::Desk(call),
};

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    if args.flag(HISTORY)? {
        args.refuse(&[CURSOR, FORMAT], "cannot be used together with history", "omit it")?;
        return history::call(desk, args);
    }
    let cursor = args.parsed(CURSOR)?;
    let request =
        RecallRequest { limit: MAX_LIMIT, packing: Packing::Details, cursor, ..budgeted(args, String::new())? };
    let budget = request.budget.get();
    let ids = desk.perform(Meant { named: args.names()? })?;
    let reply = desk.perform(Fetch { ids, request, form: form(args)? })?;
    if reply.details.is_empty() && reply.index.is_empty() {
        let problem = format!("{budget} is too small for one line");
        return Err(DomainError::invalid("max_tokens", problem, "give more").into());
    }
    Ok(reply.body)
}
