//! `search_notes`, `build_context`, `recent_activity`, `read_note`: indexed files as notes, and their links.

use serde_json::{Value, json};
use tessera_desk::use_cases::{BuildContext, Part, ReadNote, RecentActivity, SearchNotes, Within};
use tessera_desk::{Desk, Effect};
use tessera_engine::domain::{DomainError, TokenBudget};

use super::{Call, Entry, FORMAT, Listed, MAX_TOKENS, Reply, form};
use crate::args::{Args, TAGS};

/// Maximum rows per page.
const MOST_ROWS: u32 = 200;
/// Default token budget for reading a note.
const OF_NOTE: u32 = 4_000;

const QUERY: &[&str] = &["query", "q", "text", "search"];
const CHANGED: &[&str] = &["after_date", "since", "timeframe"];
const SINCE: &[&str] = &["timeframe", "since"];
const WITHIN: &[&str] = &["timeframe", "since", "after_date"];
const URL: &[&str] = &["url", "uri", "identifier", "permalink", "path", "id"];
const NOTE: &[&str] = &["identifier", "title", "permalink", "url", "path", "name", "id"];
const LINE: &[&str] = &["line", "offset", "start_line"];
const AFTER: &[&str] = &["after", "offset"];
const PROJECT: &[&str] = &["project", "folder", "scope"];
const PAGE_SIZE: &[&str] = &["page_size", "limit", "n_results"];
/// The values of `type` in basic-memory's recent activity. These values name kinds of rows, and not types of notes.
const KINDS_OF_ROWS: [&str; 3] = ["entity", "observation", "relation"];
const TYPES: &[&str] = &["types", "type", "note_types"];

pub(super) const SEARCH: Entry = Entry {
    name: "search_notes",
    title: "Search notes",
    description: "Find notes (Markdown files under /memories and added folders) by a question, title, permalink or \
        tag:x. Returns title, type, score, address, path and the best section, within max_tokens.",
    effect: Effect::Reads,
    properties: || {
        let own = json!({
            "query": { "type": "string", "description": "A question, a title, or tag:NAME; * for all" },
            "types": { "type": "array", "items": { "type": "string" }, "description": "Types of notes" },
            "tags": { "type": "array", "items": { "type": "string" }, "description": "Any of these" },
            "after_date": { "type": "string", "description": "Changed since: 7d, today, 2026-11-01" },
        });
        with_bounds(own)
    },
    aliases: &[QUERY, PROJECT, PAGE_SIZE, TYPES, TAGS, CHANGED, AFTER, MAX_TOKENS, FORMAT],
    required: &["query"],
    listed: Listed::Always,
    is_always_loaded: false,
    call: Call::Desk(search),
};

pub(super) const CONTEXT: Entry = Entry {
    name: "build_context",
    title: "Build context",
    description: "A note with its observations and related notes in both directions, through relations and memory \
        links. A memory:// address may contain * (within a segment) and ** (any segments).",
    effect: Effect::Reads,
    properties: || {
        let own = json!({
            "url": { "type": "string", "description": "memory://user/preferences, memory://projects/*, a title, or \
                an ID" },
            "depth": { "type": "integer", "default": 1, "maximum": 5, "description": "Number of steps to related notes" },
            "timeframe": { "type": "string", "description": "Only related notes that changed within this time, such as 7d or today; default: all" },
            "max_related": { "type": "integer", "default": 10, "description": "Maximum number of related notes per note" },
        });
        with_bounds(own)
    },
    aliases: &[URL, PROJECT, PAGE_SIZE, SINCE, AFTER, MAX_TOKENS, FORMAT],
    required: &["url"],
    listed: Listed::Always,
    is_always_loaded: false,
    call: Call::Desk(context),
};

pub(super) const RECENT: Entry = Entry {
    name: "recent_activity",
    title: "Recent activity",
    description: "Recently changed notes, newest first.",
    effect: Effect::Reads,
    properties: || {
        let own = json!({
            "timeframe": { "type": "string", "default": "7d", "description": "today, 2 days ago, 1h or 7d; `all` means without a time limit" },
            "types": { "type": "array", "items": { "type": "string" }, "description": "Types of notes" },
        });
        with_bounds(own)
    },
    aliases: &[PROJECT, PAGE_SIZE, TYPES, WITHIN, AFTER, MAX_TOKENS, FORMAT],
    required: &[],
    listed: Listed::Always,
    is_always_loaded: false,
    call: Call::Desk(recent),
};

