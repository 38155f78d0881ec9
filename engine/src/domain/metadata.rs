//! A client's metadata: a JSON object that is stored and returned unchanged.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::DomainError;

/// Maximum metadata of a memory, in bytes of JSON.
pub const MAX_METADATA_BYTES: usize = 8 * 1024;
/// Maximum nesting depth of objects and lists.
const MAX_DEPTH: usize = 8;

/// A JSON object of at most 8 KiB and at most eight levels. An empty object removes the metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Metadata(Map<String, Value>);

impl Metadata {
    /// Its fields.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The fields of a note, without a limit.
    #[cfg(feature = "sqlite")]
    pub(crate) fn unbounded(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn into_fields(self) -> Map<String, Value> {
        self.0
    }

    /// Parses metadata for `deserialize_with`, like [`Self::from_str`].
    ///
    /// # Errors
    /// Returns an error if the value is not valid metadata.
    pub fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Self>, D::Error> {
        let text: Option<Box<RawValue>> = Option::deserialize(from)?;
        text.filter(|text| text.get() != "null").map(|text| text.get().parse().map_err(D::Error::custom)).transpose()
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Visits the names of fields, and the values that are texts or numbers. Each value comes with the name that
    /// describes it.
    pub(crate) fn each_text(&self, see: &mut dyn FnMut(Option<&str>, &str)) {
        each_in_fields(&self.0, None, see);
    }

    /// Replaces each text by the result of `change`. If two field names become equal, both values are kept, and the
    /// second name gets a number.
    pub(crate) fn change_texts(&mut self, change: &mut dyn FnMut(Option<&str>, &str) -> Option<String>) {
        self.0 = changed_fields(std::mem::take(&mut self.0), None, change);
    }
}

/// Parses JSON, and keeps integers of more than 64 bits as texts.
fn exact(text: &str) -> serde_json::Result<Value> {
    let text = text.trim();
    match text.as_bytes().first() {
        Some(b'{') => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
            let read = |(name, value): (String, &RawValue)| Ok((name, exact(value.get())?));
            fields.into_iter().map(read).collect::<serde_json::Result<Map<_, _>>>().map(Value::Object)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            items.into_iter().map(|item| exact(item.get())).collect::<serde_json::Result<_>>().map(Value::Array)
        }
        _ => {
            let value: Value = serde_json::from_str(text)?;
            let is_whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            Ok(if value.is_f64() && is_whole { Value::String(text.to_owned()) } else { value })
        }
    }
}

/// Names of fields that do not describe their value. The name of a value may be in a neighbouring field, or be the name
/// of the object.
const VALUES: [&str; 4] = ["value", "val", "content", "data"];
const NAMES: [&str; 3] = ["name", "key", "label"];

/// The meaning of a value: `{"name": "password", "value": …}` and `{"password": {"value": …}}` both contain a password.
fn called(fields: &Map<String, Value>, name: &str, outer: Option<&str>) -> String {
    if !VALUES.contains(&name) {
        return name.to_owned();
    }
    let label = NAMES.iter().find_map(|label| fields.get(*label)?.as_str());
    label.or(outer).unwrap_or(name).to_owned()
}

fn each_in_fields(fields: &Map<String, Value>, outer: Option<&str>, see: &mut dyn FnMut(Option<&str>, &str)) {
    for (name, value) in fields {
        see(None, name);
        each_in(&called(fields, name, outer), value, see);
    }
}

fn each_in(name: &str, value: &Value, see: &mut dyn FnMut(Option<&str>, &str)) {
    match value {
        Value::String(text) => see(Some(name), text),
        Value::Number(number) => see(Some(name), &number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| each_in(name, item, see)),
        Value::Object(fields) => each_in_fields(fields, Some(name), see),
        Value::Null | Value::Bool(_) => {}
    }
}

fn changed_fields(
    fields: Map<String, Value>,
    outer: Option<&str>,
    change: &mut dyn FnMut(Option<&str>, &str) -> Option<String>,
) -> Map<String, Value> {
    let names: Vec<String> = fields.keys().map(|name| called(&fields, name, outer)).collect();
    let mut changed = Map::new();
    for ((name, mut value), called) in fields.into_iter().zip(names) {
        change_in(&called, &mut value, change);
        let name = change(None, &name).unwrap_or(name);
        let free = (2..).map(|number| format!("{name} {number}"));
        let name = std::iter::once(name.clone()).chain(free).find(|name| !changed.contains_key(name)).unwrap_or(name);
        changed.insert(name, value);
    }
    changed
}

fn change_in(name: &str, value: &mut Value, change: &mut dyn FnMut(Option<&str>, &str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(changed) = change(Some(name), text) {
                *text = changed;
            }
        }
        Value::Number(number) => {
            if let Some(changed) = change(Some(name), &number.to_string()) {
                *value = Value::String(changed);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| change_in(name, item, change)),
        Value::Object(fields) => *fields = changed_fields(std::mem::take(fields), Some(name), change),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The nesting depth of objects and lists.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn refused(problem: impl Into<String>, fix: &'static str) -> DomainError {
    DomainError::invalid("metadata", problem, fix)
}

impl TryFrom<Value> for Metadata {
    type Error = DomainError;

    fn try_from(value: Value) -> Result<Self, DomainError> {
        if depth(&value) > MAX_DEPTH {
            return Err(refused(
                format!("is nested more than {MAX_DEPTH} levels deep"),
                "nest the objects less deeply",
            ));
        }
        let Value::Object(fields) = value else {
            return Err(refused("is not a JSON object", "use an object such as {\"ticket\":\"A-1\"}"));
        };
        let metadata = Self(fields);
        let bytes = metadata.to_string().len();
        if bytes > MAX_METADATA_BYTES {
            let problem = format!("is {bytes} bytes long, more than {MAX_METADATA_BYTES}");
            return Err(refused(problem, "put long values into the text, or into a file"));
        }
        Ok(metadata)
    }
}

impl From<Metadata> for Value {
    fn from(metadata: Metadata) -> Self {
        Self::Object(metadata.0)
    }
}

impl FromStr for Metadata {
    type Err = DomainError;

    /// Parses JSON. An integer of more than 64 bits is kept as text, so that no digit is lost.
    fn from_str(text: &str) -> Result<Self, DomainError> {
        // The first parse limits the depth.
        let value = serde_json::from_str::<Value>(text).and_then(|_| exact(text));
        let problem = |_| refused("is not a JSON object", "use an object such as {\"ticket\":\"A-1\"}");
        Self::try_from(value.map_err(problem)?)
    }
}

impl fmt::Display for Metadata {
    /// Its JSON, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_come_back_as_they_came() {
        for number in ["0.30000000000000004", "-8.902325030766048e-110", "5e-324", "9007199254740993"] {
            let text = format!("{{\"n\":{number}}}");
            let metadata: Metadata = text.parse().unwrap();
            assert_eq!(serde_json::to_string(&metadata).unwrap(), text);
        }
    }

    #[test]
    fn a_whole_number_of_more_than_64_bits_keeps_its_digits_as_text() {
        #[derive(Deserialize)]
        struct Line {
            #[serde(default, deserialize_with = "Metadata::read")]
            metadata: Option<Metadata>,
        }
        let text = r#"{"n":123456789012345678901234567890,"list":[-98765432109876543210,{"e":6.02e23}],"max":18446744073709551615}"#;
        let kept = json!({ "n": "123456789012345678901234567890", "list": ["-98765432109876543210", { "e": 6.02e23 }],
            "max": 18_446_744_073_709_551_615_u64 });
        assert_eq!(Value::from(text.parse::<Metadata>().unwrap()), kept);
        let line: Line = serde_json::from_str(&format!("{{\"metadata\":{text}}}")).unwrap();
        assert_eq!(Value::from(line.metadata.unwrap()), kept);
        for none in ["{}", "{\"metadata\":null}"] {
            assert_eq!(serde_json::from_str::<Line>(none).unwrap().metadata, None);
        }
        assert!(serde_json::from_str::<Line>("{\"metadata\":7}").is_err());
        assert!("[".repeat(100_000).parse::<Metadata>().is_err());
    }

    #[test]
    fn an_object_is_kept_as_it_came_and_anything_else_is_refused_by_its_name() {
        let text = r#"{"n":1.5,"list":[1,{"ü":null}],"nul":"a\u0000b"}"#;
        let kept: Metadata = text.parse().unwrap();
        assert_eq!(kept.to_string().parse(), Ok(kept));
        let nested = |levels: usize| {
            (0..levels).fold(json!("x"), |inner, at| if at % 2 == 0 { json!([inner]) } else { json!({ "a": inner }) })
        };
        assert!(Metadata::try_from(nested(8)).is_ok());
        for bad in [json!([1]), json!("x"), json!(7), json!(null), nested(10), json!({ "a": "x".repeat(8192) })] {
            let error = Metadata::try_from(bad).unwrap_err().to_string();
            assert!(error.starts_with("metadata: "), "{error}");
        }
        for bad in ["", "{", "[]", "{\"a\":1e999}"] {
            assert!(bad.parse::<Metadata>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_value_is_called_as_its_pair_or_its_object_is() {
        let metadata: Metadata =
            r#"{"fields":[{"name":"password","value":"a"}],"pin":{"value":4711},"port":5433}"#.parse().unwrap();
        let mut seen = Vec::new();
        metadata.each_text(&mut |name, text| seen.extend(name.map(|name| format!("{name}: {text}"))));
        assert_eq!(seen, ["name: password", "password: a", "pin: 4711", "port: 5433"]);
        let mut changed = metadata.clone();
        changed.change_texts(&mut |name, text| (name == Some("pin") && text == "4711").then(|| "gone".to_owned()));
        assert!(changed.to_string().contains(r#""pin":{"value":"gone"}"#), "{changed}");
    }

    #[test]
    fn names_that_become_one_keep_both_values() {
        let mut metadata: Metadata = r#"{"one":1,"other":{"one":"x"}}"#.parse().unwrap();
        metadata.change_texts(&mut |_, text| (text == "one" || text == "other").then(|| "same".to_owned()));
        assert_eq!(metadata.to_string(), r#"{"same":1,"same 2":{"same":"x"}}"#);
        let mut seen = Vec::new();
        metadata.each_text(&mut |_, text| seen.push(text.to_owned()));
        assert_eq!(seen, ["same", "1", "same 2", "same", "x"]);
    }
}
