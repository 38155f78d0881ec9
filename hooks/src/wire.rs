//! The client's input on stdin. The hook accepts unknown fields, and treats a field of the wrong type as absent.

use std::path::PathBuf;

use serde_json::Value;
use tessera_desk::json::whole_characters;
use tessera_engine::screen::dropped;

/// Maximum bytes of input.
pub const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum bytes of a session ID; a longer one is replaced by its hash.
const LONGEST_SESSION: usize = 128;

/// The input of one hook.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Payload {
    fields: serde_json::Map<String, Value>,
}

/// The reasons why an input is not valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// Not JSON.
    #[error("stdin is not JSON: line {line}, column {column}")]
    Json {
        /// The line of the error, from 1.
        line: usize,
        /// The column of the error, counted from 1.
        column: usize,
    },
    /// JSON, but not an object.
    #[error("stdin is not a JSON object")]
    NotAnObject,
}

impl Payload {
    /// Reads an input. Invalid UTF-8 is replaced.
    ///
    /// # Errors
    /// Returns an error if the input is not a JSON object.
    pub fn read(bytes: &[u8]) -> Result<Self, PayloadError> {
        let text = String::from_utf8_lossy(bytes);
        match serde_json::from_str(&whole_characters(text.trim_start_matches('\u{feff}'))) {
            Ok(Value::Object(fields)) => Ok(Self { fields }),
            Ok(_) => Err(PayloadError::NotAnObject),
            Err(error) => Err(PayloadError::Json { line: error.line(), column: error.column() }),
        }
    }

    /// Returns the text in the first of these fields that contains a text. Blocks of text are joined.
    pub fn text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| text_of(self.fields.get(*name)?))
    }

    /// The first of these fields that is a boolean.
    pub fn flag(&self, names: &[&str]) -> Option<bool> {
        names.iter().find_map(|name| self.fields.get(*name)?.as_bool())
    }

    /// The arguments of the tool that is about to run.
    pub fn tool_input(&self) -> Option<&Value> {
        self.fields.get("tool_input").or_else(|| self.fields.get("toolInput"))
    }

    /// A text argument of the tool that is about to run.
    pub fn tool_argument(&self, name: &str) -> Option<&str> {
        self.tool_input()?.get(name)?.as_str()
    }

    /// True if the tool that is about to run has this argument.
    pub fn has_tool_argument(&self, name: &str) -> bool {
        self.tool_input().and_then(|input| input.get(name)).is_some_and(|value| !value.is_null())
    }

    /// The event, as the client names it.
    pub fn event(&self) -> Option<String> {
        self.text(&["hook_event_name", "hookEventName"])
    }

    /// The session as a key: printable, and of limited length.
    pub fn session(&self) -> Option<String> {
        let name = self.text(&["session_id", "sessionId"])?;
        let name = dropped(&name);
        let name: String = name.trim().chars().filter(|c| !c.is_control()).collect();
        if name.is_empty() {
            return None;
        }
        if name.len() > LONGEST_SESSION {
            return Some(format!("{:032x}", xxhash_rust::xxh3::xxh3_128(name.as_bytes())));
        }
        Some(name)
    }

    /// The working directory of the session.
    pub fn cwd(&self) -> Option<PathBuf> {
        self.text(&["cwd"]).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The client's transcript file.
    pub fn transcript(&self) -> Option<PathBuf> {
        self.text(&["transcript_path", "transcriptPath"]).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Input from other programs is read or rejected, and never causes a panic (`engine/tests/fuzz.rs`).
    #[test]
    fn any_input_is_read_or_refused() {
        const PIECES: [&str; 18] = [
            "{\"hook_event_name\":\"",
            "UserPromptSubmit",
            "\",",
            "\"prompt\":",
            "\"which port?\"",
            "}",
            "{",
            "[",
            "]",
            ",",
            ":",
            "\"session_id\":",
            "1e999",
            "null",
            "\\ud800",
            "é",
            "\"cwd\":\"/\"",
            "\"tool_input\":{",
        ];
        bolero::check!().with_iterations(5_000).for_each(|picks: &[u8]| {
            let mut bytes = Vec::new();
            for pick in picks {
                match PIECES.get(usize::from(*pick) % (PIECES.len() + 2)) {
                    Some(piece) => bytes.extend_from_slice(piece.as_bytes()),
                    None => bytes.push(*pick),
                }
            }
            if let Ok(payload) = Payload::read(&bytes) {
                let _ = (payload.event(), payload.text(&["prompt"]));
            }
        });
    }

    #[test]
    fn fields_of_the_wrong_type_are_not_there() {
        let payload =
            Payload::read(br#"{"session_id": 7, "prompt": {"a": 1}, "user_prompt": "hi", "cwd": "../x"}"#).unwrap();
        assert_eq!(payload.session(), None);
        assert_eq!(payload.text(&["prompt", "user_prompt"]).as_deref(), Some("hi"));
        assert_eq!(payload.cwd(), None);
    }

    #[test]
    fn blocks_are_joined_and_long_sessions_hashed() {
        let long = "../".repeat(100);
        let text =
            format!(r#"{{"session_id": "{long}", "prompt": [{{"type": "text", "text": "a"}}, {{"text": "b"}}]}}"#);
        let payload = Payload::read(text.as_bytes()).unwrap();
        assert_eq!(payload.session().unwrap().len(), 32);
        assert_eq!(payload.text(&["prompt"]).as_deref(), Some("a\nb"));
        assert!(Payload::read(b"[1]").is_err() && Payload::read(b"{").is_err() && Payload::read(b"").is_err());
    }
}
