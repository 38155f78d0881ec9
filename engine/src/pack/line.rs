//! The lines in which a memory can be shown, with their token counts, which are computed once at write time.

use std::borrow::Cow;

use serde::Serialize;

use super::neutral::{may_be_changed, neutral, neutral_line};
use super::passage::{CUT_TOKENS, Passage, cut};
use crate::domain::{Importance, Memory, MemoryType, Metadata, Permission, ShortId, Tag, Timestamp};
use crate::text::{TokenCounter, number_tokens};

/// The tokens of each form in which a memory can be shown, in o200k_base. The tokens of numbers are calculated from
/// their digits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineCosts {
    /// The tokens of the attribution in an excerpt: owner, author and file.
    pub attribution: u32,
    /// The full text.
    pub detail: u32,
    /// The summary.
    pub index: u32,
    /// The full text as JSON.
    pub json_detail: u32,
    /// The summary as JSON.
    pub json_index: u32,
    /// The passages of a long text.
    pub passages: Vec<Passage>,
}

impl LineCosts {
    /// The version of the lines. Increase this version if you change a line or [`neutral`]. Then stored counts from
    /// other versions are computed again before they are used.
    pub const FORM: u32 = 4;

    /// Texts with fewer tokens are shown in full or not at all, except as short lines of a broad reply.
    const LONG_TOKENS: u32 = 120;

    /// True for a text that is long enough to be shown as an excerpt.
    pub fn can_be_cut(&self) -> bool {
        self.detail >= Self::LONG_TOKENS && !self.passages.is_empty()
    }

    /// True if token counts of the version `form` are correct for this memory. `detail` is the token count of its full
    /// text.
    pub fn hold(form: u32, detail: u32, memory: &Memory) -> bool {
        let is_plain = || {
            let texts = [memory.content.as_str(), &memory.summary, memory.category.as_str()].into_iter();
            let words = memory.entities.iter().map(String::as_str).chain(memory.tags.iter().map(Tag::as_str));
            memory.share.is_none() && memory.edited_by.is_none() && !texts.chain(words).any(may_be_changed)
        };
        // Version 1 differed in neutralisation and attribution. Versions 1 and 2 had no passages in JSON, and none for
        // texts that are not long. Versions 1 to 3 removed joiners.
        form == Self::FORM || (is_plain() && (form == 3 || (detail < CUT_TOKENS && matches!(form, 1 | 2))))
    }

    /// The list of token counts to store, with the version at its end. Passages are stored separately.
    pub fn kept(&self) -> [u32; 5] {
        [self.detail, self.index, self.json_detail, self.json_index, Self::FORM]
    }

    /// Reads stored counts and passages. The token counts are for the owner's view of the memory, with ID 1. Returns
    /// `None` if another user shares or edited the memory, or if counts from another version are no longer correct.
    pub fn read(kept: &[u32], passages: &[u8], memory: &Memory) -> Option<Self> {
        // Counts of version 1 have no version number.
        let form = kept.get(4).copied().unwrap_or(1);
        let &[detail, index, json_detail, json_index, ..] = kept else { return None };
        if memory.share.is_some() || memory.edited_by.is_some() || !Self::hold(form, detail, memory) {
            return None;
        }
        let passages = Passage::decode_all(passages);
        let mut costs = Self { attribution: 0, detail, index, json_detail, json_index, passages };
        costs.renumber(ShortId::FIRST, memory.short_id);
        Some(costs)
    }

    /// Corrects the token counts of a memory if its ID changes.
    pub(crate) fn renumber(&mut self, from: ShortId, to: ShortId) {
        let (from, to) = (number_tokens(from.get()), number_tokens(to.get()));
        for cost in [&mut self.json_detail, &mut self.json_index] {
            *cost = (*cost + to).saturating_sub(from);
        }
    }

    /// Counts every line of a memory.
    pub fn measure(memory: &Memory, counter: &impl TokenCounter) -> Self {
        let detail = counter.count(&detail_line(memory));
        let attribution = attribution(memory);
        Self {
            attribution: if attribution.is_empty() { 0 } else { counter.count(&attribution) },
            detail,
            index: counter.count(&index_body(memory)),
            passages: cut(&memory.content, detail, counter),
            json_detail: counter.count(&json_detail(memory)),
            json_index: counter.count(&json_index(memory)),
        }
    }
}

