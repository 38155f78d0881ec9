//! Notes out of a client's own memory files (CLAUDE.md, MEMORY.md): read, never written.

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};
use tessera_engine::domain::Scope;

use crate::verbs::Remember;

/// Characters below which an item says nothing by itself.
const SHORTEST: usize = 8;

/// One memory for each list item and paragraph; the headings above it are its keywords. Code and
/// tables stay with what they explain.
pub(crate) fn notes(text: &str, scope: &Scope) -> Vec<Remember> {
    let mut reader = Reader { headings: Vec::new(), open: None, depth: 0, start: 0, notes: Vec::new(), text };
    for (event, range) in Parser::new(text).into_offset_iter() {
        reader.take(&event, range.start, range.end);
    }
    let note = |(content, keywords): (String, Vec<String>)| Remember {
        content,
        keywords,
        tags: "claude-md".parse().ok().into_iter().collect(),
        scope: Some(scope.clone()),
        ..Remember::default()
    };
    reader.notes.into_iter().map(note).collect()
}

struct Reader<'a> {
    text: &'a str,
    headings: Vec<(HeadingLevel, String)>,
    open: Option<HeadingLevel>,
    /// How deep in an item or a paragraph.
    depth: usize,
    start: usize,
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
            // An item with items in it is one note: they belong together.
            Event::Start(Tag::Item | Tag::Paragraph) => {
                if self.depth == 0 {
                    self.start = start;
                }
                self.depth += 1;
            }
            Event::End(TagEnd::Item | TagEnd::Paragraph) => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.note(end);
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, end: usize) {
        let raw = self.text.get(self.start..end).unwrap_or("").trim();
        let content = raw.trim_start_matches(['-', '*', '+']).trim();
        let is_import = content.starts_with('@') && !content.contains(' ');
        if content.chars().count() >= SHORTEST && !is_import {
            let keywords = self.headings.iter().map(|(_, heading)| heading.trim().to_owned());
            self.notes.push((content.to_owned(), keywords.filter(|heading| !heading.is_empty()).collect()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_paragraphs_become_notes_under_their_headings() {
        let text = "# Ledger\n\nThe ledger is append-only.\n\n@docs/rules.md\n\n## Style\n- Use tabs, `never` spaces\n  - in Go too\n\
                    * Commit messages in English\n\n```sh\nmake\n```\n";
        let notes = notes(text, &Scope::Global);
        let shown: Vec<(&str, Vec<&str>)> = notes
            .iter()
            .map(|note| (note.content.as_str(), note.keywords.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(
            shown,
            [
                ("The ledger is append-only.", vec!["Ledger"]),
                ("Use tabs, `never` spaces\n  - in Go too", vec!["Ledger", "Style"]),
                ("Commit messages in English", vec!["Ledger", "Style"]),
            ]
        );
    }
}
