//! The values of a parsed note: its fields, parts and relations. This module parses nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

/// The maximum length of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Maximum bytes of a group of paragraphs. A single block that is longer than the maximum is cut into pieces of at
    /// most four times that size. Observations and memory blocks are not cut.
    pub most_bytes: usize,
}

impl Default for Bound {
    fn default() -> Self {
        Self { most_bytes: 1_000 }
    }
}

/// A file as a note.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Its title, otherwise the file name without its extension.
    pub title: String,
    /// Its type in snake case, by default `note`.
    pub kind: String,
    /// True if the note states its type.
    pub is_kind_said: bool,
    /// Its permalink, if given.
    pub permalink: Option<String>,
    /// Its tags without `#`, including those in its text; in order, without duplicates.
    pub tags: Vec<String>,
    /// Its aliases.
    pub aliases: Vec<String>,
    /// All other keys of its front matter. Dates are text.
    pub fields: BTreeMap<String, Value>,
    /// Its time of creation, if given. A time without an offset is in UTC.
    pub created: Option<Timestamp>,
    /// Its time of change, if given.
    pub modified: Option<Timestamp>,
    /// The start of its body in bytes.
    pub body: usize,
    /// The parts that become memories, in order.
    pub parts: Vec<Part>,
    /// Its relations, in order. In one part, each combination of type, project and name appears only once.
    pub relations: Vec<Relation>,
    /// The error in the front matter. Its lines are then treated as a part of the body.
    pub problem: Option<String>,
}

impl Note {
    /// The relations of all parts, each (type, project, name) once.
    pub fn edges(&self) -> Vec<&Relation> {
        let mut seen = BTreeSet::new();
        self.relations
            .iter()
            .filter(|relation| seen.insert((&relation.kind, &relation.target.project, &relation.target.name)))
            .collect()
    }
}

/// The kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// A list item in the syntax of observations, or a memory block with a category or tags.
    Observation,
    /// Adjacent paragraphs, items, code and tables.
    Text,
}

/// An observation or a group of paragraphs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its kind.
    pub kind: PartKind,
    /// The category of an observation; `note` if it only has tags.
    pub category: Option<String>,
    /// The tags of an observation, without duplicates and `#`.
    pub tags: Vec<String>,
    /// The context of an observation, in parentheses at its end.
    pub context: Option<String>,
    /// The headings above it, outermost first.
    pub headings: Arc<[String]>,
    /// The complete item without sub-items, or the complete group.
    pub block: Range<usize>,
    /// Its text, verbatim: for an observation, everything after the category.
    pub text: Range<usize>,
    /// Its text without the tags and the context at its end.
    pub bare: Range<usize>,
    /// The lines of the block, from 1, inclusive.
    pub lines: (u32, u32),
}

/// The note that a relation names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// The folder in `project::name`.
    pub project: Option<String>,
    /// The displayed text in `name|alias`.
    pub alias: Option<String>,
    /// The heading or block in `name#heading`.
    pub heading: Option<String>,
}

impl Target {
    /// A target with only a name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), project: None, alias: None, heading: None }
    }
}

/// A relation from a note to another note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Its type as written; `links_to` for a plain link, `embeds` for an embedded note.
    pub kind: String,
    /// The target.
    pub target: Target,
    /// The text in parentheses after the relation.
    pub context: Option<String>,
    /// The position of the item or the link.
    pub at: Range<usize>,
    /// The line of its start, from 1.
    pub line: u32,
    /// The part that contains it; none for an item that is only a relation.
    pub part: Option<usize>,
}
