//! A memory as a note of its own, and what such a note tells of the memory that it was written from: both ends of an export
//! that comes back as it went.

use std::collections::BTreeMap;

use serde_json::Value;
use tessera_markdown::write::{self, Link as Relation, Written};
use tessera_markdown::{Bound, Note, Target, parse, parse_plain, permalink};

use crate::domain::{
    Category, FilePath, Importance, LinkKind, MAX_NAME_CHARS, MAX_WORDS, Memory, MemoryType, MemoryUuid, Metadata,
    Origin, Scope, Timestamp, Trust,
};
use crate::enrich;

/// The type of such notes.
const KIND: &str = "memory";
/// The longest title, in characters.
const MOST_TITLE: usize = 60;
/// The longest name of a file or a directory, without what tells it apart.
const MOST_NAME: usize = 48;

/// What a file of this path says: read as Markdown, or as paragraphs alone.
pub fn read_note(path: &FilePath, text: &str) -> Note {
    let read = if path.is_markdown() { parse } else { parse_plain };
    read(text, path.stem(), Bound::default())
}

/// Who wrote what a file says, and where it belongs.
#[derive(Debug, Clone)]
pub struct Filed {
    /// The file.
    pub path: FilePath,
    /// Where its parts belong.
    pub scope: Scope,
    /// Who wrote what is new in it.
    pub origin: Origin,
    /// How far that is believed, where that does not follow from who wrote it.
    pub vouched: Option<Trust>,
    /// When it came to be.
    pub created: Timestamp,
    /// The session.
    pub session: Option<String>,
    /// The client program.
    pub client: Option<String>,
}

/// What a note tells of the memory that it was written from. A note is believed in none of it that would make more of the
/// memory than its folder allows: see [`Told::narrowed`].
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The memory's identity, if nobody has it here.
    pub id: MemoryUuid,
    /// When it was last changed.
    pub changed: Option<Timestamp>,
    pub(super) category: Option<Category>,
    pub(super) kind: Option<MemoryType>,
    pub(super) importance: Option<Importance>,
    pub(super) keywords: Vec<String>,
    pub(super) entities: Vec<String>,
    pub(super) expires: Option<Timestamp>,
    pub(super) metadata: Option<Metadata>,
    scope: Scope,
    origin: Origin,
    trust: Trust,
}

impl Told {
    /// What a note tells; `None` of one that was written from no memory.
    pub fn of(note: &Note) -> Option<Self> {
        if note.kind != KIND || !note.is_kind_said {
            return None;
        }
        let text = |key: &str| note.fields.get(key).and_then(Value::as_str);
        let words = |key: &str| -> Vec<String> {
            let is_word = |word: &&str| word.chars().count() <= MAX_NAME_CHARS && !word.contains('\0');
            let list = note.fields.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(Value::as_str).filter(is_word).take(MAX_WORDS).map(str::to_owned).collect()
        };
        let origin = text("origin").and_then(|text| text.parse::<Origin>().ok()).unwrap_or_default();
        let is_short = origin.to_string().chars().count() <= MAX_NAME_CHARS && !origin.to_string().contains('\0');
        let origin = if is_short { origin } else { Origin::Import };
        Some(Self {
            id: text("id")?.parse().ok()?,
            changed: note.modified.map(|time| Timestamp::from_micros(time.as_microsecond())),
            category: text("category").and_then(|text| text.parse().ok()),
            kind: text("about").and_then(|text| text.parse().ok()),
            importance: note.fields.get("importance").and_then(Value::as_f64).and_then(|value| value.try_into().ok()),
            keywords: words("keywords"),
            entities: words("entities"),
            expires: text("expires").and_then(|text| text.parse().ok()),
            metadata: text("metadata").and_then(|text| text.parse().ok()),
            scope: text("scope").and_then(|text| text.parse().ok()).unwrap_or_default(),
            trust: text("trust").and_then(|text| text.parse().ok()).unwrap_or_else(|| origin.trust()),
            origin,
        })
    }

    /// Who wrote it and where it belongs, as far as a note may say so: in a folder that belongs everywhere it may belong to
    /// one project alone, and it may be believed less than what else stands there. Who brought it in is told by the
    /// person's `own` notes only.
    #[must_use]
    pub fn narrowed(&self, filed: &Filed, is_own: bool) -> Filed {
        let origin = if is_own { self.origin.clone() } else { filed.origin.clone() };
        let trust = Trust::earned(false, filed.vouched, false, &filed.origin).max(self.trust);
        Filed {
            scope: if filed.scope == Scope::Global { self.scope.clone() } else { filed.scope.clone() },
            vouched: (trust != origin.trust()).then_some(trust),
            origin,
            ..filed.clone()
        }
    }
}

