//! The JSON that the commands print with `--json`. `docs/schemas` contains a schema of each shape.
//!
//! A field keeps its name, type and meaning. A new version may add fields, so readers ignore unknown ones.

mod data;
mod handoff;
mod listing;
mod program;
mod reply;
mod review;
#[cfg(test)]
mod schemas;
mod secrets;
mod team;

pub(crate) use data::{
    Cleared, Detected, DetectedData, Exported, FolderAdded, FolderRemoved, ImportUndone, Imported, ImportedRows,
    Imports, MemoryToolReply, NotesExported, NotesTaken, RejectedLine, Remark, Scanned, SkippedRow, UnreadFiles,
};
pub(crate) use handoff::HandoffShown;
pub(crate) use listing::{FailedFile, Forgotten, Listed, RestoredFiles, RestoredMemories, Undone, Updated};
pub(crate) use program::{
    BackedUp, Check, DemoAnswer, Doctor, EvalLife, EvalPrompts, EvalTimes, Learned, ManualWritten, PluginAdded,
    PluginAnswer, PluginCall, PluginCreated, PluginRemoved, PluginRow, ProjectShown, QuestionsForgotten,
    SettingChanged, SettingFrom, SettingRow, SettingsFile, SettingsPlan, Statistics, StatusLine, StatusShown,
};
pub(crate) use reply::RecallReply;
pub(crate) use review::{Decision, Proposals, ReviewResults};
pub(crate) use secrets::{
    AllowedText, AllowedTexts, Fetched, ForgottenSecrets, Heard, KeyRotated, KeyShown, Removal, RevealedText,
    RevealedValue, Scan, SecretUses, Secrets,
};
pub(crate) use team::{Answered, Done, Joined, Shares, Status, SyncedNow};
