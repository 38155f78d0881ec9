//! Splits the body of a note with `pulldown-cmark` into a list of blocks: blocks that can become sections, and code.

use std::ops::Range;
use std::sync::Arc;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

/// This word after the fence makes a fenced block one memory with exactly its text: `~~~memory [category] #tag
/// (context)`.
pub(crate) const MEMORY: &str = "memory";

/// The kind of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A paragraph, a quote, a definition.
    Prose,
    /// A list item; the range is its own text, after its marker and before its sub-items.
    Item(Range<usize>),
    /// A code block. The text of such a block is split only at line ends, and is not searched for links or tags.
    Code,
    /// A table: cut at lines.
    Table,
    /// A fenced block that is one memory: its attributes, and its text.
    Memory(Range<usize>, Range<usize>),
    /// A comment, which separates the blocks around it.
    Comment,
    /// A heading.
    Heading,
}

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

/// The headings above a position in the text.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) start: usize,
    pub(crate) headings: Arc<[String]>,
}

/// A body, split into blocks.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) list: Vec<Block>,
    pub(crate) sections: Vec<Section>,
    /// Code and HTML tags, in order. They contain no links or tags.
    pub(crate) code: Vec<Range<usize>>,
    /// The starts of reference links: `[name]`, with `[name]: address` below.
    pub(crate) references: Vec<usize>,
}

/// Splits a body. Positions are shifted by `base`.
pub(crate) fn of(text: &str, base: usize) -> Blocks {
    let body = text.get(base..).unwrap_or_default();
    let parser = Parser::new_ext(body, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES);
    let events = parser.into_offset_iter();
    // Link definitions produce no event, but their text must stay.
    let definitions: Vec<Range<usize>> =
        events.reference_definitions().iter().map(|(_, made)| made.span.start + base..made.span.end + base).collect();
    let mut walk = Walk {
        text,
        base,
        out: Blocks::default(),
        items: Vec::new(),
        depth: 0,
        line: None,
        heading: None,
        path: Vec::new(),
    };
    for (event, range) in events {
        walk.take(event, range.start + base..range.end + base);
    }
    walk.finish(definitions)
}

/// An open list item.
struct Open {
    /// The start of its marker.
    start: usize,
    /// Where the item's own text starts; `None` after this text was recorded, or if another block comes first.
    own: Option<usize>,
}

/// Text that is directly in an item, without a paragraph.
struct Line {
    start: usize,
    end: usize,
    own_of: Option<usize>,
}

struct Walk<'a> {
    text: &'a str,
    base: usize,
    out: Blocks,
    items: Vec<Open>,
    /// The nesting depth inside a block that becomes one piece.
    depth: usize,
    line: Option<Line>,
    heading: Option<String>,
    path: Vec<(HeadingLevel, String)>,
}

