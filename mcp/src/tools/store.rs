//! `memory_store`: stores a memory, or changes one when an id is given.

use rmcp::model::Tool;
use serde_json::json;
use tessera_engine::Store;
use tessera_engine::domain::{Category, Draft, Importance, Link, LinkKind, MemoryRef, Origin, Scope};
use tessera_engine::enrich;
use tessera_engine::pack::neutral_line;
use tessera_engine::store::{StoreError, Stored};

use super::{Caller, Effect, always_loaded, tool};
use crate::args::{Args, CATEGORY, ENTITIES, KEYWORDS, SCOPE, TYPE};
use crate::error::ToolError;

pub(super) fn definition() -> Tool {
    let description = "Remember something for later sessions: a preference, decision, fact or person. One self-contained \
         statement each. With id: change that memory. No secrets.";
    let properties = json!({
        "content": { "type": "string", "description": "What to remember, verbatim" },
        "category": { "type": "string", "description": "facts, preferences, projects, people, decisions" },
        "type": { "type": "string", "enum": ["fact", "entity", "relationship", "self"] },
        "importance": { "type": "number", "minimum": 0, "maximum": 1 },
        "tags": { "type": "array", "items": { "type": "string" } },
        "keywords": { "type": "array", "items": { "type": "string" }, "description": "Other words to find it by" },
        "scope": { "type": "string", "description": "Project, or global; else the current project, but global for preferences and people" },
        "expires_at": { "type": "string", "description": "Date, or never" },
        "ttl_days": { "type": "integer" },
        "supersedes": { "type": "string", "description": "Id it replaces" },
        "id": { "type": "string", "description": "Memory to change" }
    });
    always_loaded(tool("memory_store", "Store a memory", description, Effect::Adds, properties, &["content"]))
}

pub(super) fn call(store: &mut Store, args: &Args, caller: &Caller) -> Result<String, ToolError> {
    args.refuse_protection()?;
    if args.id()?.is_some() {
        return super::update::call(store, args, caller);
    }
    let links = match args.parsed::<MemoryRef>(&["supersedes"])? {
        None => Vec::new(),
        Some(old) => {
            let memory = store.get(old)?.ok_or(StoreError::NotFound(old))?;
            vec![Link { kind: LinkKind::Supersedes, to: memory.id }]
        }
    };
    let content = args.required(&["content"])?;
    let category: Option<Category> = args.parsed(CATEGORY)?;
    let scope = args.parsed(SCOPE)?.unwrap_or_else(|| default_scope(&content, category.as_ref(), caller));
    let now = store.now();
    // A memory of the project that the session is in shows that its directory is of the project.
    let dir = caller.dir.as_ref().filter(|_| caller.project.as_ref() == Some(&scope));
    let draft = Draft {
        expires: args.expiry(now)?.map(|expiry| expiry.seen_from(now)).transpose()?.flatten(),
        cwd: dir.map(|dir| dir.to_string_lossy().into_owned()),
        category,
        kind: args.parsed(TYPE)?,
        importance: importance(args)?,
        tags: args.tags()?.unwrap_or_default(),
        keywords: args.list(KEYWORDS)?.unwrap_or_default(),
        entities: args.list(ENTITIES)?.unwrap_or_default(),
        scope,
        session: args.text(&["session"])?.or_else(|| caller.session.clone()),
        client: caller.client.clone(),
        origin: Origin::Agent,
        links,
        ..Draft::new(content)
    };
    let stored = store.remember(draft)?;
    Ok(told(if stored.existed { "Already stored as" } else { "Stored" }, &stored) + &args.not_kept())
}

/// Preferences and people go with the person; the rest belongs to the project the session is in.
fn default_scope(content: &str, category: Option<&Category>, caller: &Caller) -> Scope {
    let derived = enrich::category(content);
    let is_personal = matches!(category.unwrap_or(&derived).as_str(), Category::PREFERENCES | "people");
    caller.project.clone().filter(|_| !is_personal).unwrap_or_default()
}

pub(super) fn importance(args: &Args) -> Result<Option<Importance>, ToolError> {
    Ok(args.number(&["importance"])?.map(Importance::try_from).transpose()?)
}

/// One line about a memory that was written.
pub(super) fn told(verb: &str, stored: &Stored) -> String {
    let memory = &stored.memory;
    format!(
        "{verb} {} in {} (importance {:.2}, {} tokens): {}",
        memory.handle,
        neutral_line(memory.category.as_str()),
        f64::from(memory.importance),
        stored.tokens,
        neutral_line(&memory.summary)
    )
}
