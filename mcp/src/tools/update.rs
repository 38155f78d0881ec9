//! `memory_update`: changes fields of a memory.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, Patch};

use super::store::{importance, told};
use super::{Caller, Effect, tool};
use crate::args::{Args, CATEGORY, ENTITIES, KEYWORDS, SCOPE, TYPE};
use crate::error::ToolError;

pub(super) fn definition() -> Tool {
    let description = "Change fields of a memory; fields left out stay. The earlier text is kept in its history.";
    let properties = json!({
        "id": { "type": "string", "description": "Handle such as 42" },
        "content": { "type": "string" },
        "category": { "type": "string" },
        "type": { "type": "string", "enum": ["fact", "entity", "relationship", "self"] },
        "importance": { "type": "number", "minimum": 0, "maximum": 1 },
        "tags": { "type": "array", "items": { "type": "string" } },
        "keywords": { "type": "array", "items": { "type": "string" } },
        "entities": { "type": "array", "items": { "type": "string" } },
        "scope": { "type": "string" },
        "expires_at": { "type": "string", "description": "Date, or never" },
        "ttl_days": { "type": "integer" },
        "reason": { "type": "string" }
    });
    tool("memory_update", "Change a memory", description, Effect::Changes, properties, &["id"])
}

pub(super) fn call(store: &mut Store, args: &Args, caller: &Caller) -> Result<String, ToolError> {
    args.refuse_protection()?;
    let now = store.now();
    let patch = Patch {
        content: args.text(&["content"])?,
        category: args.parsed(CATEGORY)?,
        kind: args.parsed(TYPE)?,
        importance: importance(args)?,
        tags: args.tags()?,
        keywords: args.list(KEYWORDS)?,
        entities: args.list(ENTITIES)?,
        scope: args.parsed(SCOPE)?,
        expires: args.expiry(now)?.map(|expiry| expiry.seen_from(now)).transpose()?,
        vouched: None,
    };
    if patch.is_empty() {
        let fix = "give content, tags, importance, category or another field to change";
        return Err(DomainError::invalid("content", "and every other field is missing", fix).into());
    }
    let stored = store.update(args.required_id()?, &patch, &caller.actor(args.text(&["reason"])?))?;
    Ok(told("Updated", &stored) + &args.not_kept())
}
