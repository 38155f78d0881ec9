//! What a note says, as values: its fields, its parts and its relations. Nothing here reads a text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

/// How long a part may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Bytes that a group of paragraphs holds at most. A single block that is longer is cut, into pieces of at most four
    /// times as much; an observation and a block of memory are what they are.
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
    /// What it calls itself, else the stem of its file's name.
    pub title: String,
    /// Its type in snake case, `note` where it says none.
    pub kind: String,
    /// True where it says its type itself.
    pub is_kind_said: bool,
    /// Its permalink, as it says it.
    pub permalink: Option<String>,
    /// Its tags without `#`, and those in its running text; each once, in order.
    pub tags: Vec<String>,
    /// Other names of it.
    pub aliases: Vec<String>,
    /// Every other key of its front matter. Dates are text.
    pub fields: BTreeMap<String, Value>,
    /// When it says that it was made. A time without an offset is taken for UTC.
    pub created: Option<Timestamp>,
    /// When it says that it was changed.
    pub modified: Option<Timestamp>,
    /// The byte where its body begins.
    pub body: usize,
    /// What becomes a memory of its own, in order.
    pub parts: Vec<Part>,
    /// What it says of other notes, in order; of one part each (type, project, name) once.
    pub relations: Vec<Relation>,
    /// What is wrong with its front matter, which is body then.
    pub problem: Option<String>,
}

impl Note {
    /// Says each (type, project, name) once, whichever parts say it.
    pub fn edges(&self) -> Vec<&Relation> {
        let mut seen = BTreeSet::new();
        self.relations
            .iter()
            .filter(|relation| seen.insert((&relation.kind, &relation.target.project, &relation.target.name)))
            .collect()
    }
}

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// An item of a list in the grammar of observations, or a block of memory that names a category or tags.
    Observation,
    /// Paragraphs, items, code and tables that stand together.
    Text,
}

/// An observation or a group of paragraphs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// An observation's category; `note` where it has tags alone.
    pub category: Option<String>,
    /// An observation's tags, each once, without `#`.
    pub tags: Vec<String>,
    /// What an observation says in parentheses at its end.
    pub context: Option<String>,
    /// The headings above it, the outermost first.
    pub headings: Arc<[String]>,
    /// The whole item (without items below it) or group.
    pub block: Range<usize>,
    /// What it says, word for word: of an observation all after its category.
    pub text: Range<usize>,
    /// That without the tags and the context at its end.
    pub bare: Range<usize>,
    /// The lines of the block, from 1, both included.
    pub lines: (u32, u32),
}

/// The note that a relation names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Its name, alone.
    pub name: String,
    /// The folder it is said to be in, of `project::name`.
    pub project: Option<String>,
    /// What is shown for it, of `name|alias`.
    pub alias: Option<String>,
    /// The heading or block it points to, of `name#heading`.
    pub heading: Option<String>,
}

impl Target {
    /// A target that is a name and nothing else.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), project: None, alias: None, heading: None }
    }
}

/// What a note says of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Its type as written; `links_to` for a bare link, `embeds` for an embedded note.
    pub kind: String,
    /// The note it points to.
    pub target: Target,
    /// What is said in parentheses after it.
    pub context: Option<String>,
    /// Where it stands: the item, or the link.
    pub at: Range<usize>,
    /// The line it begins in, from 1.
    pub line: u32,
    /// The part it stands in; an item that is a relation and nothing else is in none.
    pub part: Option<usize>,
}
