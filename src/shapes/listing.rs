//! Memories: listed, changed, deleted and restored.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tessera_desk::views::StoredView;
use tessera_engine::Memory;
use tessera_engine::domain::{FilePath, MemoryUuid};
use tessera_engine::store::Traces;

/// A memory with all fields. `superseded_by` or `older` is the ID of a newer memory.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes JSON that is built from a memory")]
pub(crate) struct MemoryRow {
    #[schemars(flatten)]
    memory: Memory,
    /// The memory that supersedes this one; recall returns only that one.
    superseded_by: Option<u32>,
    /// The memory that updates this one; recall returns that one first.
    older: Option<u32>,
    /// The same time as `created`; only in `tessera get`.
    created_at: Option<String>,
}

/// The output of `tessera list`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// The memories of this page.
    #[schemars(with = "Vec<MemoryRow>")]
    pub(crate) memories: Vec<Value>,
    /// The number of memories on all pages.
    pub(crate) total_count: u32,
    /// True if there is another page.
    pub(crate) has_more: bool,
    /// The value of `--after` for the next page.
    pub(crate) next: Option<u32>,
}

/// The output of `tessera update` for several memories.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Updated {
    /// The number of changed memories.
    pub(crate) updated: usize,
}

/// The output of `tessera forget`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Forgotten {
    /// The number of deleted memories.
    pub(crate) deleted_count: usize,
    /// Their IDs.
    pub(crate) deleted_ids: Vec<u32>,
    /// Their UUIDs.
    pub(crate) deleted_uuids: Vec<MemoryUuid>,
    /// True if they were deleted permanently.
    pub(crate) hard: bool,
    /// After a permanent deletion: the places that could not be cleaned.
    pub(crate) left: Traces,
}

/// The output of `tessera undo`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Undone {
    /// The ID of the memory; `None` if there was nothing to undo.
    pub(crate) id: Option<u32>,
    /// The operation that was undone, such as `update`.
    pub(crate) operation: Option<String>,
    /// True if the memory is now deleted.
    pub(crate) deleted: bool,
    /// The text of the memory now.
    pub(crate) content: Option<String>,
}

/// The output of `tessera restore`.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RestoredMemories {
    /// One memory.
    One(#[schemars(with = "StoredView<'static>")] Value),
    /// Files, named by a path without a memory.
    Files(RestoredFiles),
    /// Several memories or files, in the order of the arguments.
    Several(Vec<RestoredMemories>),
}

/// Restored files.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RestoredFiles {
    /// The paths of the restored files.
    pub(crate) restored: Vec<FilePath>,
    /// The files that stay deleted.
    pub(crate) failed: Vec<FailedFile>,
}

/// A file that stays deleted.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FailedFile {
    /// The path.
    pub(crate) path: FilePath,
    /// The problem.
    pub(crate) problem: String,
}

impl RestoredMemories {
    /// The number of files that stay deleted.
    pub(crate) fn failed(&self) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Files(files) => files.failed.len(),
            Self::Several(all) => all.iter().map(Self::failed).sum(),
        }
    }
}
