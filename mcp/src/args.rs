//! Arguments of tool calls. Types are converted leniently, ranges are checked strictly, and every error names the field
//! and the fix.

use std::str::FromStr;

use rmcp::model::JsonObject;
use serde_json::Value;
use tessera_desk::use_cases::{Named, described};
use tessera_engine::domain::{
    Category, DomainError, Expiry, Filters, MAX_LIMIT, MemoryRef, MemoryUuid, Metadata, Scope, Tag, Timestamp,
    WrittenTime,
};
use tessera_engine::screen::dropped;
use tessera_engine::store::StoreError;

use crate::error::ToolError;
use crate::known::{ArgumentError, Known, is_given};
use crate::values::{has_rounded_number, scalar, told_of, written_id};

/// The arguments of one call. Absent, `null` and `""` mean the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args {
    given: JsonObject,
    /// The arguments that the tool accepts; `None` without a tool.
    known: Option<Known>,
    remark: Option<String>,
}

impl From<Option<JsonObject>> for Args {
    fn from(object: Option<JsonObject>) -> Self {
        Self { given: object.unwrap_or_default(), ..Self::default() }
    }
}

impl Args {
    /// The arguments of a tool call.
    ///
    /// # Errors
    /// Returns an error if the tool does not know an argument, or two names of one argument have different values.
    pub(crate) fn of(known: Known, object: Option<JsonObject>) -> Result<Self, ArgumentError> {
        let given = object.unwrap_or_default();
        let remark = known.check(given.iter())?;
        Ok(Self { given, known: Some(known), remark })
    }

