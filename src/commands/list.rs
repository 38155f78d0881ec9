//! `list`: lists memories, newest first.

use serde_json::Value;
use tessera_desk::use_cases::{List as Lists, NewerOf};
use tessera_engine::domain::{Memory, RecallRequest};
use tessera_engine::pack::attribution;
use tessera_engine::store::Newer;

use super::recall::filters;
use super::{Access, Context};
use crate::cli::List;
use crate::shapes::Listed;
use crate::{config, output};

/// Lists memories.
pub(super) fn run(context: &Context, args: List) -> anyhow::Result<()> {
    let is_filtered = !filters(args.filter.clone())?.is_empty();
    let nothing = match (args.deleted, args.expired, is_filtered, args.after.is_some()) {
        (_, _, _, true) => "There are no further memories.",
        (true, ..) => "No deleted memories match.",
        (_, true, ..) => "No expired memories match.",
        (_, _, true, _) => "No memory matches these filters; `tessera stats` lists categories, tags and scopes.",
        _ => "There are no memories yet; `tessera remember TEXT` stores one.",
    };
    let asked = Lists {
        filters: filters(args.filter)?,
        limit: RecallRequest::checked_limit(args.limit)?,
        deleted: args.deleted,
        expired: args.expired,
        after: args.after,
        ..Lists::default()
    };
    let (listing, newer) = context.at_desk(Access::Read, |desk| {
        let listing = desk.perform(asked)?;
        let ids = listing.memories.iter().map(|memory| memory.short_id).collect();
        Ok((listing, desk.perform(NewerOf { ids })?))
    })?;
    if context.json {
        let next = listing.next.map(tessera_engine::ShortId::get);
        let rows = listing.memories.iter().map(|memory| row(memory, newer.get(&memory.short_id)));
        return output::json(&Listed {
            memories: rows.collect::<Result<Vec<_>, _>>()?,
            total_count: listing.total_count,
            has_more: next.is_some(),
            next,
        });
    }
    if listing.memories.is_empty() {
        return output::say(nothing);
    }
    let (is_terminal, now) = (output::is_terminal(), config::clock()?.now());
    let rows = listing.memories.iter().map(|memory| {
        let date = if is_terminal { output::age(memory.created, now) } else { memory.created.date().to_string() };
        vec![
            memory.short_id.to_string(),
            date,
            memory.category.to_string(),
            memory.scope.to_string(),
            format!("{}{} {}", mark(newer.get(&memory.short_id)), attribution(memory), memory.summary)
                .trim_start()
                .to_owned(),
        ]
    });
    output::page(&output::table(&["memory", "created", "category", "scope", "summary"], rows.collect()))?;
    if args.expired && !listing.memories.is_empty() {
        output::note("`tessera restore ID` restores a memory");
    }
    if let Some(next) = listing.next {
        output::note(&format!("{} in total; add --after {} for the next page", listing.total_count, next.get()));
    }
    Ok(())
}

/// A memory as JSON, with the ID of the memory that supersedes or updates it.
pub(super) fn row(memory: &Memory, newer: Option<&Newer>) -> serde_json::Result<Value> {
    let mut row = serde_json::to_value(memory)?;
    if let Some(fields) = row.as_object_mut() {
        fields.extend(newer.map(|newer| (newer.field().to_owned(), Value::from(newer.short_id().get()))));
    }
    Ok(row)
}

/// The mark of an older memory: `(older, see #57)`, or nothing.
fn mark(newer: Option<&Newer>) -> String {
    newer.map(|newer| format!("({newer})")).unwrap_or_default()
}
