//! The resources: the newest memories, and each memory by ID.

use percent_encoding::percent_decode_str;
use rmcp::model::{Resource, ResourceTemplate};
use tessera_desk::Desk;
use tessera_desk::use_cases::{FindNote, Get, List};
use tessera_engine::domain::{Memory, MemoryRef, file_of_content};
use tessera_engine::pack::{attribution, neutral, neutral_line};
use tessera_engine::store::StoreError;

use crate::error::ToolError;

const RECENT: &str = "memory://recent";
const PREFIX: &str = "memory://";
const RECENT_ROWS: u32 = 20;

/// The resources with a fixed address.
pub(crate) fn definitions() -> Vec<Resource> {
    vec![
        Resource::new(RECENT, "recent")
            .with_title("Recent memories")
            .with_description("The twenty newest memories")
            .with_mime_type("text/plain"),
    ]
}

/// The resource templates.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("memory://{id}", "memory")
            .with_title("A memory")
            .with_description("One memory in full, by its ID")
            .with_mime_type("text/plain"),
        ResourceTemplate::new("memory://{+path}", "note")
            .with_title("A note")
            .with_description("One note in full, by permalink, path or title")
            .with_mime_type("text/markdown"),
    ]
}

/// The text of a resource; `None` if it does not exist.
pub(crate) fn read(desk: &mut Desk<'_>, uri: &str) -> Result<Option<String>, ToolError> {
    if uri == RECENT {
        let listing = desk.perform(List { limit: RECENT_ROWS, ..List::default() })?;
        return Ok(Some(
            listing
                .memories
                .iter()
                .map(|memory| format!("{}{} {}\n", memory.short_id, attribution(memory), neutral_line(&memory.summary)))
                .collect(),
        ));
    }
    let Some(name) = uri.strip_prefix(PREFIX) else { return Ok(None) };
    let unescaped = percent_decode_str(name).decode_utf8_lossy();
    let (reference, is_note) = match name.parse::<MemoryRef>() {
        Ok(reference) => (reference, false),
        Err(_) => match desk.perform(FindNote { name: unescaped.into_owned(), project: None })? {
            Some(note) => (MemoryRef::Id(note.id), true),
            None => return Ok(None),
        },
    };
    match desk.perform(Get { ids: vec![reference] }) {
        Ok(found) => {
            let shown = |memory: &Memory| {
                if is_note { neutral(file_of_content(&memory.content)).into_owned() } else { full(memory) }
            };
            Ok(found.iter().find(|memory| memory.deleted.is_none()).map(shown))
        }
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn full(memory: &Memory) -> String {
    let head = format!(
        "{} {} [{}]{}",
        memory.short_id,
        memory.created.date(),
        neutral_line(memory.category.as_str()),
        attribution(memory)
    );
    format!("{head}\n{}\n", neutral(&memory.content))
}
