//! Converts a row of another system to a row to import. A value that does not fit is skipped and reported.

use std::str::FromStr;

use serde_json::{Map, Value};
use tessera_engine::compose::Stamps;
use tessera_engine::domain::{
    Category, Draft, Importance, LinkKind, MAX_NAME_CHARS, MAX_TAGS, MemoryType, MemoryUuid, Metadata, Origin, Scope,
    Tag, Timestamp, Trust,
};
use tessera_engine::screen::dropped;
use tessera_engine::store::{ImportAs, OlderRow};
use tessera_importers as older;
use tessera_importers::Skipped;

use crate::use_cases::described;

/// Characters of a memory that a preview shows.
const SAMPLE_CHARS: usize = 160;
/// JSON readers round whole numbers from 2^64.
const WHOLE: f64 = 18_446_744_073_709_551_616.0;
/// The maximum number of keywords or entities of a memory.
const MOST_WORDS: usize = 128;

/// A row on its way.
pub(crate) struct Coming {
    pub(crate) row: OlderRow,
    /// Its name for people there.
    pub(crate) name: String,
    /// Its links, by key.
    pub(crate) links: Vec<(LinkKind, MemoryUuid)>,
    /// Values that could not be kept unchanged.
    pub(crate) remarks: Vec<String>,
}

impl Coming {
    /// The row of a draft, with the trust that the importing user chose.
    pub(crate) fn of(draft: older::Draft, whose: ImportAs, scope: &Scope, now: Timestamp) -> Self {
        let mut remarks = draft.remarks.clone();
        let category: Option<Category> = fitting(draft.category.as_deref(), "category", &mut remarks);
        let said =
            draft.category.as_deref().zip(category.as_ref()).and_then(|(given, kept)| folded(given, kept.as_str()));
        remarks.extend(said.map(|said| format!("category: {said}")));
        let shared = draft.shared_by.as_ref().filter(|name| !name.is_empty());
        let owner_trust = (whose == ImportAs::Own && shared.is_none()).then_some(Trust::User);
        let ids = std::iter::once(&draft.key).chain(&draft.also).map(|key| MemoryUuid::from_key(key)).collect();
        let gone_as = draft.gone_as.as_deref().map(MemoryUuid::from_key);
        let client: String =
            draft.key.split(':').next().map(|system| format!("{system} {}", draft.name)).unwrap_or_default();
        let links = draft.links.iter().filter_map(|link| {
            let kind: LinkKind = fitting(Some(&link.kind), "link", &mut remarks)?;
            Some((kind, MemoryUuid::from_key(&link.to)))
        });
        let links = links.collect();
        let stamps = Stamps {
            updated: time(draft.updated.or(draft.created), "updated", &mut remarks),
            last_accessed: time(draft.last_accessed, "last read", &mut remarks),
            access_count: draft.access_count,
            deleted: time(draft.deleted, "deleted", &mut remarks),
        };
        if let Some(created) =
            draft.created.filter(|created| Timestamp::from_micros(created.as_microsecond()) > now.plus_days(1))
        {
            remarks.push(format!(
                "created: {created} is in the future, by this machine's clock; it is imported unchanged"
            ));
        }
        let sensitive = draft.is_secret.then(|| described(None, category.as_ref()));
        let kind: Option<MemoryType> = fitting(draft.kind.as_deref(), "type", &mut remarks);
        let draft = Draft {
            // Nothing is derived from a secret text.
            category: category.or_else(|| draft.is_secret.then(Category::default)),
            kind,
            importance: draft.importance.and_then(|importance| Importance::try_from(importance).ok()),
            tags: tags(&draft.tags, &mut remarks),
            keywords: words(&draft.keywords, "keywords", &mut remarks),
            entities: words(&draft.entities, "entities", &mut remarks),
            scope: scope.clone(),
            created: time(draft.created, "created", &mut remarks),
            expires: time(draft.expires, "expires", &mut remarks),
            origin: shared.cloned().map_or(Origin::Import, Origin::Shared),
            owner_trust,
            session: draft.session.map(|session| shortened(&session)),
            client: Some(shortened(&client)),
            sensitive,
            metadata: draft.metadata.and_then(|kept| metadata(kept, &mut remarks)),
            ..Draft::new(draft.content)
        };
        let mut row = OlderRow::new(ids, draft, stamps);
        row.gone_as = gone_as;
        Self { row, name: draft_name(&client), links, remarks }
    }
}