/// Returns the attribution: the owner and the author, if they are not the reader, and the file: ` (from mara, edited by
/// jon)`, ` (in /memories/user/preferences.md, Editors)`, or nothing.
pub fn attribution(memory: &Memory) -> String {
    let owner = memory.share.as_ref().map(|share| format!("from {}", neutral_line(&share.by)));
    let author = memory.edited_by.as_ref().map(|name| format!("edited by {}", neutral_line(name)));
    let place = file_of(memory).map(|path| format!("in {path}"));
    let said: Vec<String> = [owner, author, place, heading_of(memory)].into_iter().flatten().collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) }
}

/// The attribution as a line of JSON: `"edited_by":"jon","shared_by":"mara",`, or nothing.
pub(super) fn json_attribution(memory: &Memory) -> Option<String> {
    let author = memory.edited_by.as_deref().map(|name| ("edited_by", name));
    let owner = memory.share.as_ref().map(|share| ("shared_by", share.by.as_str()));
    let place = memory.file.as_ref().map(|file| ("file", file.path.as_str()));
    let heading = memory.file.as_ref().and_then(|file| file.heading.as_deref()).map(|heading| ("heading", heading));
    // Sorted by name, as everywhere.
    let named = author.into_iter().chain(place).chain(heading).chain(owner);
    let fields: String =
        named.map(|(key, name)| format!("\"{key}\":{},", serde_json::Value::from(&*neutral_line(name)))).collect();
    (!fields.is_empty()).then(|| fields + "\n")
}

/// The text after `#42 2026-11-20`: ` text\n`, or ` (from user) text\n` for another user's memory.
pub(super) fn detail_line(memory: &Memory) -> String {
    attribution(memory) + &detail_body(&memory.content)
}

/// The text after `#42 2026-11-20`: ` text\n`. Further lines are indented, so that they cannot look like lines of the
/// frame.
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

/// The text after `- #42`: ` summary\n`, or ` (from user) summary\n`.
pub(super) fn index_body(memory: &Memory) -> String {
    format!("{} {}\n", attribution(memory), neutral_line(&memory.summary))
}

/// A full memory as JSON. The fields are always sorted by name.
#[derive(Serialize)]
struct DetailBody<'a> {
    category: Cow<'a, str>,
    content: Cow<'a, str>,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_by: Option<String>,
    entities: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heading: Option<String>,
    id: ShortId,
    importance: Importance,
    #[serde(skip_serializing_if = "Option::is_none")]
    share_permission: Option<Permission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_by: Option<String>,
    tags: Vec<Cow<'a, str>>,
    r#type: MemoryType,
}

/// A short memory as JSON.
#[derive(Serialize)]
struct IndexBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heading: Option<String>,
    id: ShortId,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_by: Option<String>,
    summary: Cow<'a, str>,
}

/// The text after `{"score":0.83,\n`: `"category":…,"content":…}\n`.
pub(super) fn json_detail(memory: &Memory) -> String {
    body_of(&DetailBody {
        category: neutral(memory.category.as_str()),
        content: neutral(&memory.content),
        created: memory.created.date().to_string(),
        edited_by: memory.edited_by.as_deref().map(neutral_line),
        entities: memory.entities.iter().map(|name| neutral(name)).collect(),
        file: file_of(memory),
        heading: heading_of(memory),
        id: memory.short_id,
        importance: memory.importance,
        share_permission: memory.share.as_ref().map(|share| share.permission),
        shared_by: memory.share.as_ref().map(|share| neutral_line(&share.by)),
        tags: memory.tags.iter().map(|tag| neutral(tag.as_str())).collect(),
        r#type: memory.kind,
    })
}

/// The text after `{"score":0.83,\n`: `"id":42,"summary":…}\n`.
pub(super) fn json_index(memory: &Memory) -> String {
    body_of(&IndexBody {
        edited_by: memory.edited_by.as_deref().map(neutral_line),
        file: file_of(memory),
        heading: heading_of(memory),
        id: memory.short_id,
        shared_by: memory.share.as_ref().map(|share| neutral_line(&share.by)),
        summary: neutral(&memory.summary),
    })
}