    /// A remark about arguments that have no effect.
    pub(crate) fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// Returns the first of the arguments in `names` that was given, with the name that the caller used.
    fn value(&self, names: &'static [&'static str]) -> Option<(&'static str, &Value)> {
        let is_known = |name: &&str| self.known.as_ref().is_none_or(|known| known.has(name));
        debug_assert!(names.iter().all(is_known), "{names:?} contains an argument that the tool does not declare");
        let given = names.iter().filter_map(|name| Some((*name, self.given.get(*name)?)));
        given.into_iter().find(|(_, value)| is_given(value))
    }

    /// The name that the caller used for an argument, or the argument's main name.
    pub(crate) fn name(&self, names: &'static [&'static str]) -> &'static str {
        self.value(names).map_or_else(|| field(names), |(name, _)| name)
    }

    /// Returns an error with the name that the caller used for the argument.
    pub(crate) fn named(&self, error: DomainError, names: &'static [&'static str]) -> DomainError {
        renamed(error, self.name(names))
    }

    /// Returns all arguments as given. Empty texts are kept, because a file may be empty.
    pub(crate) fn as_given(&self) -> Value {
        Value::Object(self.given.clone())
    }

    /// Adds the name of the argument to an error of the store about an ID from another system.
    pub(crate) fn of_older(&self, error: ToolError) -> ToolError {
        let ToolError::Store(StoreError::NotFound(_) | StoreError::NotCameOver(_)) = &error else { return error };
        let texts = self.given.iter().flat_map(|(field, value)| {
            let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            items
                .iter()
                .filter_map(Value::as_str)
                .flat_map(|text| text.split(','))
                .map(move |text| (field, text.trim()))
        });
        let is_meant = |text: &str| match (&error, MemoryUuid::of_older(text)) {
            (ToolError::Store(StoreError::NotFound(MemoryRef::Id(missing))), Some(id)) => *missing == id,
            (ToolError::Store(StoreError::NotCameOver(name)), Some(_)) => name == text,
            _ => false,
        };
        match texts.into_iter().find(|(_, text)| is_meant(text)) {
            Some((field, name)) => {
                let source = StoreError::NotCameOver(name.to_owned());
                ToolError::Older { field: field.clone(), source }
            }
            None => error,
        }
    }

    /// True if the tool knows the argument.
    pub(crate) fn knows(&self, names: &'static [&'static str]) -> bool {
        let Some(known) = &self.known else { return true };
        names.iter().all(|name| known.has(name))
    }

    /// True if the argument is given.
    pub(crate) fn has(&self, names: &'static [&'static str]) -> bool {
        self.value(names).is_some()
    }

    /// A text. Numbers and booleans are converted to text.
    pub(crate) fn text(&self, names: &'static [&'static str]) -> Result<Option<String>, DomainError> {
        self.value(names).map(|(name, value)| scalar(name, value)).transpose()
    }

    /// A required text.
    pub(crate) fn required(&self, names: &'static [&'static str]) -> Result<String, DomainError> {
        self.text(names)?.ok_or_else(|| DomainError::invalid(field(names), "is missing", "pass it as a string"))
    }

    /// The value of an argument, parsed from text by its type.
    pub(crate) fn parsed<T: FromStr<Err = DomainError>>(
        &self,
        names: &'static [&'static str],
    ) -> Result<Option<T>, DomainError> {
        let text = self.text(names)?;
        text.map(|text| text.parse().map_err(|error| self.quoting(error, names, &text))).transpose()
    }

    /// Returns an error with the name that the caller used for the argument, and with the value.
    fn quoting(&self, error: DomainError, names: &'static [&'static str], value: &str) -> DomainError {
        match self.named(error, names) {
            DomainError::Invalid { field, problem, fix } if problem.starts_with("is ") => {
                let value: String = dropped(value).chars().take(MOST_QUOTED).collect();
                DomainError::invalid(field, format!("{value:?} {problem}"), fix)
            }
            other => other,
        }
    }

    /// One of several names, in upper or lower case.
    pub(crate) fn choice(
        &self,
        names: &'static [&'static str],
        choices: &[&'static str],
        fix: &'static str,
    ) -> Result<Option<&'static str>, DomainError> {
        let Some(text) = self.text(names)? else { return Ok(None) };
        let chosen = choices.iter().find(|choice| choice.eq_ignore_ascii_case(text.trim()));
        let unknown = || self.quoting(DomainError::invalid(field(names), "is unknown", fix), names, &text);
        chosen.copied().ok_or_else(unknown).map(Some)
    }

    /// A list: a JSON list, a JSON list in a text, or text with commas.
    pub(crate) fn list(&self, names: &'static [&'static str]) -> Result<Option<Vec<String>>, DomainError> {
        let Some((name, value)) = self.value(names) else { return Ok(None) };
        let items = match value {
            Value::Array(items) => {
                let given = items.iter().filter(|item| !item.is_null());
                given.map(|item| scalar(name, item)).collect::<Result<Vec<_>, _>>()?
            }
            other => {
                let text = scalar(name, other)?;
                match serde_json::from_str::<Vec<Value>>(&text) {
                    // A JSON list that the caller wrote as a text.
                    Ok(items) => items.iter().map(|item| scalar(name, item)).collect::<Result<Vec<_>, _>>()?,
                    Err(_) => text.split(',').map(str::to_owned).collect(),
                }
            }
        };
        let items = items.into_iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty());
        Ok(Some(items.collect()))
    }

    /// A list whose items are parsed by a type.
    pub(crate) fn parsed_list<T: FromStr<Err = DomainError>>(
        &self,
        names: &'static [&'static str],
    ) -> Result<Vec<T>, DomainError> {
        let items = self.list(names)?.unwrap_or_default();
        items.iter().map(|item| item.parse().map_err(|error| self.quoting(error, names, item))).collect()
    }

    /// The expiry of a memory, calculated from `now`: from `expires_at` (a time, or `never`) or `ttl_days`. `None` if
    /// neither is given.
    pub(crate) fn expiry(&self, now: Timestamp) -> Result<Option<Expiry>, DomainError> {
        let expiry: Expiry = match (self.parsed(EXPIRES)?, self.whole(TTL)?) {
            (None, None) => return Ok(None),
            (Some(expiry), None) => expiry,
            (None, Some(days)) => Expiry::After(days),
            (Some(_), Some(_)) => {
                return Err(DomainError::invalid("ttl_days", "and expires_at are both set", "give one"));
            }
        };
        let name = if self.has(EXPIRES) { self.name(EXPIRES) } else { "ttl_days" };
        expiry.clone().seen_from(now).map_err(|error| renamed(error, name))?;
        Ok(Some(expiry))
    }

    /// The description of a text that is secret as a whole; `None` for any other text.
    pub(crate) fn sensitive(&self) -> Result<Option<String>, DomainError> {
        if !self.flag(SENSITIVE)? {
            if self.has(SUMMARY) {
                let problem =
                    "is accepted only with force_sensitive; otherwise Tessera derives the summary from the text";
                return Err(DomainError::invalid("summary", problem, "omit it"));
            }
            return Ok(None);
        }
        if !self.has(CONTENT) {
            return Err(DomainError::invalid("content", "is missing", "pass the secret text"));
        }
        let category: Option<Category> = self.parsed(CATEGORY)?;
        Ok(Some(described(self.text(SUMMARY)?, category.as_ref())))
    }

    /// The metadata: a JSON object, or a text with one.
    pub(crate) fn metadata(&self) -> Result<Option<Metadata>, DomainError> {
        match self.value(METADATA) {
            None => Ok(None),
            Some((_, Value::String(text))) => text.parse().map(Some),
            Some((_, value)) if has_rounded_number(value) => Err(DomainError::invalid(
                "metadata",
                "contains an integer of more than 64 bits, which would lose digits",
                "quote it",
            )),
            Some((_, value)) => Metadata::try_from(value.clone()).map(Some),
        }
    }

    /// The source of a memory, as its history shows it: `from mail: asked by Ann (user mara, 2025-11-03)`.
    pub(crate) fn provenance(&self) -> Result<Option<String>, DomainError> {
        let Some((name, value)) = self.value(PROVENANCE) else { return Ok(None) };
        let said = match value {
            Value::Object(fields) => told_of(fields)?,
            other => format!("from {}", scalar(name, other)?),
        };
        let shown: String = said.chars().take(MOST_SAID).collect();
        Ok((!shown.is_empty()).then_some(shown))
    }

    /// Tags in lower case, without duplicates.
    pub(crate) fn tags(&self) -> Result<Option<Vec<Tag>>, DomainError> {
        if self.list(TAGS)?.is_none() {
            return Ok(None);
        }
        Tag::unique(self.parsed_list(TAGS)?).map(Some)
    }

    /// An integer: a JSON number, or digits in a text.
    pub(crate) fn whole(&self, names: &'static [&'static str]) -> Result<Option<u32>, DomainError> {
        let Some(text) = self.text(names)? else { return Ok(None) };
        let text = text.trim().strip_suffix(".0").unwrap_or(text.trim());
        let number = text.parse::<u32>();
        number.map(Some).map_err(|_| {
            DomainError::invalid(
                self.name(names),
                format!("{text:?} is not a whole number of at least 0"),
                "use a whole number",
            )
        })
    }

    /// A number: a JSON number, or a text with one.
    pub(crate) fn number(&self, names: &'static [&'static str]) -> Result<Option<f64>, DomainError> {
        let Some(text) = self.text(names)? else { return Ok(None) };
        let number = text.trim().parse::<f64>();
        number
            .map(Some)
            .map_err(|_| DomainError::invalid(self.name(names), "is not a number", "use a number such as 0.8"))
    }

    /// A boolean: a JSON boolean, or `true`, `false`, `yes`, `no`, `1`, `0`.
    pub(crate) fn flag(&self, names: &'static [&'static str]) -> Result<bool, DomainError> {
        match self.text(names)?.as_deref().map(str::to_lowercase).as_deref() {
            None | Some("false" | "no" | "0") => Ok(false),
            Some("true" | "yes" | "1") => Ok(true),
            Some(_) => Err(DomainError::invalid(self.name(names), "is not true or false", "use true or false")),
        }
    }

    /// One memory, from `id`.
    pub(crate) fn id(&self) -> Result<Option<MemoryRef>, DomainError> {
        self.only()
    }

    /// Returns the memory that the call must name. A file can be named by its path.
    pub(crate) fn required_name(&self) -> Result<Named, DomainError> {
        self.only()?.ok_or_else(|| DomainError::invalid("id", "is missing", "use an ID such as 42"))
    }

    /// The value of `id`, which may name only one thing.
    fn only<T: FromStr<Err = DomainError>>(&self) -> Result<Option<T>, DomainError> {
        let mut named = self.parsed_ids()?;
        match named.len() {
            0 | 1 => Ok(named.pop()),
            many => Err(DomainError::invalid(self.name(IDS), format!("names {many} memories"), "pass one ID")),
        }
    }

    /// Rejects arguments that cannot be used together with another argument, or that need a missing one.
    pub(crate) fn refuse(
        &self,
        names: &[&'static [&'static str]],
        problem: &'static str,
        fix: &'static str,
    ) -> Result<(), DomainError> {
        match names.iter().find(|names| self.has(names)) {
            Some(given) => Err(DomainError::invalid(self.name(given), problem, fix)),
            None => Ok(()),
        }
    }

    /// The values of `id` or `ids`. Also accepts how replies and people write an ID: `memory 42`, `#42 2026-11-20`.
    fn parsed_ids<T: FromStr<Err = DomainError>>(&self) -> Result<Vec<T>, DomainError> {
        let items = self.list(IDS)?.unwrap_or_default();
        let parsed = |item: &String| written_id(item).parse().map_err(|error| self.quoting(error, IDS, item));
        items.iter().map(parsed).collect()
    }

    /// Several memories, from `ids` or `id`, or files by their paths; at least one.
    pub(crate) fn names(&self) -> Result<Vec<Named>, DomainError> {
        let mut ids: Vec<Named> = Vec::new();
        for id in self.parsed_ids()? {
            if !ids.contains(&id) {
                ids.push(id);
            }
            if ids.len() > MAX_LIMIT as usize {
                let problem = format!("names more than {MAX_LIMIT} memories");
                return Err(DomainError::invalid(self.name(IDS), problem, "use several calls"));
            }
        }
        if ids.is_empty() {
            return Err(DomainError::invalid("ids", "is missing", "use IDs such as [42, 7]"));
        }
        Ok(ids)
    }

    /// The filters of a call.
    pub(crate) fn filters(&self, now: Timestamp) -> Result<Filters, DomainError> {
        let time =
            |names| Ok::<_, DomainError>(self.parsed::<WrittenTime>(names)?.map(|time| time.of(self.name(names))));
        Filters {
            categories: self.parsed_list(CATEGORY)?,
            types: self.parsed_list(TYPE)?,
            tags: self.tags()?.unwrap_or_default(),
            entities: self.list(ENTITIES)?.unwrap_or_default(),
            scopes: self.parsed_list::<Scope>(SCOPE)?,
            since: time(&["since"])?.map(|time| time.beginning(now)).transpose()?,
            until: time(&["until"])?.map(|time| time.end(now)).transpose()?,
            ..Filters::default()
        }
        .in_order()
    }
}

