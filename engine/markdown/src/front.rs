//! Front matter: YAML between two lines of `---` at the very beginning. Malformed front matter counts as body.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};

/// The line before and after the front matter.
pub(crate) const FENCE: &str = "---";
/// Keys for the creation time; the first one with a valid time is used.
pub(crate) const CREATED: [&str; 2] = ["created", "created_at"];
/// Keys for the time of change.
pub(crate) const MODIFIED: [&str; 4] = ["modified", "modified_at", "updated", "updated_at"];

/// The front matter.
#[derive(Debug, Default)]
pub(crate) struct Front {
    /// Its keys.
    pub(crate) fields: BTreeMap<String, Value>,
    /// The start of the body.
    pub(crate) body: usize,
    /// Malformed lines, which count as body.
    pub(crate) broken: Option<Range<usize>>,
    /// The error in them.
    pub(crate) problem: Option<String>,
}

/// Reads the front matter of a text.
pub(crate) fn read(text: &str) -> Front {
    let top = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let none = Front { body: top, ..Front::default() };
    let rest = text.get(top..).unwrap_or_default();
    let mut lines = rest.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == FENCE && line.ends_with('\n')) else { return none };
    let start = top + first.len();
    let mut at = start;
    for line in lines {
        if line.trim_end() == FENCE {
            let after = at + line.len();
            return match fields(text.get(start..at).unwrap_or_default()) {
                Ok(fields) => Front { fields, body: after, ..Front::default() },
                Err(problem) => Front { broken: Some(top..after), problem: Some(problem), ..none },
            };
        }
        at += line.len();
    }
    // A horizontal line at the beginning is not an error, unless keys follow.
    let meant = rest.lines().nth(1).is_some_and(|line| line.split_once(':').is_some_and(|(key, _)| !key.contains(' ')));
    Front { problem: meant.then(|| "front matter: has no closing line `---`".to_owned()), ..none }
}

fn fields(yaml: &str) -> Result<BTreeMap<String, Value>, String> {
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
            max_replay_stack_depth: 8,
        },
    };
    if yaml.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(BTreeMap::new());
    }
    match serde_saphyr::from_str_with_options::<Value>(yaml, options) {
        Ok(Value::Object(fields)) => Ok(fields.into_iter().collect()),
        Ok(_) => Err("front matter: is not a list of keys and values".to_owned()),
        // The parser's message quotes the text, so it is replaced by the position.
        Err(error) => Err(error.location().map_or_else(
            || "front matter: is not valid YAML".to_owned(),
            |location| format!("front matter: is not valid YAML at line {}", location.line() + 1),
        )),
    }
}

/// Takes the value of a key as text. Numbers and booleans are converted, and a list is joined by commas.
pub(crate) fn take_text(fields: &mut BTreeMap<String, Value>, key: &str) -> Option<String> {
    let text = scalar(&fields.remove(key)?)?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Takes the value of a key as a list: from YAML, from JSON in a text, or from text with commas; without duplicates and
/// leading `#`.
pub(crate) fn take_list(fields: &mut BTreeMap<String, Value>, key: &str) -> Vec<String> {
    let Some(value) = fields.remove(key) else { return Vec::new() };
    let texts: Vec<String> = match value {
        Value::Array(values) => values.iter().filter_map(scalar).collect(),
        Value::String(text) => match serde_json::from_str::<Vec<Value>>(&text) {
            Ok(values) => values.iter().filter_map(scalar).collect(),
            Err(_) => text.split(',').map(str::to_owned).collect(),
        },
        other => scalar(&other).into_iter().collect(),
    };
    let mut list = Distinct::default();
    for text in texts {
        list.add(text.trim().trim_start_matches('#').trim());
    }
    list.into_list()
}

/// Names in order of addition, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Distinct {
    list: Vec<String>,
    seen: BTreeSet<String>,
}

impl Distinct {
    /// Adds a valid new name.
    pub(crate) fn add(&mut self, name: &str) {
        if !name.is_empty() && !self.seen.contains(name) {
            self.seen.insert(name.to_owned());
            self.list.push(name.to_owned());
        }
    }

    /// The names.
    pub(crate) fn into_list(self) -> Vec<String> {
        self.list
    }
}

/// Removes and returns the time of creation and the time of the last change. Values that are not valid times stay in
/// the fields.
pub(crate) fn take_times(fields: &mut BTreeMap<String, Value>) -> (Option<Timestamp>, Option<Timestamp>) {
    let mut take = |keys: &[&str]| {
        let (key, time) = keys.iter().find_map(|key| Some((*key, time(fields.get(*key)?.as_str()?)?)))?;
        fields.remove(key);
        Some(time)
    };
    (take(&CREATED), take(&MODIFIED))
}

/// Parses ISO 8601. A time without an offset is in UTC, so that a text has the same meaning everywhere.
pub(crate) fn time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse::<Timestamp>().ok().or_else(|| {
        let naive: DateTime = text.parse().ok()?;
        TimeZone::UTC.to_timestamp(naive).ok()
    })
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Array(values) => Some(values.iter().filter_map(scalar).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Object(_) => None,
    }
}
