//! Notes by time of change.
//!
//! This module also contains the filters of notes: project, type, and time of change.

use tessera_engine::Store;
use tessera_engine::domain::{DomainError, MemoryRef, Timestamp, WrittenTime};
use tessera_engine::pack::neutral_line;
use tessera_engine::store::{Folder, NoteRow, StoreError};
use tessera_markdown::key::folded;

use super::Part;
use super::rows::{NotesReply, Row, Within, address, changed, fields, moment, name, page_of, path, said};
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// Lists notes, most recently changed first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentActivity {
    /// The folder or scope; all, if absent.
    pub project: Option<String>,
    /// The period, for example `7d` or `today`; all times if absent.
    pub timeframe: Option<String>,
    /// Any of these types.
    pub types: Vec<String>,
    /// The requested rows.
    pub part: Part,
    /// The budget and the form.
    pub within: Within,
}

impl UseCase for RecentActivity {
    type Outcome = NotesReply;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<NotesReply, StoreError> {
        let since = since(self.timeframe.as_deref(), "timeframe", store.now())?;
        let mut notes = notes(store, self.project.as_deref())?;
        notes.retain(|note| is_of(note, &self.types) && since.is_none_or(|since| changed(note) >= since));
        page_of(&notes, self.part, |note| row(store, note), (self.within, caller))
    }
}

fn row(store: &Store, note: &NoteRow) -> Result<Row, StoreError> {
    let says = first_words(store, note)?;
    let text = format!(
        "- {} {} [{}] {} {}: {says}",
        moment(changed(note)),
        name(&note.title),
        name(&note.kind),
        address(note),
        path(note)
    );
    let mut json = fields(note);
    json.insert("says".into(), says.into());
    Ok(Row { text, json: json.into() })
}

/// The beginning of a note's text.
pub(super) fn first_words(store: &Store, note: &NoteRow) -> Result<String, StoreError> {
    let Some(part) = store.parts_of(note.file.id)?.into_iter().next() else { return Ok("says nothing".into()) };
    Ok(store.get(MemoryRef::Id(part.id))?.map_or_else(String::new, |memory| said(&memory.content)))
}

/// Returns the folder with this name, or the folders of this project; all folders without a name.
pub(super) fn folders(store: &Store, project: Option<&str>) -> Result<Vec<Folder>, StoreError> {
    let mut folders = store.folders()?;
    let Some(project) = project.map(|project| project.trim().trim_matches('/')).filter(|name| !name.is_empty()) else {
        return Ok(folders);
    };
    // basic-memory calls its first project `main`, and its users name it in each call.
    let is_first_of_older = project == "main" && !folders.iter().any(|folder| folder.name == "main");
    if matches!(project, "*" | "all") || is_first_of_older {
        return Ok(folders);
    }
    let known: Vec<String> = folders.iter().map(|folder| folder.name.clone()).collect();
    let is_called = |folder: &Folder| folded(&folder.name) == folded(project);
    let is_in = |folder: &Folder| folder.scope.as_str().eq_ignore_ascii_case(project);
    if folders.iter().any(is_called) {
        folders.retain(is_called);
    } else {
        folders.retain(is_in);
    }
    // A folder without files exists too.
    if folders.is_empty() && project != tessera_engine::store::MEMORIES {
        let known = if known.is_empty() {
            "there are no folders yet".to_owned()
        } else {
            format!("the folders are {}", known.join(", "))
        };
        let problem =
            format!("is neither a folder of notes nor a project with such a folder ({})", neutral_line(&known));
        return Err(DomainError::invalid(
            "project",
            problem,
            "use the name of a folder; without it, all folders are searched",
        )
        .into());
    }
    Ok(folders)
}

/// The metadata of a project's notes, most recently changed first.
pub(super) fn notes(store: &Store, project: Option<&str>) -> Result<Vec<NoteRow>, StoreError> {
    let folders = folders(store, project)?;
    let is_in = |note: &NoteRow| folders.iter().any(|folder| folder.name == note.file.path.folder());
    let mut notes = store.notes(None)?;
    notes.retain(is_in);
    Ok(notes)
}

/// True for a note of one of these types, or if none is given.
pub(super) fn is_of(note: &NoteRow, types: &[String]) -> bool {
    types.is_empty() || types.iter().any(|kind| folded(kind) == folded(&note.kind))
}

/// Parses a time such as `today`, `2 days ago`, `1h`; `all` means all times.
pub(super) fn since(text: Option<&str>, field: &'static str, now: Timestamp) -> Result<Option<Timestamp>, DomainError> {
    let given = text.map(str::trim).filter(|text| !text.is_empty() && !matches!(*text, "all" | "any"));
    given.map(|text| WrittenTime::in_field(text, field)?.beginning(now)).transpose()
}