/// `text` and `memory` are common mistakes of models.
pub(crate) const CONTENT: &[&str] = &["content", "text", "memory"];
pub(crate) const IDS: &[&str] = &["ids", "id", "memory_id"];
pub(crate) const TAGS: &[&str] = &["tags", "tag"];
pub(crate) const CATEGORY: &[&str] = &["category", "categories"];
pub(crate) const TYPE: &[&str] = &["type", "types"];
pub(crate) const ENTITIES: &[&str] = &["entities", "entity"];
pub(crate) const SCOPE: &[&str] = &["scope", "scopes"];
/// The scope of a memory to store; `project` is a common mistake of models.
pub(crate) const TO_SCOPE: &[&str] = &["scope", "scopes", "project"];
pub(crate) const EXPIRES: &[&str] = &["expires_at", "expires"];
pub(crate) const SUMMARY: &[&str] = &["summary"];
pub(crate) const METADATA: &[&str] = &["metadata"];
pub(crate) const PROVENANCE: &[&str] = &["provenance"];
pub(crate) const SENSITIVE: &[&str] = &["force_sensitive", "sensitive"];
pub(crate) const REASON: &[&str] = &["reason"];
pub(crate) const TTL: &[&str] = &["ttl_days"];
/// Maximum number of characters of a value in an error.
const MOST_QUOTED: usize = 40;
/// Maximum length of a source in characters.
const MOST_SAID: usize = 500;
pub(crate) const KEYWORDS: &[&str] = &["keywords", "keyword", "expanded_keywords"];

