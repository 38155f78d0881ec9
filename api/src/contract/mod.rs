//! Shapes of REST requests and answers. `/api/*` is the older API: it keeps that API's names, IDs, texts and defaults,
//! ignores unknown fields, and adds new fields.

mod exact;
mod memory;
mod params;
mod question;
mod views;

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use tessera_engine::domain::{DomainError, MAX_TAGS, Tag};
use utoipa::ToSchema;

pub(crate) use exact::exact;
pub(crate) use memory::{MemoryPatch, NewLink, NewMemory};
pub(crate) use params::{
    CategoryCount, ChangesQuery, InvitationAnswer, ListQuery, MigrateQuery, OfMemory, PageQuery, ShareTagWith,
    ShareWith, SinceQuery, SnapshotQuery, TagCount, UnshareTag,
};
pub(crate) use question::{Answer, Everything, Question};
pub(crate) use views::{
    GoneView, ImportedRow, LinkedView, MatchView, MatchesView, MemoriesView, MemoryView, SinceView, StoredView,
};

/// How a request names a memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum MemoryName {
    /// Its short number.
    Number(i64),
    /// Its UUID, or the short ID as text.
    Text(String),
}

impl fmt::Display for MemoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Words as a list, or as text: tags separated by commas, keywords by commas or spaces.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Words {
    /// A list.
    List(Vec<String>),
    /// A text with words separated by commas. Keywords may be separated by spaces instead.
    Text(String),
}

/// The number of keywords that are stored; the older API accepted any number.
const MOST_KEYWORDS: usize = 128;

impl Words {
    /// The keywords. A text without commas comes from the older API, where each word is a keyword.
    fn keywords(&self) -> Vec<String> {
        let Self::Text(text) = self else { return self.list() };
        let mut seen = HashSet::new();
        let words: Vec<&str> = if text.contains(',') {
            text.split(',').map(str::trim).collect()
        } else {
            text.split_whitespace().collect()
        };
        let words = words.into_iter().filter(|word| !word.is_empty() && seen.insert(*word));
        words.take(MOST_KEYWORDS).map(str::to_owned).collect()
    }

    fn list(&self) -> Vec<String> {
        let items: Vec<&str> = match self {
            Self::List(items) => items.iter().map(String::as_str).collect(),
            Self::Text(text) => text.split(',').collect(),
        };
        items.into_iter().map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }
}

/// Parses a text; the error names the field.
fn parsed<T: FromStr<Err = DomainError>>(field: &'static str, text: &str) -> Result<T, DomainError> {
    text.parse().map_err(|error| match error {
        DomainError::Invalid { problem, fix, .. } => DomainError::Invalid { field, problem, fix },
        other => other,
    })
}

fn each<T: FromStr<Err = DomainError>>(field: &'static str, words: Option<&Words>) -> Result<Vec<T>, DomainError> {
    words.map(Words::list).unwrap_or_default().iter().map(|word| parsed(field, word)).collect()
}

fn tags(words: Option<&Words>) -> Result<Vec<Tag>, DomainError> {
    let mut tags = words.map(Words::list).unwrap_or_default();
    if matches!(words, Some(Words::Text(_))) {
        // The older API accepted any number.
        let mut seen = HashSet::new();
        tags.retain(|tag| seen.insert(tag.to_lowercase()));
        tags.truncate(MAX_TAGS);
    }
    Tag::unique(tags.into_iter().map(Tag::try_from).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_older_api_are_read_as_it_sent_them() {
        let text = |text: &str| Words::Text(text.into());
        for (words, keywords) in [
            (text("svelte frontend  ui"), &["svelte", "frontend", "ui"][..]),
            (text("blue green, red,"), &["blue green", "red"]),
            (text(" "), &[]),
            (text("a a b"), &["a", "b"]),
            (Words::List(vec![" blue green ".into()]), &["blue green"]),
        ] {
            assert_eq!(words.keywords(), keywords, "{words:?}");
        }
        let many = (0..200).map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(text(&many.join(" ")).keywords().len(), MOST_KEYWORDS);
        assert_eq!(tags(Some(&text(&many.join(",")))).unwrap().len(), MAX_TAGS);
        assert!(tags(Some(&Words::List(many))).is_err(), "whoever sends a list is told");
        assert_eq!(tags(Some(&text("my notes, A,a"))).unwrap(), ["my-notes", "a"].map(|tag| tag.parse().unwrap()));
    }
}
