//! The JSON shape of a memory that was written. That of a reply to a question is the engine's: it is counted.

use serde::Serialize;
use tessera_engine::store::Stored;

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
}

impl<'a> From<&'a Stored> for StoredView<'a> {
    fn from(stored: &'a Stored) -> Self {
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
        }
    }
}
