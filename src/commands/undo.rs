//! `undo`: undoes the last change of a memory.

use tessera_desk::Desk;
use tessera_desk::use_cases::{Changed, LastChange, Named, Undo, Undoing};
use tessera_engine::domain::MemoryRef;

use super::{Access, Context, agreed_or, meant};
use crate::shapes::Undone;
use crate::{config, output};

/// Undoes the last change. Without an ID, shows the change and asks first.
pub(super) fn run(context: &Context, id: Option<Named>, yes: bool) -> anyhow::Result<()> {
    let is_named = id.is_some();
    let last = context.at_desk(Access::Read, |desk| {
        let id = id.map(|id| meant(desk, id)).transpose()?;
        Ok(desk.perform(LastChange { id })?)
    })?;
    let Some(last) = last else {
        let none = Undone { id: None, operation: None, deleted: false, content: None };
        return context.print(&none, || "Nothing was changed yet, so there is nothing to undo.");
    };
    let now = config::clock()?.now();
    let change = format!("{} {}", described(&last), output::age(last.entry.at, now));
    let question = format!("{change}. Undo this change?");
    let nobody = format!("{change}; there is no terminal to confirm on, so add --yes or the ID to undo this change");
    if !agreed_or(yes || is_named, &question, &nobody)? {
        return output::say("Nothing was undone.");
    }
    let memory = context.at_desk(Access::Change, |desk| undo(desk, &last))?;
    let undone = Undone {
        id: Some(memory.short_id.get()),
        operation: Some(last.entry.operation.clone()),
        deleted: memory.deleted.is_some(),
        content: Some(memory.content.clone()),
    };
    let id = memory.short_id;
    context.print(&undone, || match last.undo {
        Undoing::Delete => {
            let why = if last.entry.operation == "create" { ", because storing it was its last change" } else { "" };
            format!("Deleted {id}{why}; `tessera undo {}` restores it", id.get())
        }
        Undoing::Restore => output::shown(&format!("Restored {id}: {}", memory.summary)),
        Undoing::Links => output::shown(&format!("{id} has its earlier links: {}", memory.summary)),
        Undoing::Earlier => output::shown(&format!("{id} is as before: {}", memory.summary)),
    })
}

/// Undoes a change, and computes the embedding of the restored text.
pub(super) fn undo(desk: &mut Desk<'_>, last: &Changed) -> anyhow::Result<tessera_engine::domain::Memory> {
    let id = MemoryRef::ShortId(last.memory.short_id);
    let memory = desk.perform(Undo { id, rev: last.entry.rev, undo: last.undo })?;
    desk.embed();
    Ok(memory)
}

/// Describes a change: `#42 was deleted (I prefer tabs)`.
pub(super) fn described(last: &Changed) -> String {
    let how = match last.entry.operation.as_str() {
        "create" => "was stored",
        "delete" => "was deleted",
        "restore" => "was restored",
        "link" => "was linked",
        "unlink" => "lost a link",
        _ => "was changed",
    };
    output::shown(&format!("{} ({}) {how}", last.memory.short_id, last.memory.summary))
}
