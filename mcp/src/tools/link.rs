//! `memory_link`: what one memory is to another.

use serde_json::json;
use tessera_desk::verbs::SetLink;
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::{DomainError, LinkKind, MemoryRef};

use super::{Call, Entry, Reply};
use crate::args::Args;

pub(super) const TOOL: Entry = Entry {
    name: "memory_link",
    title: "Link memories",
    description: "Link a memory to another. A superseded memory is answered by the one that supersedes it.",
    effect: Effect::Changes,
    properties: || {
        json!({
            "id": { "type": "string", "description": "Handle such as 42" },
            "type": { "type": "string", "enum": ["supersedes", "resolved_by", "part_of", "see_also"] },
            "to": { "type": "string", "description": "The other memory" },
            "remove": { "type": "boolean", "default": false }
        })
    },
    required: &["id", "type", "to"],
    needs_team: false,
    is_always_loaded: false,
    call: Call::Desk(call),
};

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let missing = |field, fix| DomainError::invalid(field, "is missing", fix);
    let id = args.required_id()?;
    let kind: LinkKind = args
        .parsed(&["type", "link_type"])?
        .ok_or_else(|| missing("type", "give supersedes, resolved_by, part_of or see_also"))?;
    let to: MemoryRef =
        args.parsed(&["to", "target_id"])?.ok_or_else(|| missing("to", "give the handle of the other memory"))?;
    let holds = !args.flag(&["remove"])?;
    let memory = desk.perform(SetLink { id, kind, to, holds })?;
    Ok(format!("{} {} {kind} {to}", memory.handle, if holds { "now" } else { "no longer" }))
}
