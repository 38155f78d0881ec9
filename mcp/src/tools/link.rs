//! `memory_link`: links one memory to another.

use serde_json::json;
use tessera_desk::use_cases::{FindMemory, Get, SetLink};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::{DomainError, LinkKind, MemoryRef};
use tessera_engine::store::StoreError;

use super::{Call, Entry, Listed, Reply};
use crate::args::{Args, IDS};
use crate::error::ToolError;

const KIND: &[&str] = &["type", "link_type"];
const TO: &[&str] = &["to", "target_id"];

pub(super) const TOOL: Entry = Entry {
    name: "memory_link",
    title: "Link memories",
    description: "Link a memory to another. With supersedes, id replaces to in recall; with updates, id comes first.",
    effect: Effect::Changes,
    properties: || {
        json!({
            "id": { "type": "string", "description": "ID, or path of a memory file" },
            "type": { "type": "string", "description": "supersedes, updates, resolved_by, part_of, see_also, or any short name" },
            "to": { "type": "string", "description": "The other memory" },
            "remove": { "type": "boolean", "description": "Remove the link" }
        })
    },
    aliases: &[IDS, TO, KIND],
    required: &["id", "type", "to"],
    listed: Listed::Always,
    is_always_loaded: false,
    call: Call::Desk(call),
};

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let missing = |field, fix| DomainError::invalid(field, "is missing", fix);
    let id = one(args, IDS)?.ok_or_else(|| missing("id", "use an ID such as 42, or the path of a file"))?;
    let kind: LinkKind = args.parsed(KIND)?.ok_or_else(|| {
        missing("type", "use supersedes, updates, resolved_by, part_of, see_also, or a short name such as depends_on")
    })?;
    let to = args.text(TO)?.ok_or_else(|| missing("to", "use the ID of the other memory, or the path of a file"))?;
    let of = |error: StoreError, names| match error {
        StoreError::Domain(error) => StoreError::Domain(args.named(error, names)),
        other => other,
    };
    let id = desk.perform(FindMemory { name: id }).map_err(|error| of(error, IDS))?;
    let to = desk.perform(FindMemory { name: to }).map_err(|error| of(error, TO))?;
    let holds = !args.flag(&["remove"])?;
    let memory = desk.perform(SetLink { id, kind: kind.clone(), to, holds });
    let memory = match memory {
        Err(error @ StoreError::Conflict { .. }) if !holds => return Err(no_such_link(desk, id, error)),
        other => other?,
    };
    Ok(format!("{} {} {kind} {to}", memory.short_id, if holds { "now" } else { "no longer" }))
}

/// The error about a link that does not exist. It names the existing links of the memory.
fn no_such_link(desk: &mut Desk<'_>, id: MemoryRef, error: StoreError) -> ToolError {
    let memory = desk.perform(Get { ids: vec![id] }).ok().and_then(|mut memories| memories.pop());
    let links = memory.map(|memory| memory.links).unwrap_or_default();
    let mut shown = Vec::new();
    for link in links {
        let target = desk.perform(Get { ids: vec![MemoryRef::Id(link.to)] }).ok();
        let target = target.and_then(|mut memories| memories.pop()).map(|memory| memory.short_id.to_string());
        shown.extend(target.map(|target| format!("{} {target}", link.kind)));
    }
    let shown =
        if shown.is_empty() { "it has no links".to_owned() } else { format!("its links: {}", shown.join(", ")) };
    ToolError::NotDone(format!("{error}; {shown}"))
}

/// A single name, as a string or as a list with one item.
fn one(args: &Args, names: &'static [&'static str]) -> Result<Option<String>, DomainError> {
    let mut given = args.list(names)?.unwrap_or_default();
    match given.len() {
        0 | 1 => Ok(given.pop()),
        many => Err(DomainError::invalid(args.name(names), format!("names {many}"), "give one")),
    }
}
