//! Resolves a name to a note or a memory.

use tessera_engine::Store;
use tessera_engine::domain::{DomainError, FilePath, Memory, MemoryRef, MemoryUuid};
use tessera_engine::pack::neutral_line;
use tessera_engine::store::{Meant, NoteRow, StoreError, Strictness};
use tessera_markdown::url::NoteUrl;

use super::recent;
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// Maximum notes listed for an ambiguous name.
const NAMED: usize = 8;

/// Finds the one note with a name: UUID, permalink, title, alias, path, or `memory://` address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindNote {
    /// The name.
    pub name: String,
    /// The folder or scope.
    pub project: Option<String>,
}

impl UseCase for FindNote {
    type Outcome = Option<Memory>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Option<Memory>, StoreError> {
        let Some(id) = note_called(store, &self.name, self.project.as_deref(), "identifier")? else { return Ok(None) };
        store.get(MemoryRef::Id(id))
    }
}

/// Finds a memory by its ID or UUID, or the memory of a file by any name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindMemory {
    /// The name.
    pub name: String,
}

impl UseCase for FindMemory {
    type Outcome = MemoryRef;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<MemoryRef, StoreError> {
        let unread = match self.name.parse::<MemoryRef>() {
            Ok(reference) => return Ok(reference),
            Err(error) => error,
        };
        // Only possible names of notes are searched, so that a mistyped UUID gets a precise error.
        match note_called(store, &self.name, None, "id") {
            Ok(Some(id)) => Ok(MemoryRef::Id(id)),
            Ok(None) => Err(unread.into()),
            Err(error) => Err(error),
        }
    }
}

/// The note with a name, in the order of UUIDs, permalinks, titles, aliases and paths.
pub(super) fn note_called(
    store: &Store,
    name: &str,
    project: Option<&str>,
    field: &'static str,
) -> Result<Option<MemoryUuid>, StoreError> {
    let name = bare(name);
    let (project, name) = match name.split_once("::") {
        Some((folder, rest)) if recent::folders(store, Some(folder)).is_ok() => (Some(folder), rest),
        _ => (project, name),
    };
    let folders: Vec<String> = recent::folders(store, project)?.into_iter().map(|folder| folder.name).collect();
    if folders.is_empty() {
        return Ok(None);
    }
    if let Some(id) = by_number(store, name, &folders)? {
        return Ok(Some(id));
    }
    match store.note_called(name, &folders, None, Strictness::OnlyOne)? {
        Meant::One(id) => Ok(Some(id)),
        Meant::Nothing => Ok(None),
        Meant::Several(ids) => Err(several(store, &ids, field)?.into()),
    }
}

/// Finds a file by its own ID or by the ID of one of its sections. A text that only looks like an ID may be a title.
fn by_number(store: &Store, name: &str, folders: &[String]) -> Result<Option<MemoryUuid>, StoreError> {
    let Ok(reference) = name.parse::<MemoryRef>() else { return Ok(None) };
    let Some(memory) = store.get(reference)?.filter(|memory| memory.deleted.is_none()) else { return Ok(None) };
    let is_in = |path: &FilePath| folders.iter().any(|folder| folder == path.folder());
    let Some(file) = memory.file.filter(|file| is_in(&file.path)) else { return Ok(None) };
    Ok(store.file_at(&file.path)?.map(|row| row.id))
}

fn several(store: &Store, ids: &[MemoryUuid], field: &'static str) -> Result<DomainError, StoreError> {
    let notes: Vec<NoteRow> =
        ids.iter().take(NAMED).filter_map(|id| store.note_of(*id).transpose()).collect::<Result<_, _>>()?;
    let paths: Vec<String> = notes.iter().map(|note| neutral_line(note.file.path.as_str())).collect();
    let more = if ids.len() > paths.len() { format!(" and {} more", ids.len() - paths.len()) } else { String::new() };
    let problem = format!("matches {} notes: {}{more}", ids.len(), paths.join(", "));
    Ok(DomainError::invalid(field, problem, "pass the path of the note that you mean"))
}

/// A name without the brackets of a link or the scheme of an address.
pub(super) fn bare(name: &str) -> &str {
    const SCHEME: &str = "memory://";
    let name = name.trim();
    let linked = name.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
    let name = linked.map_or(name, |link| link.split_once('|').map_or(link, |(name, _)| name)).trim();
    match name.get(..SCHEME.len()) {
        Some(scheme) if scheme.eq_ignore_ascii_case(SCHEME) => name.get(SCHEME.len()..).unwrap_or_default(),
        _ => name,
    }
}

/// The notes at an address: one by name, or all that match a pattern, sorted by path.
pub(super) fn addressed(store: &Store, url: &str, project: Option<&str>) -> Result<Vec<NoteRow>, StoreError> {
    let parsed = NoteUrl::parse(url);
    if let Ok(parsed) = &parsed
        && parsed.is_pattern()
    {
        let mut notes = recent::notes(store, project)?;
        notes.retain(|note| parsed.matches(Some(&note.permalink), note.file.path.as_str()));
        notes.sort_by(|one, other| one.file.path.cmp(&other.file.path));
        if !notes.is_empty() {
            return Ok(notes);
        }
    }
    // A text that is not an address may be a title, because titles may contain question marks and stars.
    if let Some(id) = note_called(store, url, project, "url")? {
        return Ok(store.note_of(id)?.into_iter().collect());
    }
    match parsed {
        Ok(_) => Ok(Vec::new()),
        Err(error) => {
            let said = error.to_string();
            let said = said.strip_prefix("url: ").unwrap_or(&said);
            let problem = said.split(';').next().unwrap_or(said).to_owned();
            Err(DomainError::invalid("url", problem, "use an address such as memory://user/preferences").into())
        }
    }
}
