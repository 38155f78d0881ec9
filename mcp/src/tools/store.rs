//! `memory_store`: stores a memory, or changes one when an id is given.

use serde_json::json;
use tessera_desk::use_cases::{Alike, Remember};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{Near, Stored};

use super::stored::{importance, reason, reply};
use super::{Call, Entry, FORMAT, Reply, form};
use crate::args::{
    Args, CATEGORY, ENTITIES, EXPIRES, IDS, KEYWORDS, METADATA, PROVENANCE, REASON, SCOPE, SENSITIVE, SUMMARY, TAGS,
    TYPE,
};

const SESSION: &[&str] = &["session"];
const SUPERSEDES: &[&str] = &["supersedes"];

pub(super) const TOOL: Entry = Entry {
    name: "memory_store",
    title: "Store a memory",
    description: "Remember something for later sessions: a preference, decision, fact or person. One self-contained \
         statement each. With id: change that memory. Credentials in it are sealed apart.",
    effect: Effect::Adds,
    properties: || {
        json!({
            "content": { "type": "string", "description": "What to remember, verbatim" },
            "category": { "type": "string", "description": "facts, preferences, projects, people, decisions" },
            "type": { "type": "string", "enum": ["fact", "entity", "relationship", "self"] },
            "importance": { "type": "number", "minimum": 0, "maximum": 10, "description": "0 to 1; above 1: of 10" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "keywords": { "type": "array", "items": { "type": "string" }, "description": "Other words to find it by" },
            "scope": { "type": "string", "description": "Project, or global; else the client's project, but global for preferences and people" },
            "expires_at": { "type": "string", "description": "Date, or never" },
            "ttl_days": { "type": "integer" },
            "supersedes": { "type": "string", "description": "Id it replaces" },
            "id": { "type": "string", "description": "Memory to change" },
            "force_sensitive": { "type": "boolean", "description": "Seal all of it; summary says what it is" }
        })
    },
    aliases: &[
        IDS, TAGS, CATEGORY, TYPE, ENTITIES, SCOPE, KEYWORDS, EXPIRES, SENSITIVE, METADATA, PROVENANCE, FORMAT,
        SESSION, SUMMARY, REASON,
    ],
    required: &["content"],
    needs_team: false,
    is_always_loaded: true,
    call: Call::Desk(call),
};

fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    if args.id()?.is_some() {
        let fix = "leave it out; memory_link says that a memory replaces another";
        args.refuse(&[SUPERSEDES, SESSION], "is of a new memory, and id names one that is there", fix)?;
        return super::update::call(desk, args);
    }
    // What cannot be answered as asked is not stored.
    form(args)?;
    let now = desk.now();
    let stored = desk.perform(Remember {
        sensitive: args.sensitive()?,
        supersedes: args.parsed(SUPERSEDES)?,
        content: args.required(&["content"])?,
        category: args.parsed(CATEGORY)?,
        kind: args.parsed(TYPE)?,
        importance: importance(args)?,
        tags: args.tags()?.unwrap_or_default(),
        keywords: args.list(KEYWORDS)?.unwrap_or_default(),
        entities: args.list(ENTITIES)?.unwrap_or_default(),
        scope: args.parsed(SCOPE)?,
        expires: args.expiry(now)?.map(|expiry| expiry.seen_from(now)).transpose()?.flatten(),
        session: args.text(SESSION)?,
        metadata: args.metadata()?,
        reason: reason(args)?,
        created: None,
        vouched: None,
    })?;
    let near = alike(desk, &stored);
    Ok(reply(desk, args, if stored.existed { "Already stored as" } else { "Stored" }, &stored, near)?)
}

/// What is there already and says nearly the same. The memory is on disk: what comes of looking changes nothing of that.
fn alike(desk: &mut Desk<'_>, stored: &Stored) -> Vec<Near> {
    if stored.existed {
        return Vec::new();
    }
    desk.perform(Alike { id: MemoryRef::ShortId(stored.memory.short_id) }).unwrap_or_default()
}
