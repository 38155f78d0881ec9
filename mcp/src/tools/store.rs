//! `memory_store`: stores a memory, or changes one if an ID is given.

use serde_json::json;
use tessera_desk::use_cases::{Alike, Form, Remember, ScopeFound, ScopeMeant};
use tessera_desk::views::told_scope;
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::{DomainError, MemoryRef, Scope};
use tessera_engine::pack::neutral_line;
use tessera_engine::store::{Near, Stored};

use super::stored::{importance, reason, reply};
use super::{Call, Entry, FORMAT, Listed, Reply, form};
use crate::args::{
    Args, CATEGORY, CONTENT, ENTITIES, EXPIRES, IDS, KEYWORDS, METADATA, PROVENANCE, REASON, SENSITIVE, SUMMARY, TAGS,
    TO_SCOPE, TYPE,
};

const SESSION: &[&str] = &["session"];
const SUPERSEDES: &[&str] = &["supersedes"];

pub(super) const TOOL: Entry = Entry {
    name: "memory_store",
    title: "Store a memory",
    description: "Remember something for later sessions: a preference, decision, fact or person. One self-contained \
        statement each. With id: change that memory. Redacts and encrypts credentials.",
    effect: Effect::Adds,
    properties: || {
        json!({
            "content": { "type": "string", "description": "The text to remember, verbatim" },
            "category": { "type": "string", "description": "facts, preferences, projects, people, decisions" },
            "type": { "type": "string", "description": "fact, entity, relationship, self" },
            "importance": { "type": "number", "description": "0 to 1" },
            "tags": { "type": "array", "items": { "type": "string" }, "description": "Labels" },
            "keywords": { "type": "array", "items": { "type": "string" }, "description": "Other words to find it by" },
            "entities": { "type": "array", "items": { "type": "string" }, "description": "Names in it" },
            "scope": { "type": "string", "description": "Project or global; default by category" },
            "expires_at": { "type": "string", "description": "Date or never" },
            "ttl_days": { "type": "integer", "description": "Days to keep it" },
            "supersedes": { "type": "string", "description": "ID it replaces" },
            "id": { "type": "string", "description": "Memory to change" },
            "reason": { "type": "string", "description": "Why, for the history" },
            "session": { "type": "string", "description": "Its session" },
            "metadata": { "type": "object", "description": "JSON kept with it" },
            "provenance": { "type": "string", "description": "Its source" },
            "force_sensitive": { "type": "boolean", "description": "Encrypt all of it" },
            "summary": { "type": "string", "description": "Of a sensitive text" },
            "format": { "type": "string", "description": "text or json" }
        })
    },
    aliases: &[
        CONTENT, IDS, TAGS, CATEGORY, TYPE, ENTITIES, TO_SCOPE, KEYWORDS, EXPIRES, SENSITIVE, METADATA, PROVENANCE,
        FORMAT, SESSION, SUMMARY, REASON,
    ],
    required: &[],
    listed: Listed::Always,
    is_always_loaded: true,
    call: Call::Desk(call),
};

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    if args.id()?.is_some() {
        let fix = "omit it; to replace one memory with another, use memory_link";
        args.refuse(&[SUPERSEDES, SESSION], "applies only to a new memory, but id names an existing one", fix)?;
        return super::update::call(desk, args);
    }
    // The form of the reply is checked before anything is stored.
    form(args)?;
    let now = desk.now();
    let given: Option<Scope> = args.parsed(TO_SCOPE)?;
    let meant = given.clone().map(|given| desk.perform(ScopeMeant { given })).transpose()?;
    let stored = desk.perform(Remember {
        sensitive: args.sensitive()?,
        supersedes: args.parsed(SUPERSEDES)?,
        content: args.required(CONTENT)?,
        category: args.parsed(CATEGORY)?,
        kind: args.parsed(TYPE)?,
        importance: importance(args)?,
        tags: args.tags()?.unwrap_or_default(),
        keywords: args.list(KEYWORDS)?.unwrap_or_default(),
        entities: args.list(ENTITIES)?.unwrap_or_default(),
        scope: meant.as_ref().map(|meant| meant.scope.clone()),
        expires: args.expiry(now)?.map(|expiry| expiry.seen_from(now)).transpose()?.flatten(),
        session: args.text(SESSION)?,
        metadata: args.metadata()?,
        reason: reason(args)?,
        created: None,
        owner_trust: None,
        accepts: None,
    })?;
    let near = alike(desk, &stored);
    let told = reply(desk, args, if stored.existed { "Already stored as" } else { "Stored" }, &stored, near)?;
    Ok(told + &scope_line(desk, args, &stored, given.zip(meant).as_ref())?)
}

/// In a text reply, says that a memory of a project's directory is kept for all projects, that the given scope is the
/// short name of an existing project, or that it is a new project.
fn scope_line(
    desk: &Desk<'_>,
    args: &Args,
    stored: &Stored,
    scope: Option<&(Scope, ScopeFound)>,
) -> Result<String, DomainError> {
    if !matches!(form(args)?, Form::Text) {
        return Ok(String::new());
    }
    let id = stored.memory.short_id.get();
    let change =
        |scope: &Scope| format!("memory_store {{\"id\": {id}, \"scope\": \"{}\"}}", neutral_line(scope.as_str()));
    let shown = |scope: &Scope| neutral_line(scope.as_str());
    let told = match scope {
        Some((given, found)) if *given != found.scope => {
            Some(format!("{} means {}; {} uses the exact name", shown(given), shown(&found.scope), change(given)))
        }
        Some((given, found)) if found.is_new => Some(format!("{} is a new project", shown(given))),
        Some(_) => None,
        None => told_scope(stored, desk.caller(), false, change),
    };
    Ok(told.map_or_else(String::new, |told| format!("\n{told}")))
}

/// Existing memories that say nearly the same. The memory is already on disk, so an error here is ignored.
fn alike(desk: &mut Desk<'_>, stored: &Stored) -> Vec<Near> {
    if stored.existed {
        return Vec::new();
    }
    desk.perform(Alike { id: MemoryRef::ShortId(stored.memory.short_id) }).unwrap_or_default()
}
