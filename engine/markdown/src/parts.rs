//! Parses a text as a note: splits it into blocks, parses items, and groups the rest into parts within the limit.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::blocks::{Block, Blocks, Kind, trimmed};
use crate::comment::Lines;
use crate::front::{Distinct, Front};
use crate::item::{Found, Item};
use crate::note::{Bound, Note, Part, PartKind, Relation};
use crate::{blocks, comment, front, inline, item};

/// Observations and memory blocks above this length are cut like other text, because no memory may be longer.
const LONGEST: usize = 32 * 1024;

/// Parses a text as a Markdown note. `stem` is the file name without its extension.
///
/// ```
/// let text = "---\ntags: [ports]\n---\n- [fact] staging listens on 7433 #staging\n- part_of [[Network]]\n";
/// let note = tessera_markdown::parse(text, "Staging", tessera_markdown::Bound::default());
/// assert_eq!(&text[note.parts[0].text.clone()], "staging listens on 7433 #staging");
/// assert_eq!(note.relations[0].target.name, "Network");
/// ```
pub fn parse(text: &str, stem: &str, bound: Bound) -> Note {
    let front = front::read(text);
    let base = front.broken.as_ref().map_or(front.body, |lines| lines.end);
    let broken = front.broken.clone();
    let mut note = note(front, stem);
    let (painted, comments, blocks) = cut_up(text, base);
    let mut reader = Reader {
        text: &painted,
        original: text,
        lines: Lines::of(text),
        bound: bound.most_bytes.max(1),
        blocks: &blocks,
        comments: &comments,
        section: 0,
        group: None,
        tags: Distinct::default(),
        note: &mut note,
    };
    if let Some(broken) = broken {
        reader.add_text(trimmed(text, broken), true);
        reader.end_group();
    }
    for tag in std::mem::take(&mut reader.note.tags) {
        reader.tags.add(&tag);
    }
    for block in &blocks.list {
        reader.take(block);
    }
    reader.end_group();
    note.tags = reader.tags.into_list();
    place(&mut note);
    note
}

/// Parses a text that is not Markdown: only paragraphs.
pub fn parse_plain(text: &str, stem: &str, bound: Bound) -> Note {
    let body = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut note = note(Front { body, ..Front::default() }, stem);
    let blocks = Blocks::default();
    let mut reader = Reader {
        text,
        original: text,
        lines: Lines::of(text),
        bound: bound.most_bytes.max(1),
        blocks: &blocks,
        comments: &[],
        section: 0,
        group: None,
        tags: Distinct::default(),
        note: &mut note,
    };
    let (mut at, mut start) = (body, None);
    for line in text.get(body..).unwrap_or_default().split_inclusive('\n') {
        if line.trim().is_empty() {
            if let Some(start) = start.take() {
                reader.add_text(trimmed(text, start..at), true);
            }
        } else {
            start.get_or_insert(at);
        }
        at += line.len();
    }
    if let Some(start) = start {
        reader.add_text(trimmed(text, start..at), true);
    }
    reader.end_group();
    note
}

/// The note without its parts.
fn note(front: Front, stem: &str) -> Note {
    let Front { mut fields, body, problem, .. } = front;
    let title = front::take_text(&mut fields, "title").filter(|title| title != "None");
    let kind = front::take_text(&mut fields, "type").map(|kind| snake_case(&kind)).filter(|kind| !kind.is_empty());
    let permalink = front::take_text(&mut fields, "permalink");
    let tags = front::take_list(&mut fields, "tags");
    let mut aliases = Distinct::default();
    for alias in ["aliases", "alias"].iter().flat_map(|key| front::take_list(&mut fields, key)) {
        aliases.add(&alias);
    }
    let (created, modified) = front::take_times(&mut fields);
    Note {
        title: title.unwrap_or_else(|| stem.to_owned()),
        is_kind_said: kind.is_some(),
        kind: kind.unwrap_or_else(|| "note".to_owned()),
        permalink,
        tags,
        aliases: aliases.into_list(),
        fields,
        created,
        modified,
        body,
        parts: Vec::new(),
        relations: Vec::new(),
        problem,
    }
}

