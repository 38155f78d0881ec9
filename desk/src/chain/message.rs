//! What a plugin is told, as a line of JSON.

use serde_json::{Map, Value, json};
use tessera_engine::domain::Memory;
use tessera_engine::screen::dropped;
use tessera_plugins::{ABI, Event, When};

use super::Done;
use super::seen::Seen;

/// A memory as plugins see it. What was taken out of its text is a place in it; a row of before credentials were looked for
/// is shown without them too.
pub(super) fn view(memory: &Memory) -> Value {
    let words = |words: &[String]| words.iter().map(|word| dropped(word).into_owned()).collect::<Vec<_>>();
    let tags: Vec<_> = memory.tags.iter().map(|tag| dropped(tag.as_str())).collect();
    json!({
        "id": memory.id,
        "handle": memory.handle,
        "content": dropped(&memory.content),
        "summary": dropped(&memory.summary),
        "category": memory.category,
        "type": memory.kind,
        "importance": memory.importance,
        "tags": tags,
        "keywords": words(&memory.keywords),
        "entities": words(&memory.entities),
        "scope": memory.scope,
        "created": memory.created,
        "updated": memory.updated,
        "expires_at": memory.expires,
        "origin": memory.origin,
        "deleted": memory.deleted,
    })
}

fn head(event: Event, when: When) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("abi".into(), json!(ABI));
    head.insert("event".into(), json!(event));
    head.insert("when".into(), json!(when));
    head
}

/// What is asked for.
pub(super) fn before(seen: &Seen) -> Vec<u8> {
    let mut message = head(seen.event, When::Before);
    let caller = &seen.caller;
    message.insert("origin".into(), json!(caller.origin));
    message.insert("client".into(), json!(caller.client.as_deref().map(dropped)));
    message.insert("project".into(), json!(caller.scope()));
    message.insert("unasked".into(), json!(seen.is_prompt));
    if seen.event == Event::Forget {
        message.insert("hard".into(), json!(seen.is_hard));
    }
    let fields: Map<String, Value> =
        seen.fields.iter().map(|(field, value)| (field.as_str().to_owned(), value.clone())).collect();
    message.insert("fields".into(), Value::Object(fields));
    message.insert("memories".into(), json!(seen.memories));
    serde_json::to_vec(&message).unwrap_or_default()
}

/// What was done.
pub(super) fn after(done: &Done<'_>) -> Vec<u8> {
    let entry = done.entry;
    let mut message = head(entry.event, When::After);
    message.insert("origin".into(), json!(entry.origin));
    message.insert("client".into(), json!(entry.client));
    message.insert("project".into(), json!(entry.project));
    message.insert("unasked".into(), json!(entry.unasked));
    if entry.event == Event::Forget {
        message.insert("hard".into(), json!(entry.hard));
    }
    if let Some(query) = &entry.query {
        message.insert("fields".into(), json!({ "query": query }));
    }
    message.insert("ids".into(), json!(entry.ids));
    message.insert("memories".into(), json!(done.memories.iter().map(view).collect::<Vec<_>>()));
    message.insert("at".into(), json!(entry.at));
    serde_json::to_vec(&message).unwrap_or_default()
}
