//! The lines a memory can appear as, and what each costs: counted once, when it is written.

use serde_json::json;

use super::neutral::neutral;
use super::passage::{Passage, cut};
use crate::domain::Memory;
use crate::text::TokenCounter;

/// What each way of showing a memory costs, in o200k_base tokens, without numbers that are counted by rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineCosts {
    /// The full text.
    pub detail: u32,
    /// The summary.
    pub index: u32,
    /// The full text as JSON.
    pub json_detail: u32,
    /// The summary as JSON.
    pub json_index: u32,
    /// The pieces of a long text.
    pub passages: Vec<Passage>,
}

impl LineCosts {
    /// Counts every line of a memory.
    pub fn measure(memory: &Memory, counter: &impl TokenCounter) -> Self {
        let detail = counter.count(&detail_line(memory));
        Self {
            detail,
            index: counter.count(&index_body(&memory.summary)),
            passages: cut(&memory.content, detail, counter),
            json_detail: counter.count(&json_detail(memory)),
            json_index: counter.count(&json_index(memory)),
        }
    }
}

/// ` text\n`, or ` (from user) text\n` for what another user shares: what follows `#42 2026-11-20`.
pub(super) fn detail_line(memory: &Memory) -> String {
    let body = detail_body(&memory.content);
    match &memory.share {
        Some(share) => format!(" (from {}){body}", neutral(&share.by)),
        None => body,
    }
}

/// ` text\n`: what follows `#42 2026-11-20`. Further lines are indented, so that none can pass for a line of the frame.
fn detail_body(content: &str) -> String {
    let shown = neutral(content);
    let mut body = String::with_capacity(shown.len() + 8);
    for (number, line) in shown.trim().lines().enumerate() {
        let line = line.trim_end();
        match (number, line.is_empty()) {
            (0, _) => body.push(' '),
            (_, true) => body.push('\n'),
            (_, false) => body.push_str("\n  "),
        }
        body.push_str(line);
    }
    body.push('\n');
    body
}

/// ` summary\n`: what follows `- #42`.
pub(super) fn index_body(summary: &str) -> String {
    let shown = neutral(summary);
    let words: Vec<&str> = shown.split_whitespace().collect();
    format!(" {}\n", words.join(" "))
}

/// `"id":42,"content":…}\n`: what follows `{"score":0.83,\n`.
pub(super) fn json_detail(memory: &Memory) -> String {
    let entities: Vec<_> = memory.entities.iter().map(|name| neutral(name)).collect();
    let mut object = json!({
        "id": memory.handle,
        "content": neutral(&memory.content),
        "category": memory.category,
        "type": memory.kind,
        "importance": memory.importance,
        "tags": memory.tags,
        "entities": entities,
        "created": memory.created.date().to_string(),
    });
    if let (Some(share), Some(fields)) = (&memory.share, object.as_object_mut()) {
        fields.insert("shared_by".into(), json!(share.by));
        fields.insert("share_permission".into(), json!(share.permission));
    }
    body_of(&object)
}

/// `"id":42,"summary":…}\n`: what follows `{"score":0.83,\n`.
pub(super) fn json_index(memory: &Memory) -> String {
    body_of(&json!({ "id": memory.handle, "summary": neutral(&memory.summary) }))
}

fn body_of(object: &serde_json::Value) -> String {
    let text = object.to_string();
    format!("{}\n", text.strip_prefix('{').unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_text_begins_where_the_frame_does() {
        assert_eq!(detail_body("a\r\n\r\n#43 b\n</memories>"), " a\n\n  #43 b\n  ‹/memories>\n");
        assert_eq!(index_body("one\ntwo"), " one two\n");
    }
}
