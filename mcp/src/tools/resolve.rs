//! `memory_resolve`: chooses between the two texts of a memory that was changed on two machines.

use serde_json::json;
use tessera_desk::use_cases::{Conflicts, Resolve};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::DomainError;
use tessera_engine::pack::{Lines, neutral};
use tessera_engine::store::Resolution;

use super::{Call, Entry, Listed, MAX_TOKENS, Reply, budgeted, listed};
use crate::args::{Args, IDS};

const CONTENT: &[&str] = &["content"];
const KEEP: &[&str] = &["keep"];

pub(super) const TOOL: Entry = Entry {
    name: "memory_resolve",
    title: "Resolve a conflict",
    description: "List memories that two machines changed at once, or settle one: keep memory (its present text), \
        copy (the other text) or both, or pass the merged content.",
    effect: Effect::Changes,
    properties: || {
        json!({
            "id": { "type": "string", "description": "ID; omit it to list conflicts" },
            "keep": { "type": "string", "enum": ["memory", "copy", "both"], "description": "The text to keep" },
            "content": { "type": "string", "description": "Merged text" },
            "max_tokens": { "type": "integer", "default": 1000, "description": "Used only for lists" }
        })
    },
    aliases: &[IDS, MAX_TOKENS],
    required: &[],
    listed: Listed::Team,
    is_always_loaded: false,
    call: Call::Desk(call),
};

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let Some(id) = args.id()? else {
        let fix = "pass the ID of the memory in conflict, or omit `keep` and `content` to list the conflicts";
        args.refuse(&[KEEP, CONTENT], "cannot be used without the ID of a memory in conflict", fix)?;
        return list(desk, args);
    };
    let resolution = match (args.text(CONTENT)?, args.text(KEEP)?.as_deref()) {
        (Some(text), None) => Resolution::Text(text),
        (None, Some("memory")) => Resolution::Memory,
        (None, Some("copy")) => Resolution::Copy,
        (None, Some("both")) => Resolution::Both,
        _ => {
            let fix = "use memory, copy or both, or pass a merged text as content";
            return Err(DomainError::invalid("keep", "does not say which text to keep", fix).into());
        }
    };
    let memory = desk.perform(Resolve { id, resolution })?;
    Ok(format!("{} is now: {}", memory.short_id, neutral(&memory.content)))
}

fn list(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let budget = budgeted(args, String::new())?.budget;
    let conflicts = desk.perform(Conflicts)?;
    if conflicts.is_empty() {
        return Ok("No conflicts.\n".into());
    }
    let rows = conflicts.iter().map(|conflict| {
        let memory = conflict.memory.as_ref().map_or_else(
            || "gone".to_owned(),
            |memory| format!("{}: {}", memory.short_id, neutral(&memory.content).replace('\n', " ")),
        );
        let copy = &conflict.copy;
        format!("memory {memory}\n  copy {}: {}\n", copy.short_id, neutral(&copy.content).replace('\n', " "))
    });
    let rows: Vec<String> = rows.collect();
    Ok(listed(Lines { budget, profile: desk.caller().profile }, &rows, "conflicts")?)
}
