//! Reads notes from a client's own memory files, and never writes them.
//!
//! CLAUDE.md and MEMORY.md contain lists and paragraphs: each item becomes a memory. Claude Code's auto-memory keeps
//! one fact per file, with front matter that names and describes the fact. Each file becomes one memory.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde_json::Value;
use tessera_engine::domain::{Category, Scope, Timestamp, Trust};
use tessera_markdown::{Bound, Note, parse};

use crate::use_cases::Remember;

/// The minimum number of characters of an item.
const SHORTEST: usize = 8;
/// For the minimum length of a text, one Chinese, Japanese or Korean character counts as this number of characters.
const WIDE: usize = 3;
/// The maximum size of a file that becomes one memory; longer files are split into items.
const MOST_WHOLE: usize = 16 * 1024;

/// A memory file of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteFile {
    /// The name of the file in its directory, such as `MEMORY.md`.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The memories of several files of one directory. If `trust` is set, it replaces the trust that follows from the
/// origin.
pub(crate) fn notes(files: &[NoteFile], scope: &Scope, trust: Option<Trust>) -> Vec<Remember> {
    let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let of_file = files.iter().flat_map(|file| {
        let note = parse(&file.text, file.name.trim_end_matches(".md"), Bound::default());
        match whole(&note, &file.text) {
            Some(memory) => vec![memory],
            None => items(file.text.get(note.body..).unwrap_or_default(), &names),
        }
    });
    let tags: Vec<_> = "claude-md".parse().ok().into_iter().collect();
    of_file
        .map(|note| Remember { tags: tags.clone(), scope: Some(scope.clone()), owner_trust: trust, ..note })
        .collect()
}

/// The single memory of a file with name and description; `None` for any other file.
fn whole(note: &Note, text: &str) -> Option<Remember> {
    let text_of = |name: &str| note.fields.get(name).and_then(Value::as_str).map(str::trim);
    let metadata = note.fields.get("metadata").and_then(Value::as_object);
    let described = text_of("description").filter(|text| !text.is_empty())?;
    let body = text.get(note.body..)?.trim();
    // The parser takes a `type` in the front matter as the note's own.
    let of_metadata = |name: &str| metadata.and_then(|fields| fields.get(name)).and_then(Value::as_str);
    let kind = of_metadata("type").or_else(|| note.is_kind_said.then_some(note.kind.as_str()));
    if body.len() > MOST_WHOLE || kind.is_none() {
        return None;
    }
    let category = match kind {
        Some("user" | "feedback") => Some("preferences"),
        Some("project") => Some("projects"),
        Some("reference") => Some("facts"),
        _ => None,
    };
    let content = if body.is_empty() { described.to_owned() } else { format!("{described}\n\n{body}") };
    let modified = of_metadata("modified").and_then(|time| time.parse::<Timestamp>().ok());
    Some(Remember {
        content,
        category: category.and_then(|name| Category::try_from(name.to_owned()).ok()),
        keywords: text_of("name").map(|name| name.replace('-', " ")).into_iter().collect(),
        created: modified,
        ..Remember::default()
    })
}

/// One memory per list item and paragraph, with the headings above it as keywords. Code and
/// tables are kept together with their explanation. `files` are the names of files that are imported separately.
fn items(text: &str, files: &BTreeSet<&str>) -> Vec<Remember> {
    let (notes, headings) = (Vec::new(), Vec::new());
    let mut reader =
        Reader { headings, open: None, depth: 0, start: 0, ended: 0, notes, leads_to_file: false, text, files };
    // A front matter that is not YAML, such as `globs: *.rs` of other editors, is not a note.
    let is_fenced = text.starts_with("---\n") || text.starts_with("---\r\n");
    let options = if is_fenced { Options::ENABLE_YAML_STYLE_METADATA_BLOCKS } else { Options::empty() };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        reader.take(&event, range.start, range.end);
    }
    let note = |(content, keywords): (String, Vec<String>)| Remember { content, keywords, ..Remember::default() };
    reader.notes.into_iter().map(note).collect()
}

struct Reader<'a> {
    text: &'a str,
    files: &'a BTreeSet<&'a str>,
    headings: Vec<(HeadingLevel, String)>,
    open: Option<HeadingLevel>,
    /// The number of items and paragraphs that contain this position.
    depth: usize,
    start: usize,
    /// The end of the last note.
    ended: usize,
    /// True for a line of an index file whose linked file is imported separately.
    leads_to_file: bool,
    notes: Vec<(String, Vec<String>)>,
}

