//! `memory_recall`: finds memories for a question, within a budget.

use serde_json::json;
use tessera_desk::use_cases::{Answer, Form, Recall};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::{Breadth, DomainError, Packing, RecallRequest};
use tessera_engine::pack::{TextFrame, neutral_line};
use tessera_engine::text::{O200k, TokenCounter};

use super::{Call, Entry, FORMAT, MAX_TOKENS, ROWS, Reply, budgeted, form};
use crate::args::{Args, CATEGORY, ENTITIES, SCOPE, TAGS, TYPE};

const QUERY: &[&str] = &["query", "context"];
const INDEX: &[&str] = &["index"];
const PACKING: &[&str] = &["packing"];
const SORT: &[&str] = &["sort", "sort_by"];

pub(super) const TOOL: Entry = Entry {
    name: "memory_recall",
    title: "Recall memories",
    description: "Find stored memories: preferences, decisions, facts of earlier sessions. Returns the best in full \
        and summaries of the rest (#id summary), within max_tokens. memory_get returns the full text of an #id.",
    effect: Effect::Reads,
    properties: || {
        json!({
            "query": { "type": "string", "description": "The question, in any words" },
            "expanded_query": { "type": "string", "description": "Synonyms, full names and likely words of the \
                answer" },
            "max_tokens": { "type": "integer", "description": "Token limit of the reply", "default": 1000 },
            "limit": { "type": "integer", "default": 20, "maximum": 200 },
            "category": { "type": "string", "description": "facts, preferences, projects, people, decisions" },
            "type": { "type": "string", "enum": ["fact", "entity", "relationship", "self"] },
            "tags": { "type": "array", "items": { "type": "string" } },
            "entities": { "type": "array", "items": { "type": "string" } },
            "scope": { "type": "string", "description": "Only this project" },
            "project": { "type": "string", "description": "Current project; global: all" },
            "since": { "type": "string", "description": "Date" },
            "until": { "type": "string" },
            "sort": { "type": "string", "enum": ["hybrid", "relevance", "importance", "recency"] },
            "breadth": { "type": "string", "enum": ["auto", "on", "off"], "description": "on: many short rows by date" },
            "cursor": { "type": "string", "description": "For the next page" },
            "weak": { "type": "boolean", "description": "If nothing matches, list weak matches" },
            "format": { "type": "string", "enum": ["text", "json"] }
        })
    },
    aliases: &[TAGS, CATEGORY, TYPE, ENTITIES, SCOPE, MAX_TOKENS, FORMAT, SORT, QUERY, ROWS, INDEX, PACKING],
    required: &["query"],
    needs_team: false,
    is_always_loaded: true,
    call: Call::Desk(call),
};

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    if args.has(INDEX) {
        args.refuse(&[PACKING], "cannot be used together with index", "give one of them")?;
    }
    let packing = match args.text(INDEX)?.as_deref() {
        None => args.parsed(PACKING)?.unwrap_or_default(),
        Some("rest") => Packing::Dual,
        Some("all") => Packing::All,
        Some(_) => return Err(DomainError::invalid("index", "is unknown", "use `all` or `rest`").into()),
    };
    let limit = args.whole(&["limit"])?.unwrap_or(RecallRequest::DEFAULT_LIMIT);
    let (limit, is_limited) = RecallRequest::bounded_limit(limit)?;
    // If all memories are to be listed, none is only a short row.
    let usual = if packing == Packing::All { Breadth::Off } else { Breadth::Auto };
    let request = RecallRequest {
        expanded_query: args.text(&["expanded_query"])?,
        limit,
        is_limited,
        filters: args.filters(desk.now())?,
        scope: args.parsed(&["project"])?,
        sort: args.parsed(SORT)?.unwrap_or_default(),
        packing,
        breadth: args.parsed(&["breadth"])?.unwrap_or(usual),
        cursor: args.parsed(&["cursor"])?,
        weak: args.flag(&["weak"])?,
        ..budgeted(args, args.required(QUERY)?)?
    };
    match form(args)? {
        Form::Text => text(desk, request),
        form @ Form::Json(_) => Ok(desk.perform(Recall { request, form })?.reply.body),
    }
}

/// A recall as text. If the scope has no memories, the reply names scopes that have some.
pub(crate) fn text(desk: &mut Desk<'_>, request: RecallRequest) -> Reply {
    let Answer { reply, request, near, .. } = desk.perform(Recall { request, form: Form::Text })?;
    if near.is_empty() {
        return Ok(reply.body);
    }
    let list = near.iter().map(|(scope, count)| format!("{count} under {scope}")).collect::<Vec<_>>().join(", ");
    let line = format!("Elsewhere: {}.\n", neutral_line(&list));
    let frame = TextFrame::new(0, request.budget, request.profile);
    let (hinted, used) = frame.nothing(&line, O200k.count(&line));
    Ok(if used <= request.budget.get() { hinted } else { reply.body })
}
