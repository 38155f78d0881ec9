//! Writes a memory as a note, and reads such a note back without loss.

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
/// Maximum length of a title in characters.
const MOST_TITLE: usize = 60;
/// Maximum length of a file or directory name in characters, without the part that makes it unique.
const MOST_NAME: usize = 48;

/// Parses a file, as Markdown or as plain paragraphs.
pub fn read_note(path: &FilePath, text: &str) -> Note {
    let read = if path.is_markdown() { parse } else { parse_plain };
    read(text, path.stem(), Bound::default())
}

/// The author and the scope of a file.
#[derive(Debug, Clone)]
pub struct Filed {
    /// The file.
    pub path: FilePath,
    /// The scope of its parts.
    pub scope: Scope,
    /// The author of new parts.
    pub origin: Origin,
    /// The trust, if the author alone does not determine it.
    pub owner_trust: Option<Trust>,
    /// When the file was created.
    pub created: Timestamp,
    /// The session.
    pub session: Option<String>,
    /// The client program.
    pub client: Option<String>,
}

/// The data that a note contains about the memory from which the note was written. A note can never raise the trust
/// above that of its folder; see [`Told::narrowed`].
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The memory's UUID, if no other memory of this store has it.
    pub id: MemoryUuid,
    /// When the memory was last changed.
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
    /// The data in a note; `None` if the note was not written from a memory.
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

    /// The author and the scope. They are only used if the note may set them. In a global folder, a note may belong to
    /// one project. The note may lower the trust, but not raise it. Only the user's own notes (`is_own`) may set the
    /// author.
    #[must_use]
    pub fn narrowed(&self, filed: &Filed, is_own: bool) -> Filed {
        let origin = if is_own { self.origin.clone() } else { filed.origin.clone() };
        let trust = Trust::earned(false, filed.owner_trust, false, &filed.origin).max(self.trust);
        Filed {
            scope: if filed.scope == Scope::Global { self.scope.clone() } else { filed.scope.clone() },
            owner_trust: (trust != origin.trust()).then_some(trust),
            origin,
            ..filed.clone()
        }
    }
}

/// A linked memory, and its note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedNote {
    /// The type of the link.
    pub kind: LinkKind,
    /// The linked memory.
    pub to: MemoryUuid,
    /// The file name and the title of the linked note; `None` if there is none.
    pub note: Option<(String, String)>,
}

/// The title of a memory's note: the beginning of its text.
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

/// The place of a memory's note: a directory for the scope, one for the category, and a file name. The caller adds the
/// extension, and a suffix that makes the name unique.
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

/// Writes a memory as a note. Derived values and defaults are left out for readability. Usage and source are not
/// written.
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
        // Metadata is written as the text of a JSON object, because YAML would change dates and numbers.
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

/// Writes a link as a relation. The relation contains the name of the other note and the UUID of its memory. An import
/// recognises the link by this UUID.
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
