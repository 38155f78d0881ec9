//! The typed fields of a row in any format. If a field is not valid, the row is rejected with an error that names the
//! field.

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value};

use crate::time;

/// The fields of one row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Map<String, Value>);

/// The placeholder for bytes in a text column that are not text.
const NOT_TEXT: &str = "\u{0}not text";

impl Fields {
    /// The fields of an SQLite row, by column name.
    pub(crate) fn of_row(row: &Row<'_>, columns: &[String]) -> rusqlite::Result<Self> {
        let mut fields = Map::new();
        for (index, name) in columns.iter().enumerate() {
            let value = match row.get_ref(index)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => number.into(),
                ValueRef::Text(bytes) => std::str::from_utf8(bytes).unwrap_or(NOT_TEXT).into(),
                ValueRef::Blob(_) => NOT_TEXT.into(),
            };
            fields.insert(name.clone(), value);
        }
        Ok(Self(fields))
    }

    /// The fields of a JSON object.
    pub(crate) fn of_object(object: Map<String, Value>) -> Self {
        Self(object)
    }

    /// Adds the fields of `others` that are not null. They replace fields of the same name.
    pub(crate) fn with(mut self, others: &Self) -> Self {
        let said = others.0.iter().filter(|(_, value)| !value.is_null());
        self.0.extend(said.map(|(name, value)| (name.clone(), value.clone())));
        self
    }

    /// These without some.
    pub(crate) fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|name, _| !names.contains(&name.as_str()));
        self
    }

    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text that must be there.
    pub(crate) fn needed_text(&self, name: &str) -> Result<String, String> {
        self.text(name)?.ok_or_else(|| format!("{name}: is missing"))
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) if text == NOT_TEXT => Err(format!("{name}: contains bytes that are not text")),
            Some(Value::String(text)) if text.contains('\0') => Err(format!("{name}: contains a NUL character")),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(format!("{name}: is {}, but must be a string", kind(other))),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => match value.as_f64().filter(|number| number.is_finite()) {
                Some(number) => Ok(Some(number)),
                None => Err(format!("{name}: is {}, not a number", kind(value))),
            },
        }
    }

    pub(crate) fn whole_number(&self, name: &str) -> Result<Option<i64>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => match value.as_i64() {
                Some(number) => Ok(Some(number)),
                None => Err(format!("{name}: is {}, not a whole number", kind(value))),
            },
        }
    }

    /// True for `true`, and for every number except 0.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(is)) => Ok(*is),
            Some(value) => match value.as_i64() {
                Some(number) => Ok(number != 0),
                None => Err(format!("{name}: is {}, but must be 0 or 1", kind(value))),
            },
        }
    }

    pub(crate) fn time(&self, name: &str) -> Result<Option<Timestamp>, String> {
        let read = match self.value(name) {
            None => return Ok(None),
            Some(Value::String(text)) => time::of_text(text),
            Some(Value::Number(number)) => number.as_f64().and_then(time::of_number),
            Some(_) => None,
        };
        read.map(Some).ok_or_else(|| format!("{name}: is not a valid time"))
    }

    /// An optional time; an invalid one is reported and skipped.
    pub(crate) fn time_or_told(&self, name: &str, remarks: &mut Vec<String>) -> Option<Timestamp> {
        self.time(name).unwrap_or_else(|problem| {
            remarks.push(format!("skipped: {problem}"));
            None
        })
    }

    /// Returns the items of a list, or the parts of a text with separators.
    pub(crate) fn words(&self, name: &str, is_between: impl Fn(char) -> bool) -> Result<Vec<String>, String> {
        let words: Vec<String> = match self.value(name) {
            None => Vec::new(),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| match item {
                    Value::String(text) => Ok(text.clone()),
                    // An entity with its type.
                    Value::Object(fields) if fields.get("name").is_some_and(Value::is_string) => {
                        Ok(fields.get("name").and_then(Value::as_str).unwrap_or_default().to_owned())
                    }
                    other => Err(format!("{name}: contains {}, which is not text", kind(other))),
                })
                .collect::<Result<_, String>>()?,
            Some(_) => self.text(name)?.unwrap_or_default().split(is_between).map(str::to_owned).collect(),
        };
        let trimmed = words.iter().map(|word| word.trim()).filter(|word| !word.is_empty());
        Ok(trimmed.map(str::to_owned).collect())
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(text) if text == NOT_TEXT => "bytes",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
