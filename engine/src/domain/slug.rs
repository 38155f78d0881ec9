//! Categories and tags: short names that fold case and spelling, so that one thing has one name.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tessera_screen::is_clean;
use tessera_tables::{displays, text_types};
use unicode_normalization::UnicodeNormalization as _;

use super::DomainError;

/// Tags of one memory, at most.
pub const MAX_TAGS: usize = 32;
const MAX_SLUG_CHARS: usize = 64;

/// What kind of knowledge a memory is: one of the five known categories, or any slug.
///
/// Case and singular or plural are folded for the known ones (`Preference` is `preferences`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Category(String);

impl Category {
    /// Plain facts: the default.
    pub const FACTS: &str = "facts";
    /// What the person likes and how they want things done.
    pub const PREFERENCES: &str = "preferences";
    /// What was decided, and why.
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

impl Tag {
    /// The slug.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads a comma-separated list, ignoring empty items and repeats.
    pub fn list(text: &str) -> Result<Vec<Self>, DomainError> {
        let tags = text.split(',').filter(|item| !item.trim().is_empty()).map(str::parse);
        Self::unique(tags.collect::<Result<Vec<_>, _>>()?)
    }

    /// Drops repeats, keeps the order, and refuses more than [`MAX_TAGS`].
    pub fn unique(tags: Vec<Self>) -> Result<Vec<Self>, DomainError> {
        let mut seen = std::collections::BTreeSet::new();
        let unique: Vec<Self> = tags.into_iter().filter(|tag| seen.insert(tag.clone())).collect();
        if unique.len() > MAX_TAGS {
            let problem = format!("{} tags are too many", unique.len());
            return Err(DomainError::invalid("tags", problem, "give at most 32"));
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
    // A credential is known by its letters and the words before it: it stays as it was said until it is taken out.
    let slug = if slug == text.trim() || is_clean(text) { slug } else { text.trim().to_owned() };
    if slug.is_empty() {
        return Err(DomainError::invalid(field, "is empty", "give a short name"));
    }
    if slug.chars().count() > MAX_SLUG_CHARS {
        return Err(DomainError::invalid(field, "is too long", "give at most 64 characters"));
    }
    if slug.chars().any(|c| c.is_control() || matches!(c, ',' | '"')) {
        let fix = "leave out commas, double quotes and control characters";
        return Err(DomainError::invalid(field, "holds a character it cannot hold", fix));
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
