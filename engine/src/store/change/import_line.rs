//! A line of an import: read within limits, parsed or rejected with the name of the field, and turned into a draft.

use std::io::{self, BufRead, Read};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::compose::Stamps;
use crate::domain::{
    Category, DomainError, Draft, Importance, LinkKind, MemoryType, MemoryUuid, Metadata, Origin, Scope, Tag,
    Timestamp, Trust,
};

/// The trust of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportAs {
    /// The notes are written by others, so recall returns them only on request.
    Foreign,
    /// The notes are the user's own, and are trusted like a text that the user typed.
    Own,
}

/// Maximum bytes of a line. A line that is longer is never loaded completely.
const MAX_LINE_BYTES: usize = 1024 * 1024;

/// A line of an import. Only `content` is required; unknown fields are ignored. A line cannot claim trust, but it can
/// name another author.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    content: String,
    uuid: Option<String>,
    /// Other tools write the UUID in this field. In Tessera's exports, the field is the short ID, which each store
    /// assigns again.
    id: Option<Value>,
    /// Another system's key: the same key means the same memory.
    key: Option<String>,
    category: Option<Category>,
    #[serde(rename = "type")]
    kind: Option<MemoryType>,
    #[serde(default, deserialize_with = "on_either_scale")]
    importance: Option<Importance>,
    #[serde(default)]
    tags: Vec<Tag>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    entities: Vec<String>,
    scope: Option<Scope>,
    /// `get --json` and other systems write `created_at`.
    #[serde(alias = "created_at")]
    created: Option<Timestamp>,
    updated: Option<Timestamp>,
    last_accessed: Option<Timestamp>,
    #[serde(default)]
    access_count: u32,
    /// In older exports, `expires` contained a computed value; it is ignored.
    expires_at: Option<Timestamp>,
    origin: Option<Origin>,
    /// The owner, if the memory belonged to another user.
    shared_by: Option<String>,
    session: Option<String>,
    cwd: Option<String>,
    client: Option<String>,
    deleted: Option<Timestamp>,
    #[serde(default, rename = "trust", deserialize_with = "says_foreign")]
    is_foreign: bool,
    #[serde(default, deserialize_with = "Metadata::read")]
    metadata: Option<Metadata>,
    #[serde(default)]
    pub(crate) links: Vec<LineLink>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct LineLink {
    #[serde(rename = "type")]
    pub(crate) kind: LinkKind,
    pub(crate) to: String,
}

/// The importance in a line may use the scale of the system that wrote the line.
fn on_either_scale<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Importance>, D::Error> {
    let given = Option::<f64>::deserialize(from)?;
    given.map(Importance::on_either_scale).transpose().map_err(D::Error::custom)
}

/// True for `foreign`. The only trust that a line can set is `foreign`.
fn says_foreign<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(Value::deserialize(from)?.as_str() == Some(Trust::Foreign.as_str()))
}

/// The result of a read.
pub(crate) enum Reading {
    /// The end.
    End,
    /// The buffer contains a line of this length in bytes.
    Line(u64),
    /// The line has this number of bytes, more than the maximum.
    TooLong(u64),
}

/// Reads one line, and never holds more than the maximum.
pub(crate) fn read_line(input: &mut dyn BufRead, bytes: &mut Vec<u8>) -> io::Result<Reading> {
    bytes.clear();
    let most = MAX_LINE_BYTES as u64 + 1;
    let read = (&mut *input).take(most).read_until(b'\n', bytes)? as u64;
    if read == 0 {
        return Ok(Reading::End);
    }
    if read < most || bytes.last() == Some(&b'\n') {
        return Ok(Reading::Line(read));
    }
    Ok(Reading::TooLong(read + input.skip_until(b'\n')? as u64))
}

/// Parses a line; `None` if it is empty.
///
/// # Errors
/// A message that names the field.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Line>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("is not UTF-8 at byte {}", error.valid_up_to()))?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(text).map(Some).map_err(|error| match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(fields) => bad_field(&fields).unwrap_or_else(|| error.to_string()),
        Err(error) => format!("is not a JSON object: {error}"),
    })
}

/// The message for a line that is too long.
pub(crate) fn too_long(bytes: u64) -> String {
    format!("is {bytes} bytes long; use at most {MAX_LINE_BYTES} bytes")
}

/// The first invalid field, and the reason.
fn bad_field(fields: &Map<String, Value>) -> Option<String> {
    let Some(content) = fields.get("content") else {
        if fields.contains_key("memories") {
            return Some(
                "is the output of `tessera list --json`; import the output of `tessera export` instead".into(),
            );
        }
        const OTHER_NAMES: [&str; 4] = ["text", "memory", "body", "note"];
        let other = OTHER_NAMES.iter().find(|name| fields.contains_key(**name));
        let fix = other.map_or_else(
            || "add the text to remember".to_owned(),
            |name| format!("rename the field `{name}` to `content`"),
        );
        return Some(format!("content: is missing; {fix}"));
    };
    let problem = |name: &String, value: &Value| {
        let mut alone = Map::from_iter([("content".to_owned(), content.clone())]);
        alone.insert(name.clone(), value.clone());
        serde_json::from_value::<Line>(Value::Object(alone)).err()
    };
    let named = |name: &String, error: serde_json::Error| {
        let text = error.to_string();
        if text.starts_with(&format!("{name}: ")) { text } else { format!("{name}: {text}") }
    };
    fields.iter().find_map(|(name, value)| problem(name, value).map(|error| named(name, error)))
}

