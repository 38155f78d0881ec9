//! Visits the texts in JSON of unknown structure, which older programs or other sources wrote.

use serde_json::Value;

use super::texts::{Part, Texts};

/// Fields whose texts are names without spaces.
const SLUGS: [&str; 4] = ["tags", "tags_added", "tags_removed", "category"];

impl Texts for Value {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        each(self, Part::Text, see);
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        changed(self, Part::Text, change);
    }
}

fn each(value: &Value, part: Part, see: &mut dyn FnMut(Part, &str)) {
    match value {
        Value::String(text) => see(part, text),
        Value::Array(items) => items.iter().for_each(|item| each(item, part, see)),
        Value::Object(fields) => fields.iter().for_each(|(name, field)| each(field, part_of(name), see)),
        _ => {}
    }
}

fn changed(value: &mut Value, part: Part, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(changed) = change(part, text) {
                *text = changed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| changed(item, part, change)),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, field)| changed(field, part_of(name), change)),
        _ => {}
    }
}

fn part_of(field: &str) -> Part {
    if SLUGS.contains(&field) { Part::Slug } else { Part::Text }
}
