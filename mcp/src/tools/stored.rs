//! Shared code for storing and changing a memory.

use serde_json::Value;
use tessera_desk::Desk;
use tessera_desk::use_cases::{Form, LinkBy, told_near};
use tessera_desk::views::{StoredView, told_aside, told_kept};
use tessera_engine::domain::{DomainError, Importance};
use tessera_engine::pack::{neutral, neutral_line};
use tessera_engine::store::{Near, Stored};

use super::form;
use crate::args::{Args, REASON};

/// The given importance, if it is valid.
pub(super) fn importance(args: &Args) -> Result<Option<Importance>, DomainError> {
    args.number(&["importance"])?.map(Importance::on_either_scale).transpose()
}

/// The reason and the source of a memory.
pub(super) fn reason(args: &Args) -> Result<Option<String>, DomainError> {
    let said: Vec<String> = [args.text(REASON)?, args.provenance()?].into_iter().flatten().collect();
    Ok((!said.is_empty()).then(|| said.join("; ")))
}

/// The reply about a written memory: in words, or as a complete row.
pub(super) fn reply(
    desk: &mut Desk<'_>,
    args: &Args,
    verb: &'static str,
    stored: &Stored,
    near: Vec<Near>,
) -> Result<String, DomainError> {
    match form(args)? {
        Form::Text => {
            let line = |near: &Near| neutral_line(&told_near(near, stored.memory.short_id, LinkBy::Tool));
            let near: String = near.iter().map(|near| format!("\n{}", line(near))).collect();
            let kept = told_kept(stored, "memory_store with id").map_or_else(String::new, |told| format!("\n{told}"));
            Ok(told(verb, stored) + &kept + &aside(desk, stored) + &near)
        }
        Form::Json(_) => Ok(format!("{}\n", row(stored, near))),
    }
}

/// The stored row as JSON.
fn row(stored: &Stored, near: Vec<Near>) -> Value {
    let mut row = serde_json::to_value(StoredView::of(stored, near)).unwrap_or_default();
    if let Some(fields) = row.as_object_mut() {
        fields.values_mut().for_each(neutralise);
    }
    row
}

/// In all texts of a JSON value, removes hidden characters, and makes imitated tags of replies harmless.
fn neutralise(value: &mut Value) {
    match value {
        Value::String(text) => *text = neutral(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(neutralise),
        Value::Object(fields) => fields.values_mut().for_each(neutralise),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// One line about a written memory.
fn told(verb: &str, stored: &Stored) -> String {
    let memory = &stored.memory;
    format!(
        "{verb} {} in {} (importance {:.2}, {} tokens): {}",
        memory.short_id,
        neutral_line(memory.category.as_str()),
        f64::from(memory.importance),
        stored.tokens,
        neutral_line(&memory.summary)
    )
}

/// The credentials that were removed from the text, one line each.
fn aside(desk: &Desk<'_>, stored: &Stored) -> String {
    let told = told_aside(stored, desk.secret_key().as_ref(), |name| format!("secret_get {name}"));
    told.iter().map(|told| format!("\n{}", neutral_line(told))).collect()
}