impl Line {
    fn id(&self) -> Result<Option<MemoryUuid>, DomainError> {
        let uuid = self.uuid.as_deref().or_else(|| self.id.as_ref().and_then(Value::as_str));
        match (uuid, &self.key) {
            (Some(uuid), _) => uuid.parse().map(Some),
            (None, Some(key)) => Ok(Some(MemoryUuid::from_key(key))),
            (None, None) => Ok(None),
        }
    }

    /// True if the line names another author. An import cannot make the memory of another author the user's own.
    pub(crate) fn is_theirs(&self) -> bool {
        let is_shared = matches!(self.origin, Some(Origin::Shared(_)));
        self.is_foreign || is_shared || self.shared_by.as_ref().is_some_and(|name| !name.is_empty())
    }

    /// The draft, with the trust that the import sets.
    pub(crate) fn draft(&self, whose: ImportAs) -> Result<Draft, DomainError> {
        let said = self.origin.clone().unwrap_or(Origin::Import);
        let theirs = self.shared_by.clone().filter(|name| !name.is_empty()).map(Origin::Shared);
        let (origin, owner_trust) = match (whose, said) {
            (ImportAs::Own, said) if self.is_theirs() => (theirs.unwrap_or(said), Some(Trust::Foreign)),
            (ImportAs::Own, said) => (said, Some(Trust::User)),
            // A captured turn gets its meaning from its neighbours in every import.
            (ImportAs::Foreign, Origin::Conversation) => (Origin::Conversation, Some(Trust::Foreign)),
            (ImportAs::Foreign, Origin::Shared(name)) => (theirs.unwrap_or(Origin::Shared(name)), None),
            (ImportAs::Foreign, _) => (theirs.unwrap_or(Origin::Import), None),
        };
        Ok(Draft {
            id: self.id()?,
            content: self.content.clone(),
            category: self.category.clone(),
            kind: self.kind,
            importance: self.importance,
            tags: Tag::unique(self.tags.clone())?,
            keywords: self.keywords.clone(),
            entities: self.entities.clone(),
            scope: self.scope.clone().unwrap_or_default(),
            created: self.created,
            expires: self.expires_at,
            owner_trust,
            origin,
            session: self.session.clone(),
            cwd: self.cwd.clone(),
            client: self.client.clone(),
            file: None,
            metadata: self.metadata.clone(),
            links: Vec::new(),
            reason: None,
            sensitive: None,
            altered: Vec::new(),
            accepts: None,
        })
    }

    /// Fields of our own exports: use count, last change, deletion.
    pub(crate) fn stamps(&self) -> Stamps {
        let Self { updated, last_accessed, access_count, deleted, .. } = *self;
        if access_count == 0 && updated.is_none() && deleted.is_none() {
            return Stamps::default();
        }
        Stamps { updated, last_accessed, access_count, deleted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_line_is_said_by_the_name_of_its_field() {
        for (line, problem) in [
            (r#"{"text":"x"}"#, "content: is missing; rename the field `text` to `content`"),
            (r#"{"tags":"x"}"#, "content: is missing; add the text to remember"),
            (r#"{"content":5}"#, "content: invalid type"),
            (r#"{"content":"x","tags":"a"}"#, "tags: invalid type"),
            (r#"{"content":"x","importance":11}"#, "importance: 11 is out of range"),
            (r#"{"content":"x","created":"soon"}"#, "created: time: is not a valid date"),
            (r#"{"content":"x","links":[{"type":"eats, drinks","to":"y"}]}"#, "links: type: contains a character"),
            (r#"["x"]"#, "is not a JSON object"),
            ("{", "is not a JSON object"),
        ] {
            let said = parse(line.as_bytes()).unwrap_err();
            assert!(said.starts_with(problem), "{line}: {said}");
        }
        assert!(parse(b" \n").unwrap().is_none());
    }

    #[test]
    fn a_line_without_end_is_skipped_and_the_next_is_read() {
        let text = [vec![b'x'; 3 * MAX_LINE_BYTES], b"\n{}\n".to_vec()].concat();
        let (mut input, mut bytes) = (io::BufReader::new(text.as_slice()), Vec::new());
        let Ok(Reading::TooLong(read)) = read_line(&mut input, &mut bytes) else { panic!("it is too long") };
        assert_eq!(read, 3 * MAX_LINE_BYTES as u64 + 1);
        assert!(bytes.capacity() <= 3 * MAX_LINE_BYTES);
        assert!(matches!(read_line(&mut input, &mut bytes), Ok(Reading::Line(3))));
        assert!(matches!(read_line(&mut input, &mut bytes), Ok(Reading::End)));
    }
}
