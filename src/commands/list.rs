//! `list`: lists memories, newest first.

use serde_json::json;
use tessera_desk::use_cases::List as Lists;
use tessera_engine::domain::RecallRequest;
use tessera_engine::pack::attribution;

use super::recall::filters;
use super::{Access, Context};
use crate::cli::List;
use crate::output;

/// Lists memories.
pub(super) fn run(context: &Context, args: List) -> anyhow::Result<()> {
    let asked = Lists {
        filters: filters(args.filter),
        limit: RecallRequest::checked_limit(args.limit)?,
        deleted: args.deleted,
        expired: args.expired,
        after: args.after,
        ..Lists::default()
    };
    let listing = context.perform(Access::Read, asked)?;
    if context.json {
        let next = listing.next.map(tessera_engine::ShortId::get);
        return output::json(&json!({
            "memories": listing.memories, "total_count": listing.total_count, "has_more": next.is_some(), "next": next,
        }));
    }
    let rows = listing.memories.iter().map(|memory| {
        let date = memory.created.date().to_string();
        vec![
            memory.short_id.to_string(),
            date,
            memory.category.to_string(),
            memory.scope.to_string(),
            format!("{} {}", attribution(memory), memory.summary).trim_start().to_owned(),
        ]
    });
    output::text(&output::table(&["memory", "created", "category", "scope", "summary"], rows.collect()))?;
    if args.expired && !listing.memories.is_empty() {
        output::note("`tessera restore ID` restores one");
    }
    if let Some(next) = listing.next {
        output::note(&format!("{} in total; continue with --after {}", listing.total_count, next.get()));
    }
    Ok(())
}
