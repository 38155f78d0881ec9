//! The data at a path, by field name. The texts are wiped from memory when they are dropped.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use zeroize::Zeroizing;

/// Texts by name. Debug output shows only the names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Fields(BTreeMap<String, Zeroizing<String>>);

impl Fields {
    /// The only field that claude-memory-mcp writes: `content`.
    pub const CONTENT: &str = "content";

    /// The text of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|text| text.as_str())
    }

    /// Sets a field.
    pub fn insert(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.0.insert(name.into(), Zeroizing::new(text.into()));
    }

    /// Removes a field and returns its text.
    pub fn remove(&mut self, name: &str) -> Option<Zeroizing<String>> {
        self.0.remove(name)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// True if there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The maximum size in bytes as JSON. Escaping may turn one byte into six.
    pub(crate) fn most_bytes(&self) -> usize {
        self.0.iter().map(|(name, text)| 6 * (name.len() + text.len()) + 6).sum()
    }
}

impl<N: Into<String>, T: Into<String>> FromIterator<(N, T)> for Fields {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(fields: I) -> Self {
        Self(fields.into_iter().map(|(name, text)| (name.into(), Zeroizing::new(text.into()))).collect())
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, text) in &self.0 {
            map.serialize_entry(name, text.as_str())?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;

        impl<'de> Visitor<'de> for Texts {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object whose values are strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some((name, text)) = map.next_entry::<String, String>()? {
                    fields.insert(name, text);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(Texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_holds_no_text() {
        let fields: Fields = [("content", "open sesame"), ("s7k4q2", "mellon")].into_iter().collect();
        assert_eq!(format!("{fields:?}"), r#"{"content", "s7k4q2"}"#);
    }

    #[test]
    fn the_most_bytes_are_enough() {
        let fields: Fields = [("a\u{1}b", "\u{0}\"\\\n\u{1f}ü€😀"), ("", "")].into_iter().collect();
        let written = serde_json::to_vec(&fields).unwrap();
        assert!(written.len() <= fields.most_bytes() + 2, "{}", written.len());
        assert_eq!(serde_json::from_slice::<Fields>(&written).unwrap(), fields);
    }

    #[test]
    fn what_is_no_text_is_not_taken_for_one() {
        for wrong in [r#"{"pin": 1234}"#, r#"{"a": {"b": "c"}}"#, r#"{"a": null}"#, "[]"] {
            assert!(serde_json::from_str::<Fields>(wrong).is_err(), "{wrong}");
        }
    }
}
