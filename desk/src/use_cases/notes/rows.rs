//! Builds replies from rows, as text or as one JSON document, within an exact token budget.

use serde_json::{Map, Value};
use tessera_engine::domain::{DomainError, Timestamp, TokenBudget};
use tessera_engine::pack::{Lines, neutral_line};
use tessera_engine::store::{NoteRow, StoreError};

use super::Part;
use crate::caller::Caller;
use crate::use_cases::Form;

/// Maximum characters of a title or another short text in a row.
const NAME_CHARS: usize = 160;
/// Maximum characters of a name that a person or a model asked for, in an error.
pub(super) const MOST_NAME: usize = 80;
/// Maximum characters of a permalink in a row.
const LINK_CHARS: usize = 400;
/// Maximum characters of a note's text in a row.
const TEXT_CHARS: usize = 280;

/// The budget and the form of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Within {
    /// The budget.
    pub budget: TokenBudget,
    /// Text, or JSON.
    pub form: Form,
    /// A one-line remark about the call.
    pub remark: Option<String>,
}

/// A reply about notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesReply {
    /// The exact reply.
    pub body: String,
    /// The number of tokens, counted with the caller's tokenizer.
    pub tokens_used: u32,
    /// The number of rows in it.
    pub shown: usize,
    /// The number of all rows.
    pub total: usize,
}

/// A row in both forms.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// One line, which begins with a mark.
    pub(super) text: String,
    /// An object or a text.
    pub(super) json: Value,
}

/// The rows of a reply, and the lines before and after them.
pub(super) struct Reply<F> {
    /// Lines above the rows, in text form.
    pub(super) opening: String,
    /// The same information, as fields of the JSON object.
    pub(super) fields: Map<String, Value>,
    /// The name of the list.
    pub(super) list: &'static str,
    /// The rows.
    pub(super) rows: Vec<Row>,
    /// The number of rows on all pages.
    pub(super) total: usize,
    /// Returns the last line for a number of rows, without its token cost, and the same data as JSON fields.
    pub(super) closing: F,
}

