//! Conversions of JSON values in tool calls.

use rmcp::model::JsonObject;
use serde_json::Value;
use tessera_engine::domain::DomainError;

/// The ID in a text: the part after `memory`, or the first word if it is `#` and digits; otherwise the text itself.
pub(crate) fn written_id(text: &str) -> &str {
    let text = text.trim();
    let bare = text.strip_suffix(".0").unwrap_or(text);
    let bare = ["memory ", "Memory "].iter().find_map(|word| bare.strip_prefix(word)).unwrap_or(bare).trim();
    let first = bare.split_whitespace().next().unwrap_or(bare);
    let is_id = first.strip_prefix('#').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_id || bare.bytes().all(|byte| byte.is_ascii_digit()) { first } else { text }
}

/// True if a value contains an integer that does not fit
/// into 64 bits, so that the parser rounded it.
pub(crate) fn has_rounded_number(value: &Value) -> bool {
    /// 2⁶⁴.
    const WHOLE: f64 = 18_446_744_073_709_551_616.0;
    match value {
        Value::Array(items) => items.iter().any(has_rounded_number),
        Value::Object(fields) => fields.values().any(has_rounded_number),
        value => value.is_f64() && value.as_f64().is_some_and(|number| number.abs() >= WHOLE && number.fract() == 0.0),
    }
}

/// The source of a memory in words. Unknown keys follow with their own names.
pub(crate) fn told_of(fields: &JsonObject) -> Result<String, DomainError> {
    let text = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => scalar("provenance", value).map(|text| Some(text).filter(|text| !text.trim().is_empty())),
    };
    let source = text("source")?.map(|source| format!("from {source}"));
    let context = text("context")?;
    let mut said: Vec<String> = [source, context].into_iter().flatten().collect::<Vec<_>>();
    said = if said.is_empty() { said } else { vec![said.join(": ")] };
    let mut beside = Vec::new();
    beside.extend(text("user_id")?.map(|user| format!("user {user}")));
    beside.extend(text("timestamp")?);
    let known = ["source", "context", "user_id", "timestamp"];
    let others = fields.iter().filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
    beside.extend(others.map(|(name, value)| format!("{name} {value}")));
    if !beside.is_empty() {
        said.push(format!("({})", beside.join(", ")));
    }
    Ok(said.join(" "))
}

/// A text. Numbers and booleans are converted to text.
pub(crate) fn scalar(field: &'static str, value: &Value) -> Result<String, DomainError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Array(_) => Err(DomainError::invalid(field, "contains a list instead of one value", "pass one text")),
        Value::Object(_) => Err(DomainError::invalid(field, "contains an object instead of a value", "pass a text")),
        Value::Null => Err(DomainError::invalid(field, "contains null", "pass a text")),
    }
}