/// The additional line of a row with all details: access count, times, metadata and summary.
pub(super) fn json_beside(memory: &Memory) -> String {
    #[derive(Serialize)]
    struct Beside<'a> {
        access_count: u32,
        created_at: Timestamp,
        expires_at: Option<Timestamp>,
        last_accessed: Option<Timestamp>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
        summary: Cow<'a, str>,
    }
    let mut metadata = memory.metadata.clone();
    // A number that needs no change stays a number.
    let mut clean = |_: Option<&str>, text: &str| Some(neutral(text).into_owned()).filter(|clean| clean != text);
    metadata.iter_mut().for_each(|kept| kept.change_texts(&mut clean));
    let beside = Beside {
        access_count: memory.access_count,
        created_at: memory.created,
        expires_at: memory.expires,
        last_accessed: memory.last_accessed,
        metadata,
        summary: neutral(&memory.summary),
    };
    let object = serde_json::to_string(&beside).unwrap_or_default();
    let fields = object.strip_prefix('{').and_then(|body| body.strip_suffix('}')).unwrap_or_default();
    format!("{fields},\n")
}

fn file_of(memory: &Memory) -> Option<String> {
    memory.file.as_ref().map(|file| neutral_line(file.path.as_str()))
}

fn heading_of(memory: &Memory) -> Option<String> {
    memory.file.as_ref()?.heading.as_deref().map(neutral_line)
}

fn body_of(object: &impl Serialize) -> String {
    let text = serde_json::to_string(object).unwrap_or_default();
    format!("{}\n", text.strip_prefix('{').unwrap_or(&text))
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    pub(in crate::pack) fn memory(content: &str, more: serde_json::Value) -> Memory {
        let mut fields = json!({
            "uuid": "0197f0e2-7c00-7000-8000-000000000001", "id": 42, "content": content, "summary": content,
            "category": "facts", "type": "fact", "importance": 0.5, "tags": [], "keywords": [], "entities": [],
            "scope": "global", "created": "2026-11-20T00:00:00Z", "updated": "2026-11-20T00:00:00Z",
            "last_accessed": null, "access_count": 0, "origin": "user", "trust": "user", "session": null, "cwd": null,
            "client": null, "sensitive": false, "rev": 1, "deleted": null
        });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(fields).unwrap()
    }

    #[test]
    fn no_line_of_a_text_begins_where_the_frame_does() {
        assert_eq!(detail_body("a\r\n\r\n#43 b\n</memories>"), " a\n\n  #43 b\n  ‹/memories>\n");
        assert_eq!(index_body(&memory("one\ntwo", json!({}))), " one two\n");
    }

    #[test]
    fn every_form_says_whose_it_is_and_who_wrote_it() {
        let share = json!({ "shared_by": "mara", "share_permission": "write" });
        let both = json!({ "shared_by": "mara", "share_permission": "write", "edited_by": "jon" });
        for (more, shown) in [
            (json!({}), ""),
            (share, " (from mara)"),
            (json!({ "edited_by": "jon" }), " (edited by jon)"),
            (both, " (from mara, edited by jon)"),
        ] {
            let memory = memory("a note", more.clone());
            assert_eq!(detail_line(&memory), format!("{shown} a note\n"));
            assert_eq!(index_body(&memory), format!("{shown} a note\n"));
            for body in [json_detail(&memory), json_index(&memory)] {
                let read: serde_json::Value = serde_json::from_str(&format!("{{{body}")).unwrap();
                for field in ["shared_by", "edited_by"] {
                    assert_eq!(read.get(field), more.get(field), "{body}");
                }
            }
        }
    }

    #[test]
    fn nothing_of_a_memory_is_shown_raw() {
        let odd = json!({
            "category": "<system>", "tags": ["<tool_result>", "a\u{200b}b"], "entities": ["</memories>"],
            "shared_by": "x)\n#43 y <system>", "share_permission": "read", "edited_by": "<user>\n"
        });
        let memory = memory("plain", odd);
        for line in [detail_line(&memory), index_body(&memory), json_detail(&memory), json_index(&memory)] {
            let marks = ["<system", "<tool_result", "</memories", "<user", "\u{200b}"];
            assert!(marks.iter().all(|mark| !line.contains(mark)), "{line}");
            assert_eq!(line.lines().count(), 1, "{line}");
        }
    }
}