impl<F: Fn(usize) -> (String, Vec<(&'static str, Value)>)> Reply<F> {
    /// Fills a budget.
    pub(super) fn within(self, within: Within, caller: &Caller) -> Result<NotesReply, DomainError> {
        let lines = Lines { budget: within.budget, profile: caller.profile };
        let listed = match within.form {
            Form::Text => {
                let rows: Vec<String> = self.rows.iter().map(|row| format!("{}\n", row.text)).collect();
                let closing = |shown: usize, used: u32| format!("{}, {}\n", (self.closing)(shown).0, lines.cost(used));
                let remark = within.remark.map(|remark| format!("Note: {}\n", neutral_line(&remark)));
                lines.fill(&(remark.unwrap_or_default() + &self.opening), &rows, closing)?
            }
            Form::Json(_) => {
                let comma = |at: usize| if at == 0 { "" } else { "," };
                let rows = self.rows.iter().enumerate().map(|(at, row)| format!("{}{}\n", comma(at), row.json));
                let mut fields = self.fields;
                fields.extend(within.remark.map(|remark| ("note".to_owned(), neutral_line(&remark).into())));
                let opening = format!("{}\"{}\":[\n", opened(&fields), self.list);
                let unit = lines.profile.unit();
                let closing = |shown: usize, used: u32| {
                    let mut fields: Map<String, Value> = Map::new();
                    fields.extend((self.closing)(shown).1.into_iter().map(|(name, value)| (name.to_owned(), value)));
                    let said = opened(&fields);
                    let said = said.strip_prefix('{').unwrap_or_default();
                    format!("],{said}\"unit\":\"{unit}\",\"tokens_used\":{used}}}\n")
                };
                lines.fill(&opening, &rows.collect::<Vec<_>>(), closing)?
            }
        };
        Ok(NotesReply { body: listed.body, tokens_used: listed.tokens_used, shown: listed.shown, total: self.total })
    }
}

/// The beginning of an object with these fields: `{"a":1,`.
fn opened(fields: &Map<String, Value>) -> String {
    let object = Value::Object(fields.clone()).to_string();
    let body = object.strip_suffix('}').unwrap_or(&object);
    if fields.is_empty() { body.to_owned() } else { format!("{body},") }
}

/// A short text in one line.
pub(super) fn brief(text: &str, most: usize) -> String {
    // Only this much is processed.
    let head: String = text.chars().take(most.saturating_mul(4)).collect();
    let line = neutral_line(&head);
    if line.chars().count() <= most && head.len() == text.len() {
        return line;
    }
    let mut cut: String = line.chars().take(most).collect();
    cut.push('…');
    cut
}

/// The text of a note in one line.
pub(super) fn said(text: &str) -> String {
    brief(text, TEXT_CHARS)
}

/// A title or another name.
pub(super) fn name(text: &str) -> String {
    brief(text, NAME_CHARS)
}

/// The address of a note: `memory://user/preferences`.
pub(super) fn address(note: &NoteRow) -> String {
    format!("memory://{}", brief(&note.permalink, LINK_CHARS))
}

/// Its path.
pub(super) fn path(note: &NoteRow) -> String {
    neutral_line(note.file.path.as_str())
}

/// When it was last changed.
pub(super) fn changed(note: &NoteRow) -> Timestamp {
    Timestamp::from_micros(note.file.stamp.modified / 1_000)
}

/// A time in seconds.
pub(super) fn moment(time: Timestamp) -> String {
    const SECOND: i64 = 1_000_000;
    Timestamp::from_micros(time.as_micros() / SECOND * SECOND).to_string()
}

/// The JSON fields of every note.
pub(super) fn fields(note: &NoteRow) -> Map<String, Value> {
    let tags: Vec<Value> = note.tags.iter().take(16).map(|tag| name(tag).into()).collect();
    let mut fields = Map::new();
    fields.insert("title".into(), name(&note.title).into());
    fields.insert("type".into(), name(&note.kind).into());
    fields.insert("permalink".into(), brief(&note.permalink, LINK_CHARS).into());
    fields.insert("file_path".into(), path(note).into());
    fields.insert("updated_at".into(), moment(changed(note)).into());
    if !tags.is_empty() {
        fields.insert("tags".into(), tags.into());
    }
    fields
}

/// A number with a noun.
pub(super) fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A page of found notes, one row each.
pub(super) fn page_of<T>(
    found: &[T],
    part: Part,
    row: impl Fn(&T) -> Result<Row, StoreError>,
    (within, caller): (Within, &Caller),
) -> Result<NotesReply, StoreError> {
    let page = part.of(found);
    let counts = (part.begin(), page.len(), found.len());
    let reply = Reply {
        opening: String::new(),
        fields: Map::new(),
        list: "results",
        rows: page.iter().map(row).collect::<Result<_, _>>()?,
        total: found.len(),
        closing: |shown| paged(counts, shown),
    };
    Ok(reply.within(within, caller)?)
}

/// The line after the rows of a page: the total, and where to continue.
fn paged((begin, on_page, total): (usize, usize, usize), shown: usize) -> (String, Vec<(&'static str, Value)>) {
    let next = begin + shown;
    let has_more = next < total;
    let line = match (total, shown) {
        (0, _) => "no notes".to_owned(),
        (_, 0) if on_page > 0 => format!("{}, but none fits; use a larger max_tokens", counted(total, "note")),
        (_, 0) => format!("{}, none here", counted(total, "note")),
        _ if has_more => format!("{} to {next} of {total} notes; continue with after: {next}", begin + 1),
        _ if begin > 0 => format!("{} to {next} of {total} notes", begin + 1),
        _ => counted(total, "note"),
    };
    let after = if has_more && shown > 0 { Value::from(next) } else { Value::Null };
    (line, vec![("total_count", total.into()), ("has_more", has_more.into()), ("after", after)])
}
