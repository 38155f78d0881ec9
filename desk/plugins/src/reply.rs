//! The valid replies of a plugin.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::manifest::{Field, Manifest};

/// The maximum length of a rejection and of a note, in characters.
const LONGEST: usize = 300;

/// An answer. An empty answer, `null` and `{}` mean that the plugin changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Fields with new values, before an action.
    #[serde(default)]
    pub change: Map<String, Value>,
    /// The reason for a rejection, before an action.
    #[serde(default)]
    pub refuse: Option<String>,
    /// A line for the plugin log.
    #[serde(default)]
    pub note: Option<String>,
}

impl Reply {
    /// Parses an answer.
    ///
    /// # Errors
    /// Returns an error if the answer is not UTF-8, not JSON, or contains an unknown field.
    pub fn read(bytes: &[u8]) -> Result<Self, Failure> {
        let text = std::str::from_utf8(bytes).map_err(|_| Failure::Answer("it is not UTF-8".to_owned()))?.trim();
        if text.is_empty() {
            return Ok(Self::default());
        }
        let wrong = |error: serde_json::Error| Failure::Answer(error.to_string());
        let mut reply: Self = match serde_json::from_str(text).map_err(wrong)? {
            Value::Null => Self::default(),
            object @ Value::Object(_) => serde_json::from_value(object).map_err(wrong)?,
            _ => return Err(Failure::Answer("it is neither an object nor null".to_owned())),
        };
        for said in [&mut reply.refuse, &mut reply.note].into_iter().flatten() {
            *said = said.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
        }
        Ok(reply)
    }

    /// The changed fields, if all of them were granted.
    ///
    /// # Errors
    /// Returns an error if a field was not granted or does not exist, or if the plugin rejects the request without the
    /// permission to do so.
    pub fn granted(&self, manifest: &Manifest) -> Result<Vec<(Field, &Value)>, Failure> {
        if self.refuse.is_some() && !manifest.refuse {
            return Err(Failure::NotGranted("refuse".to_owned()));
        }
        let granted = |name: &str| {
            let field = Field::named(name).filter(|field| manifest.change.contains(field));
            let head: String = name.chars().take(LONGEST).collect();
            field.ok_or_else(|| Failure::NotGranted(format!("change {head:?}")))
        };
        self.change.iter().map(|(name, value)| Ok((granted(name)?, value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_nothing_or_one_object_of_what_is_known() {
        for nothing in ["", " \n", "null", "{}"] {
            assert_eq!(Reply::read(nothing.as_bytes()).unwrap(), Reply::default(), "{nothing:?}");
        }
        let said = Reply::read(br#"{"refuse": "no\ncode names", "note": "x"}"#).unwrap();
        assert_eq!(said.refuse.as_deref(), Some("no code names"));
        for wrong in [&b"\xff"[..], b"[]", b"1", b"{\"grant\": 1}", b"{", b"{}{}", b"{\"change\": 3}"] {
            assert!(matches!(Reply::read(wrong), Err(Failure::Answer(_))), "{wrong:?}");
        }
    }

    #[test]
    fn only_what_was_granted_is_changed() {
        let manifest = Manifest::read("name = 'a'\nevents = ['store.before']\nchange = ['tags']").unwrap();
        let of = |text: &str| Reply::read(text.as_bytes()).unwrap().granted(&manifest).map(|fields| fields.len());
        assert_eq!(of(r#"{"change": {"tags": ["a"]}}"#).unwrap(), 1);
        for wrong in [r#"{"change": {"content": "x"}}"#, r#"{"change": {"trust": "user"}}"#, r#"{"refuse": "never"}"#] {
            assert!(matches!(of(wrong), Err(Failure::NotGranted(_))), "{wrong}");
        }
    }
}
