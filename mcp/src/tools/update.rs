//! `memory_update`: changes fields of a memory.

use serde_json::json;
use tessera_desk::use_cases::{Update, Which};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::Patch;

use super::stored::{importance, reason, reply};
use super::{Call, Entry, FORMAT, Listed, Reply, form, meant};
use crate::args::{
    Args, CATEGORY, CONTENT, ENTITIES, EXPIRES, IDS, KEYWORDS, METADATA, PROVENANCE, SENSITIVE, TAGS, TO_SCOPE, TYPE,
};

pub(super) const TOOL: Entry = Entry {
    name: "memory_update",
    title: "Change a memory",
    description: "Change fields of a memory; other fields stay. The history keeps the earlier text.",
    effect: Effect::Changes,
    properties: || {
        json!({
            "id": { "type": "string", "description": "ID such as 42" },
            "content": { "type": "string", "description": "The new text" },
            "category": { "type": "string", "description": "Such as decisions" },
            "type": { "type": "string", "enum": ["fact", "entity", "relationship", "self"], "description": "What it describes" },
            "importance": { "type": "number", "minimum": 0, "maximum": 10, "description": "0 to 1; values above 1 \
                are on a scale of 10" },
            "tags": { "type": "array", "items": { "type": "string" }, "description": "Replace the old tags" },
            "keywords": { "type": "array", "items": { "type": "string" }, "description": "Other words to find it by" },
            "entities": { "type": "array", "items": { "type": "string" }, "description": "Names in the text" },
            "scope": { "type": "string", "description": "Project or global" },
            "expires_at": { "type": "string", "description": "Date, or never" },
            "ttl_days": { "type": "integer", "description": "Days to keep it" },
            "metadata": { "type": "object", "description": "A JSON object stored with the memory; {} removes it" },
            "reason": { "type": "string", "description": "Why, for the history" },
            "format": { "type": "string", "enum": ["text", "json"], "description": "Form of the reply" },
            "force_sensitive": { "type": "boolean", "description": "Encrypt the whole new content, because all of it is secret" },
            "summary": { "type": "string", "description": "Only with force_sensitive: a description of the secret text" }
        })
    },
    aliases: &[
        CONTENT, IDS, TAGS, CATEGORY, TYPE, ENTITIES, TO_SCOPE, KEYWORDS, EXPIRES, SENSITIVE, METADATA, PROVENANCE,
        FORMAT,
    ],
    required: &["id"],
    listed: Listed::Never,
    is_always_loaded: false,
    call: Call::Changing(call),
};

pub(super) fn call(desk: &mut Desk<'_>, args: &Args) -> Reply {
    form(args)?;
    let now = desk.now();
    let patch = Patch {
        content: args.text(CONTENT)?,
        category: args.parsed(CATEGORY)?,
        kind: args.parsed(TYPE)?,
        importance: importance(args)?,
        tags: args.tags()?,
        keywords: args.list(KEYWORDS)?,
        entities: args.list(ENTITIES)?,
        scope: args.parsed(TO_SCOPE)?,
        expires: args.expiry(now)?.map(|expiry| expiry.seen_from(now)).transpose()?,
        metadata: args.metadata()?,
        owner_trust: None,
        sensitive: args.sensitive()?,
    };
    let which = Which::Named(vec![meant(desk, args)?]);
    let updated = desk.perform(Update { which, patch, reason: reason(args)? })?;
    match updated.only {
        Some(stored) => Ok(reply(desk, args, "Updated", &stored, Vec::new())?),
        None => Ok(String::new()),
    }
}
