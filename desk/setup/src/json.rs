//! Edits JSON settings, and keeps comments, order and layout of everything else.

use std::path::Path;
use std::str::Utf8Error;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use crate::entry::{SERVER, is_our_hook, with_added};
use crate::error::SetupError;
use crate::plan;

const MARK: &str = "\u{feff}";

/// A file after an edit. A missing or empty file becomes a new object.
pub(crate) fn edited(path: &Path, before: Option<&[u8]>, edit: impl FnOnce(&CstObject)) -> Result<Vec<u8>, SetupError> {
    let wrong = |problem: String| SetupError::Unreadable { path: path.to_path_buf(), problem };
    let (mark, text) = text_of(before.unwrap_or_default()).map_err(|error| wrong(error.to_string()))?;
    let is_new = text.trim().is_empty();
    let root = CstRootNode::parse(if is_new { "{}\n" } else { text }, &ParseOptions::default())
        .map_err(|error| wrong(error.to_string()))?;
    let object = root.object_value().ok_or_else(|| wrong("is not a JSON object".into()))?;
    edit(&object);
    Ok(format!("{mark}{root}").into_bytes())
}

/// The content of a file, if it can be parsed.
pub(crate) fn value_of(bytes: &[u8]) -> Option<Value> {
    CstRootNode::parse(text_of(bytes).ok()?.1, &ParseOptions::default()).ok()?.to_serde_value()
}

/// The value in a file; `None` if the file does not exist or is not JSON.
pub(crate) fn parsed(path: &Path) -> Option<Value> {
    value_of(&plan::read(path).ok()??)
}

/// The byte order mark, and the text after it.
fn text_of(bytes: &[u8]) -> Result<(&str, &str), Utf8Error> {
    let text = std::str::from_utf8(bytes)?;
    Ok(text.strip_prefix(MARK).map_or(("", text), |rest| (MARK, rest)))
}

/// Adds or updates our server. Keeps the user's additions and changes, but updates the program.
pub(crate) fn set_server(root: &CstObject, key: &str, entry: &Value) {
    let servers = root.object_value_or_set(key);
    let (Some(ours), Some(fields)) = (servers.object_value(SERVER), entry.as_object()) else {
        return match servers.get(SERVER) {
            Some(known) => known.set_value(input(entry)),
            None => drop(servers.append(SERVER, input(entry))),
        };
    };
    for (name, wanted) in fields {
        let known = ours.get(name).and_then(|known| known.to_serde_value());
        match (name.as_str(), known) {
            (_, None) => drop(ours.append(name, input(wanted))),
            (_, Some(known)) if known == *wanted => {}
            ("command", _) => set(&ours, name, wanted),
            ("args", Some(known)) => {
                let wanted = arguments(wanted, &known);
                if known != wanted {
                    set(&ours, name, &wanted);
                }
            }
            ("env", Some(_)) => add_missing(&ours.object_value_or_set(name), wanted),
            _ => {}
        }
    }
}

fn set(object: &CstObject, name: &str, wanted: &Value) {
    if let Some(property) = object.get(name) {
        property.set_value(input(wanted));
    }
}

fn add_missing(object: &CstObject, wanted: &Value) {
    for (name, value) in wanted.as_object().into_iter().flatten() {
        if object.get(name).is_none() {
            object.append(name, input(value));
        }
    }
}

/// Keeps the user's arguments if they contain our command. If our arguments contain `--home`, its value is set in the
/// user's arguments. Otherwise returns our arguments.
fn arguments(wanted: &Value, known: &Value) -> Value {
    let words = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    Value::from(with_added(words(wanted), &words(known)))
}

/// Removes our server. True if there was one.
pub(crate) fn remove_server(root: &CstObject, key: &str) -> bool {
    let Some(servers) = root.object_value(key) else { return false };
    let Some(ours) = servers.get(SERVER) else { return false };
    ours.remove();
    if servers.properties().is_empty()
        && let Some(property) = root.get(key)
    {
        property.remove();
    }
    true
}

/// Adds or updates our hook for an event, beside existing ones.
pub(crate) fn set_hook(root: &CstObject, event: &str, group: &Value) {
    let groups = root.object_value_or_set("hooks").array_value_or_set(event);
    let ours = ours_in(&groups);
    if let [only] = ours.as_slice()
        && only.to_serde_value().is_some_and(|known| runs_the_same(&known, group))
    {
        return;
    }
    take_ours_out(&groups);
    groups.append(input(group));
}

/// True for two groups that run the same program with the same arguments for the same tools; all
/// other fields belong to the user.
fn runs_the_same(known: &Value, group: &Value) -> bool {
    let said = |group: &Value| {
        let hooks = group.get("hooks")?.as_array()?;
        let run = |hook: &Value| (hook.get("command").cloned(), hook.get("args").cloned());
        Some((group.get("matcher").cloned(), hooks.iter().map(run).collect::<Vec<_>>()))
    };
    said(known) == said(group)
}

/// Removes Tessera's hooks from every event, and the objects that become empty. True if there were any.
pub(crate) fn remove_hooks(root: &CstObject) -> bool {
    let Some(hooks) = root.object_value("hooks") else { return false };
    let mut is_changed = false;
    for event in hooks.properties() {
        let Some(groups) = event.array_value() else { continue };
        if ours_in(&groups).is_empty() {
            continue;
        }
        is_changed = true;
        take_ours_out(&groups);
        if groups.elements().is_empty() {
            event.remove();
        }
    }
    if is_changed
        && hooks.properties().is_empty()
        && let Some(property) = root.get("hooks")
    {
        property.remove();
    }
    is_changed
}

/// Groups with one of our hooks.
fn ours_in(groups: &CstArray) -> Vec<CstNode> {
    groups.elements().into_iter().filter(|group| !our_hooks(group).is_empty()).collect()
}

fn our_hooks(group: &CstNode) -> Vec<CstNode> {
    let hooks = group.as_object().and_then(|group| group.array_value("hooks"));
    let elements = hooks.map_or_else(Vec::new, |hooks| hooks.elements());
    elements.into_iter().filter(|hook| hook.to_serde_value().is_some_and(|hook| is_our_hook(&hook))).collect()
}

fn take_ours_out(groups: &CstArray) {
    for group in ours_in(groups) {
        our_hooks(&group).into_iter().for_each(CstNode::remove);
        let hooks = group.as_object().and_then(|group| group.array_value("hooks"));
        if hooks.is_some_and(|hooks| hooks.elements().is_empty()) {
            group.remove();
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
