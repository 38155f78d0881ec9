//! `memory_recall`: what the memory knows of a question, within a budget.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, RecallRequest, TokenCount};
use tessera_engine::text::TokenCounter;

use super::{Caller, Effect, always_loaded, budgeted, tool};
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
    match args.text(&["format"])?.as_deref() {
        None | Some("text") => text(store, &request),
        Some("json") => Ok(store.recall_json(&request)?.body),
        Some(_) => Err(DomainError::invalid("format", "is unknown", "give text or json").into()),
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
    let hinted = format!("{}Elsewhere: {}.\n", recall.body, tessera_engine::pack::neutral(&list));
    let cost = request.profile.of_o200k(TokenCount(store.counter().count(&hinted)));
    Ok(if cost <= request.budget.get() { hinted } else { recall.body })
}
