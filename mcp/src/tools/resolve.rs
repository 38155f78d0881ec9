//! `memory_resolve`: decides between the two texts of a memory that was changed on two machines.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, MemoryRef};
use tessera_engine::pack::neutral;
use tessera_engine::store::Resolution;

use super::{Caller, Effect, tool};
use crate::args::{Args, IDS};
use crate::error::ToolError;

pub(super) fn definition() -> Tool {
    let description = "Lists memories that were changed on two machines at once, or decides one: keep memory (the text it \
         has), copy (the other text), both, or give the merged content.";
    let properties = json!({
        "id": { "type": "string", "description": "Handle; left out: list" },
        "keep": { "type": "string", "enum": ["memory", "copy", "both"] },
        "content": { "type": "string", "description": "Merged text" }
    });
    tool("memory_resolve", "Resolve a conflict", description, Effect::Changes, properties, &[])
}

pub(super) fn call(store: &mut Store, args: &Args, caller: &Caller) -> Result<String, ToolError> {
    let Some(reference) = args.parsed_list::<MemoryRef>(IDS)?.into_iter().next() else { return list(store) };
    let resolution = match (args.text(&["content"])?, args.text(&["keep"])?.as_deref()) {
        (Some(text), None) => Resolution::Text(text),
        (None, Some("memory")) => Resolution::Memory,
        (None, Some("copy")) => Resolution::Copy,
        (None, Some("both")) => Resolution::Both,
        _ => {
            let fix = "give memory, copy or both, or a merged text as content";
            return Err(DomainError::invalid("keep", "does not say which text it shall be", fix).into());
        }
    };
    let memory = store.resolve(reference, &resolution, &caller.actor(None))?;
    Ok(format!("{} is now: {}", memory.handle, neutral(&memory.content)))
}

fn list(store: &Store) -> Result<String, ToolError> {
    let conflicts = store.conflicts()?;
    if conflicts.is_empty() {
        return Ok("No conflicts.\n".into());
    }
    let lines = conflicts.iter().map(|conflict| {
        let memory = conflict.memory.as_ref().map_or_else(
            || "gone".to_owned(),
            |memory| format!("{}: {}", memory.handle, neutral(&memory.content).replace('\n', " ")),
        );
        let copy = &conflict.copy;
        format!("memory {memory}\n  copy {}: {}\n", copy.handle, neutral(&copy.content).replace('\n', " "))
    });
    Ok(lines.collect())
}
