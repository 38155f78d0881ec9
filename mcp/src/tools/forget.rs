//! `memory_forget`, and its older name `memory_delete`.

use serde_json::json;
use tessera_desk::verbs::{Forget, Gone, Meant};
use tessera_desk::{Desk, Effect};
use tessera_engine::store::Erase;

use super::{Call, Entry, Reply};
use crate::args::Args;

pub(super) const TOOL: Entry = Entry {
    name: "memory_forget",
    title: "Forget memories",
    description: "Forget memories by id. They can be restored, unless hard_delete removes them for good.",
    effect: Effect::Destroys,
    properties: || {
        json!({
            "ids": { "type": "array", "items": { "type": "string" }, "description": "Handles such as 42" },
            "reason": { "type": "string" },
            "hard_delete": { "type": "boolean", "default": false }
        })
    },
    required: &["ids"],
    needs_team: false,
    is_always_loaded: false,
    call: Call::Desk(call),
};

/// The same by its older name.
pub(super) const OLDER: Entry = Entry { name: "memory_delete", ..TOOL };

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let erase = if args.flag(&["hard_delete"])? { Erase::Hard } else { Erase::Soft };
    let ids = desk.perform(Meant { named: args.names()? })?;
    let Gone { forgotten, left, .. } = desk.perform(Forget { ids, erase, reason: args.text(&["reason"])? })?;
    let handles = forgotten.iter().map(|one| one.handle.to_string()).collect::<Vec<_>>().join(" ");
    let left: String = left.told().iter().map(|told| format!("\n{told}")).collect();
    let how = if erase == Erase::Hard { "for good" } else { "they can be restored" };
    Ok(format!("Forgot {} ({how}): {handles}{left}", forgotten.len()))
}