impl Reader<'_> {
    fn take(&mut self, event: &Event<'_>, start: usize, end: usize) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.headings.retain(|(above, _)| above < level);
                self.headings.push((*level, String::new()));
                self.open = Some(*level);
            }
            Event::End(TagEnd::Heading(_)) => self.open = None,
            Event::Text(words) | Event::Code(words) if self.open.is_some() => {
                if let Some((_, heading)) = self.headings.last_mut() {
                    heading.push_str(words);
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) if self.files.contains(dest_url.trim_start_matches("./")) => {
                self.leads_to_file = true;
            }
            // An item with nested items is one note.
            Event::Start(Tag::Item | Tag::Paragraph) => {
                if self.depth == 0 {
                    self.start = start;
                }
                self.depth += 1;
            }
            Event::Start(Tag::CodeBlock(_)) if self.depth == 0 => self.start = start,
            Event::End(TagEnd::CodeBlock) if self.depth == 0 => self.code(end),
            Event::End(TagEnd::Item | TagEnd::Paragraph) => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.note(end);
                }
            }
            _ => {}
        }
    }

    /// Code belongs to the note directly above it. Without such a note, the code becomes a note.
    fn code(&mut self, end: usize) {
        let code = self.text.get(self.start..end).unwrap_or("").trim_end();
        let is_next = self.text.get(self.ended..self.start).is_some_and(|between| between.trim().is_empty());
        match self.notes.last_mut().filter(|_| is_next) {
            Some((above, _)) => {
                above.push_str("\n\n");
                above.push_str(code);
                self.ended = end;
            }
            None => self.note(end),
        }
    }

    fn note(&mut self, end: usize) {
        let raw = self.text.get(self.start..end).unwrap_or("").trim();
        // A list marker is followed by a space, the stars of bold text are not.
        let content = ["- ", "* ", "+ "].iter().find_map(|marker| raw.strip_prefix(marker)).unwrap_or(raw).trim();
        let is_import = content.starts_with('@') && !content.contains(' ');
        let is_index = std::mem::take(&mut self.leads_to_file);
        if says_something(content) && !is_import && !is_index {
            self.ended = end;
            let keywords = self.headings.iter().map(|(_, heading)| heading.trim().to_owned());
            self.notes.push((content.to_owned(), keywords.filter(|heading| !heading.is_empty()).collect()));
        }
    }
}

/// True if a text is long enough; a Chinese, Japanese or Korean character counts as a short word.
fn says_something(text: &str) -> bool {
    let is_wide = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    text.chars().map(|c| if is_wide(c) { WIDE } else { 1 }).sum::<usize>() >= SHORTEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> NoteFile {
        NoteFile { name: name.to_owned(), text: text.to_owned() }
    }

    fn shown(notes: &[Remember]) -> Vec<(&str, Vec<&str>)> {
        let shown =
            notes.iter().map(|note| (note.content.as_str(), note.keywords.iter().map(String::as_str).collect()));
        shown.collect()
    }

    #[test]
    fn items_and_paragraphs_become_notes_under_their_headings() {
        let text = "# Ledger\n\nThe ledger is append-only.\n\n@docs/rules.md\n\n## Style\n- Use tabs, `never` spaces\n  - in Go too\n\
                    * Commit messages in English\n\n**Why:** so that all can read them\n\n```sh\nmake\n```\n";
        let notes = notes(&[file("CLAUDE.md", text)], &Scope::Global, None);
        assert_eq!(
            shown(&notes),
            [
                ("The ledger is append-only.", vec!["Ledger"]),
                ("Use tabs, `never` spaces\n  - in Go too", vec!["Ledger", "Style"]),
                ("Commit messages in English", vec!["Ledger", "Style"]),
                ("**Why:** so that all can read them\n\n```sh\nmake\n```", vec!["Ledger", "Style"]),
            ]
        );
    }

    #[test]
    fn code_is_a_note_and_so_is_a_short_sentence_in_signs() {
        let text = "# Build\n\n```sh\nmake all\n```\n\n- 用中文回答\n- 日本語で\n- ok\n\nRun:\n\n    cargo test\n";
        let notes = notes(&[file("CLAUDE.md", text)], &Scope::Global, None);
        let texts: Vec<&str> = notes.iter().map(|note| note.content.as_str()).collect();
        assert_eq!(texts, ["```sh\nmake all\n```", "用中文回答", "日本語で", "cargo test"]);
    }

    #[test]
    fn a_front_matter_that_is_no_yaml_is_no_note_and_no_keyword() {
        let text =
            "---\ndescription: rust\nglobs: *.rs\nalwaysApply: false\n---\n\n# Style\n- Use `?` and not unwrap\n";
        let notes = notes(&[file("rust.mdc", text)], &Scope::Global, None);
        assert_eq!(shown(&notes), [("Use `?` and not unwrap", vec!["Style"])]);
    }

    #[test]
    fn a_file_of_the_auto_memory_is_one_note_and_its_line_in_the_index_is_none() {
        let index =
            "- [Indent with tabs](indent-with-tabs.md) — tabs, never spaces\n- [Elsewhere](other.md) — is not here\n";
        let fact = "---\nname: indent-with-tabs\ndescription: The user indents with tabs\nmetadata:\n  node_type: memory\n  \
                    type: feedback\n  originSessionId: 9bb3ea06-3772-46fc-a650-b142d937fec0\n  \
                    modified: 2026-11-21T19:11:58.425Z\n---\n\nIndent with tabs.\n\n**Why:** the user said so.\n";
        let files = [file("MEMORY.md", index), file("indent-with-tabs.md", fact)];
        let notes = notes(&files, &Scope::Global, Some(Trust::Foreign));
        let whole = "The user indents with tabs\n\nIndent with tabs.\n\n**Why:** the user said so.";
        assert_eq!(shown(&notes), [("[Elsewhere](other.md) — is not here", vec![]), (whole, vec!["indent with tabs"])]);
        assert_eq!(notes[1].category.as_ref().map(Category::as_str), Some("preferences"));
        assert_eq!(notes[1].created, "2026-11-21T19:11:58.425Z".parse().ok());
        assert!(notes.iter().all(|note| note.owner_trust == Some(Trust::Foreign)));
    }
}
