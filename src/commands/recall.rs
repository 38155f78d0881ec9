//! `recall`: prints exactly what a model would get.

use tessera_engine::domain::{Filters, RecallRequest, TokenBudget};
use tessera_engine::pack::JsonRows;
use tessera_engine::store::Usage;

use super::{Context, explain, text_or_stdin};
use crate::cli::{Filter, Recall};
use crate::{config, output};

/// Answers a question.
pub(super) fn run(context: &Context, args: Recall) -> anyhow::Result<()> {
    let request = RecallRequest {
        expanded_query: args.expanded_query,
        budget: TokenBudget::try_from(args.max_tokens)?,
        profile: config::profile(args.token_profile, context.home.clone())?,
        limit: RecallRequest::checked_limit(args.limit)?,
        filters: filters(args.filter),
        scope: args.project,
        sort: args.sort,
        packing: args.packing,
        cursor: args.cursor,
        weak: args.weak,
        explain: args.explain,
        ..RecallRequest::new(text_or_stdin(args.query)?)
    };
    let mut store = context.open(Usage::ReadOnce)?;
    // What is printed is what was counted, to the byte. In JSON the parts of a score stand in its row, and are
    // counted too; the table beside a text is for people.
    let recall = if context.json {
        store.recall_json(&request, JsonRows { handle: true, parts: args.explain })?
    } else {
        store.recall(&request)?
    };
    output::text(&recall.body)?;
    if args.explain && !context.json {
        output::text(&explain::table(&recall, store.rank(&request)?.searched))?;
    }
    if recall.total_count == 0 && !request.filters.scopes.is_empty() {
        for (scope, count) in store.near_scopes(&request)? {
            output::note(&format!("{count} under --scope {scope}"));
        }
    }
    Ok(())
}

/// The engine's filters from the flags.
pub(super) fn filters(filter: Filter) -> Filters {
    Filters {
        categories: filter.category,
        types: filter.kind,
        tags: filter.tags,
        entities: filter.entities,
        scopes: filter.scope,
        since: filter.since,
        until: filter.until,
        ..Filters::default()
    }
}
