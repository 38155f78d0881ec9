//! A plugin as a link of the chain.
//!
//! Builds the JSON message for a plugin.

use serde_json::{Map, Value, json};
use tessera_engine::domain::{Memory, TokenProfile};
use tessera_engine::screen::dropped;
use tessera_engine::store::{Near, StoreError};
use tessera_engine::text::{O200k, TokenCounter};
use tessera_plugins::wasm::Limits;
use tessera_plugins::{ABI, Event, Failure, Name, Plugin, Ran, When, run};

use super::installed::Installed;
use super::seen::{Asked, Seen};
use super::{Done, Link};

/// A plugin that is called.
pub(super) struct PluginLink<'a> {
    pub(super) plugin: &'a Plugin,
    pub(super) installed: &'a Installed,
}

impl Link for PluginLink<'_> {
    fn before(&self, seen: &mut Seen, asked: &mut Asked<'_>) -> Result<(), StoreError> {
        let manifest = &self.plugin.manifest;
        let limits = if seen.is_prompt {
            // All plugins of a prompt share its waiting time.
            let left = seen.caller.plugins.prompt.saturating_sub(seen.started.elapsed());
            if !manifest.fast || left.is_zero() {
                return Ok(());
            }
            Limits { time: left, ..Limits::PROMPT }
        } else {
            Limits::WAITED
        };
        let ran = self.call(&before(seen), seen.now, limits);
        let answered = ran.reply.and_then(|reply| {
            let changes = reply.granted(manifest)?;
            if reply.refuse.is_none() {
                let fields = seen.change(asked, manifest.name.as_str(), &changes)?;
                if seen.event == Event::Recall && !fields.is_empty() {
                    // A question has no history.
                    self.installed.note(&manifest.name, &format!("changed {}", fields.join(", ")));
                }
            }
            Ok((reply.refuse.clone(), reply.note.clone()))
        });
        match self.counted(answered) {
            Some((Some(reason), _)) => Err(refusal(&manifest.name, reason, asked, seen.caller.profile)),
            _ => Ok(()),
        }
    }

    fn after(&self, done: &Done<'_>) -> Vec<Near> {
        let now = done.store.now();
        let ran = self.call(&after(done), now.as_micros(), Limits::UNWAITED);
        let answered = ran.reply.and_then(|reply| {
            if reply.refuse.is_some() || !reply.change.is_empty() {
                return Err(Failure::NotGranted("change or reject the result of a finished action".to_owned()));
            }
            Ok((None, reply.note))
        });
        self.counted(answered);
        Vec::new()
    }
}

/// A rejection, shortened to the caller's token limit.
fn refusal(by: &Name, reason: String, asked: &Asked<'_>, profile: TokenProfile) -> StoreError {
    let refused = |reason: String| StoreError::Refused { by: by.to_string(), reason };
    let Asked::Recall(request) = asked else { return refused(reason) };
    let most = profile.to_o200k(request.budget).0;
    let is_within = |error: &StoreError| O200k.count(&error.to_string()) <= most;
    let mut said = dropped(&reason).into_owned();
    let mut error = refused(said.clone());
    while !is_within(&error) && said.pop().is_some() {
        error = refused(format!("{}…", said.trim_end()));
    }
    error
}

/// The answer of a plugin: a reason for a rejection and a note for the log, both optional.
type Said = (Option<String>, Option<String>);

impl PluginLink<'_> {
    fn call(&self, message: &[u8], now: i64, limits: Limits) -> Ran {
        let dir = self.installed.data_dir(self.plugin);
        run(self.plugin, message, now, &dir, limits)
    }

    /// Counts a call, and writes its log line.
    fn counted(&self, answered: Result<Said, Failure>) -> Option<Said> {
        let name = &self.plugin.manifest.name;
        match answered {
            Ok((refusal, note)) => {
                self.installed.went_well(name);
                for said in [refusal.as_ref().map(|why| format!("refused: {why}")), note.clone()].into_iter().flatten()
                {
                    self.installed.note(name, &said);
                }
                Some((refusal, note))
            }
            Err(failure) => {
                self.installed.failed(name, &failure);
                None
            }
        }
    }
}

/// A memory as plugins see it, with placeholders. Also hides credentials in rows that an earlier version stored.
pub(super) fn view(memory: &Memory) -> Value {
    let words = |words: &[String]| words.iter().map(|word| dropped(word).into_owned()).collect::<Vec<_>>();
    let tags: Vec<_> = memory.tags.iter().map(|tag| dropped(tag.as_str())).collect();
    json!({
        "id": memory.short_id,
        "uuid": memory.id,
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

/// The request.
pub(super) fn before(seen: &Seen) -> Vec<u8> {
    let mut message = head(seen.event, When::Before);
    let caller = &seen.caller;
    message.insert("origin".into(), json!(caller.origin));
    message.insert("client".into(), json!(caller.client.as_deref().map(dropped)));
    message.insert("project".into(), json!(caller.scope()));
    message.insert("automatic".into(), json!(seen.is_prompt));
    if seen.event == Event::Forget {
        message.insert("hard".into(), json!(seen.is_hard));
    }
    let fields: Map<String, Value> =
        seen.fields.iter().map(|(field, value)| (field.as_str().to_owned(), value.clone())).collect();
    message.insert("fields".into(), Value::Object(fields));
    message.insert("memories".into(), json!(seen.memories));
    serde_json::to_vec(&message).unwrap_or_default()
}

/// The operation.
pub(super) fn after(done: &Done<'_>) -> Vec<u8> {
    let entry = done.entry;
    let mut message = head(entry.event, When::After);
    message.insert("origin".into(), json!(entry.origin));
    message.insert("client".into(), json!(entry.client));
    message.insert("project".into(), json!(entry.project));
    message.insert("automatic".into(), json!(entry.automatic));
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