impl Walk<'_> {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        if matches!(event, Event::Code(_) | Event::InlineHtml(_) | Event::Start(Tag::CodeBlock(_))) {
            self.out.code.push(range.clone());
        }
        if let Event::Start(Tag::Link {
            link_type: LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut,
            ..
        }) = event
        {
            self.out.references.push(range.start);
        }
        if let (Some(heading), Event::Text(text) | Event::Code(text)) = (&mut self.heading, &event) {
            heading.push_str(text);
        } else if let (Some(heading), Event::SoftBreak | Event::HardBreak) = (&mut self.heading, &event) {
            heading.push(' ');
        }
        if self.depth > 0 {
            match event {
                Event::Start(_) => self.depth += 1,
                Event::End(end) => {
                    self.depth -= 1;
                    if let (0, TagEnd::Heading(level)) = (self.depth, end) {
                        self.end_heading(level, range.start);
                    }
                }
                _ => {}
            }
            return;
        }
        match event {
            Event::Start(Tag::List(_)) => self.end_line(range.start),
            Event::Start(Tag::Item) => {
                self.end_line(range.start);
                self.begin_item(range.start);
            }
            Event::End(TagEnd::Item) => {
                self.end_line(range.end);
                self.items.pop();
            }
            Event::Start(tag) if is_block(&tag) => {
                self.end_line(range.start);
                self.block(&tag, range);
                self.depth = 1;
            }
            Event::Rule => self.end_line(range.start),
            Event::End(TagEnd::List(_)) => {}
            _ => self.inline(range),
        }
    }

    fn begin_item(&mut self, at: usize) {
        let rest = self.text.get(at..).unwrap_or_default();
        let marker = rest.trim_start_matches([' ', '\t', '>']);
        let start = at + rest.len() - marker.len();
        let digits = marker.bytes().take_while(u8::is_ascii_digit).count();
        let after = marker.get(digits + 1..).unwrap_or_default().trim_start_matches([' ', '\t', '\r', '\n']);
        self.items.push(Open { start, own: Some(start + marker.len() - after.len()) });
    }

    /// Adds text that is in an item, but not in a paragraph.
    fn inline(&mut self, range: Range<usize>) {
        if let Some(line) = &mut self.line {
            line.end = line.end.max(range.end);
        } else if let Some(item) = self.items.last_mut() {
            let own = item.own.take();
            let own_of = own.map(|_| item.start);
            self.line = Some(Line { start: own.unwrap_or(range.start), end: range.end, own_of });
        }
    }

    /// Ends an item's text at the end of its last line, because the parser reports no event for an escaped character at
    /// the end.
    fn end_line(&mut self, boundary: usize) {
        let Some(line) = self.line.take() else { return };
        let rest = self.text.get(line.end..).unwrap_or_default();
        let end = (line.end + rest.find(['\n', '\r']).unwrap_or(rest.len())).min(boundary.max(line.end));
        self.own_or_prose(line.own_of, line.start..end);
    }

    fn own_or_prose(&mut self, own_of: Option<usize>, span: Range<usize>) {
        let span = trimmed(self.text, span);
        match own_of {
            Some(start) => {
                self.out.list.push(Block { kind: Kind::Item(span.clone()), span: start..span.end.max(start) });
            }
            None => self.push(Kind::Prose, span),
        }
    }

    fn push(&mut self, kind: Kind, span: Range<usize>) {
        let span = trimmed(self.text, span);
        if !span.is_empty() {
            self.out.list.push(Block { kind, span });
        }
    }

    fn block(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        let own = self.items.last_mut().and_then(|item| Some((item.start, item.own.take()?)));
        match tag {
            Tag::Paragraph => match own {
                Some((start, from)) => self.own_or_prose(Some(start), from.min(range.end)..range.end),
                None => self.push(Kind::Prose, range),
            },
            Tag::Heading { .. } if self.items.is_empty() => {
                self.push(Kind::Heading, range);
                self.heading = Some(String::new());
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) if self.items.is_empty() => {
                let span = trimmed(self.text, range);
                let kind = memory(self.text, &span).unwrap_or(Kind::Code);
                self.push(kind, span);
            }
            Tag::CodeBlock(_) => self.push(Kind::Code, range),
            Tag::Table(_) => self.push(Kind::Table, range),
            Tag::HtmlBlock if is_comment(self.text.get(range.clone()).unwrap_or_default()) => {
                self.push(Kind::Comment, range);
            }
            _ => self.push(Kind::Prose, range),
        }
    }

    fn end_heading(&mut self, level: HeadingLevel, start: usize) {
        let Some(heading) = self.heading.take() else { return };
        self.path.retain(|(above, _)| *above < level);
        self.path.push((level, heading.trim().to_owned()));
        let headings =
            self.path.iter().map(|(_, heading)| heading.clone()).filter(|heading| !heading.is_empty()).collect();
        self.out.sections.push(Section { start, headings });
    }

    fn finish(mut self, definitions: Vec<Range<usize>>) -> Blocks {
        self.end_line(self.text.len());
        for definition in definitions {
            self.push(Kind::Prose, definition);
        }
        self.out.list.sort_by_key(|block| (block.span.start, block.span.end));
        let mut end = 0;
        self.out.list.retain(|block| {
            let is_free = block.span.start >= end;
            end = end.max(block.span.end);
            is_free
        });
        self.add_repeated();
        self.out.code.sort_unstable_by_key(|range| (range.start, range.end));
        self.out.references.sort_unstable();
        self.out
    }

    /// Adds repeated definitions of a name as text, because the parser drops them.
    fn add_repeated(&mut self) {
        let mut repeated = Vec::new();
        let mut from = self.base;
        let last = self.text.len()..self.text.len();
        for block in self.out.list.iter().map(|block| &block.span).chain([&last]) {
            let mut at = from;
            for line in self.text.get(from..block.start).unwrap_or_default().split_inclusive('\n') {
                if is_definition(line) {
                    repeated.push(Block { kind: Kind::Prose, span: trimmed(self.text, at..at + line.len()) });
                }
                at += line.len();
            }
            from = block.end;
        }
        if !repeated.is_empty() {
            self.out.list.extend(repeated);
            self.out.list.sort_by_key(|block| (block.span.start, block.span.end));
        }
    }
}

/// True if a line is a link definition.
fn is_definition(line: &str) -> bool {
    line.trim_start().starts_with('[') && line.contains("]:")
}

/// True if a tag begins a block that becomes one piece, and false for inline content.
fn is_block(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::Table(_)
            | Tag::FootnoteDefinition(_)
    )
}

/// A range without surrounding white space. Spaces before the first line are kept if they may mark code.
pub(crate) fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let inside = text.get(span.clone()).unwrap_or_default();
    let end = span.start + inside.trim_end().len();
    let inside = inside.trim_end();
    let blank = inside.len() - inside.trim_start_matches(['\n', '\r']).len();
    (span.start + blank).min(end)..end
}

/// True if an HTML block consists only of comments. Text after an unclosed comment stays a part of the note.
fn is_comment(html: &str) -> bool {
    let mut rest = html.trim();
    while let Some((_, after)) = rest.strip_prefix("<!--").and_then(|inside| inside.split_once("-->")) {
        rest = after.trim_start();
        if rest.is_empty() {
            return true;
        }
    }
    false
}

/// Parses a fenced block as one memory, if it is marked as one and closed.
fn memory(text: &str, span: &Range<usize>) -> Option<Kind> {
    let block = text.get(span.clone())?;
    let (first, rest) = block.split_once('\n')?;
    let (inside, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
    let is_fence = |letter: char| letter == '~' || letter == '`';
    let info = first.trim_start_matches(is_fence).trim();
    let about = info.strip_prefix(MEMORY).filter(|about| about.is_empty() || about.starts_with(char::is_whitespace))?;
    let closes = !last.trim().is_empty() && last.trim().trim_start_matches(is_fence).is_empty();
    let inside = if first.ends_with('\r') { inside.strip_suffix('\r').unwrap_or(inside) } else { inside };
    let start = span.start + first.len() + 1;
    let about = about.trim();
    let about_start = span.start + first.trim_end().len() - about.len();
    closes.then(|| Kind::Memory(about_start..about_start + about.len(), start..start + inside.len()))
}
