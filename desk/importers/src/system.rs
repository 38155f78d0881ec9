//! The systems whose data can be imported.
//!
//! Also derives a key from the text of a row without an ID.

use std::collections::BTreeMap;
use std::path::Path;

use tessera_screen::findings;
use tessera_tables::names;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

names! {
/// A system whose data can be imported.
#[derive(PartialOrd, Ord)]
pub enum System {
    /// claude-memory-mcp by ViktorBarzin.
    ClaudeMemoryMcp = "claude-memory-mcp",
    /// memory-mcp by WhenMoon-afk.
    MemoryMcp = "memory-mcp",
    /// basic-memory: folders of Markdown.
    BasicMemory = "basic-memory",
}
}

impl System {
    /// The name that its users know.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeMemoryMcp => "claude-memory-mcp (ViktorBarzin)",
            Self::MemoryMcp => "memory-mcp (WhenMoon-afk)",
            Self::BasicMemory => "basic-memory",
        }
    }
}

/// The beginning of a key that is derived from only a part of a text.
const IN_PART: &str = "at ";

/// The key of a text: different texts have different keys. The key is not computed from a credential in the text, so
/// that nobody can guess the credential from the key. The key is then derived from the text around the credential, and
/// from the path of the source.
pub(crate) fn of_text(text: &str, place: &str) -> String {
    let found = findings(text);
    if found.is_empty() {
        return format!("{:032x}", xxh3_128(text.as_bytes()));
    }
    let (mut around, mut at) = (String::new(), 0);
    for finding in found {
        around.push_str(text.get(at..finding.span.start).unwrap_or_default());
        around.push('\0');
        at = finding.span.end;
    }
    around.push_str(text.get(at..).unwrap_or_default());
    format!("{IN_PART}{place} {:032x}", xxh3_128(around.as_bytes()))
}

/// The name of a path in keys.
pub(crate) fn of_place(path: &Path) -> String {
    format!("{:016x}", xxh3_64(path.as_os_str().as_encoded_bytes()))
}

/// Adds a number to repeated keys. Different texts may have the same key, but each text needs its own.
#[derive(Debug, Default)]
pub(crate) struct Times(BTreeMap<String, u32>);

impl Times {
    /// The key of the next text.
    pub(crate) fn next(&mut self, key: String) -> String {
        let time = self.0.entry(key.clone()).or_default();
        *time += 1;
        if *time > 1 { format!("{key}#{time}") } else { key }
    }

    /// Adds a number to a key only if the key was derived from a part of a text.
    pub(crate) fn next_in_part(&mut self, key: String) -> String {
        if key.contains(&format!(":text:{IN_PART}")) { self.next(key) } else { key }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_by_what_it_says_and_one_with_a_credential_by_what_stands_around_it() {
        assert_eq!(of_text("a text", "x"), of_text("a text", "y"));
        let said = |value: &str| format!("the password is {value} on birch");
        let (one, other) = (said("qX7pL2vN9dRtW4mZ"), said("Zm4WtRd9Nv2Lp7Xq"));
        assert_eq!(of_text(&one, "x"), of_text(&other, "x"));
        assert_ne!(of_text(&one, "x"), of_text(&one, "y"));
        assert_ne!(of_text(&one, "x"), of_text(&one.replace("birch", "oak"), "x"));
        let mut times = Times::default();
        let key = format!("claude-memory-mcp:text:{}", of_text(&one, "x"));
        assert_ne!(times.next_in_part(key.clone()), times.next_in_part(key));
        assert_eq!(
            times.next_in_part("claude-memory-mcp:text:a".into()),
            times.next_in_part("claude-memory-mcp:text:a".into())
        );
    }
}
