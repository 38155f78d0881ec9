//! Change records, as values: what one machine tells another. Types only; the planner and the
//! worker that use them come with the team server.

use serde::{Deserialize, Serialize};

use crate::domain::MemoryId;

/// What was done to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Its current fields replace what was there.
    Put,
    /// It was deleted, and may be restored.
    Delete,
    /// It was removed for good: its text must go everywhere.
    Purge,
}

impl ChangeKind {
    /// The name as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Delete => "delete",
            Self::Purge => "purge",
        }
    }
}

/// One mutation on its way to a server. The op id makes a retry a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Identity of the mutation, made once.
    pub op_id: MemoryId,
    /// The memory.
    pub memory: MemoryId,
    /// What was done.
    pub kind: ChangeKind,
    /// The store's change counter when it was done.
    pub rev: u64,
}
