//! `memory_recall`: finds memories for a question, within a budget.

use serde_json::json;
use tessera_desk::use_cases::{Answer, Form, Recall};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::{Breadth, DomainError, Packing, RecallRequest, Sort};
use tessera_engine::pack::{TextFrame, neutral_line};
use tessera_engine::text::{O200k, TokenCounter};

use super::{Call, Entry, FORMAT, Listed, MAX_TOKENS, ROWS, Reply, budgeted, form, list};
use crate::args::{Args, CATEGORY, ENTITIES, SCOPE, TAGS, TYPE};

/// `question`, `text` and `q` are common mistakes of models.
const QUERY: &[&str] = &["query", "context", "question", "text", "q"];
const INDEX: &[&str] = &["index"];
const PACKING: &[&str] = &["packing"];
const SORT: &[&str] = &["sort", "sort_by"];
const EXPANDED: &[&str] = &["expanded_query"];
const CURSOR: &[&str] = &["cursor"];
const EXPIRED: &[&str] = &["expired"];
const AFTER: &[&str] = &["after"];

pub(super) const TOOL: Entry = Entry {
    name: "memory_recall",
    title: "Recall memories",
    description: "Find memories: preferences, decisions, facts of earlier sessions. Returns the best in full and the rest as \
        summaries (#id summary), within max_tokens. Without query: lists memories, newest first.",
    effect: Effect::Reads,
    properties: || {
        json!({
            "query": { "type": "string", "description": "The question; omit it to list all" },
            "expanded_query": { "type": "string", "description": "Synonyms, likely words of the answer" },
            "max_tokens": { "type": "integer", "description": "Reply limit; default 1000" },
            "limit": { "type": "integer", "description": "Default 20, at most 200" },
            "category": { "type": "string", "description": "Such as decisions" },
            "type": { "type": "string", "description": "Such as fact" },
            "tags": { "type": "array", "items": { "type": "string" }, "description": "Any of these" },
            "entities": { "type": "array", "items": { "type": "string" }, "description": "Names any of these" },
            "scope": { "type": "string", "description": "Only this project" },
            "project": { "type": "string", "description": "Current project, or global" },
            "since": { "type": "string", "description": "Date or 7d" },
            "until": { "type": "string", "description": "Date" },
            "sort": { "type": "string", "description": "hybrid, relevance, importance, recency" },
            "breadth": { "type": "string", "description": "on: many short rows; off" },
            "cursor": { "type": "string", "description": "For the next page" },
            "weak": { "type": "boolean", "description": "Show weak matches" },
            "format": { "type": "string", "description": "text or json" },
            "rows": { "type": "string", "description": "json: full or short" },
            "index": { "type": "string", "description": "Summaries: rest or all" },
            "expired": { "type": "boolean", "description": "Without query: expired ones" },
            "after": { "type": "string", "description": "Without query: continue after this ID" }
        })
    },
    aliases: &[TAGS, CATEGORY, TYPE, ENTITIES, SCOPE, MAX_TOKENS, FORMAT, SORT, QUERY, ROWS, INDEX, PACKING],
    required: &[],
    listed: Listed::Always,
    is_always_loaded: true,
    call: Call::Desk(call),
};

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    if !args.has(QUERY) {
        args.refuse(&[EXPANDED], "needs a query", "pass the question as query")?;
        args.refuse(&[CURSOR], "needs a query", "pass query, or continue a list with after")?;
        if sort(args)? == Some(Sort::Importance) {
            let problem = "importance needs a query; a list is sorted by time";
            return Err(DomainError::invalid("sort", problem, "omit it, or pass query").into());
        }
        return list::call(desk, args);
    }
    if args.flag(EXPIRED)? {
        args.refuse(&[EXPIRED], "applies only to a list without a query", "omit it, or omit query")?;
    }
    args.refuse(&[AFTER], "applies only to a list without a query", "omit it, or omit query")?;
    if args.has(INDEX) {
        args.refuse(&[PACKING], "cannot be used together with index", "give one of them")?;
    }
    let packing = match args.choice(INDEX, &["all", "rest"], "use all or rest")? {
        None => args.parsed(PACKING)?.unwrap_or_default(),
        Some("all") => Packing::All,
        Some(_) => Packing::Dual,
    };
    let limit = args.whole(&["limit"])?.unwrap_or(RecallRequest::DEFAULT_LIMIT);
    let (limit, is_limited) = RecallRequest::bounded_limit(limit)?;
    // If all memories are to be listed, none is only a short row.
    let usual = if packing == Packing::All { Breadth::Off } else { Breadth::Auto };
    let request = RecallRequest {
        expanded_query: args.text(EXPANDED)?,
        limit,
        is_limited,
        filters: args.filters(desk.now())?,
        scope: args.parsed(&["project"])?,
        sort: sort(args)?.unwrap_or_default(),
        packing,
        breadth: args.parsed(&["breadth"])?.unwrap_or(usual),
        cursor: args.parsed(CURSOR)?,
        weak: args.flag(&["weak"])?,
        ..budgeted(args, args.required(QUERY)?)?
    };
    match form(args)? {
        Form::Text => text(desk, request),
        form @ Form::Json(_) => Ok(desk.perform(Recall { request, form })?.reply.body),
    }
}

/// The requested order. `newest`, `recent` and `date` are common mistakes of models.
fn sort(args: &Args) -> Result<Option<Sort>, DomainError> {
    let text = args.text(SORT)?.map(|text| text.to_lowercase());
    if text.is_some_and(|text| ["newest", "latest", "recent", "date", "time", "created"].contains(&text.trim())) {
        return Ok(Some(Sort::Recency));
    }
    args.parsed(SORT)
}

/// A recall as text. If the scope has no memories, the reply names scopes that have some.
pub(crate) fn text(desk: &mut Desk<'_>, request: RecallRequest) -> Reply {
    let Answer { reply, request, near, .. } = desk.perform(Recall { request, form: Form::Text })?;
    if near.is_empty() {
        return Ok(reply.body);
    }
    let list = near.iter().map(|(scope, count)| format!("{count} under {scope}")).collect::<Vec<_>>().join(", ");
    let line = format!("Elsewhere: {}.\n", neutral_line(&list));
    let frame = TextFrame::new(0, request.budget, request.profile).with_unreviewed(&reply.unreviewed);
    let (hinted, used) = frame.nothing(&line, O200k.count(&line));
    Ok(if used <= request.budget.get() { hinted } else { reply.body })
}