fn field(names: &'static [&'static str]) -> &'static str {
    names.first().copied().unwrap_or("argument")
}

/// Replaces the field name in a domain error by the argument name that the caller knows.
fn renamed(error: DomainError, field: &'static str) -> DomainError {
    match error {
        DomainError::Invalid { problem, fix, .. } => DomainError::Invalid { field, problem, fix },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn args(value: Value) -> Args {
        Args::from(value.as_object().cloned())
    }

    #[test]
    fn shapes_are_lenient() {
        for given in [json!({ "tags": "A, b" }), json!({ "tag": ["a", "B"] }), json!({ "tags": ["a", "b", "A"] })] {
            let tags = args(given).tags().unwrap().unwrap();
            assert_eq!(tags.iter().map(Tag::as_str).collect::<Vec<_>>(), ["a", "b"]);
        }
        for given in [
            json!({ "id": 42 }),
            json!({ "ids": ["#42", null] }),
            json!({ "ids": ["42"] }),
            json!({ "memory_id": "42" }),
        ] {
            assert_eq!(args(given).names().unwrap(), ["42".parse().unwrap()]);
        }
        assert_eq!(args(json!({ "n": "7" })).whole(&["n"]), Ok(Some(7)));
        assert_eq!(args(json!({ "n": 7.0 })).whole(&["n"]), Ok(Some(7)));
        assert_eq!(args(json!({ "f": "yes" })).flag(&["f"]), Ok(true));
        assert_eq!(args(json!({ "x": null })).text(&["x"]), Ok(None));
    }

    #[test]
    fn an_end_is_given_in_one_way() {
        let now: Timestamp = "2026-11-20".parse().unwrap();
        let end = |value: Value| args(value).expiry(now);
        assert_eq!(end(json!({ "expires_at": null })), Ok(None));
        assert_eq!(end(json!({ "expires_at": "never" })), Ok(Some(Expiry::Never)));
        assert_eq!(end(json!({ "ttl_days": 30 })), Ok(Some(Expiry::After(30))));
        assert_eq!(end(json!({ "expires_at": "2027-01-02" })), Ok("2027-01-02".parse().ok()));
        for (given, name) in [
            (json!({ "ttl_days": 0 }), "ttl_days: "),
            (json!({ "ttl_days": -1 }), "ttl_days: "),
            (json!({ "expires_at": "2001-01-01" }), "expires_at: "),
            (json!({ "expires": "soon" }), "expires: "),
            (json!({ "ttl_days": 1, "expires_at": "never" }), "ttl_days: "),
        ] {
            assert!(end(given.clone()).unwrap_err().to_string().starts_with(name), "{given}");
        }
    }

    #[test]
    fn where_something_was_heard_is_told_in_words() {
        let said = |value: Value| args(json!({ "provenance": value })).provenance();
        let given =
            json!({ "source": "mail", "context": "asked by Ann", "user_id": "mara", "timestamp": "2025-11-03" });
        assert_eq!(said(given), Ok(Some("from mail: asked by Ann (user mara, 2025-11-03)".into())));
        assert_eq!(said(json!({ "source": "mail" })), Ok(Some("from mail".into())));
        assert_eq!(said(json!({ "channel": { "n": 1 } })), Ok(Some("(channel {\"n\":1})".into())));
        assert_eq!(said(json!("chat")), Ok(Some("from chat".into())));
        assert_eq!((said(json!({})), said(json!(null))), (Ok(None), Ok(None)));
        assert_eq!(said(json!({ "source": "x".repeat(9000) })).unwrap().unwrap().chars().count(), MOST_SAID);
        assert!(said(json!({ "source": [1] })).unwrap_err().to_string().starts_with("provenance: "));
        let rounded = args(serde_json::from_str(r#"{"metadata": {"a": [123456789012345678901234567890]}}"#).unwrap());
        assert!(rounded.metadata().unwrap_err().to_string().contains("quote it"));
        assert!(args(json!({ "metadata": [1] })).metadata().unwrap_err().to_string().starts_with("metadata: "));
        assert_eq!(args(json!({ "metadata": "{\"a\":1}" })).metadata(), "{\"a\":1}".parse().map(Some));
    }

    #[test]
    fn a_text_that_is_a_secret_is_described_without_a_word_of_it() {
        let said = |value: Value| args(value).sensitive();
        assert_eq!(said(json!({ "content": "x", "force_sensitive": false })), Ok(None));
        assert_eq!(said(json!({ "content": "x", "force_sensitive": "true" })), Ok(Some("Sensitive note".into())));
        let given = json!({ "content": "x", "force_sensitive": true, "category": "facts" });
        assert_eq!(said(given), Ok(Some("Sensitive note (facts)".into())));
        let given = json!({ "content": "x", "force_sensitive": true, "summary": "Door code of the lab" });
        assert_eq!(said(given), Ok(Some("Door code of the lab".into())));
        assert!(said(json!({ "id": 1, "force_sensitive": true })).unwrap_err().to_string().starts_with("content: "));
    }

    #[test]
    fn errors_name_the_field() {
        for (given, name) in [
            (json!({ "ids": {} }), "ids"),
            (json!({ "ids": ["x"] }), "ids"),
            (json!({ "ids": [[1]] }), "ids"),
            (json!({ "id": "mem_" }), "id"),
            (json!({ "memory_id": ["mem/abc", "x y"] }), "memory_id"),
            (json!({}), "ids"),
        ] {
            assert!(args(given).names().unwrap_err().to_string().starts_with(&format!("{name}: ")));
        }
        assert!(args(json!({ "limit": "many" })).whole(&["limit"]).unwrap_err().to_string().starts_with("limit: "));
        assert!(
            args(json!({ "since": "soon" }))
                .filters(Timestamp::from_micros(0))
                .unwrap_err()
                .to_string()
                .starts_with("since: ")
        );
    }
}
