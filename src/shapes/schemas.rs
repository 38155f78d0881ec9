//! Writes the schemas in `docs/schemas`, and checks that they are current.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use tessera_desk::folders::FolderState;
use tessera_desk::use_cases::{Day, Logged, Reason, UnansweredTopics};
use tessera_desk::views::StoredView;
use tessera_engine::Memory;
use tessera_engine::store::{Conflict, Hidden, HistoryEntry, Place, RefusedChange, Restored};
use tessera_eval::{Comparison, QuestionReport, Report, ScreeningReport};

use super::handoff::HandoffShown;
use super::listing::{Forgotten, Listed, MemoryRow, RestoredMemories, Undone, Updated};
use super::reply::{NotesPage, RecallReply};
use super::review::{Proposals, ReviewResults};
use super::{data, program, secrets, team};
use crate::exit::ErrorReply;

/// The schema of a type that serde writes.
fn written<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// The schema of a type that only describes JSON. All its optional fields may be absent.
fn described<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>()
}

/// The schemas of memories and notes.
fn of_memories() -> Vec<(&'static str, Schema)> {
    vec![
        ("demo", described::<Vec<program::DemoAnswer>>()),
        ("error", written::<ErrorReply>()),
        ("forget", written::<Forgotten>()),
        ("get", described::<MemoryRow>()),
        ("graph", described::<NotesPage>()),
        ("history", written::<Vec<HistoryEntry>>()),
        ("learn", written::<program::Learned>()),
        ("link", written::<Memory>()),
        ("list", described::<Listed>()),
        ("log", written::<Vec<Logged>>()),
        ("memory-tool", written::<data::MemoryToolReply>()),
        ("note", described::<NotesPage>()),
        ("purged", written::<secrets::Removal>()),
        ("recall", described::<RecallReply>()),
        ("remember", written::<StoredView<'static>>()),
        ("restore", written::<RestoredMemories>()),
        ("review", written::<Proposals>()),
        ("review-results", written::<ReviewResults>()),
        ("unanswered", written::<UnansweredTopics>()),
        ("unanswered-clear", written::<program::QuestionsForgotten>()),
        ("undo", written::<Undone>()),
        ("update-many", written::<Updated>()),
        ("usage", written::<Vec<Day>>()),
        ("why", written::<Reason>()),
    ]
}

/// The schemas of teams and secrets.
fn of_teams_and_secrets() -> Vec<(&'static str, Schema)> {
    vec![
        ("accept", written::<team::Answered>()),
        ("resolve", written::<Memory>()),
        ("resolve-list", written::<Vec<Conflict>>()),
        ("secret-allow", written::<secrets::AllowedText<'static>>()),
        ("secret-allowed", written::<secrets::AllowedTexts>()),
        ("secret-fetched", written::<secrets::Fetched<'static>>()),
        ("secret-forget", written::<secrets::ForgottenSecrets>()),
        ("secret-hide", written::<Hidden>()),
        ("secret-key", written::<secrets::KeyShown>()),
        ("secret-list", written::<secrets::Secrets>()),
        ("secret-rotate-key", written::<secrets::KeyRotated>()),
        ("secret-scan", written::<secrets::Scan<'static>>()),
        ("secret-show", written::<secrets::RevealedText<'static>>()),
        ("secret-uses", written::<secrets::SecretUses>()),
        ("share", written::<team::Done>()),
        ("shares", written::<team::Shares>()),
        ("sync-dead", written::<Vec<RefusedChange>>()),
        ("sync-join", written::<team::Joined>()),
        ("sync-leave", written::<team::Done>()),
        ("sync-now", written::<team::SyncedNow>()),
        ("sync-status", written::<team::Status>()),
    ]
}

/// The schemas of files, imports, exports, settings and evaluations.
fn of_data_and_program() -> Vec<(&'static str, Schema)> {
    vec![
        ("backup", written::<program::BackedUp>()),
        ("doctor", written::<program::Doctor>()),
        ("eval-compare", written::<Comparison>()),
        ("eval-life", written::<program::EvalLife>()),
        ("eval-locomo", written::<Report>()),
        ("eval-prompts", written::<program::EvalPrompts>()),
        ("eval-questions", written::<QuestionReport>()),
        ("eval-secrets", written::<ScreeningReport>()),
        ("eval-time", written::<program::EvalTimes>()),
        ("export", written::<data::Exported>()),
        ("export-markdown", written::<data::NotesExported>()),
        ("files-add", written::<data::FolderAdded>()),
        ("files-list", written::<Vec<FolderState>>()),
        ("files-remove", written::<data::FolderRemoved>()),
        ("files-scan", written::<data::Scanned>()),
        ("files-unread", written::<data::UnreadFiles>()),
        ("files-unread-clear", written::<data::Cleared>()),
        ("import", written::<data::Imported>()),
        ("import-claude-md", written::<data::NotesTaken>()),
        ("import-detect", written::<data::Detected>()),
        ("import-list", written::<data::Imports>()),
        ("import-system", written::<data::ImportedRows>()),
        ("import-undo", written::<data::ImportUndone>()),
        ("man-all", written::<program::ManualWritten>()),
        ("plugin-add", written::<program::PluginAdded>()),
        ("plugin-list", written::<Vec<program::PluginRow>>()),
        ("plugin-log", written::<Vec<String>>()),
        ("plugin-new", written::<program::PluginCreated>()),
        ("plugin-remove", written::<program::PluginRemoved>()),
        ("handoff", written::<HandoffShown>()),
        ("plugin-test", written::<Vec<program::PluginCall>>()),
        ("project", written::<program::ProjectShown<'static>>()),
        ("project-list", written::<Vec<Place>>()),
        ("restore-backup", written::<Restored>()),
        ("settings", written::<Vec<program::SettingRow>>()),
        ("settings-get", written::<program::SettingRow>()),
        ("settings-path", written::<program::SettingsFile>()),
        ("settings-set", written::<program::SettingChanged>()),
        ("setup", written::<program::SettingsPlan>()),
        ("stats", written::<program::Statistics>()),
        ("status", written::<program::StatusShown>()),
        ("statusline", written::<program::StatusLine>()),
    ]
}

/// Each schema with the name of its file: the command, and its action.
fn all() -> impl Iterator<Item = (&'static str, Schema)> {
    of_memories().into_iter().chain(of_teams_and_secrets()).chain(of_data_and_program())
}

#[test]
fn the_schemas_in_docs_are_current() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    let wanted: BTreeMap<String, String> = all()
        .map(|(name, schema)| {
            (format!("{name}.json"), serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n")
        })
        .collect();
    #[expect(clippy::disallowed_methods, reason = "not a setting of the program")]
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::create_dir_all(&dir).unwrap_or_default();
        for (name, text) in &wanted {
            std::fs::write(dir.join(name), text).unwrap_or_default();
        }
    }
    let files = std::fs::read_dir(&dir).into_iter().flatten().flatten();
    let found: BTreeMap<String, String> = files
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            (entry.file_name().to_string_lossy().into_owned(), text)
        })
        .filter(|(name, _)| Path::new(name).extension().is_some_and(|ending| ending == "json"))
        .collect();
    let names = |all: &BTreeMap<String, String>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&wanted));
    for (name, text) in &wanted {
        assert_eq!(found.get(name), Some(text), "{name}: run `UPDATE_EXPECT=1 cargo test --bin tessera schemas`");
    }
}