/// Normalises a type: `Meeting Note` and `MeetingNote` become `meeting_note`.
pub(crate) fn snake_case(kind: &str) -> String {
    let mut out = String::new();
    let mut last = ' ';
    for letter in kind.chars() {
        if letter.is_alphanumeric() {
            if letter.is_uppercase() && (last.is_lowercase() || last.is_numeric()) {
                out.push('_');
            }
            out.extend(letter.to_lowercase());
        } else {
            out.push('_');
        }
        last = letter;
    }
    out.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// The text with its comments overwritten, the comments, and the blocks.
fn cut_up(text: &str, base: usize) -> (std::borrow::Cow<'_, str>, Vec<Range<usize>>, Blocks) {
    let blocks = blocks::of(text, base);
    let has_marks = text.get(base..).is_some_and(|body| body.contains("%%"));
    let comments = if has_marks { comment::find(text, base, &blocks.code) } else { Vec::new() };
    let painted = comment::painted(text, &comments);
    let blocks = if comments.is_empty() { blocks } else { blocks::of(&painted, base) };
    (painted, comments, blocks)
}

struct Reader<'a> {
    /// The text with overwritten comments, which is analysed.
    text: &'a str,
    /// The original text, because overwriting comments changes the boundaries of characters in them.
    original: &'a str,
    lines: Lines,
    bound: usize,
    blocks: &'a Blocks,
    comments: &'a [Range<usize>],
    /// The number of begun sections.
    section: usize,
    /// The open group, which is not a part yet.
    group: Option<Range<usize>>,
    /// The note's tags, including those of its text.
    tags: Distinct,
    note: &'a mut Note,
}

impl Reader<'_> {
    fn take(&mut self, block: &Block) {
        let sections = &self.blocks.sections;
        while sections.get(self.section).is_some_and(|section| section.start <= block.span.start) {
            self.section += 1;
            self.end_group();
        }
        match &block.kind {
            Kind::Comment => self.end_group(),
            Kind::Heading => {
                self.end_group();
                self.scan(block.span.clone());
            }
            Kind::Code => self.add_text(block.span.clone(), true),
            Kind::Table => {
                self.scan(block.span.clone());
                self.add_text(block.span.clone(), true);
            }
            Kind::Prose => {
                self.scan(block.span.clone());
                self.add_text(block.span.clone(), false);
            }
            Kind::Item(own) => self.item(block, own.clone()),
            Kind::Memory(about, text) => self.memory(block, about, text),
        }
    }

    fn item(&mut self, block: &Block, own: Range<usize>) {
        let hidden = item::within(&self.blocks.code, &own);
        let links = inline::links(self.text, own.clone(), hidden);
        let is_reference = self.blocks.references.binary_search(&own.start).is_ok();
        match item::read(self.text, own.clone(), Found { hidden, links: &links, is_reference }) {
            Item::Observation(found) if block.span.len() <= LONGEST => {
                self.end_group();
                self.relate(&links);
                let part = Part {
                    kind: PartKind::Observation,
                    category: Some(found.category),
                    tags: found.tags,
                    context: found.context,
                    ..self.part(block.span.clone(), found.text, found.bare)
                };
                self.note.parts.push(part);
            }
            Item::Relation { kind, target, context } => {
                self.end_group();
                let (at, line) = (block.span.clone(), self.lines.number(block.span.start));
                self.note.relations.push(Relation { kind, target, context, at, line, part: None });
            }
            Item::Prose | Item::Observation(_) => {
                self.scan(own);
                self.add_text(block.span.clone(), false);
            }
        }
    }

    fn memory(&mut self, block: &Block, about: &Range<usize>, text: &Range<usize>) {
        if text.len() > LONGEST || text.is_empty() {
            self.add_text(block.span.clone(), true);
            return;
        }
        self.end_group();
        let (category, tags, context) = item::memory_head(self.text.get(about.clone()).unwrap_or_default());
        let kind = if category.is_some() { PartKind::Observation } else { PartKind::Text };
        let part = Part { kind, category, tags, context, ..self.part(block.span.clone(), text.clone(), text.clone()) };
        self.note.parts.push(part);
    }

    /// Records the links and tags of running text.
    fn scan(&mut self, span: Range<usize>) {
        let hidden = item::within(&self.blocks.code, &span);
        let links = inline::links(self.text, span.clone(), hidden);
        self.relate(&links);
        if self.text.get(span.clone()).is_some_and(|text| text.contains('#')) {
            let hidden = inline::code_and_links(hidden, &links);
            inline::running_tags(self.text, span, &hidden, &mut self.tags);
        }
    }

    fn relate(&mut self, links: &[inline::Link]) {
        for link in links {
            let Some(target) = self.text.get(link.inner.clone()).and_then(inline::target) else { continue };
            let kind = if link.is_embed { item::EMBEDS } else { item::LINKS_TO }.to_owned();
            let line = self.lines.number(link.at.start);
            self.note.relations.push(Relation { kind, target, context: None, at: link.at.clone(), line, part: None });
        }
    }

    /// Adds a block to the group, or begins a new group if the block does not fit or a comment separates them.
    fn add_text(&mut self, span: Range<usize>, at_lines: bool) {
        if span.is_empty() {
            return;
        }
        if let Some(group) = &mut self.group {
            let next = self.comments.partition_point(|comment| comment.start < group.end);
            let is_parted = self.comments.get(next).is_some_and(|comment| comment.end <= span.start);
            if !is_parted && span.end - group.start <= self.bound {
                group.end = span.end;
                return;
            }
            self.end_group();
        }
        if span.len() <= self.bound {
            self.group = Some(span);
            return;
        }
        for piece in cut(self.original, span, self.bound, at_lines) {
            let part = self.part(piece.clone(), piece.clone(), piece);
            self.note.parts.push(part);
        }
    }

    fn end_group(&mut self) {
        if let Some(span) = self.group.take() {
            let part = self.part(span.clone(), span.clone(), span);
            self.note.parts.push(part);
        }
    }

    /// Creates a section, with the list of the headings above it.
    fn part(&self, block: Range<usize>, text: Range<usize>, bare: Range<usize>) -> Part {
        let held = self.blocks.sections.partition_point(|section| section.start <= block.start);
        let section = held.checked_sub(1).and_then(|at| self.blocks.sections.get(at));
        let headings = section.map_or_else(|| Arc::from([]), |section| Arc::clone(&section.headings));
        let lines = self.lines.span(&block);
        Part {
            kind: PartKind::Text,
            category: None,
            tags: Vec::new(),
            context: None,
            headings,
            block,
            text,
            bare,
            lines,
        }
    }
}

