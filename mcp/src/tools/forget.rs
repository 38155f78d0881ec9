//! `memory_forget`, and its older name `memory_delete`.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::store::Erase;

use super::{Caller, Effect, tool};
use crate::args::Args;
use crate::error::ToolError;

pub(super) fn definition(name: &'static str) -> Tool {
    let description = "Forget memories by id. They can be restored, unless hard_delete removes them for good.";
    let properties = json!({
        "ids": { "type": "array", "items": { "type": "string" }, "description": "Handles such as 42" },
        "reason": { "type": "string" },
        "hard_delete": { "type": "boolean", "default": false }
    });
    tool(name, "Forget memories", description, Effect::Destroys, properties, &["ids"])
}

pub(super) fn call(store: &mut Store, args: &Args, caller: &Caller) -> Result<String, ToolError> {
    let erase = if args.flag(&["hard_delete"])? { Erase::Hard } else { Erase::Soft };
    let forgotten = store.forget(&args.ids()?, erase, &caller.actor(args.text(&["reason"])?))?;
    let handles = forgotten.iter().map(|one| one.handle.to_string()).collect::<Vec<_>>().join(" ");
    let removed: Vec<_> = forgotten.iter().map(|one| one.id).collect();
    let left = if erase == Erase::Hard { store.traces(&removed)?.told() } else { Vec::new() };
    let left: String = left.iter().map(|told| format!("\n{told}")).collect();
    let how = if erase == Erase::Hard { "for good" } else { "they can be restored" };
    Ok(format!("Forgot {} ({how}): {handles}{left}", forgotten.len()))
}
