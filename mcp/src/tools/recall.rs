//! `memory_recall`: what the memory knows of a question, within a budget.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::domain::RecallRequest;
use tessera_engine::pack::{JsonRows, TextFrame, neutral_line};
use tessera_engine::text::{O200k, TokenCounter};

use super::{Caller, Effect, Format, always_loaded, budgeted, format, tool};
use crate::args::Args;
use crate::error::ToolError;

pub(super) fn definition() -> Tool {
    let description = "Find stored memories: preferences, decisions, facts of earlier sessions. Gives the best in full and \
         an index of the rest (#id summary), never more than max_tokens. memory_get gives the full text of an #id.";
    let properties = json!({
        "query": { "type": "string", "description": "The question, in any words" },
        "expanded_query": { "type": "string", "description": "Set it: synonyms, full names, likely words of the answer" },
        "max_tokens": { "type": "integer", "description": "Bound of the whole reply", "default": 1000 },
        "limit": { "type": "integer", "default": 20, "maximum": 200 },
        "category": { "type": "string", "description": "facts, preferences, projects, people, decisions" },
        "type": { "type": "string", "enum": ["fact", "entity", "relationship", "self"] },
        "tags": { "type": "array", "items": { "type": "string" } },
        "entities": { "type": "array", "items": { "type": "string" } },
        "scope": { "type": "string", "description": "Only this project" },
        "project": { "type": "string", "description": "Current project, ranked first" },
        "since": { "type": "string", "description": "Date" },
        "until": { "type": "string" },
        "sort": { "type": "string", "enum": ["hybrid", "relevance", "importance", "recency"] },
        "cursor": { "type": "string", "description": "For the next page" },
        "weak": { "type": "boolean", "description": "If nothing matches, list all near notes" },
        "format": { "type": "string", "enum": ["text", "json"] }
    });
    always_loaded(tool("memory_recall", "Recall memories", description, Effect::Reads, properties, &["query"]))
}

pub(super) fn call(store: &mut Store, args: &Args, caller: &Caller) -> Result<String, ToolError> {
    let request = RecallRequest {
        expanded_query: args.text(&["expanded_query"])?,
        limit: args.whole(&["limit"])?.map_or(Ok(20), RecallRequest::checked_limit)?,
        filters: args.filters()?,
        scope: args.parsed(&["project"])?.or_else(|| caller.project.clone()),
        sort: args.parsed(&["sort", "sort_by"])?.unwrap_or_default(),
        packing: args.parsed(&["packing"])?.unwrap_or_default(),
        cursor: args.parsed(&["cursor"])?,
        weak: args.flag(&["weak"])?,
        ..budgeted(args, caller, args.required(&["query", "context"])?)?
    };
    match format(args)? {
        Format::Text => text(store, &request),
        Format::Json => Ok(store.recall_json(&request, JsonRows::default())?.body),
    }
}

/// A recall as text; a scope that hits nothing is told which scopes would.
pub(crate) fn text(store: &mut Store, request: &RecallRequest) -> Result<String, ToolError> {
    let recall = store.recall(request)?;
    if recall.total_count > 0 || request.filters.scopes.is_empty() {
        return Ok(recall.body);
    }
    let near = store.near_scopes(request)?;
    if near.is_empty() {
        return Ok(recall.body);
    }
    let list = near.iter().map(|(scope, count)| format!("{count} under {scope}")).collect::<Vec<_>>().join(", ");
    let line = format!("Elsewhere: {}.\n", neutral_line(&list));
    let frame = TextFrame { total: 0, budget: request.budget, profile: request.profile };
    let (hinted, used) = frame.nothing(&line, O200k.count(&line));
    Ok(if used <= request.budget.get() { hinted } else { recall.body })
}
