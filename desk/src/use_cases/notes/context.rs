//! A note with its observations and the graph around it.

use serde_json::{Map, Value, json};
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, Memory, MemoryRef, MemoryUuid, Timestamp};
use tessera_engine::screen::dropped;
use tessera_engine::store::{NoteRow, StoreError};

use super::around::{Bounds, Node, Step, Way, node, walk};
use super::find::{addressed, bare};
use super::recent::first_words;
use super::rows::{
    MOST_NAME, NotesReply, Reply, Row, Within, address, brief, changed, counted, fields, moment, name, path, said,
};
use super::{Part, recent};
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// The maximum number of observations: for a single note, and for each of several notes.
const OF_ONE: usize = 40;
const OF_EACH: usize = 8;
/// Maximum depth.
const MOST_DEPTH: u32 = 5;

/// Returns notes with their observations and related notes in both directions, over relations and links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildContext {
    /// A `memory://` address, which may contain `*`; or any name of a note, or the ID of a memory.
    pub url: String,
    /// The folder or scope; all, if absent.
    pub project: Option<String>,
    /// The number of steps, 0 to 5.
    pub depth: u32,
    /// A time; only related notes that changed since then are shown. The requested note is always shown.
    pub timeframe: Option<String>,
    /// Maximum related notes per note.
    pub max_related: u32,
    /// The page of the notes that a pattern matches.
    pub part: Part,
    /// The budget and the form.
    pub within: Within,
}

impl UseCase for BuildContext {
    type Outcome = NotesReply;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<NotesReply, StoreError> {
        if self.depth > MOST_DEPTH {
            let problem = format!("{} is out of range", self.depth);
            return Err(DomainError::invalid("depth", problem, "use 0 to 5").into());
        }
        let since = recent::since(self.timeframe.as_deref(), "timeframe", store.now())?;
        let bounds = Bounds { depth: self.depth, max_related: self.max_related as usize, since };
        let begins = begins(store, &self.url, self.project.as_deref())?;
        let page = self.part.of(&begins);
        let mut rows = Vec::new();
        let mut ends = Vec::new();
        let (mut n_related, mut left_out) = (0, 0);
        for begin in page {
            let most = if begins.len() == 1 { OF_ONE } else { OF_EACH };
            let walked = begin.id().map(|id| walk(store, id, bounds)).transpose()?.unwrap_or_default();
            rows.extend(itself(store, begin, most)?);
            for step in &walked.steps {
                rows.push(related(store, step)?);
            }
            n_related += walked.steps.len();
            left_out += walked.left_out;
            ends.push(rows.len());
        }
        let (begin, total, n_rows) = (self.part.begin(), begins.len(), rows.len());
        let closing = |shown: usize| closing((begin, total), (&ends, n_rows), (n_related, left_out), shown);
        let mut head = Map::new();
        head.insert("uri".into(), format!("memory://{}", name(&dropped(bare(&self.url)))).into());
        head.insert("depth".into(), self.depth.into());
        let reply = Reply { opening: String::new(), fields: head, list: "results", rows, total: n_rows, closing };
        Ok(reply.within(self.within, caller)?)
    }
}