/// Another memory that a memory is linked to, and the note that says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedNote {
    /// What the memory is to the other.
    pub kind: LinkKind,
    /// The other.
    pub to: MemoryUuid,
    /// The name of the other's note, and its title; `None` where there is none.
    pub note: Option<(String, String)>,
}

/// What a memory's note is called: how its text begins.
pub fn title_of(memory: &Memory) -> String {
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let said = enrich::summary(&memory.content).replace(is_hidden, " ");
    let mut title = String::new();
    for word in said.split_whitespace() {
        if title.chars().count() + word.chars().count() >= MOST_TITLE {
            break;
        }
        title.push_str(if title.is_empty() { "" } else { " " });
        title.push_str(word);
    }
    if title.is_empty() {
        said.chars().filter(|letter| !letter.is_whitespace()).take(MOST_TITLE).collect()
    } else {
        title
    }
}

/// Where a memory's note belongs: a directory for where it belongs, one for its category, and its name without an ending
/// and without what tells it apart from others.
pub fn place_of(memory: &Memory, title: &str) -> (String, String) {
    let scope = name_of(memory.scope.as_str(), "project");
    let category = name_of(memory.category.as_str(), "facts");
    (format!("{scope}/{category}"), name_of(title, KIND))
}

fn name_of(text: &str, otherwise: &str) -> String {
    let whole = permalink::of_path(&format!("{}.md", text.replace('/', " ")));
    let name: String = whole.chars().take(MOST_NAME).collect();
    let name = name.trim_matches(['.', '-']);
    if name.is_empty() { otherwise.to_owned() } else { name.to_owned() }
}

/// Writes a memory as a note. What follows from its text or is as usual is left out, so that it reads well; how often it
/// was used and where it was said is not told.
pub fn noted(memory: &Memory, title: &str, links: &[LinkedNote]) -> String {
    let origin = memory.share.as_ref().map_or_else(|| memory.origin.clone(), |share| Origin::Shared(share.by.clone()));
    let mut fields = BTreeMap::new();
    let mut tell = |key: &str, value: Value| drop(fields.insert(key.to_owned(), value));
    tell("id", memory.id.to_string().into());
    tell("category", memory.category.as_str().into());
    tell("about", memory.kind.as_str().into());
    tell("importance", f64::from(memory.importance).into());
    if !memory.keywords.is_empty() {
        tell("keywords", memory.keywords.clone().into());
    }
    if !memory.entities.is_empty() && memory.entities != enrich::entities(&memory.content) {
        tell("entities", memory.entities.clone().into());
    }
    if memory.scope != Scope::Global {
        tell("scope", memory.scope.as_str().into());
    }
    if let Some(expires) = memory.expires {
        tell("expires", expires.to_string().into());
    }
    if let Some(metadata) = &memory.metadata {
        // As the text of a JSON object: what is a date or a number to YAML stays what it is to whoever keeps it here.
        tell("metadata", Value::Object(metadata.fields().clone()).to_string().into());
    }
    if origin != Origin::User {
        tell("origin", origin.to_string().into());
    }
    if memory.trust != origin.trust() {
        tell("trust", memory.trust.as_str().into());
    }
    let time = |time: Timestamp| jiff::Timestamp::from_microsecond(time.as_micros()).ok();
    write::note(&Written {
        title: title.to_owned(),
        kind: KIND.to_owned(),
        tags: memory.tags.iter().map(ToString::to_string).collect(),
        created: time(memory.created),
        modified: time(memory.updated),
        fields,
        paragraphs: vec![memory.content.clone()],
        relations: links.iter().map(relation).collect(),
        ..Written::default()
    })
}

/// A link as a relation: the other's note as people and programs know it, and its id, by which the link is known again.
fn relation(link: &LinkedNote) -> Relation {
    let kind = link.kind.as_str().to_owned();
    let Some((name, title)) = &link.note else {
        return Relation { kind, target: Target::named(link.to.to_string()), context: None };
    };
    let plain: String = title.chars().map(|letter| if letter.is_alphanumeric() { letter } else { ' ' }).collect();
    let shown = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let target = Target { alias: Some(shown).filter(|shown| !shown.is_empty()), ..Target::named(name.clone()) };
    Relation { kind, target, context: Some(link.to.to_string()) }
}
