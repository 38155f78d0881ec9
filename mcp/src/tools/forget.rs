//! `memory_forget`, and its older name `memory_delete`.

use std::collections::BTreeSet;

use serde_json::json;
use tessera_desk::use_cases::{Forget, Form, Gone, Meant, RemovedSection};
use tessera_desk::{Desk, Effect};
use tessera_engine::pack::neutral_line;
use tessera_engine::store::Erase;

use super::{Call, Entry, FORMAT, Listed, Reply, form};
use crate::args::{Args, IDS};

pub(super) const TOOL: Entry = Entry {
    name: "memory_forget",
    title: "Forget memories",
    description: "Delete memories by ID. memory_restore restores them, except after hard_delete.",
    effect: Effect::Destroys,
    properties: || {
        json!({
            "ids": { "type": "array", "items": { "type": "string" }, "description": "Such as 42" },
            "reason": { "type": "string", "description": "Why, for the history" },
            "hard_delete": { "type": "boolean", "description": "Permanently" },
            "format": { "type": "string", "description": "text or json" }
        })
    },
    aliases: &[IDS, FORMAT],
    required: &["ids"],
    listed: Listed::Always,
    is_always_loaded: false,
    call: Call::Changing(call),
};

/// The tool under its older name.
pub(super) const OLDER: Entry = Entry { name: "memory_delete", listed: Listed::Never, ..TOOL };

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let form = form(args)?;
    let erase = if args.flag(&["hard_delete"])? { Erase::Hard } else { Erase::Soft };
    let ids = desk.perform(Meant { named: args.names()? })?;
    let Gone { forgotten, left, taken_out } = desk.perform(Forget { ids, erase, reason: args.text(&["reason"])? })?;
    let again: Vec<String> =
        forgotten.iter().filter(|one| one.again).map(|one| format!("{} was already deleted", one.short_id)).collect();
    let fresh = || forgotten.iter().filter(|one| !one.again).map(|one| one.short_id);
    let (count, short_ids) = (fresh().count(), fresh().map(|id| id.to_string()).collect::<Vec<_>>().join(" "));
    let left: String = left.told().iter().map(|told| format!("\n{told}")).collect();
    let how = if erase == Erase::Hard { "for good" } else { "they can be restored" };
    // A deleted section of a file comes back with an earlier text of the file.
    let back: String = match erase {
        Erase::Hard => String::new(),
        Erase::Soft => back(taken_out.into_values()).iter().map(|told| format!("\n{told}")).collect(),
    };
    if let Form::Json(_) = form {
        let ids: Vec<_> = fresh().collect();
        let mut said: Vec<String> =
            back.lines().chain(left.lines()).filter(|line| !line.is_empty()).map(neutral_line).collect();
        let is_hard = erase == Erase::Hard;
        said.extend(again.iter().cloned());
        let reply = json!({ "deleted_count": count, "deleted_ids": ids, "hard": is_hard, "notes": said });
        return Ok(format!("{reply}\n"));
    }
    let again: String = again.iter().map(|told| format!("\n{told}")).collect();
    let now =
        if short_ids.is_empty() { "Forgot none".to_owned() } else { format!("Forgot {count} ({how}): {short_ids}") };
    Ok(format!("{now}{again}{back}{left}"))
}

/// Explains how to restore sections that were removed from files, one line per file.
fn back(taken_out: impl Iterator<Item = RemovedSection>) -> BTreeSet<String> {
    let told = |RemovedSection { path, rev }| match rev {
        Some(rev) => {
            format!(
                "its lines were removed from {path}; memory_restore with ids {path} and before {rev} restores these lines"
            )
        }
        None => format!(
            "its lines were removed from {path}; no complete earlier text of this file is stored, so to restore these lines, write them into the file again"
        ),
    };
    taken_out.map(told).collect()
}
