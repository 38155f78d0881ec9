//! `get` and `history`: show everything about a memory.
//!
//! `link`: links one memory to another.

use serde_json::Value;
use tessera_desk::use_cases::{FilePosition, FindMemory, Get, History, Meant, Named, NewerOf, SetLink, WhereInFiles};
use tessera_engine::domain::{LinkKind, Memory};
use tessera_engine::store::Newer;

use super::{Access, Context, list, meant};
use crate::output::{self, Style};

/// Shows memories in full.
pub(super) fn get(context: &Context, named: Vec<Named>) -> anyhow::Result<()> {
    let (memories, position, newer) = context.at_desk(Access::Read, |desk| {
        let ids = desk.perform(Meant { named })?;
        let memories = desk.perform(Get { ids })?;
        let ids = memories.iter().map(|memory| memory.id).collect();
        let position = desk.perform(WhereInFiles { ids })?;
        let newer = desk.perform(NewerOf { ids: memories.iter().map(|memory| memory.short_id).collect() })?;
        Ok((memories, position, newer))
    })?;
    let row = |memory: &Memory| row(memory, newer.get(&memory.short_id));
    if context.json {
        return match memories.as_slice() {
            [memory] => output::json(&row(memory)?),
            memories => output::json(&memories.iter().map(row).collect::<Result<Vec<_>, _>>()?),
        };
    }
    for (memory, position) in memories.iter().zip(&position) {
        output::line(&full(memory, position.as_ref(), newer.get(&memory.short_id)))?;
    }
    Ok(())
}

/// A memory with all its fields, and the ID of the memory that supersedes or updates it. The creation time has the same
/// name as in every other reply.
fn row(memory: &Memory, newer: Option<&Newer>) -> serde_json::Result<Value> {
    let mut row = list::row(memory, newer)?;
    if let Some(fields) = row.as_object_mut() {
        fields.insert("created_at".to_owned(), Value::from(memory.created.to_string()));
    }
    Ok(row)
}

fn full(memory: &Memory, position: Option<&FilePosition>, newer: Option<&Newer>) -> String {
    let mut lines = vec![output::paint(&format!("{} {}", memory.short_id, memory.id), Style::Bold)];
    let list = |items: &[String]| items.join(", ");
    let tags: Vec<String> = memory.tags.iter().map(ToString::to_string).collect();
    let links: Vec<String> = memory.links.iter().map(|link| format!("{} {}", link.kind, link.to)).collect();
    let or_never =
        |time: Option<tessera_engine::Timestamp>| time.map_or_else(|| "never".into(), |time| time.to_string());
    let rows = [
        ("category", format!("{} ({})", memory.category, memory.kind)),
        ("importance", format!("{:.2}", f64::from(memory.importance))),
        ("tags", list(&tags)),
        ("entities", list(&memory.entities)),
        ("keywords", list(&memory.keywords)),
        ("status", newer.map_or_else(String::new, ToString::to_string)),
        ("links", list(&links)),
        ("file", position.map_or_else(String::new, ToString::to_string)),
        ("scope", memory.scope.to_string()),
        ("origin", format!("{} (trust {})", memory.origin, memory.trust.as_str())),
        (
            "unasked",
            memory.why_never_injected().map_or_else(String::new, |why| format!("never added to prompts: {why}")),
        ),
        (
            "shared by",
            memory.share.as_ref().map_or_else(String::new, |share| format!("{} ({})", share.by, share.permission)),
        ),
        ("edited by", memory.edited_by.clone().unwrap_or_default()),
        ("created", memory.created.to_string()),
        ("updated", memory.updated.to_string()),
        ("used", format!("{} times, last {}", memory.access_count, or_never(memory.last_accessed))),
        ("expires", or_never(memory.expires)),
        ("deleted", memory.deleted.map_or_else(String::new, |time| time.to_string())),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        lines.push(format!("{}{}", output::paint(&format!("{name:<11}"), Style::Dim), output::shown(value)));
    }
    if position.is_some_and(|position| position.lacks_some) {
        lines.push(
            "(the file is not stored completely: the following text is truncated, or a credential was removed from it; read the file itself)"
                .to_owned(),
        );
    }
    lines.push(output::shown(&memory.content));
    lines.join("\n")
}

/// Shows the changes of a memory.
pub(super) fn history(context: &Context, id: Named) -> anyhow::Result<()> {
    let (entries, newer) = context.at_desk(Access::Read, |desk| {
        let id = meant(desk, id)?;
        let entries = desk.perform(History { id })?;
        let ids = entries.iter().take(1).map(|entry| entry.short_id).collect();
        Ok((entries, desk.perform(NewerOf { ids })?))
    })?;
    if context.json {
        return output::json(&entries);
    }
    let rows = entries.iter().map(|entry| {
        let before = entry.before.as_ref().map_or_else(String::new, |memory| memory.summary.clone());
        let who = [Some(entry.origin.to_string()), entry.client.clone()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" via ");
        let reason = entry.reason.clone().unwrap_or_default();
        vec![entry.rev.to_string(), entry.operation.clone(), entry.at.to_string(), who, reason, before]
    });
    output::text(&output::table(&["rev", "change", "at", "by", "why", "before"], rows.collect()))?;
    newer.iter().try_for_each(|(id, newer)| output::line(&format!("{id} is {newer}")))
}

/// Adds or removes a link. Each argument is an ID, a UUID, or a name of a note file.
pub(super) fn run(context: &Context, id: String, kind: &LinkKind, to: String, remove: bool) -> anyhow::Result<()> {
    let (memory, to) = context.at_desk(Access::Change, |desk| {
        let (id, to) = (desk.perform(FindMemory { name: id })?, desk.perform(FindMemory { name: to })?);
        Ok((desk.perform(SetLink { id, kind: kind.clone(), to, holds: !remove })?, to))
    })?;
    if context.json {
        return output::json(&memory);
    }
    let verb = if remove { "no longer" } else { "now" };
    output::line(&format!("{} {verb} {kind} {to}", memory.short_id))
}
