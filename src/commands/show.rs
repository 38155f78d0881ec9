//! `get` and `history`: show everything about a memory.
//!
//! `link`: links one memory to another.

use std::process::ExitCode;

use serde_json::Value;
use tessera_desk::use_cases::{FilePosition, FindMemory, Get, History, Meant, Named, NewerOf, SetLink, WhereInFiles};
use tessera_engine::Timestamp;
use tessera_engine::domain::{LinkKind, Memory};
use tessera_engine::store::{Newer, StoreError};

use super::{Access, Context, list, meant};
use crate::exit::UsageError;
use crate::output::{self, Style};
use crate::{config, exit};

/// Shows memories in full. A name without a memory does not hide the others, but the exit code is 1.
pub(super) fn get(context: &Context, named: Vec<Named>) -> anyhow::Result<ExitCode> {
    let is_one = named.len() == 1;
    let mut problems = Vec::new();
    let (memories, position, newer) = context.at_desk(Access::Read, |desk| {
        let mut memories = Vec::new();
        for one in named {
            let found = desk.perform(Meant { named: vec![one] }).and_then(|ids| desk.perform(Get { ids }));
            match found {
                Ok(found) => memories.extend(found),
                Err(error) if is_one => return Err(error.into()),
                Err(error) => problems.push(error.into()),
            }
        }
        let ids = memories.iter().map(|memory| memory.id).collect();
        let position = desk.perform(WhereInFiles { ids })?;
        let newer = desk.perform(NewerOf { ids: memories.iter().map(|memory| memory.short_id).collect() })?;
        Ok((memories, position, newer))
    })?;
    let row = |memory: &Memory| row(memory, newer.get(&memory.short_id));
    if context.json {
        match memories.as_slice() {
            [memory] if is_one => output::json(&row(memory)?)?,
            memories => output::json(&memories.iter().map(row).collect::<Result<Vec<_>, _>>()?)?,
        }
    } else {
        let now = config::clock()?.now();
        let shown = memories.iter().zip(&position);
        let shown = shown.map(|(memory, position)| full(memory, position.as_ref(), newer.get(&memory.short_id), now));
        output::page(&shown.collect::<Vec<_>>().join("\n"))?;
    }
    let codes: Vec<ExitCode> = problems.iter().map(exit::report).collect();
    Ok(codes.into_iter().next_back().unwrap_or(ExitCode::SUCCESS))
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

fn full(memory: &Memory, position: Option<&FilePosition>, newer: Option<&Newer>, now: Timestamp) -> String {
    let mut lines = vec![output::paint(&format!("{} {}", memory.short_id, memory.id), Style::Bold)];
    let list = |items: &[String]| items.join(", ");
    let tags: Vec<String> = memory.tags.iter().map(ToString::to_string).collect();
    let links: Vec<String> = memory.links.iter().map(|link| format!("{} {}", link.kind, link.to)).collect();
    // Reading the time zone takes a millisecond, and programs prefer UTC.
    let is_terminal = output::is_terminal();
    let when = |time: Timestamp| {
        if is_terminal { format!("{} ({})", output::local(time), output::age(time, now)) } else { time.to_string() }
    };
    let or_never = |time: Option<Timestamp>| time.map_or_else(|| "never".into(), when);
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
        ("created", when(memory.created)),
        ("updated", when(memory.updated)),
        ("used", format!("{} times, last {}", memory.access_count, or_never(memory.last_accessed))),
        ("expires", or_never(memory.expires)),
        ("deleted", memory.deleted.map_or_else(String::new, when)),
    ];
    let rows: Vec<_> = rows.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    lines.push(output::rows(&rows).trim_end().to_owned());
    if position.is_some_and(|position| position.lacks_some) {
        lines.push(
            "(the file is not stored completely: the following text is truncated, or a credential was removed from it; read the file itself)"
                .to_owned(),
        );
    }
    let content = output::shown(&memory.content);
    lines.push(output::columns().map_or(content.clone(), |columns| output::wrapped(&content, "", columns)));
    lines.join("\n").trim_end().to_owned() + "\n"
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
        let before = entry.before_text().map_or_else(String::new, |memory| memory.summary.clone());
        let who = [Some(entry.origin.to_string()), entry.client.clone()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" via ");
        let reason = entry.reason.clone().unwrap_or_default();
        let at = if output::is_terminal() { output::local(entry.at) } else { entry.at.to_string() };
        vec![entry.rev.to_string(), entry.operation.clone(), at, who, reason, before]
    });
    output::page(&output::table(&["rev", "change", "at", "by", "why", "before"], rows.collect()))?;
    newer.iter().try_for_each(|(id, newer)| output::line(&format!("{id} is {newer}")))
}

/// Adds or removes a link. Each argument is an ID, a UUID, or a name of a note file.
pub(super) fn run(context: &Context, id: String, kind: &LinkKind, to: String, remove: bool) -> anyhow::Result<()> {
    let (memory, to) = context.at_desk(Access::Change, |desk| {
        let mut find = |name: String| {
            let found = desk.perform(FindMemory { name: name.clone() });
            found.map_err(|error| match error {
                StoreError::Domain(_) => {
                    let problem = "is neither an ID nor a note; the order is `tessera link ID TYPE ID`";
                    anyhow::Error::from(UsageError(format!("`{name}` {problem}")))
                }
                other => other.into(),
            })
        };
        let (id, to) = (find(id)?, find(to)?);
        Ok((desk.perform(SetLink { id, kind: kind.clone(), to, holds: !remove })?, to))
    })?;
    if context.json {
        return output::json(&memory);
    }
    let verb = if remove { "no longer" } else { "now" };
    output::line(&format!("{} {verb} {kind} {to}", memory.short_id))
}
