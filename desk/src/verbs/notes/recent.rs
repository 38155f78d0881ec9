//! Notes by when they were changed.

use tessera_engine::Store;
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{NoteRow, StoreError};

use super::rows::{NotesReply, Row, Within, address, changed, fields, moment, name, page_of, path, said};
use super::{Part, scope};
use crate::caller::Caller;
use crate::desk::{Effect, Verb};

/// Lists notes, the one that was changed last first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentActivity {
    /// The folder, or the scope; all where it is left out.
    pub project: Option<String>,
    /// Since when, as `7d` or `today`; at any time where it is left out.
    pub timeframe: Option<String>,
    /// Any of these types.
    pub types: Vec<String>,
    /// Which rows.
    pub part: Part,
    /// The budget and the form.
    pub within: Within,
}

impl Verb for RecentActivity {
    type Outcome = NotesReply;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<NotesReply, StoreError> {
        let since = scope::since(self.timeframe.as_deref(), "timeframe", store.now())?;
        let mut notes = scope::notes(store, self.project.as_deref())?;
        notes.retain(|note| scope::is_of(note, &self.types) && since.is_none_or(|since| changed(note) >= since));
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

/// What a note says first.
pub(super) fn first_words(store: &Store, note: &NoteRow) -> Result<String, StoreError> {
    let Some(part) = store.parts_of(note.file.id)?.into_iter().next() else { return Ok("says nothing".into()) };
    Ok(store.get(MemoryRef::Id(part.id))?.map_or_else(String::new, |memory| said(&memory.content)))
}
