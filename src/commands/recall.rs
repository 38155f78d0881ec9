//! `recall`: prints a list for people, or exactly the reply that a model would get.

use std::io::IsTerminal as _;

use tessera_desk::use_cases::{Form, Recall as Asks};
use tessera_engine::domain::{DomainError, Filters, RecallRequest, TokenBudget};
use tessera_engine::pack::JsonRows;
use tessera_engine::store::Ahead;

use super::{Access, Context, caller, explain, readable, text_of};
use crate::cli::{Filter, Recall, Tags};
use crate::exit::UsageError;
use crate::{config, output};

/// Answers a question.
pub(super) fn run(context: &Context, args: Recall) -> anyhow::Result<()> {
    if args.full && !context.json {
        anyhow::bail!(UsageError("`--full` works only with `--json`; add `--json`".into()));
    }
    let now = config::clock()?.now();
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
        ..RecallRequest::new(question(args.query)?)
    };
    let ahead = if config::is_semantic(context.home.clone()) { Ahead::question(&request, now) } else { None };
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
    let explained = answer.searched.filter(|_| !context.json);
    let explained = explained.map(|searched| explain::table(&answer.reply, searched, &position)).unwrap_or_default();
    if output::is_terminal() && !context.json && !args.as_model {
        output::page(&(readable::list(&answer.reply, now) + &explained))?;
    } else {
        output::text(&answer.reply.body)?;
        output::text(&explained)?;
    }
    for (scope, count) in &answer.near {
        let matches = if *count == 1 { "memory matches" } else { "memories match" };
        output::note(&format!("{count} {matches} in another project; add --scope {scope}"));
    }
    Ok(())
}

/// The question. Without one, the reply would look like an answer.
fn question(words: Vec<String>) -> anyhow::Result<String> {
    const FIX: &str = "add it, for example `tessera recall which port does staging use`, or run `tessera browse`";
    let missing = || DomainError::invalid("query", "is missing", FIX);
    if words.is_empty() && std::io::stdin().is_terminal() {
        return Err(missing().into());
    }
    let is_stdin = words.iter().any(|word| word == "-");
    let question = text_of(words)?;
    // A script that sends its question through `-` may send an empty one.
    if question.trim().is_empty() && !is_stdin { Err(missing().into()) } else { Ok(question) }
}

/// Converts the options to filters.
pub(super) fn filters(filter: Filter) -> anyhow::Result<Filters> {
    let now = config::clock()?.now();
    let filters = Filters {
        categories: filter.category,
        types: filter.kind,
        tags: Tags::all(filter.tags),
        entities: filter.entities,
        scopes: filter.scope,
        since: filter.since.map(|time| time.of("since").beginning(now)).transpose()?,
        until: filter.until.map(|time| time.of("until").end(now)).transpose()?,
        ..Filters::default()
    };
    Ok(filters.in_order()?)
}
