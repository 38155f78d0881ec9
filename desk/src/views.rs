//! The JSON form of a written memory. The engine defines the JSON of a recall reply, because it counts the tokens of
//! the reply.

use serde::Serialize;
use tessera_engine::domain::{Metadata, Scope, Tag, Timestamp};
use tessera_engine::screen::Place;
use tessera_engine::screen::probable::PROBABLE;
use tessera_engine::store::{KeyPlace, Near, Stored};

use crate::caller::Caller;

/// A stored memory: `remember`, `update`, `restore`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct StoredView<'a> {
    id: u32,
    uuid: String,
    content: &'a str,
    summary: &'a str,
    category: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    importance: f64,
    entities: &'a [String],
    tags: Vec<&'a str>,
    created_at: Timestamp,
    last_accessed: Option<Timestamp>,
    access_count: u32,
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
    tokens: u32,
    scope: &'a str,
    existed: bool,
    /// Fields whose new values were ignored because the memory already existed; absent if there are none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    kept: &'a [&'static str],
    /// Similar memories; absent if none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    near: Vec<Near>,
    /// Removed credentials; absent if none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<RedactedView>,
}

/// A credential that was removed from a text.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct RedactedView {
    /// `null` if it was discarded.
    name: Option<String>,
    kind: String,
    place: String,
}

impl RedactedView {
    fn of(place: &Place) -> Self {
        let name = place.name.as_ref().map(ToString::to_string);
        Self { name, kind: place.kind.clone(), place: place.to_string() }
    }
}

/// Describes the credentials removed from a stored text, one line each. `show` explains how to get a credential by its
/// name.
pub fn told_aside(stored: &Stored, key: Option<&KeyPlace>, show: impl Fn(&str) -> String) -> Vec<String> {
    let allow = |place: &Place, name: &str| {
        let is_probable = place.kind == PROBABLE.as_str();
        is_probable.then(|| format!("; if it is not a secret, `tessera secret allow {name}` restores the text"))
    };
    let told = |place: &Place| match (&place.name, key) {
        (None, _) => format!("Redacted a {} and did not store its value; the text now contains {place}", place.kind),
        (Some(name), Some(key)) => {
            format!(
                "Redacted {place} and encrypted its value with the key in {key}; {} shows the value{}",
                show(name.as_str()),
                allow(place, name.as_str()).unwrap_or_default()
            )
        }
        (Some(name), None) => {
            let (show, allow) = (show(name.as_str()), allow(place, name.as_str()).unwrap_or_default());
            format!("A redacted value was replaced with {place}; {show} shows the value{allow}")
        }
    };
    stored.aside.iter().map(told).collect()
}

/// Lists the fields whose new values were ignored because the memory already existed.
pub fn told_kept(stored: &Stored, change: &str) -> Option<String> {
    let kept = stored.kept.join(", ");
    (!kept.is_empty())
        .then(|| format!("The memory already existed, and its {kept} were not changed; use {change} to change them"))
}

/// Says that a memory of a project's directory is kept for all projects, and how to change this. `change` is the command
/// or call for the project. `None` if the caller chose the scope or has no project.
pub fn told_scope(
    stored: &Stored,
    caller: &Caller,
    is_chosen: bool,
    change: impl Fn(&Scope) -> String,
) -> Option<String> {
    let project = caller.scope().filter(|_| !is_chosen && !stored.existed && stored.memory.scope == Scope::Global)?;
    Some(format!("kept for all projects; {} changes it", change(&project)))
}

impl<'a> StoredView<'a> {
    /// A memory with similar ones.
    pub fn of(stored: &'a Stored, near: Vec<Near>) -> Self {
        let memory = &stored.memory;
        Self {
            id: memory.short_id.get(),
            uuid: memory.id.to_string(),
            content: &memory.content,
            summary: &memory.summary,
            category: memory.category.as_str(),
            kind: memory.kind.as_str(),
            importance: memory.importance.into(),
            entities: &memory.entities,
            tags: memory.tags.iter().map(Tag::as_str).collect(),
            created_at: memory.created,
            last_accessed: memory.last_accessed,
            access_count: memory.access_count,
            expires_at: memory.expires,
            metadata: memory.metadata.as_ref(),
            tokens: stored.tokens,
            scope: memory.scope.as_str(),
            existed: stored.existed,
            kept: &stored.kept,
            near,
            secrets: stored.aside.iter().map(RedactedView::of).collect(),
        }
    }
}
