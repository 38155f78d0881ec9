//! `memory_restore`: restores deleted or expired memories, or an earlier text.

use serde_json::json;
use tessera_desk::folders::PutBack;
use tessera_desk::use_cases::{History, Meant, Named, Restore};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::{DomainError, FilePath, MemoryRef};
use tessera_engine::pack::neutral_line;
use tessera_engine::store::StoreError;

use super::{Call, Entry, Listed, Reply};
use crate::args::{Args, IDS};
use crate::error::ToolError;
use crate::wording::for_model;

const BEFORE: &[&str] = &["before", "before_revision"];
/// Maximum number of revisions in an error.
const REVISIONS: usize = 8;

pub(super) const TOOL: Entry = Entry {
    name: "memory_restore",
    title: "Restore memories",
    description: "Restore deleted or expired memories, or the text before a revision.",
    effect: Effect::Changes,
    properties: || {
        json!({
            "ids": { "type": "array", "items": { "type": "string" }, "description": "Such as 42" },
            "before": { "type": "integer", "description": "Revision in the history of one memory" }
        })
    },
    aliases: &[IDS, BEFORE],
    required: &["ids"],
    listed: Listed::Always,
    is_always_loaded: false,
    call: Call::Changing(call),
};

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let (names, before) = (args.names()?, args.whole(BEFORE)?.map(u64::from));
    if before.is_some() && names.len() > 1 {
        let problem = "applies to one memory, but ids names several";
        return Err(DomainError::invalid("before", problem, "restore each memory with its own call").into());
    }
    let is_one = names.len() == 1;
    let (mut lines, mut is_done) = (Vec::new(), false);
    for name in names {
        match one(desk, name, before) {
            Ok(line) => {
                is_done = true;
                lines.push(line);
            }
            Err(error) if is_one => return Err(error),
            // The other memories are restored anyway.
            Err(error) => lines.push(for_model(&neutral_line(&error.to_string()))),
        }
    }
    if is_done { Ok(lines.join("\n")) } else { Err(ToolError::NotDone(lines.join("\n"))) }
}

fn one(desk: &mut Desk<'_>, name: Named, before: Option<u64>) -> Reply {
    let found = desk.perform(Meant { named: vec![name.clone()] });
    let id = match (found, name) {
        // A deleted file may have no memory, but a stored copy.
        (Err(StoreError::InFile { .. }), Named::File(path)) => return file(desk, path),
        (found, _) => found?.pop().ok_or_else(|| DomainError::invalid("ids", "is missing", "use an ID such as 42"))?,
    };
    match desk.perform(Restore { id, before }) {
        Ok(stored) => {
            let memory = &stored.memory;
            Ok(format!("Restored {}: {}", memory.short_id, neutral_line(&memory.summary)))
        }
        Err(StoreError::Conflict { .. }) if before.is_some() => Err(without_text(desk, id).into()),
        Err(StoreError::Conflict { memory, problem }) if problem.starts_with("is neither deleted nor expired") => {
            let fix = "to restore an earlier text, pass before: a revision that memory_get shows with history";
            Err(ToolError::NotDone(format!("{memory} is neither deleted nor expired; {fix}")))
        }
        Err(error) => Err(error.into()),
    }
}

fn file(desk: &mut Desk<'_>, path: FilePath) -> Reply {
    let back = desk.perform(PutBack { path })?;
    let restored = back.restored.iter().map(|path| format!("Restored {path}"));
    let lines: Vec<String> = restored.chain(back.failed.into_iter().map(|(_, problem)| problem)).collect();
    Ok(lines.iter().map(|line| neutral_line(line)).collect::<Vec<_>>().join("\n"))
}

/// The error about a revision without an earlier text. It names revisions that have one.
fn without_text(desk: &mut Desk<'_>, id: MemoryRef) -> DomainError {
    let entries = desk.perform(History { id }).unwrap_or_default();
    let revisions: Vec<String> = entries
        .iter()
        .filter(|entry| entry.before.is_some())
        .take(REVISIONS)
        .map(|entry| entry.rev.to_string())
        .collect();
    if revisions.is_empty() {
        return DomainError::invalid("before", "names a revision, but this memory has no earlier text", "omit it");
    }
    let problem = format!("has no earlier text; these have one: {}", revisions.join(", "));
    DomainError::invalid("before", problem, "pass a revision that memory_get shows with history")
}