/// Cuts a block into pieces, at lines or at sentence ends; within the limit if possible, and always within four times
/// the limit.
fn cut(text: &str, span: Range<usize>, bound: usize, at_lines: bool) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = span.start;
    while span.end - start > bound {
        let soft = text.floor_char_boundary(start + bound);
        let hard = text.floor_char_boundary(start.saturating_add(bound.saturating_mul(4)).min(span.end)).max(start);
        let inside = text.get(start..hard).unwrap_or_default();
        let near = inside.get(..soft.saturating_sub(start)).unwrap_or_default();
        let end = last_end(near, at_lines)
            .or_else(|| first_end(inside, near.len(), at_lines))
            .or_else(|| inside.rfind(char::is_whitespace).filter(|at| *at > 0))
            .unwrap_or(inside.len());
        // A limit below the length of one character means one character.
        let end = if end == 0 { text.ceil_char_boundary(start + 1) - start } else { end };
        pieces.push(start..start + end);
        start += end;
    }
    pieces.push(start..span.end);
    let pieces = pieces.into_iter().map(|piece| trimmed(text, piece));
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// True if this character, followed by `next`, ends a sentence or a line. With `at_lines`, only line ends count.
fn ends(letter: char, next: Option<char>, at_lines: bool) -> bool {
    match letter {
        '\n' => true,
        '。' | '！' | '？' => !at_lines,
        '.' | '!' | '?' => !at_lines && next.is_none_or(char::is_whitespace),
        _ => false,
    }
}

/// The position after the last end of a sentence or of a line.
fn last_end(text: &str, at_lines: bool) -> Option<usize> {
    let mut next = Some('x');
    for (at, letter) in text.char_indices().rev() {
        if ends(letter, next, at_lines) {
            return Some(at + letter.len_utf8());
        }
        next = Some(letter);
    }
    None
}

/// The position after the first end of a sentence or, with `at_lines`, of a line.
fn first_end(text: &str, from: usize, at_lines: bool) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut letters = rest.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if ends(letter, letters.peek().map(|(_, next)| *next), at_lines) {
            return Some(from + at + letter.len_utf8());
        }
    }
    None
}

/// Assigns each relation to its part, and removes duplicates of (type, project, name) in one part.
fn place(note: &mut Note) {
    let mut seen = BTreeSet::new();
    let parts = &note.parts;
    note.relations.retain_mut(|relation| {
        let before = parts.partition_point(|part| part.block.start <= relation.at.start).checked_sub(1);
        relation.part = before.filter(|at| parts.get(*at).is_some_and(|part| part.block.end >= relation.at.end));
        let target = &relation.target;
        seen.insert((relation.part, relation.kind.clone(), target.project.clone(), target.name.clone()))
    });
}