/// The part of a client name that identifies the row.
fn draft_name(client: &str) -> String {
    client.split_once(' ').map_or(client, |(_, name)| name).to_owned()
}

/// The beginning of a memory for a preview, without credentials.
pub(crate) fn sample(draft: &Draft) -> String {
    let text = draft.sensitive.clone().unwrap_or_else(|| dropped(&draft.content).into_owned());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(SAMPLE_CHARS).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}

/// Why a row is skipped, without credentials.
pub(crate) fn without_values(skipped: Skipped) -> Skipped {
    Skipped { at: dropped(&skipped.at).into_owned(), problem: dropped(&skipped.problem).into_owned() }
}

/// A time outside the supported range is moved to its limit and reported.
fn time(given: Option<jiff::Timestamp>, what: &str, remarks: &mut Vec<String>) -> Option<Timestamp> {
    let given = given?;
    let kept = Timestamp::from_micros(given.as_microsecond());
    if kept.as_micros() != given.as_microsecond() {
        remarks.push(format!("{what}: {given} is not valid here; {kept} is used instead"));
    }
    Some(kept)
}

/// Parses a value for its field. If the value is not valid, it is reported and omitted.
fn fitting<T: FromStr>(text: Option<&str>, field: &str, remarks: &mut Vec<String>) -> Option<T>
where
    T::Err: std::fmt::Display,
{
    let text = text.filter(|text| !text.trim().is_empty())?;
    match text.parse() {
        Ok(value) => Some(value),
        Err(problem) => {
            remarks.push(format!("{field}: skipped: {problem}"));
            None
        }
    }
}

/// Reports whole numbers that lost digits, at any depth.
fn remark_rounded(name: &str, value: &Value, remarks: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| remark_rounded(name, item, remarks)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| remark_rounded(name, value, remarks)),
        value if value.is_f64() && value.as_f64().is_some_and(|number| number.abs() >= WHOLE) => {
            remarks
                .push(format!("metadata: {name} was rounded to {value}, because the number does not fit into 64 bits"));
        }
        _ => {}
    }
}

/// Returns the metadata. If it is not valid, reports this and returns `None`.
fn metadata(kept: Map<String, Value>, remarks: &mut Vec<String>) -> Option<Metadata> {
    kept.iter().for_each(|(name, value)| remark_rounded(name, value, remarks));
    match Metadata::try_from(Value::Object(kept)) {
        Ok(metadata) => Some(metadata).filter(|metadata| !metadata.is_empty()),
        Err(problem) => {
            remarks.push(format!("metadata: skipped: {problem}"));
            None
        }
    }
}

/// Reports a name that was converted, unless only its case differs.
fn folded(given: &str, kept: &str) -> Option<String> {
    let given = given.trim();
    (given.to_lowercase() != kept).then(|| format!("{given} becomes {kept}"))
}

fn tags(given: &[String], remarks: &mut Vec<String>) -> Vec<Tag> {
    let mut tags: Vec<Tag> = Vec::new();
    for text in given {
        let tag: Option<Tag> = fitting(Some(text), "tags", remarks);
        remarks.extend(tag.as_ref().and_then(|tag| folded(text, tag.as_str())).map(|said| format!("tags: {said}")));
        tags.extend(tag.filter(|tag| !tags.contains(tag)));
    }
    if tags.len() > MAX_TAGS {
        remarks.push(format!("tags: {} of {} were skipped", tags.len() - MAX_TAGS, tags.len()));
        tags.truncate(MAX_TAGS);
    }
    tags
}

fn words(given: &[String], field: &str, remarks: &mut Vec<String>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in given.iter().filter(|word| word.chars().count() <= MAX_NAME_CHARS && !word.contains('\0')) {
        if !words.contains(word) {
            words.push(word.clone());
        }
    }
    words.truncate(MOST_WORDS);
    let is_long = given.iter().any(|word| word.chars().count() > MAX_NAME_CHARS);
    if is_long || given.len() > MOST_WORDS {
        remarks.push(format!(
            "{field}: entries longer than {MAX_NAME_CHARS} characters, and all entries after the first {MOST_WORDS}, \
            were skipped"
        ));
    }
    words
}

fn shortened(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MAX_NAME_CHARS).collect()
}