pub(super) const READ: Entry = Entry {
    name: "read_note",
    title: "Read a note",
    description: "One note as written, by title, permalink, path, memory:// address or ID; for a long note, `line` is the first line to return.",
    effect: Effect::Reads,
    properties: || {
        json!({
            "identifier": { "type": "string", "description": "Title, permalink, path, address or ID" },
            "project": { "type": "string", "description": "A folder or project; default: all" },
            "line": { "type": "integer", "default": 1, "description": "The first line" },
            "max_tokens": { "type": "integer", "default": OF_NOTE, "description": "Maximum size of the reply" },
            "format": { "type": "string", "enum": ["text", "json"], "description": "Form of the reply" }
        })
    },
    aliases: &[NOTE, PROJECT, LINE, MAX_TOKENS, FORMAT],
    required: &["identifier"],
    listed: Listed::Always,
    is_always_loaded: false,
    call: Call::Desk(read),
};

/// Adds the arguments that all tools with lists have.
fn with_bounds(mut own: Value) -> Value {
    let bounds = json!({
        "project": { "type": "string", "description": "A folder (such as memories) or project; default: all" },
        "page": { "type": "integer", "default": 1, "description": "Page number, from 1" },
        "page_size": { "type": "integer", "default": 10, "maximum": MOST_ROWS, "description": "Rows per page" },
        "after": { "type": "integer", "description": "Rows to skip: the value of `after` in the previous reply" },
        "max_tokens": { "type": "integer", "default": 1000, "description": "Maximum size of the reply" },
        "format": { "type": "string", "enum": ["text", "json"], "description": "Form of the reply" }
    });
    if let (Some(own), Some(bounds)) = (own.as_object_mut(), bounds.as_object()) {
        own.extend(bounds.clone());
    }
    own
}

fn search(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let tags = args.tags()?.unwrap_or_default();
    let types = args.list(TYPES)?.unwrap_or_default();
    let after_date = args.text(CHANGED)?;
    let is_narrowed = !tags.is_empty() || !types.is_empty() || after_date.is_some();
    let query = if is_narrowed { args.text(QUERY)?.unwrap_or_default() } else { args.required(QUERY)? };
    let (project, part) = (args.text(PROJECT)?, part(args)?);
    let within = within(args, TokenBudget::DEFAULT.get())?;
    Ok(desk.perform(SearchNotes { query, project, types, tags, after_date, part, within })?.body)
}

fn context(desk: &mut Desk<'_>, args: &Args) -> Reply {
    Ok(desk
        .perform(BuildContext {
            url: args.required(URL)?,
            project: args.text(PROJECT)?,
            depth: args.whole(&["depth"])?.unwrap_or(1),
            timeframe: args.text(SINCE)?,
            max_related: args.whole(&["max_related"])?.unwrap_or(10),
            part: part(args)?,
            within: within(args, TokenBudget::DEFAULT.get())?,
        })?
        .body)
}

fn recent(desk: &mut Desk<'_>, args: &Args) -> Reply {
    let timeframe = args.text(WITHIN)?.unwrap_or_else(|| "7d".to_owned());
    let mut types = args.list(TYPES)?.unwrap_or_default();
    let asked = types.len();
    types.retain(|named| !KINDS_OF_ROWS.contains(&named.to_lowercase().as_str()));
    let is_of_rows = types.len() < asked;
    let within = within(args, TokenBudget::DEFAULT.get())?;
    let remark = is_of_rows.then(|| "every row is a note, with its observations and relations".to_owned());
    let remark: Vec<String> = within.remark.into_iter().chain(remark).collect();
    Ok(desk
        .perform(RecentActivity {
            project: args.text(PROJECT)?,
            timeframe: Some(timeframe),
            types,
            part: part(args)?,
            within: Within { remark: (!remark.is_empty()).then(|| remark.join("; ")), ..within },
        })?
        .body)
}

fn read(desk: &mut Desk<'_>, args: &Args) -> Reply {
    Ok(desk
        .perform(ReadNote {
            identifier: args.required(NOTE)?,
            project: args.text(PROJECT)?,
            line: args.whole(LINE)?.unwrap_or(1),
            within: within(args, OF_NOTE)?,
        })?
        .body)
}

fn within(args: &Args, usual: u32) -> Result<Within, DomainError> {
    let budget = TokenBudget::try_from(args.whole(MAX_TOKENS)?.unwrap_or(usual));
    let remark = args.remark().map(str::to_owned);
    Ok(Within { budget: budget.map_err(|error| args.named(error, MAX_TOKENS))?, form: form(args)?, remark })
}

fn part(args: &Args) -> Result<Part, DomainError> {
    let page_size = args.whole(PAGE_SIZE)?.unwrap_or(10);
    if !(1..=MOST_ROWS).contains(&page_size) {
        let error = DomainError::invalid("page_size", format!("{page_size} is out of range"), "use 1 to 200");
        return Err(args.named(error, PAGE_SIZE));
    }
    let page = args.whole(&["page"])?.unwrap_or(1).max(1);
    Ok(Part { page, page_size, after: args.whole(AFTER)? })
}
