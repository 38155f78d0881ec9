//! `memory_link`: what one memory is to another.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, LinkKind, MemoryRef};

use super::{Caller, Effect, tool};
use crate::args::Args;
use crate::error::ToolError;

pub(super) fn definition() -> Tool {
    let description = "Link a memory to another. A superseded memory is answered by the one that supersedes it.";
    let properties = json!({
        "id": { "type": "string", "description": "Handle such as 42" },
        "type": { "type": "string", "enum": ["supersedes", "resolved_by", "part_of", "see_also"] },
        "to": { "type": "string", "description": "The other memory" },
        "remove": { "type": "boolean", "default": false }
    });
    tool("memory_link", "Link memories", description, Effect::Changes, properties, &["id", "type", "to"])
}

pub(super) fn call(store: &mut Store, args: &Args, caller: &Caller) -> Result<String, ToolError> {
    let missing = |field, fix| DomainError::invalid(field, "is missing", fix);
    let id = args.required_id()?;
    let kind: LinkKind = args
        .parsed(&["type", "link_type"])?
        .ok_or_else(|| missing("type", "give supersedes, resolved_by, part_of or see_also"))?;
    let to: MemoryRef =
        args.parsed(&["to", "target_id"])?.ok_or_else(|| missing("to", "give the handle of the other memory"))?;
    let actor = caller.actor(None);
    if args.flag(&["remove"])? {
        let memory = store.unlink(id, kind, to, &actor)?;
        return Ok(format!("{} no longer {kind} {to}", memory.handle));
    }
    let memory = store.link(id, kind, to, &actor)?;
    Ok(format!("{} now {kind} {to}", memory.handle))
}
