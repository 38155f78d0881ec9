//! Categories and tags: short names in normalised case and spelling, so that one thing has one name.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tessera_screen::is_clean;
use tessera_tables::{displays, text_types};
use unicode_normalization::UnicodeNormalization as _;

use super::DomainError;

/// Maximum number of tags of one memory.
pub const MAX_TAGS: usize = 32;
const MAX_SLUG_CHARS: usize = 64;

/// The category of a memory: one of the five known ones, or any slug.
///
/// The five categories are recognised in any case, singular or plural (`Preference` is `preferences`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Category(String);

impl Category {
    /// Facts, the default.
    pub const FACTS: &str = "facts";
    /// What the user likes and how they want things done.
    pub const PREFERENCES: &str = "preferences";
    /// Decisions with their reasons.
    pub const DECISIONS: &str = "decisions";

    /// The slug.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Category {
    fn default() -> Self {
        Self(Self::FACTS.into())
    }
}

impl FromStr for Category {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let slug = slug("category", text)?;
        let known = match slug.as_str() {
            "fact" => Self::FACTS,
            "preference" => Self::PREFERENCES,
            "project" => "projects",
            "person" | "persons" => "people",
            "decision" => Self::DECISIONS,
            _ => return Ok(Self(slug)),
        };
        Ok(Self(known.into()))
    }
}

/// A tag: lower case, words joined by `-`, no leading `#`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

impl Tag {
    /// The slug.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses a comma-separated list. Empty items and duplicates are skipped.
    pub fn list(text: &str) -> Result<Vec<Self>, DomainError> {
        let tags = text.split(',').filter(|item| !item.trim().is_empty()).map(str::parse);
        Self::unique(tags.collect::<Result<Vec<_>, _>>()?)
    }

    /// Removes duplicates, keeps the order, and rejects more than [`MAX_TAGS`].
    pub fn unique(tags: Vec<Self>) -> Result<Vec<Self>, DomainError> {
        let mut seen = std::collections::BTreeSet::new();
        let unique: Vec<Self> = tags.into_iter().filter(|tag| seen.insert(tag.clone())).collect();
        if unique.len() > MAX_TAGS {
            let problem = format!("{} tags are too many", unique.len());
            return Err(DomainError::invalid("tags", problem, "use at most 32"));
        }
        Ok(unique)
    }
}

impl FromStr for Tag {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        slug("tags", text.trim().trim_start_matches('#')).map(Self)
    }
}

text_types! { Category: DomainError, Tag: DomainError }
displays! { Category, Tag }

fn slug(field: &'static str, text: &str) -> Result<String, DomainError> {
    let folded: String = text.trim().to_lowercase().nfc().collect();
    let slug = folded.split([' ', '\t']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    // Normalising would make a credential unrecognisable, so such a text stays unchanged until the credential is
    // removed.
    let slug = if slug == text.trim() || is_clean(text) { slug } else { text.trim().to_owned() };
    if slug.is_empty() {
        return Err(DomainError::invalid(field, "is empty", "use a short name"));
    }
    if slug.chars().count() > MAX_SLUG_CHARS {
        return Err(DomainError::invalid(field, "is too long", "use at most 64 characters"));
    }
    if slug.chars().any(|c| c.is_control() || matches!(c, ',' | '"')) {
        let fix = "remove commas, double quotes and control characters";
        return Err(DomainError::invalid(field, "contains a character that is not allowed", fix));
    }
    Ok(slug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_fold_case_and_number() {
        for (given, kept) in [
            ("Preference", "preferences"),
            ("FACTS", "facts"),
            ("person", "people"),
            ("run book", "run-book"),
            ("决定", "决定"),
        ] {
            assert_eq!(given.parse::<Category>().unwrap().as_str(), kept);
        }
        for bad in ["", "  ", "a,b", "a\nb", &"x".repeat(65)] {
            assert!(bad.parse::<Category>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn tag_lists_fold_and_drop_repeats() {
        let tags = Tag::list(" #Rust, rust ,web ui,,").unwrap();
        assert_eq!(tags.iter().map(Tag::as_str).collect::<Vec<_>>(), ["rust", "web-ui"]);
        let many = (0..33).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        assert!(Tag::list(&many).is_err());
    }
}
