//! One note as written.

use serde_json::{Map, Value};
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, MemoryRef, file_of_content};
use tessera_engine::pack::{neutral, neutral_line};
use tessera_engine::screen::dropped;
use tessera_engine::store::{NoteRow, StoreError};
use tessera_markdown::key::folded;

use super::find::note_called;
use super::rows::{
    MOST_NAME, NotesReply, Reply, Row, Within, address, brief, changed, counted, fields, moment, name, path,
};
use super::{Part, search};
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};
use crate::folders::text_now;

/// Characters of a row. A longer line continues in the next row.
const ROW_CHARS: usize = 320;
/// Maximum notes that are read to find a text.
const LOOKED_AT: usize = 50;
/// Maximum notes suggested if none has the name.
const NAMED: u32 = 5;

/// Reads a note by UUID, permalink, title, alias, path or address. If none matches, reads the note that contains the
/// text, if there is only one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadNote {
    /// The name.
    pub identifier: String,
    /// The folder or scope; all, if absent.
    pub project: Option<String>,
    /// The first line, from 1.
    pub line: u32,
    /// The budget and the form.
    pub within: Within,
}

impl UseCase for ReadNote {
    type Outcome = NotesReply;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<NotesReply, StoreError> {
        let asked = self.identifier.trim();
        if asked.is_empty() {
            let fix = "pass a title, a permalink, a path or a memory:// address";
            return Err(DomainError::invalid("identifier", "is empty", fix).into());
        }
        let note = match note_called(store, asked, self.project.as_deref(), "identifier")? {
            Some(id) => store.note_of(id)?,
            None => Some(said_by_one(store, caller, asked, self.project.as_deref())?),
        };
        let not_here = || DomainError::invalid("identifier", "is not a note any more", "search for it again");
        let note = note.ok_or_else(not_here)?;
        let memory = store.get(MemoryRef::Id(note.file.id))?.ok_or_else(not_here)?;
        // A file that no memory contains completely is read from disk.
        let now = if note.file.is_kept { None } else { text_now(store, &note.file.path)? };
        let text = neutral(now.as_deref().unwrap_or_else(|| file_of_content(&memory.content))).into_owned();
        let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(&text).split('\n').collect();
        let (rows, numbers) = rows_of(&lines, self.line);
        let begin = self.line.max(1) as usize;
        let total = lines.len();
        let closing = |shown: usize| {
            // A line that was cut begins again in the next reply.
            let next = numbers.get(shown).copied();
            let last = next.map_or(total, |next| (next - 1).max(begin.saturating_sub(1)));
            let line = match next {
                _ if begin > total => format!("{total} lines in total; line {begin} is after the end"),
                None if begin == 1 => counted(total, "line"),
                None => format!("lines {begin} to {total} of {total}"),
                Some(_) if last < begin => {
                    format!("{total} lines in total; line {begin} does not fit; use a larger max_tokens")
                }
                Some(next) => format!("lines {begin} to {last} of {total}; continue with line: {next}"),
            };
            let next = next.map_or(Value::Null, |next| if last < begin { Value::Null } else { next.into() });
            (line, vec![("total_lines", total.into()), ("line", next)])
        };
        store.note_file_shown(&note.file.path)?;
        let reply = Reply { opening: heading(&note), fields: head(&note), list: "lines", rows, total, closing };
        Ok(reply.within(self.within, caller)?)
    }
}

/// Splits lines into rows of limited length, which begin with a mark. Also returns the line number of each row.
fn rows_of(lines: &[&str], from: u32) -> (Vec<Row>, Vec<usize>) {
    let (mut rows, mut numbers) = (Vec::new(), Vec::new());
    for (at, line) in lines.iter().enumerate().skip(from.max(1) as usize - 1) {
        let letters: Vec<char> = line.chars().collect();
        let mut pieces: Vec<String> = letters.chunks(ROW_CHARS).map(|piece| piece.iter().collect()).collect();
        if pieces.is_empty() {
            pieces.push(String::new());
        }
        for (nth, piece) in pieces.into_iter().enumerate() {
            let sign = if nth == 0 { '|' } else { '+' };
            let text = if piece.is_empty() { sign.to_string() } else { format!("{sign} {piece}") };
            let json = if nth == 0 { Value::String(piece) } else { serde_json::json!({ "more": piece }) };
            rows.push(Row { text, json });
            numbers.push(at + 1);
        }
    }
    (rows, numbers)
}

fn heading(note: &NoteRow) -> String {
    let when = moment(changed(note));
    format!("# {} [{}] {} {}, changed {when}\n", name(&note.title), name(&note.kind), address(note), path(note))
}

fn head(note: &NoteRow) -> Map<String, Value> {
    fields(note)
}

/// The only note with this exact text. If not exactly one note matches, the error lists similar notes.
fn said_by_one(store: &mut Store, caller: &Caller, asked: &str, project: Option<&str>) -> Result<NoteRow, StoreError> {
    let found = search::found(store, caller, &search::Wanted::of(asked, project))?;
    let mut saying = Vec::new();
    for near in found.iter().take(LOOKED_AT) {
        let memory = store.get(MemoryRef::Id(near.note.file.id))?;
        if memory.is_some_and(|memory| folded(&memory.content).contains(&folded(asked))) {
            saying.push(near.note.clone());
        }
    }
    if saying.len() == 1 {
        return Ok(saying.remove(0));
    }
    let near: Vec<String> =
        Part::first(NAMED).of(&found).iter().map(|found| neutral_line(found.note.file.path.as_str())).collect();
    let fix = if near.is_empty() {
        "use the path or the title of a note, or a word of its text".to_owned()
    } else {
        format!("similar notes: {}", near.join(", "))
    };
    Err(StoreError::Unknown { what: "note", name: brief(&dropped(asked), MOST_NAME), fix })
}