/// The number of notes and of related notes, how many lines are shown, and where to continue. The next page begins with
/// the first note that was not shown completely.
fn closing(
    (begin, total): (usize, usize),
    (ends, n_rows): (&[usize], usize),
    (n_related, left_out): (usize, usize),
    shown: usize,
) -> (String, Vec<(&'static str, Value)>) {
    let whole = ends.iter().take_while(|end| **end <= shown).count();
    let next = begin + whole;
    let has_more = next < total;
    let mut line = format!("{}, {n_related} related", counted(total, "note"));
    if left_out > 0 {
        line.push_str(&format!(", {left_out} more beyond max_related"));
    }
    if shown < n_rows {
        line.push_str(&format!(", {shown} of {n_rows} lines fit"));
    }
    if has_more && whole > 0 {
        line.push_str(&format!("; continue with after: {next}"));
    } else if shown < n_rows {
        line.push_str("; use a larger max_tokens");
    }
    let after = if has_more && whole > 0 { next.into() } else { Value::Null };
    let fields = vec![
        ("primary_count", total.into()),
        ("related_count", n_related.into()),
        ("left_out", left_out.into()),
        ("rows", n_rows.into()),
        ("has_more", (has_more || shown < n_rows).into()),
        ("after", after),
    ];
    (line, fields)
}

/// The start of the graph: notes, or one memory that is not in a file.
fn begins(store: &Store, url: &str, project: Option<&str>) -> Result<Vec<Node>, StoreError> {
    let notes = addressed(store, url, project)?;
    if !notes.is_empty() {
        return Ok(notes.into_iter().map(|note| Node::Note(Box::new(note))).collect());
    }
    if let Ok(reference) = bare(url).parse::<MemoryRef>()
        && let Some(memory) = store.get(reference)?
    {
        return Ok(node(store, memory.id)?.into_iter().collect());
    }
    let fix = "use the title, path or ID of a note, or a pattern such as memory://user/*".to_owned();
    Err(StoreError::Unknown { what: "note", name: brief(&dropped(url), MOST_NAME), fix })
}

/// The requested note with its content.
fn itself(store: &Store, begin: &Node, most: usize) -> Result<Vec<Row>, StoreError> {
    match begin {
        Node::Missing(_) => Ok(Vec::new()),
        Node::Memory(memory) => {
            let text = format!("# {} {} {}", memory.short_id, moment(memory.updated), said(&memory.content));
            Ok(vec![Row { text, json: with(memory_fields(memory), &[("kind", "memory".into())]) }])
        }
        Node::Note(note) => {
            let mut rows = vec![Row { text: head(note), json: with(fields(note), &[("kind", "note".into())]) }];
            let parts = store.parts_of(note.file.id)?;
            // For a note without observations, the other sections of its text.
            let has_some = parts.iter().any(|part| part.is_observation);
            let wanted: Vec<_> = parts.into_iter().filter(|part| part.is_observation || !has_some).collect();
            for part in wanted.iter().take(most) {
                let Some(memory) = store.get(MemoryRef::Id(part.id))? else { continue };
                let (category, content) = (part.category.as_deref().map(name), said(&memory.content));
                let label = category.as_ref().map(|category| format!("[{category}] ")).unwrap_or_default();
                let json = json!({
                    "kind": if part.is_observation { "observation" } else { "text" }, "id": memory.short_id.get(),
                    "category": category, "content": content, "line": part.lines.0,
                });
                rows.push(Row { text: format!("- {label}{content}"), json });
            }
            if let Some(more) = wanted.len().checked_sub(most).filter(|more| *more > 0) {
                let text = format!("- and {more} more; read_note returns all");
                rows.push(Row { text, json: json!({ "kind": "more", "observations": more }) });
            }
            Ok(rows)
        }
    }
}

fn head(note: &NoteRow) -> String {
    let when = moment(changed(note));
    format!("# {} [{}] {} {}, changed {when}", name(&note.title), name(&note.kind), address(note), path(note))
}

/// A line about a related note.
fn related(store: &Store, step: &Step) -> Result<Row, StoreError> {
    let kind = name(&step.kind);
    let sign = match step.way {
        Way::Out => "->",
        Way::In => "<-",
    };
    let far = if step.depth > 1 {
        format!(" ({} steps, from {})", step.depth, from(store, step.from)?)
    } else {
        String::new()
    };
    let context = step.context.as_deref().map(|context| format!(" ({})", name(context))).unwrap_or_default();
    let (what, mut json) = match &step.to {
        Node::Missing(name_of) => {
            let title = name(name_of);
            (format!("[[{title}]], which does not exist yet"), with(Map::new(), &[("title", title.into())]))
        }
        Node::Memory(memory) => {
            let says = said(&memory.content);
            (format!("{} {says}", memory.short_id), Value::Object(memory_fields(memory)))
        }
        Node::Note(note) => {
            let says = first_words(store, note)?;
            let what = format!("{} {} {}: {says}", name(&note.title), address(note), path(note));
            (what, with(fields(note), &[("says", says.into())]))
        }
    };
    if let Some(json) = json.as_object_mut() {
        let direction = if step.way == Way::Out { "outgoing" } else { "incoming" };
        json.insert("kind".into(), "related".into());
        json.insert("relation".into(), kind.clone().into());
        json.insert("direction".into(), direction.into());
        json.insert("depth".into(), step.depth.into());
        json.insert("exists".into(), step.to.id().is_some().into());
        json.insert("from".into(), from(store, step.from)?.into());
        if let Some(context) = &step.context {
            json.insert("context".into(), name(context).into());
        }
    }
    Ok(Row { text: format!("{sign} {kind} {what}{context}{far}"), json })
}

/// The name of the node where a step begins.
fn from(store: &Store, id: MemoryUuid) -> Result<String, StoreError> {
    Ok(match node(store, id)? {
        Some(Node::Note(note)) => name(&note.title),
        Some(Node::Memory(memory)) => memory.short_id.to_string(),
        _ => String::new(),
    })
}

fn memory_fields(memory: &Memory) -> Map<String, Value> {
    let second = Timestamp::from_micros(memory.updated.as_micros());
    let mut fields = Map::new();
    fields.insert("id".into(), memory.short_id.get().into());
    fields.insert("content".into(), said(&memory.content).into());
    fields.insert("updated_at".into(), moment(second).into());
    fields
}

fn with(mut fields: Map<String, Value>, more: &[(&str, Value)]) -> Value {
    fields.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Value::Object(fields)
}
