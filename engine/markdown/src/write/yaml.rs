//! Values as one-line YAML: plain words if possible, otherwise JSON.

use std::fmt::Write as _;

use serde_json::Value;

/// Longer keys are written after a `?`, because YAML parsers search only so far for the colon.
const LONGEST_KEY: usize = 300;

/// Writes a key and its value as a line.
pub(crate) fn entry(out: &mut String, key: &str, value: &Value) {
    let mut name = String::new();
    text(&mut name, key);
    if name.len() > LONGEST_KEY {
        let _ = write!(out, "? {name}\n: ");
    } else {
        let _ = write!(out, "{name}: ");
    }
    self::value(out, value);
    out.push('\n');
}

fn value(out: &mut String, given: &Value) {
    match given {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Value::String(said) => text(out, said),
        Value::Array(values) => {
            out.push('[');
            for (at, one) in values.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                value(out, one);
            }
            out.push(']');
        }
        Value::Object(values) => {
            out.push('{');
            for (at, (key, one)) in values.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                let mut name = String::new();
                text(&mut name, key);
                out.push_str(if name.len() > LONGEST_KEY { "? " } else { "" });
                out.push_str(&name);
                out.push_str(": ");
                value(out, one);
            }
            out.push('}');
        }
    }
}

fn text(out: &mut String, said: &str) {
    if is_plain(said) {
        out.push_str(said);
        return;
    }
    out.push('"');
    for letter in said.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
}

/// True if the words need no quotes: they contain no YAML syntax, and no version of YAML reads them as a number or
/// boolean.
fn is_plain(said: &str) -> bool {
    const MEANT: [&str; 13] =
        ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity", "none"];
    let is_inside = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ' ' | '_' | '/' | '-' | '.');
    said.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && !said.ends_with(' ')
        && said.len() <= LONGEST_KEY
        && said.chars().all(is_inside)
        && !MEANT.iter().any(|meant| meant.eq_ignore_ascii_case(said))
}
