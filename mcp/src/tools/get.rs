//! `memory_get`: the full text of chosen memories, within a budget.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, MAX_LIMIT, Packing, RecallRequest};

use super::{Caller, Effect, Format, budgeted, format, tool};
use crate::args::Args;
use crate::error::ToolError;

pub(super) fn definition() -> Tool {
    let description = "Full text of memories by id, never more than max_tokens: the step after an index of memory_recall. A text \
         that is too long for max_tokens is given from its beginning.";
    let properties = json!({
        "ids": { "type": "array", "items": { "type": "string" }, "description": "Handles such as 42" },
        "max_tokens": { "type": "integer", "default": 1000 },
        "format": { "type": "string", "enum": ["text", "json"] }
    });
    tool("memory_get", "Get memories", description, Effect::Reads, properties, &["ids"])
}

pub(super) fn call(store: &mut Store, args: &Args, caller: &Caller) -> Result<String, ToolError> {
    let request = RecallRequest { limit: MAX_LIMIT, packing: Packing::Dual, ..budgeted(args, caller, String::new())? };
    let ids = args.ids()?;
    let recall = match format(args)? {
        Format::Text => store.fetch(&ids, &request)?,
        Format::Json => store.fetch_json(&ids, &request)?,
    };
    if recall.details.is_empty() && recall.index.is_empty() {
        let problem = format!("{} is too small for a line of any of them", request.budget.get());
        return Err(DomainError::invalid("max_tokens", problem, "give more").into());
    }
    Ok(recall.body)
}
