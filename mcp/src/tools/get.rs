//! `memory_get`: the full text of chosen memories, within a budget.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::domain::{MAX_LIMIT, Packing, RecallRequest};

use super::{Caller, Effect, budgeted, tool};
use crate::args::Args;
use crate::error::ToolError;

pub(super) fn definition() -> Tool {
    let description =
        "Full text of memories by id, never more than max_tokens: the step after an index of memory_recall.";
    let properties = json!({
        "ids": { "type": "array", "items": { "type": "string" }, "description": "Handles such as 42" },
        "max_tokens": { "type": "integer", "default": 1000 }
    });
    tool("memory_get", "Get memories", description, Effect::Reads, properties, &["ids"])
}

pub(super) fn call(store: &mut Store, args: &Args, caller: &Caller) -> Result<String, ToolError> {
    let request = RecallRequest { limit: MAX_LIMIT, packing: Packing::Dual, ..budgeted(args, caller, String::new())? };
    Ok(store.fetch(&args.ids()?, &request)?.body)
}
