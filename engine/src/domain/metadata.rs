//! What a client keeps beside a text: a JSON object that is given back as it came, and means nothing here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::DomainError;

/// The longest metadata of a memory, in bytes of its JSON.
pub const MAX_METADATA_BYTES: usize = 8 * 1024;
/// Objects and lists within each other, at most.
const MAX_DEPTH: usize = 8;

/// A JSON object of at most 8 KiB, whose objects and lists stand at most eight deep. An empty one says that there is
/// none any more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Metadata(Map<String, Value>);

impl Metadata {
    /// Its fields.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// True where nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Shows each text of it: names of fields, and values that are texts with the name of the nearest field.
    pub(crate) fn each_text(&self, see: &mut dyn FnMut(Option<&str>, &str)) {
        each_in_fields(&self.0, see);
    }

    /// Lets each text of it be changed, shown as above: what `change` gives takes its place. Two names that become one keep both values:
    /// the later gets a number.
    pub(crate) fn change_texts(&mut self, change: &mut dyn FnMut(Option<&str>, &str) -> Option<String>) {
        self.0 = changed_fields(std::mem::take(&mut self.0), change);
    }
}

fn each_in_fields(fields: &Map<String, Value>, see: &mut dyn FnMut(Option<&str>, &str)) {
    for (name, value) in fields {
        see(None, name);
        each_in(name, value, see);
    }
}

fn each_in(name: &str, value: &Value, see: &mut dyn FnMut(Option<&str>, &str)) {
    match value {
        Value::String(text) => see(Some(name), text),
        Value::Array(items) => items.iter().for_each(|item| each_in(name, item, see)),
        Value::Object(fields) => each_in_fields(fields, see),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn changed_fields(
    fields: Map<String, Value>,
    change: &mut dyn FnMut(Option<&str>, &str) -> Option<String>,
) -> Map<String, Value> {
    let mut changed = Map::new();
    for (name, mut value) in fields {
        change_in(&name, &mut value, change);
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
        Value::Array(items) => items.iter_mut().for_each(|item| change_in(name, item, change)),
        Value::Object(fields) => *fields = changed_fields(std::mem::take(fields), change),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// How many objects and lists stand within each other.
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
            return Err(refused(format!("stands more than {MAX_DEPTH} deep"), "give flatter objects"));
        }
        let Value::Object(fields) = value else {
            return Err(refused("is not a JSON object", "give an object such as {\"ticket\":\"A-1\"}"));
        };
        let metadata = Self(fields);
        let bytes = metadata.to_string().len();
        if bytes > MAX_METADATA_BYTES {
            let problem = format!("is {bytes} bytes long, more than {MAX_METADATA_BYTES}");
            return Err(refused(problem, "keep what is long in the text, or in a file"));
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

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let value: Value = serde_json::from_str(text)
            .map_err(|_| refused("is not a JSON object", "give an object such as {\"ticket\":\"A-1\"}"))?;
        Self::try_from(value)
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
    fn names_that_become_one_keep_both_values() {
        let mut metadata: Metadata = r#"{"one":1,"other":{"one":"x"}}"#.parse().unwrap();
        metadata.change_texts(&mut |_, text| (text == "one" || text == "other").then(|| "same".to_owned()));
        assert_eq!(metadata.to_string(), r#"{"same":1,"same 2":{"same":"x"}}"#);
        let mut seen = Vec::new();
        metadata.each_text(&mut |_, text| seen.push(text.to_owned()));
        assert_eq!(seen, ["same", "same 2", "same", "x"]);
    }
}
