//! The JSON shape of a memory that was written. That of a reply to a question is the engine's: it is counted.

use serde::Serialize;
use tessera_engine::store::{Near, Stored};

/// A stored memory: `remember`, `update`, `restore`.
#[derive(Debug, Serialize)]
pub struct StoredView<'a> {
    handle: u32,
    id: String,
    summary: &'a str,
    category: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    importance: f64,
    tokens: u32,
    scope: &'a str,
    existed: bool,
    /// Memories that say nearly the same; left out where none was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    near: Vec<Near>,
}

impl<'a> StoredView<'a> {
    /// Of a memory, with those that say nearly the same.
    pub fn of(stored: &'a Stored, near: Vec<Near>) -> Self {
        let memory = &stored.memory;
        Self {
            handle: memory.handle.get(),
            id: memory.id.to_string(),
            summary: &memory.summary,
            category: memory.category.as_str(),
            kind: memory.kind.as_str(),
            importance: memory.importance.into(),
            tokens: stored.tokens,
            scope: memory.scope.as_str(),
            existed: stored.existed,
            near,
        }
    }
}
