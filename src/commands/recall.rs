//! `recall`: prints exactly the reply that a model would get.

use tessera_desk::use_cases::{Form, Recall as Asks};
use tessera_engine::domain::{Filters, RecallRequest, TokenBudget};
use tessera_engine::pack::JsonRows;
use tessera_engine::store::Ahead;

use super::{Access, Context, caller, explain, text_or_stdin};
use crate::cli::{Filter, Recall};
use crate::exit::UserError;
use crate::{config, output};

/// Answers a question.
pub(super) fn run(context: &Context, args: Recall) -> anyhow::Result<()> {
    if args.full && !context.json {
        anyhow::bail!(UserError("--full applies to JSON rows only; pass --json too".into()));
    }
    let request = RecallRequest {
        expanded_query: args.expanded_query,
        budget: TokenBudget::try_from(args.max_tokens)?,
        limit: RecallRequest::checked_limit(args.limit)?,
        filters: filters(args.filter)?,
        scope: args.project,
        sort: args.sort,
        packing: args.packing,
        breadth: args.breadth,
        cursor: args.cursor,
        weak: args.weak,
        explain: args.explain,
        ..RecallRequest::new(text_or_stdin(args.query)?)
    };
    let ahead = if config::is_semantic(context.home.clone()) {
        Ahead::question(&request, config::clock()?.now())
    } else {
        None
    };
    let asker = config::asking(caller(), args.token_profile, context.home.clone())?;
    // The printed text is exactly the counted text. In JSON, the score parts belong to the row and are counted; the
    // table beside a text is for people and is not.
    let rows = JsonRows { parts: args.explain, full: args.full };
    let form = if context.json { Form::Json(rows) } else { Form::Text };
    let (answer, position) = context.at_desk_as(&asker, Access::Read, |desk| {
        desk.expect(ahead);
        let answer = desk.perform(Asks { request, form })?;
        let position = if answer.searched.is_some() { explain::position(desk, &answer.reply)? } else { Vec::new() };
        Ok((answer, position))
    })?;
    output::text(&answer.reply.body)?;
    if let Some(searched) = answer.searched.filter(|_| !context.json) {
        output::text(&explain::table(&answer.reply, searched, &position))?;
    }
    answer.near.iter().for_each(|(scope, count)| output::note(&format!("{count} under --scope {scope}")));
    Ok(())
}

/// Converts the options to filters.
pub(super) fn filters(filter: Filter) -> anyhow::Result<Filters> {
    let now = config::clock()?.now();
    Ok(Filters {
        categories: filter.category,
        types: filter.kind,
        tags: filter.tags,
        entities: filter.entities,
        scopes: filter.scope,
        since: filter.since.map(|time| time.of("since").beginning(now)).transpose()?,
        until: filter.until.map(|time| time.of("until").end(now)).transpose()?,
        ..Filters::default()
    })
}
