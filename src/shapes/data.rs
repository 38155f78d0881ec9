//! Imports, exports and folders.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tessera_desk::folders::{LeftOut, NotesExported as Notes, UnreadFile};
use tessera_engine::domain::{FilePath, Scope, Trust};
use tessera_engine::store::{Import, Undone};

/// A line that was not imported.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RejectedLine {
    /// The line number, from 1.
    pub(crate) line: u64,
    /// The problem.
    pub(crate) problem: String,
}

/// The output of `tessera import FILE`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Imported {
    /// The number of new memories.
    pub(crate) stored: u64,
    /// The number of lines that the store already contained.
    pub(crate) skipped: u64,
    /// The number of existing memories that are now marked as yours.
    pub(crate) owner_trust: u64,
    /// The rejected lines.
    pub(crate) rejected: Vec<RejectedLine>,
    /// Lines with the UUID of an existing memory but another text.
    pub(crate) differing: Vec<u64>,
    /// The number of lines whose memories were permanently deleted here.
    pub(crate) purged: u64,
    /// The trust level of the new memories.
    pub(crate) trust: Trust,
    /// The number of redacted credentials.
    pub(crate) set_aside: u64,
    /// The number of lines that name another author.
    pub(crate) written_by_others: u64,
}

/// The output of `tessera import claude-md`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NotesTaken {
    /// The number of new memories.
    pub(crate) stored: usize,
    /// The number of notes that the store already contained.
    pub(crate) skipped: usize,
    /// The number of existing memories that are now marked as yours.
    pub(crate) owner_trust: usize,
    /// The problems of rejected notes.
    pub(crate) rejected: Vec<String>,
    /// The project of the new memories.
    pub(crate) scope: Scope,
    /// The number of redacted credentials.
    pub(crate) set_aside: usize,
    /// The trust level of the new memories.
    pub(crate) trust: Trust,
    /// The number of files read.
    pub(crate) files: usize,
}

/// A row that was not imported.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SkippedRow {
    /// Where the row is.
    pub(crate) at: String,
    /// The problem.
    pub(crate) problem: String,
}

/// A remark about an imported row.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Remark {
    /// Where the row is.
    pub(crate) at: String,
    /// The remark.
    pub(crate) remark: String,
}

/// The output of `tessera import SYSTEM`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ImportedRows {
    /// The other system.
    pub(crate) system: String,
    /// The path of its data.
    pub(crate) source: String,
    /// The trust level of new memories.
    pub(crate) trust: Trust,
    /// The number of rows.
    pub(crate) rows: u64,
    /// The number of rows by status.
    #[schemars(with = "std::collections::BTreeMap<String, u64>")]
    pub(crate) statuses: Value,
    /// The beginnings of some texts.
    pub(crate) samples: Vec<String>,
    /// The skipped rows.
    pub(crate) skipped: Vec<SkippedRow>,
    /// Remarks about rows.
    pub(crate) remarks: Vec<Remark>,
    /// The number of redacted credentials.
    pub(crate) set_aside: u64,
    /// The number of memories that no longer exist in the source.
    pub(crate) gone_there: u64,
    /// False for a preview.
    pub(crate) applied: bool,
    /// The number of the import, for `--undo`.
    pub(crate) import: Option<u32>,
}

/// The output of `tessera import list`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Imports {
    /// The imports, latest first.
    pub(crate) imports: Vec<Import>,
}

/// The output of `tessera import --undo`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ImportUndone {
    /// The number of the import.
    pub(crate) import: u32,
    /// False for a preview.
    pub(crate) applied: bool,
    /// What was, or would be, undone.
    pub(crate) undone: Undone,
}

/// Data of another system on this machine.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DetectedData {
    /// The name of the system for `tessera import`.
    pub(crate) system: String,
    /// The name of the system for people.
    pub(crate) title: String,
    /// The path.
    pub(crate) path: String,
    /// The number of rows.
    pub(crate) rows: u64,
    /// True if it was imported before.
    pub(crate) imported: bool,
}

/// The output of `tessera import --detect`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Detected {
    /// The data found.
    pub(crate) found: Vec<DetectedData>,
    /// The problems of data that cannot be read.
    pub(crate) unread: Vec<String>,
}

/// The output of `tessera export FILE`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Exported {
    /// The number of memories.
    pub(crate) exported: u64,
    /// The file.
    pub(crate) file: PathBuf,
}

/// The output of `tessera export --markdown`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NotesExported {
    #[serde(flatten)]
    pub(crate) done: Notes,
    /// The directory.
    pub(crate) dir: PathBuf,
}

/// The output of `tessera files add`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FolderAdded {
    /// The name in paths.
    pub(crate) name: String,
    /// The directory.
    pub(crate) dir: PathBuf,
    /// The number of indexed files.
    pub(crate) files: usize,
    /// The skipped files, by reason.
    pub(crate) left_out: Vec<LeftOut>,
}

/// The output of `tessera files remove`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FolderRemoved {
    /// The name of the folder.
    pub(crate) name: String,
    /// The number of files that recall no longer searches.
    pub(crate) files: usize,
}

/// The output of `tessera files scan`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Scanned {
    /// New or changed files.
    pub(crate) taken: usize,
    /// Renamed files.
    pub(crate) moved: usize,
    /// Deleted files.
    pub(crate) gone: usize,
    /// Files that were written, because their memories changed elsewhere.
    pub(crate) written: usize,
    /// True if another process was scanning, so that this scan was left to it.
    pub(crate) busy: bool,
    /// Folders whose directories cannot be read, with the reasons.
    pub(crate) not_available: Vec<String>,
    /// The skipped files, by reason.
    pub(crate) left_out: Vec<LeftOut>,
}

/// The output of `tessera files unread`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct UnreadFiles {
    /// The number of days without a read or a change.
    pub(crate) days: u32,
    /// The files.
    pub(crate) files: Vec<UnreadFile>,
}

/// The output of `tessera files unread --clear`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Cleared {
    #[serde(flatten)]
    pub(crate) unread: UnreadFiles,
    /// The deleted files.
    pub(crate) cleared: Vec<FilePath>,
}

/// The output of `tessera memory-tool`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MemoryToolReply {
    /// The answer for a model.
    pub(crate) content: String,
    /// True if the command failed.
    pub(crate) is_error: bool,
}
